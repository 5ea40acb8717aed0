// Makes planes smaller by two and by four, as libyuv's box filter does, with the same results.
//
// libyuv reads two or four rows at the same time. When a frame is not in the processor's nearest cache, which is the
// usual case of a video, the processor does not guess what is read next, and waits for the memory. These functions ask
// for the next rows in the order in which they are in memory, a cache line for each line that they read. That needs
// only about half of the time (docs/decisions/scaling.md).
#ifndef PIPSINK_CLIBYUV_SHRINK_H
#define PIPSINK_CLIBYUV_SHRINK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t pipsink_u16x8 __attribute__((vector_size(16)));
typedef uint32_t pipsink_u32x4 __attribute__((vector_size(16)));
typedef uint64_t pipsink_u64x2 __attribute__((vector_size(16)));
typedef uint8_t pipsink_u8x8 __attribute__((vector_size(8)));
typedef uint8_t pipsink_u8x4 __attribute__((vector_size(4)));

/// Reads a byte of each cache line from one address to another, so that all of the memory is in the cache afterwards.
static inline void pipsink_fetch(const uint8_t *bytes, const uint8_t *end) {
  for (; bytes < end; bytes += 64) (void)*(const volatile uint8_t *)bytes;
}

// Sixteen bytes from any address, as eight words, whose lower halves are the even bytes.
static inline pipsink_u16x8 pipsink_load(const uint8_t *bytes) {
  pipsink_u16x8 words;
  memcpy(&words, bytes, 16);
  return words;
}

// The sums of sixteen columns of bytes over some rows: of the even columns and of the odd ones.
struct pipsink_column_sums {
  pipsink_u16x8 even, odd;
};

static inline struct pipsink_column_sums pipsink_sum_columns(const uint8_t *bytes, ptrdiff_t stride, int rows) {
  struct pipsink_column_sums sums = {{0}, {0}};
  for (int row = 0; row < rows; row++) {
    pipsink_u16x8 words = pipsink_load(bytes + row * stride);
    sums.even += words & 255;
    sums.odd += words >> 8;
  }
  return sums;
}

// The scalar sum of a box of samples that are `step` bytes apart.
static inline unsigned pipsink_sum_box(const uint8_t *bytes, ptrdiff_t stride, int side, int step) {
  unsigned sum = 0;
  for (int row = 0; row < side; row++)
    for (int column = 0; column < side; column++) sum += bytes[row * stride + column * step];
  return sum;
}

// The distance between the lines to ask for in advance, so that `count` of them are spread over the next `rows` rows.
static inline ptrdiff_t pipsink_prefetch_step(ptrdiff_t stride, int rows, int count) {
  return count > 0 ? stride * rows / count : 0;
}

/// Makes a plane of bytes a quarter as wide and high. The strides are in bytes; the source's may be negative.
static inline void pipsink_quarter_bytes(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height) {
  ptrdiff_t step = pipsink_prefetch_step(source_stride, 4, width / 4);
  for (int y = 0; y < height; y++, source += 4 * source_stride, target += target_stride) {
    const uint8_t *next = source + 4 * source_stride;
    int x = 0;
    for (; x + 4 <= width; x += 4, next += step) {
      __builtin_prefetch(next);
      struct pipsink_column_sums sums = pipsink_sum_columns(source + 4 * x, source_stride, 4);
      pipsink_u32x4 pairs = (pipsink_u32x4)(sums.even + sums.odd);
      pipsink_u8x4 result = __builtin_convertvector((((pairs & 65535) + (pairs >> 16)) + 8) >> 4, pipsink_u8x4);
      memcpy(target + x, &result, 4);
    }
    for (; x < width; x++) target[x] = (pipsink_sum_box(source + 4 * x, source_stride, 4, 1) + 8) >> 4;
  }
}

/// Makes a plane of pairs of bytes a quarter as wide and high. The width is in pairs and the strides are in bytes; the
/// source's may be negative.
static inline void pipsink_quarter_pairs(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height) {
  ptrdiff_t step = pipsink_prefetch_step(source_stride, 4, width / 2);
  for (int y = 0; y < height; y++, source += 4 * source_stride, target += target_stride) {
    const uint8_t *next = source + 4 * source_stride;
    int x = 0;
    for (; x + 2 <= width; x += 2, next += step) {
      __builtin_prefetch(next);
      struct pipsink_column_sums sums = pipsink_sum_columns(source + 8 * x, source_stride, 4);
      pipsink_u32x4 even = (pipsink_u32x4)sums.even, odd = (pipsink_u32x4)sums.odd;
      pipsink_u64x2 firsts = (pipsink_u64x2)((even & 65535) + (even >> 16));
      pipsink_u64x2 seconds = (pipsink_u64x2)((odd & 65535) + (odd >> 16));
      firsts = ((firsts & 0xffffffff) + (firsts >> 32) + 8) >> 4;
      seconds = ((seconds & 0xffffffff) + (seconds >> 32) + 8) >> 4;
      pipsink_u64x2 result = firsts | seconds << 8;
      target[2 * x] = result[0], target[2 * x + 1] = result[0] >> 8;
      target[2 * x + 2] = result[1], target[2 * x + 3] = result[1] >> 8;
    }
    for (; x < width; x++)
      for (int half = 0; half < 2; half++)
        target[2 * x + half] = (pipsink_sum_box(source + 8 * x + half, source_stride, 4, 2) + 8) >> 4;
  }
}

