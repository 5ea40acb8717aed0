// libyuv's C interface, and the few things in it that Swift cannot import. Debian's package has no pkg-config file, so
// the module map names the library.
#ifndef PIPSINK_CLIBYUV_SHIM_H
#define PIPSINK_CLIBYUV_SHIM_H

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

// The matrices are globals of an incomplete type, which Swift does not import; a pointer to one it does.
#define PIPSINK_YUV_MATRIX(name) \
  static inline const struct YuvConstants *pipsink_##name(void) { return &name; }
PIPSINK_YUV_MATRIX(kYuvI601Constants)
PIPSINK_YUV_MATRIX(kYuvJPEGConstants)
PIPSINK_YUV_MATRIX(kYuvH709Constants)
PIPSINK_YUV_MATRIX(kYuvF709Constants)
PIPSINK_YUV_MATRIX(kYuv2020Constants)
PIPSINK_YUV_MATRIX(kYuvV2020Constants)
#undef PIPSINK_YUV_MATRIX

#endif
