// Scales planes of words, and of pairs of words, by any ratio with a bilinear filter. libyuv's for words has no vector
// instructions (docs/decisions/scaling.md).
#ifndef PIPSINK_CLIBYUV_BILINEAR_H
#define PIPSINK_CLIBYUV_BILINEAR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shrink.h"

typedef int16_t pipsink_i16x8 __attribute__((vector_size(16)));
typedef int32_t pipsink_i32x4 __attribute__((vector_size(16)));
typedef int32_t pipsink_i32x8 __attribute__((vector_size(32)));

// Two weights add up to this, so that each of them and each sum of products fits a signed integer.
enum { PIPSINK_WEIGHT_BITS = 14, PIPSINK_WHOLE_WEIGHT = 1 << PIPSINK_WEIGHT_BITS };

// The places in the source of the rows or columns of a target, in units of 1/65536.
struct pipsink_places {
  int64_t first, step;
};

// Returns libyuv's places. A target that is longer begins and ends with the source's first and last sample. One that is
// shorter has its samples in the middle of what they cover.
static inline struct pipsink_places pipsink_places(int source, int target) {
  struct pipsink_places places = {0, 0};
  if (target <= source) {
    places.step = ((int64_t)source << 16) / target;
    places.first = places.step / 2 - 32768;
  } else if (source > 1) {
    places.step = (((int64_t)source << 16) - 65537) / (target - 1);
  }
  return places;
}

// The table for scaling rows. For each column of the target it has the byte in a row of the source at which the two
// samples begin that are blended, and for each word the weights of both. Where the widths differ, the source has both,
// unless it is only one sample wide.
struct pipsink_columns {
  uint32_t *offsets;
  int16_t *weights;
};

static inline void pipsink_fill_columns(struct pipsink_columns columns, int source_width, int width, int size) {
  const struct pipsink_places places = pipsink_places(source_width, width);
  for (int x = 0; x < width; x++) {
    const int64_t place = places.first + x * places.step;
    const int weight = (int)(((place & 65535) + 2) >> (16 - PIPSINK_WEIGHT_BITS));
    columns.offsets[x] = (uint32_t)(2 * size * (place >> 16));
    for (int word = x * size; word < (x + 1) * size; word++) {
      columns.weights[2 * word] = (int16_t)(PIPSINK_WHOLE_WEIGHT - weight);
      columns.weights[2 * word + 1] = (int16_t)weight;
    }
  }
}

// Blends each two of eight words, from which 32768 was subtracted. Compilers make one instruction of the products and
// their sums. The shift to the left tells them that the results have 16 bits.
static inline pipsink_i32x4 pipsink_blend_neighbours(pipsink_u16x8 words, pipsink_i16x8 weights) {
  pipsink_i32x8 products = __builtin_convertvector((pipsink_i16x8)words, pipsink_i32x8) *
      __builtin_convertvector(weights, pipsink_i32x8);
  pipsink_i32x4 sums = __builtin_shufflevector(products, products, 0, 2, 4, 6) +
      __builtin_shufflevector(products, products, 1, 3, 5, 7);
  sums += PIPSINK_WHOLE_WEIGHT / 2;
  return (pipsink_i32x4)((pipsink_u32x4)sums << (16 - PIPSINK_WEIGHT_BITS)) >> 16;
}

static inline void pipsink_store_blended(uint8_t *target, pipsink_i32x4 first, pipsink_i32x4 second) {
  pipsink_i16x8 words = __builtin_convertvector(
      __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7), pipsink_i16x8);
  words ^= INT16_MIN;
  memcpy(target, &words, 16);
}

static inline unsigned pipsink_blend_words(unsigned first, unsigned second, unsigned weight) {
  return (first * (PIPSINK_WHOLE_WEIGHT - weight) + second * weight + PIPSINK_WHOLE_WEIGHT / 2) >> PIPSINK_WEIGHT_BITS;
}

// Blends two rows of `count` words. The weight of the second one is in units of 1/256. The bytes of the words are
// blended separately, so that sums of products fit 16 bits.
static inline void pipsink_blend_rows(
    const uint8_t *first, const uint8_t *second, uint8_t *target, int count, unsigned weight) {
  const uint16_t weights[2] = {(uint16_t)(256 - weight), (uint16_t)weight};
  int x = 0;
  for (; x + 8 <= count; x += 8) {
    pipsink_u16x8 a = pipsink_load(first + 2 * x), b = pipsink_load(second + 2 * x);
    pipsink_u16x8 upper = (a >> 8) * weights[0] + (b >> 8) * weights[1];
    pipsink_u16x8 lower = (a & 255) * weights[0] + (b & 255) * weights[1];
    upper += (lower + 128) >> 8;
    memcpy(target + 2 * x, &upper, 16);
  }
  for (; x < count; x++) {
    unsigned sum = pipsink_word(first + 2 * x) * weights[0] + pipsink_word(second + 2 * x) * weights[1];
    pipsink_store_word(target + 2 * x, (sum + 128) >> 8);
  }
}

static inline uint32_t pipsink_load_32(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, 4);
  return value;
}

static inline uint64_t pipsink_load_64(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, 8);
  return value;
}

