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

#include "bilinear.h"
#include "dither.h"
#include "shrink.h"

#include <elf.h>
#include <stddef.h>

// The matrices are globals, whose address Swift cannot take, so these functions return pointers to them. libyuv's
// documented headers declare the matrices without their content.
#define PIPSINK_YUV_MATRIX(name) \
  static inline const struct YuvConstants *pipsink_##name(void) { return &name; }
PIPSINK_YUV_MATRIX(kYuvI601Constants)
PIPSINK_YUV_MATRIX(kYuvJPEGConstants)
PIPSINK_YUV_MATRIX(kYuvH709Constants)
PIPSINK_YUV_MATRIX(kYuvF709Constants)
PIPSINK_YUV_MATRIX(kYuv2020Constants)
PIPSINK_YUV_MATRIX(kYuvV2020Constants)
#undef PIPSINK_YUV_MATRIX

// dlfcn.h declares dladdr1 only for programs that enable glibc's extensions, which Swift's module does not do. The
// structure is a Dl_info, and the flag 1 is RTLD_DL_SYMENT.
struct pipsink_dl_info {
  const char *file_name;
  void *file_base;
  const char *symbol_name;
  void *symbol_address;
};
extern int dladdr1(const void *address, struct pipsink_dl_info *info, void **extra, int flags);

/// The size of a matrix in bytes, from the symbol table of the loaded library; 0 when the library has no symbol for it.
static inline size_t pipsink_yuv_matrix_size(const struct YuvConstants *matrix) {
  struct pipsink_dl_info info = {0};
  void *symbol = NULL;
  if (dladdr1(matrix, &info, &symbol, 1) == 0 || symbol == NULL || info.symbol_address != (const void *)matrix) return 0;
#if defined(__LP64__)
  return ((const Elf64_Sym *)symbol)->st_size;
#else
  return ((const Elf32_Sym *)symbol)->st_size;
#endif
}

#endif
