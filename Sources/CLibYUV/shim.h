// libyuv's C interface, and the few things in it that Swift cannot import. Debian's package has no pkg-config file, so
// the module map names the library.
#ifndef PIPSINK_CLIBYUV_SHIM_H
#define PIPSINK_CLIBYUV_SHIM_H

#include <libyuv/compare.h>
#include <libyuv/convert.h>
#include <libyuv/convert_argb.h>
#include <libyuv/convert_from.h>
#include <libyuv/convert_from_argb.h>
#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
#include <libyuv/rotate_argb.h>
#include <libyuv/scale.h>
#include <libyuv/scale_argb.h>
#include <libyuv/scale_uv.h>

#include <libyuv/row.h>

// The matrices are globals of which Swift imports no address that stays valid; a pointer to one it can use.
#define PIPSINK_YUV_MATRIX(name) \
  static inline const struct YuvConstants *pipsink_##name(void) { return &name; }
PIPSINK_YUV_MATRIX(kYuvI601Constants)
PIPSINK_YUV_MATRIX(kYuvJPEGConstants)
PIPSINK_YUV_MATRIX(kYuvH709Constants)
PIPSINK_YUV_MATRIX(kYuvF709Constants)
PIPSINK_YUV_MATRIX(kYuv2020Constants)
PIPSINK_YUV_MATRIX(kYuvV2020Constants)
#undef PIPSINK_YUV_MATRIX

/// Sets a matrix's weight of U in blue, in 1/64, where the processor's layout of the matrix is known to take it.
static inline void pipsink_set_blue_weight(struct YuvConstants *matrix, uint8_t weight) {
#if defined(__x86_64__) || defined(__i386__)
  for (int i = 0; i < 32; i += 2) matrix->kUVToB[i] = weight;
#else
  (void)matrix;
  (void)weight;
#endif
}

#endif