// Blends the words of the next columns: of four, or of two pairs. Their samples are beside each other in the source.
static inline __attribute__((always_inline)) pipsink_i32x4 pipsink_blend_columns(
    const uint8_t *source, const uint32_t *offsets, const int16_t *weights, int size) {
  pipsink_u16x8 words;
  if (size == 1) {
    pipsink_u32x4 samples = {
        pipsink_load_32(source + offsets[0]), pipsink_load_32(source + offsets[1]),
        pipsink_load_32(source + offsets[2]), pipsink_load_32(source + offsets[3])};
    words = (pipsink_u16x8)samples;
  } else {
    pipsink_u64x2 samples = {pipsink_load_64(source + offsets[0]), pipsink_load_64(source + offsets[1])};
    words = (pipsink_u16x8)samples;
    words = __builtin_shufflevector(words, words, 0, 2, 1, 3, 4, 6, 5, 7);
  }
  return pipsink_blend_neighbours(words ^ 0x8000, (pipsink_i16x8)pipsink_load((const uint8_t *)weights));
}

// Scales a row of samples of one or two words (`size`).
static inline __attribute__((always_inline)) void pipsink_scale_row(
    const uint8_t *source, int source_width, uint8_t *target, int width, int size, struct pipsink_columns columns) {
  const int count = width * size, half = 4 / size;
  int x = 0;
  if (source_width > 1)
    for (; x + 8 <= count; x += 8) {
      const uint32_t *offsets = columns.offsets + x / size;
      const int16_t *weights = columns.weights + 2 * x;
      pipsink_store_blended(
          target + 2 * x, pipsink_blend_columns(source, offsets, weights, size),
          pipsink_blend_columns(source, offsets + half, weights + 8, size));
    }
  const ptrdiff_t next = source_width > 1 ? 2 * size : 0;
  for (; x < count; x++) {
    const uint8_t *sample = source + columns.offsets[x / size] + x % size * 2;
    pipsink_store_word(
        target + 2 * x,
        pipsink_blend_words(pipsink_word(sample), pipsink_word(sample + next), (unsigned)columns.weights[2 * x + 1]));
  }
}

static inline __attribute__((always_inline)) void pipsink_scale(
    const uint8_t *source, ptrdiff_t source_stride, int source_width, int source_height, uint8_t *target,
    ptrdiff_t target_stride, int width, int height, int size, uint8_t *memory) {
  const int source_count = source_width * size, count = width * size;
  struct pipsink_columns columns = {(uint32_t *)memory, (int16_t *)memory + 2 * width};
  uint8_t *rows[2] = {memory + 4 * width + 4 * count, memory + 4 * width + 6 * count};
  // The rows of the source that were scaled into these.
  int scaled[2] = {-1, -1};
  const struct pipsink_places places = pipsink_places(source_height, height);
  if (source_width != width) pipsink_fill_columns(columns, source_width, width, size);
  for (int y = 0; y < height; y++, target += target_stride) {
    const int64_t place = places.first + y * places.step;
    const int index = (int)(place >> 16), next = index + 1 < source_height ? index + 1 : index;
    const unsigned weight = place >> 8 & 255;
    const uint8_t *first = source + index * source_stride, *second = source + next * source_stride;
    if (source_width == width) {
      pipsink_blend_rows(first, second, target, count, weight);
    } else if (height <= source_height) {
      if (weight != 0) {
        pipsink_blend_rows(first, second, rows[0], source_count, weight);
        first = rows[0];
      }
      pipsink_scale_row(first, source_width, target, width, size, columns);
    } else {
      // Each row of the source is scaled once.
      for (int row = index; row <= next; row++)
        if (scaled[row % 2] != row) {
          pipsink_scale_row(source + row * source_stride, source_width, rows[row % 2], width, size, columns);
          scaled[row % 2] = row;
        }
      pipsink_blend_rows(rows[index % 2], rows[next % 2], target, count, weight);
    }
  }
}

/// The number of bytes that the functions below need, for samples of one or two words (`size`).
static inline ptrdiff_t pipsink_scale_byte_count(int source_width, int width, int size) {
  // One row of the source, or two of the target.
  const ptrdiff_t words = (source_width > 2 * width ? source_width : 2 * width) * size;
  return 4 * width + 4 * width * size + (words + 1) / 2 * 4;
}

// The functions for Swift. The strides are in bytes, and may be negative. `memory` is aligned for 32-bit integers.
static inline void pipsink_scale_words(
    const uint8_t *source, ptrdiff_t source_stride, int source_width, int source_height, uint8_t *target,
    ptrdiff_t target_stride, int width, int height, uint8_t *memory) {
  pipsink_scale(
      source, source_stride, source_width, source_height, target, target_stride, width, height, 1, memory);
}

static inline void pipsink_scale_word_pairs(
    const uint8_t *source, ptrdiff_t source_stride, int source_width, int source_height, uint8_t *target,
    ptrdiff_t target_stride, int width, int height, uint8_t *memory) {
  pipsink_scale(
      source, source_stride, source_width, source_height, target, target_stride, width, height, 2, memory);
}

#endif
