// Takes packed ten-bit pixels apart, and makes samples of eight bits from samples of ten or more by an ordered dither.
// libyuv has no function for the former, and cuts off the lower bits.
#ifndef PIPSINK_CLIBYUV_DITHER_H
#define PIPSINK_CLIBYUV_DITHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "shrink.h"

// Eight words in units of 1/256 of an eight-bit sample become eight samples. A sum beyond 16 bits becomes the largest
// word. Compilers make one instruction of the two lines for that.
static inline pipsink_u8x8 pipsink_dither_block(pipsink_u16x8 words, pipsink_u16x8 thresholds) {
  pipsink_u16x8 sums = words + thresholds;
  sums |= (pipsink_u16x8)(sums < words);
  return __builtin_convertvector(sums >> 8, pipsink_u8x8);
}

// Makes a row of eight-bit samples from a row of words, which are shifted to the left by `shift`. `first` and `second`
// are the thresholds of sixteen samples that follow each other.
static inline __attribute__((always_inline)) void pipsink_dither_row(
    const uint8_t *source, uint8_t *target, int count, int shift, pipsink_u16x8 first, pipsink_u16x8 second) {
  int x = 0;
  for (; x + 16 <= count; x += 16) {
    pipsink_u8x8 left = pipsink_dither_block(pipsink_load(source + 2 * x) << shift, first);
    pipsink_u8x8 right = pipsink_dither_block(pipsink_load(source + 2 * x + 16) << shift, second);
    memcpy(target + x, &left, 8);
    memcpy(target + x + 8, &right, 8);
  }
  for (; x < count; x++) {
    unsigned sum = (pipsink_word(source + 2 * x) << shift & 65535) + (x % 16 < 8 ? first : second)[x % 8];
    target[x] = sum > 65535 ? 255 : sum >> 8;
  }
}

/// Makes a plane of eight-bit samples from a plane of words.
///
/// After a shift to the left by `shift`, which is 0 or 6, the upper eight bits of a word are whole samples. `thresholds`
/// has a byte for each column of a row in the pattern, from the lowest one on, in units of 1/256 of a sample. The first
/// row here is that of the pattern's row `first_row`. Where samples come `in_pairs`, the two of a pair have the same
/// column. `count` is the number of samples in a row.
static inline void pipsink_dither_plane(
    const uint8_t *source, ptrdiff_t source_stride, uint8_t *target, ptrdiff_t target_stride, int count, int height,
    int shift, const uint64_t thresholds[8], int first_row, bool in_pairs) {
  for (int y = 0; y < height; y++, source += source_stride, target += target_stride) {
    const uint64_t row = thresholds[(first_row + y) & 7];
    pipsink_u8x8 bytes;
    memcpy(&bytes, &row, 8);
    pipsink_u16x8 first = __builtin_convertvector(bytes, pipsink_u16x8), second = first;
    if (in_pairs) {
      first = __builtin_shufflevector(first, first, 0, 0, 1, 1, 2, 2, 3, 3);
      second = __builtin_shufflevector(second, second, 4, 4, 5, 5, 6, 6, 7, 7);
    }
    if (shift == 0)
      pipsink_dither_row(source, target, count, 0, first, second);
    else
      pipsink_dither_row(source, target, count, 6, first, second);
  }
}

/// Takes a row of Y210 apart, whose words are Y, U, Y, V, with ten bits in the upper part of each. The words of the
/// targets have them in the lower part. `width` is the number of pixels.
static inline void pipsink_split_y210_row(
    const uint8_t *source, uint8_t *y, uint8_t *u, uint8_t *v, int width) {
  int x = 0;
  for (; x + 8 <= width; x += 8) {
    pipsink_u32x4 left = (pipsink_u32x4)pipsink_load(source + 4 * x);
    pipsink_u32x4 right = (pipsink_u32x4)pipsink_load(source + 4 * x + 16);
    pipsink_u16x4 lumas[2] = {
        __builtin_convertvector((left & 65535) >> 6, pipsink_u16x4),
        __builtin_convertvector((right & 65535) >> 6, pipsink_u16x4)};
    memcpy(y + 2 * x, lumas, 16);
    // Each half of these has a U in its lower half and a V in its upper one.
    pipsink_u16x4 chromas[2] = {
        __builtin_convertvector(left >> 22, pipsink_u16x4), __builtin_convertvector(right >> 22, pipsink_u16x4)};
    for (int pair = 0; pair < 4; pair++) {
      pipsink_store_word(u + x + 2 * pair, chromas[pair / 2][pair % 2 * 2]);
      pipsink_store_word(v + x + 2 * pair, chromas[pair / 2][pair % 2 * 2 + 1]);
    }
  }
  for (; x < width; x++) {
    pipsink_store_word(y + 2 * x, pipsink_word(source + 4 * x) >> 6);
    if (x % 2 == 0) {
      pipsink_store_word(u + x, pipsink_word(source + 4 * x + 2) >> 6);
      pipsink_store_word(v + x, pipsink_word(source + 4 * x + 6) >> 6);
    }
  }
}

/// Puts a row of Y210 together, the reverse of `pipsink_split_y210_row`. Where the width is odd, the last pair of
/// pixels has the last luma twice.
static inline void pipsink_merge_y210_row(
    const uint8_t *y, const uint8_t *u, const uint8_t *v, uint8_t *target, int width) {
  for (int x = 0; x < width; x += 2) {
    uint64_t first = pipsink_word(y + 2 * x) << 6 & 65535;
    uint64_t second = x + 1 < width ? pipsink_word(y + 2 * x + 2) << 6 & 65535 : first;
    uint64_t chroma = (uint64_t)(pipsink_word(u + x) << 6 & 65535) << 16 | (uint64_t)(pipsink_word(v + x) << 6 & 65535) << 48;
    uint64_t pixels = first | second << 32 | chroma;
    memcpy(target + 4 * x, &pixels, 8);
  }
}

#endif
