// Makes planes smaller by two and by four, as libyuv's box filter does, with the same results, and planes of words by
// one and a half.
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

static inline unsigned pipsink_word(const uint8_t *bytes) {
  uint16_t word;
  memcpy(&word, bytes, 2);
  return word;
}

static inline void pipsink_store_word(uint8_t *bytes, unsigned value) {
  uint16_t word = (uint16_t)value;
  memcpy(bytes, &word, 2);
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

// Makes a plane of samples of `size` bytes smaller by `factor`, which is 2 or 4. The bytes are values of their own, or
// with a `depth` of 2 the halves of words. `block` makes 16 / factor bytes of the target from the 16 bytes at the same
// place in each of `factor` rows. The rest of a row is made value by value.
static inline __attribute__((always_inline)) void pipsink_shrink(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height,
    int factor, int size, int depth, void (*block)(const uint8_t *source, ptrdiff_t stride, uint8_t *target)) {
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
    for (; x < count; x += depth) {
      const uint8_t *box = source + x / size * size * factor + x % size;
      unsigned sum = factor * factor / 2;
      for (int row = 0; row < factor; row++)
        for (int column = 0; column < factor; column++) {
          const uint8_t *value = box + row * source_stride + column * size;
          sum += depth == 2 ? pipsink_word(value) : *value;
        }
      sum /= factor * factor;
      if (depth == 2)
        pipsink_store_word(target + x, sum);
      else
        target[x] = sum;
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

static inline pipsink_u32x4 pipsink_load_words(const uint8_t *bytes) { return (pipsink_u32x4)pipsink_load(bytes); }

// The sums of the two words in each of four times four bytes, over some rows.
static inline pipsink_u32x4 pipsink_sum_words(const uint8_t *bytes, ptrdiff_t stride, int rows) {
  pipsink_u32x4 sums = {0};
  for (int row = 0; row < rows; row++) {
    pipsink_u32x4 words = pipsink_load_words(bytes + row * stride);
    sums += (words & 65535) + (words >> 16);
  }
  return sums;
}

// The sums of the two pairs of words in each half of 16 bytes, over some rows: two for each half.
static inline pipsink_u32x4 pipsink_sum_word_pairs(const uint8_t *bytes, ptrdiff_t stride, int rows) {
  pipsink_u32x4 firsts = {0}, seconds = {0};
  for (int row = 0; row < rows; row++) {
    pipsink_u32x4 words = pipsink_load_words(bytes + row * stride);
    firsts += words & 65535;
    seconds += words >> 16;
  }
  return (pipsink_u32x4){
      firsts[0] + firsts[1], seconds[0] + seconds[1], firsts[2] + firsts[3], seconds[2] + seconds[3]};
}

static inline void pipsink_halve_words_block(const uint8_t *source, ptrdiff_t stride, uint8_t *target) {
  pipsink_u16x4 result = __builtin_convertvector((pipsink_sum_words(source, stride, 2) + 2) >> 2, pipsink_u16x4);
  memcpy(target, &result, 8);
}

static inline void pipsink_quarter_words_block(const uint8_t *source, ptrdiff_t stride, uint8_t *target) {
  pipsink_u32x4 sums = pipsink_sum_words(source, stride, 4);
  uint16_t words[2] = {(uint16_t)((sums[0] + sums[1] + 8) >> 4), (uint16_t)((sums[2] + sums[3] + 8) >> 4)};
  memcpy(target, words, 4);
}

static inline void pipsink_halve_word_pairs_block(const uint8_t *source, ptrdiff_t stride, uint8_t *target) {
  pipsink_u16x4 result = __builtin_convertvector((pipsink_sum_word_pairs(source, stride, 2) + 2) >> 2, pipsink_u16x4);
  memcpy(target, &result, 8);
}

static inline void pipsink_quarter_word_pairs_block(const uint8_t *source, ptrdiff_t stride, uint8_t *target) {
  pipsink_u32x4 sums = pipsink_sum_word_pairs(source, stride, 4);
  uint16_t words[2] = {(uint16_t)((sums[0] + sums[2] + 8) >> 4), (uint16_t)((sums[1] + sums[3] + 8) >> 4)};
  memcpy(target, words, 4);
}

static inline pipsink_u32x4 pipsink_load_four_words(const uint8_t *bytes) {
  pipsink_u16x4 words;
  memcpy(&words, bytes, 8);
  return __builtin_convertvector(words, pipsink_u32x4);
}

// Makes a plane of words, or of pairs of words (`size` is 1 or 2), smaller by one and a half: each three samples in
// three rows become two in two rows. Of the four samples that make one, the outermost counts nine times, its two
// neighbours three times, and the middle one once.
static inline __attribute__((always_inline)) void pipsink_shrink_by_thirds(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height,
    int size) {
  const int count = width * size;
  for (int y = 0; y < height; y += 2, source += 3 * source_stride, target += 2 * target_stride) {
    for (int row = 0; row < 2; row++) {
      const uint8_t *outer = source + 2 * row * source_stride, *middle = source + source_stride;
      uint8_t *result = target + row * target_stride;
      int x = 0;
      for (; x + 8 <= count; x += 8, outer += 24, middle += 24) {
        pipsink_u32x4 a = pipsink_load_four_words(outer) * 3 + pipsink_load_four_words(middle);
        pipsink_u32x4 b = pipsink_load_four_words(outer + 8) * 3 + pipsink_load_four_words(middle + 8);
        pipsink_u32x4 c = pipsink_load_four_words(outer + 16) * 3 + pipsink_load_four_words(middle + 16);
        pipsink_u32x4 left, center, right;
        if (size == 1) {
          left = __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 3, 6, 6), c, 0, 1, 2, 5);
          center = __builtin_shufflevector(__builtin_shufflevector(a, b, 1, 4, 7, 7), c, 0, 1, 2, 6);
          right = __builtin_shufflevector(__builtin_shufflevector(a, b, 2, 5, 5, 5), c, 0, 1, 4, 7);
        } else {
          left = __builtin_shufflevector(a, b, 0, 1, 6, 7);
          center = __builtin_shufflevector(a, c, 2, 3, 4, 5);
          right = __builtin_shufflevector(b, c, 0, 1, 6, 7);
        }
        left = (left * 3 + center + 8) >> 4;
        right = (right * 3 + center + 8) >> 4;
        pipsink_u16x4 lower = __builtin_convertvector(
            size == 1 ? __builtin_shufflevector(left, right, 0, 4, 1, 5)
                      : __builtin_shufflevector(left, right, 0, 1, 4, 5), pipsink_u16x4);
        pipsink_u16x4 upper = __builtin_convertvector(
            size == 1 ? __builtin_shufflevector(left, right, 2, 6, 3, 7)
                      : __builtin_shufflevector(left, right, 2, 3, 6, 7), pipsink_u16x4);
        memcpy(result + 2 * x, &lower, 8);
        memcpy(result + 2 * x + 8, &upper, 8);
      }
      for (; x < count; x++) {
        // The sample of the target, the component of its pair, and the side of the three on which it is.
        const int sample = x / size, component = x % size, side = sample % 2;
        const ptrdiff_t three = (ptrdiff_t)(sample / 2 * 3) * 2 * size + 2 * component;
        const uint8_t *outers = source + 2 * row * source_stride + three, *middles = source + source_stride + three;
        const int end = 4 * side * size, center = 2 * size;
        unsigned sum = 9 * pipsink_word(outers + end) + 3 * pipsink_word(outers + center);
        sum += 3 * pipsink_word(middles + end) + pipsink_word(middles + center);
        pipsink_store_word(result + 2 * x, (sum + 8) >> 4);
      }
    }
  }
}

// The functions for Swift. The width is that of the target, in samples; the strides are in bytes, and the source's may
// be negative.
#define PIPSINK_SHRINK(name, factor, size, depth) \
  static inline void pipsink_##name( \
      const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, \
      int height) { \
    pipsink_shrink( \
        source, source_stride, target, target_stride, width, height, factor, size, depth, pipsink_##name##_block); \
  }
PIPSINK_SHRINK(halve_bytes, 2, 1, 1)
PIPSINK_SHRINK(halve_pairs, 2, 2, 1)
PIPSINK_SHRINK(halve_pixels, 2, 4, 1)
PIPSINK_SHRINK(quarter_bytes, 4, 1, 1)
PIPSINK_SHRINK(quarter_pairs, 4, 2, 1)
PIPSINK_SHRINK(halve_words, 2, 2, 2)
PIPSINK_SHRINK(halve_word_pairs, 2, 4, 2)
PIPSINK_SHRINK(quarter_words, 4, 2, 2)
PIPSINK_SHRINK(quarter_word_pairs, 4, 4, 2)
#undef PIPSINK_SHRINK

static inline void pipsink_two_thirds_of_words(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height) {
  pipsink_shrink_by_thirds(source, source_stride, target, target_stride, width, height, 1);
}

static inline void pipsink_two_thirds_of_word_pairs(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int width, int height) {
  pipsink_shrink_by_thirds(source, source_stride, target, target_stride, width, height, 2);
}

#endif
