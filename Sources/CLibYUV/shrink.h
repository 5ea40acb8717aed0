// Makes planes smaller by two and by four, as libyuv's box filter does, with the same results.
//
// libyuv reads two or four rows side by side. A frame of a video is usually not in the processor's caches, and then
// libyuv takes about twice as long as these functions. They ask for the next rows in the order of the memory, a cache
// line for each line that they read (docs/decisions/scaling.md).
#ifndef PIPSINK_CLIBYUV_SHRINK_H
#define PIPSINK_CLIBYUV_SHRINK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t pipsink_u16x8 __attribute__((vector_size(16)));
typedef uint32_t pipsink_u32x4 __attribute__((vector_size(16)));
typedef uint64_t pipsink_u64x2 __attribute__((vector_size(16)));
typedef uint16_t pipsink_u16x4 __attribute__((vector_size(8)));
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

// Makes a plane of samples of `size` bytes smaller by `factor`, which is 2 or 4. `block` makes 16 / factor bytes of the
// target from the 16 bytes at the same place in each of `factor` rows. The rest of a row is made byte by byte.
static inline __attribute__((always_inline)) void pipsink_shrink(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height,
    int factor, int size, void (*block)(const uint8_t *source, ptrdiff_t stride, uint8_t *target)) {
  const int count = width * size, step = 16 / factor;
  // So many bytes of the target are made from as many bytes of the source as a cache line has.
  const int line = 64 / (factor * factor);
  // The lines of the next rows are asked for at even distances, also where the rows have padding.
  const ptrdiff_t distance = count >= line ? source_stride * factor / (count / line) : 0;
  for (int y = 0; y < height; y++, source += factor * source_stride, target += target_stride) {
    const uint8_t *next = source + factor * source_stride;
    int x = 0;
    for (; x + step <= count; x += step) {
      if (x % line == 0) {
        __builtin_prefetch(next);
        next += distance;
      }
      block(source + factor * x, source_stride, target + x);
    }
    for (; x < count; x++) {
      const uint8_t *box = source + x / size * size * factor + x % size;
      unsigned sum = factor * factor / 2;
      for (int row = 0; row < factor; row++)
        for (int column = 0; column < factor; column++) sum += box[row * source_stride + column * size];
      target[x] = sum / (factor * factor);
    }
  }
}

static inline void pipsink_quarter_bytes_block(const uint8_t *source, ptrdiff_t stride, uint8_t *target) {
  struct pipsink_column_sums sums = pipsink_sum_columns(source, stride, 4);
  pipsink_u32x4 pairs = (pipsink_u32x4)(sums.even + sums.odd);
  pipsink_u8x4 result = __builtin_convertvector((((pairs & 65535) + (pairs >> 16)) + 8) >> 4, pipsink_u8x4);
  memcpy(target, &result, 4);
}

static inline void pipsink_quarter_pairs_block(const uint8_t *source, ptrdiff_t stride, uint8_t *target) {
  struct pipsink_column_sums sums = pipsink_sum_columns(source, stride, 4);
  pipsink_u32x4 even = (pipsink_u32x4)sums.even, odd = (pipsink_u32x4)sums.odd;
  pipsink_u64x2 firsts = (pipsink_u64x2)((even & 65535) + (even >> 16));
  pipsink_u64x2 seconds = (pipsink_u64x2)((odd & 65535) + (odd >> 16));
  firsts = ((firsts & 0xffffffff) + (firsts >> 32) + 8) >> 4;
  seconds = ((seconds & 0xffffffff) + (seconds >> 32) + 8) >> 4;
  pipsink_u64x2 result = firsts | seconds << 8;
  uint16_t pairs[2] = {(uint16_t)result[0], (uint16_t)result[1]};
  memcpy(target, pairs, 4);
}

static inline void pipsink_halve_bytes_block(const uint8_t *source, ptrdiff_t stride, uint8_t *target) {
  struct pipsink_column_sums sums = pipsink_sum_columns(source, stride, 2);
  pipsink_u8x8 result = __builtin_convertvector((sums.even + sums.odd + 2) >> 2, pipsink_u8x8);
  memcpy(target, &result, 8);
}

static inline void pipsink_halve_pairs_block(const uint8_t *source, ptrdiff_t stride, uint8_t *target) {
  struct pipsink_column_sums sums = pipsink_sum_columns(source, stride, 2);
  pipsink_u32x4 even = (pipsink_u32x4)sums.even, odd = (pipsink_u32x4)sums.odd;
  even = ((even & 65535) + (even >> 16) + 2) >> 2;
  odd = ((odd & 65535) + (odd >> 16) + 2) >> 2;
  pipsink_u16x4 result = __builtin_convertvector(even | odd << 8, pipsink_u16x4);
  memcpy(target, &result, 8);
}

static inline void pipsink_halve_pixels_block(const uint8_t *source, ptrdiff_t stride, uint8_t *target) {
  struct pipsink_column_sums sums = pipsink_sum_columns(source, stride, 2);
  // Each half of these holds the sums of two bytes of a pixel, which need less than 16 bits each.
  pipsink_u64x2 even = (pipsink_u64x2)sums.even, odd = (pipsink_u64x2)sums.odd;
  even = ((even & 0xffffffff) + (even >> 32) + 0x20002) >> 2 & 0xff00ff;
  odd = ((odd & 0xffffffff) + (odd >> 32) + 0x20002) >> 2 & 0xff00ff;
  pipsink_u64x2 result = even | odd << 8;
  uint32_t pixels[2] = {(uint32_t)result[0], (uint32_t)result[1]};
  memcpy(target, pixels, 8);
}

// The functions for Swift. The width is that of the target, in samples; the strides are in bytes, and the source's may
// be negative.
#define PIPSINK_SHRINK(name, factor, size) \
  static inline void pipsink_##name( \
      const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, \
      int height) { \
    pipsink_shrink( \
        source, source_stride, target, target_stride, width, height, factor, size, pipsink_##name##_block); \
  }
PIPSINK_SHRINK(halve_bytes, 2, 1)
PIPSINK_SHRINK(halve_pairs, 2, 2)
PIPSINK_SHRINK(halve_pixels, 2, 4)
PIPSINK_SHRINK(quarter_bytes, 4, 1)
PIPSINK_SHRINK(quarter_pairs, 4, 2)
#undef PIPSINK_SHRINK

#endif