/// Makes a plane of bytes half as wide and high. The strides are in bytes; the source's may be negative.
static inline void pipsink_halve_bytes(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height) {
  ptrdiff_t step = pipsink_prefetch_step(source_stride, 2, width / 16);
  for (int y = 0; y < height; y++, source += 2 * source_stride, target += target_stride) {
    const uint8_t *next = source + 2 * source_stride;
    int x = 0;
    for (; x + 8 <= width; x += 8) {
      if (x % 16 == 0) {
        __builtin_prefetch(next);
        next += step;
      }
      struct pipsink_column_sums sums = pipsink_sum_columns(source + 2 * x, source_stride, 2);
      pipsink_u8x8 result = __builtin_convertvector((sums.even + sums.odd + 2) >> 2, pipsink_u8x8);
      memcpy(target + x, &result, 8);
    }
    for (; x < width; x++) target[x] = (pipsink_sum_box(source + 2 * x, source_stride, 2, 1) + 2) >> 2;
  }
}

/// Makes a plane of pairs of bytes half as wide and high. The width is in pairs and the strides are in bytes; the
/// source's may be negative.
static inline void pipsink_halve_pairs(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height) {
  ptrdiff_t step = pipsink_prefetch_step(source_stride, 2, width / 8);
  for (int y = 0; y < height; y++, source += 2 * source_stride, target += target_stride) {
    const uint8_t *next = source + 2 * source_stride;
    int x = 0;
    for (; x + 4 <= width; x += 4) {
      if (x % 8 == 0) {
        __builtin_prefetch(next);
        next += step;
      }
      struct pipsink_column_sums sums = pipsink_sum_columns(source + 4 * x, source_stride, 2);
      pipsink_u32x4 even = (pipsink_u32x4)sums.even, odd = (pipsink_u32x4)sums.odd;
      even = ((even & 65535) + (even >> 16) + 2) >> 2;
      odd = ((odd & 65535) + (odd >> 16) + 2) >> 2;
      typedef uint16_t u16x4 __attribute__((vector_size(8)));
      u16x4 result = __builtin_convertvector(even | odd << 8, u16x4);
      memcpy(target + 2 * x, &result, 8);
    }
    for (; x < width; x++)
      for (int half = 0; half < 2; half++)
        target[2 * x + half] = (pipsink_sum_box(source + 4 * x + half, source_stride, 2, 2) + 2) >> 2;
  }
}

/// Makes a plane of pixels of four bytes half as wide and high. The width is in pixels and the strides are in bytes; the
/// source's may be negative.
static inline void pipsink_halve_pixels(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height) {
  ptrdiff_t step = pipsink_prefetch_step(source_stride, 2, width / 4);
  for (int y = 0; y < height; y++, source += 2 * source_stride, target += target_stride) {
    const uint8_t *next = source + 2 * source_stride;
    int x = 0;
    for (; x + 2 <= width; x += 2) {
      if (x % 4 == 0) {
        __builtin_prefetch(next);
        next += step;
      }
      struct pipsink_column_sums sums = pipsink_sum_columns(source + 8 * x, source_stride, 2);
      // Each half of these holds the sums of two bytes of a pixel, which need less than 16 bits each.
      pipsink_u64x2 even = (pipsink_u64x2)sums.even, odd = (pipsink_u64x2)sums.odd;
      even = ((even & 0xffffffff) + (even >> 32) + 0x20002) >> 2 & 0xff00ff;
      odd = ((odd & 0xffffffff) + (odd >> 32) + 0x20002) >> 2 & 0xff00ff;
      pipsink_u64x2 result = even | odd << 8;
      uint32_t pixels[2] = {(uint32_t)result[0], (uint32_t)result[1]};
      memcpy(target + 4 * x, pixels, 8);
    }
    for (; x < width; x++)
      for (int byte = 0; byte < 4; byte++)
        target[4 * x + byte] = (pipsink_sum_box(source + 8 * x + byte, source_stride, 2, 4) + 2) >> 2;
  }
}

#endif
