// The convolutions of bytes for 64-bit Arm with products of matrices (i8mm):
// six pixels by a block. A product takes eight inputs of two pixels and as many
// weights of two channels, and adds to a block of two by two sums.
#include "kernels/conv2d_i8.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "kernels/target.h"

#define TAKT_CONV_I8_OWN_PRODUCTS

TAKT_TARGET_BEGIN("arch=armv8.2-a+dotprod+i8mm")

namespace takt::kernels {
namespace {

#include "kernels/conv2d_i8_neon_words.inc"

constexpr int kBlocks = 1;
constexpr int kPixelsMax = 6;
constexpr int kPixelStep = 1;
constexpr int PixelsOf(int64_t) { return 6; }

#include "kernels/conv2d_i8_rows.inc"

// For attention.
using Sums = Words;
inline void Dot(Sums& sums, uint32_t four, const int8_t* weights) {
  const int8x16_t inputs = vreinterpretq_s8_u32(vdupq_n_u32(four));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    sums.v[i] = vdotq_s32(sums.v[i], inputs, vld1q_s8(weights + 16 * i));
  }
}
inline void ToWords(const Sums& sums, Words* words) { *words = sums; }

// Adds the products of eight inputs of each pixel. `first` and `second` are the
// weights of four of them.
template <int kPairs>
inline void AddEight(const int8x16_t (&x)[kPairs], const int8_t* first,
                     const int8_t* second, int32x4_t (*sums)[8]) {
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    const int32x4_t a = vreinterpretq_s32_s8(vld1q_s8(first + 16 * q));
    const int32x4_t b = vreinterpretq_s32_s8(vld1q_s8(second + 16 * q));
    const int8x16_t low = vreinterpretq_s8_s32(vzip1q_s32(a, b));
    const int8x16_t high = vreinterpretq_s8_s32(vzip2q_s32(a, b));
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) {
      sums[p][2 * q] = vmmlaq_s32(sums[p][2 * q], x[p], low);
      sums[p][2 * q + 1] = vmmlaq_s32(sums[p][2 * q + 1], x[p], high);
    }
  }
}

// The last inputs of a row: four, or the rest, or both.
inline int8x8_t LoadLast(const Tile& t, const int8_t* row) {
  uint64_t eight = 0;
  if (t.fours % 2 != 0) eight = LoadFour(row + 4 * (t.fours - 1));
  if (t.rest != 0) {
    eight |= uint64_t{LoadRest(t, row)} << (t.fours % 2 != 0 ? 32 : 0);
  }
  return vcreate_s8(eight);
}

template <int kCount, int kWide>
inline void Products(const Tile& t, Words (*words)[kWide]) {
  static_assert(kWide == 1);
  static const int8_t kNothing[4 * kConvBlock] = {};
  constexpr int kPairs = (kCount + 1) / 2;
  int32x4_t sums[kPairs][8] = {};
  const int8_t* w = t.weights;
  for (int64_t tap = 0; tap < t.taps; ++tap) {
    const int8_t* rows[2 * kPairs];  // The last one twice if it is alone.
#pragma GCC unroll 8
    for (int i = 0; i < 2 * kPairs; ++i) {
      rows[i] = t.rows[tap * kCount + (i < kCount ? i : kCount - 1)];
    }
    int8x16_t x[kPairs];
    for (int64_t k = 0; k + 2 <= t.fours; k += 2) {
#pragma GCC unroll 4
      for (int p = 0; p < kPairs; ++p) {
        x[p] = vcombine_s8(vld1_s8(rows[2 * p] + 4 * k),
                           vld1_s8(rows[2 * p + 1] + 4 * k));
      }
      AddEight<kPairs>(x, w, w + 4 * kConvBlock, sums);
      w += 8 * kConvBlock;
    }
    const int64_t last = t.fours % 2 + (t.rest != 0);  // Fours.
    if (last == 0) continue;
#pragma GCC unroll 4
    for (int p = 0; p < kPairs; ++p) {
      x[p] =
          vcombine_s8(LoadLast(t, rows[2 * p]), LoadLast(t, rows[2 * p + 1]));
    }
    AddEight<kPairs>(x, w, last == 2 ? w + 4 * kConvBlock : kNothing, sums);
    w += last * 4 * kConvBlock;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kCount; ++i) {
    const int32x4_t* const both = sums[i / 2];
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      const int64x2_t a = vreinterpretq_s64_s32(both[2 * q]);
      const int64x2_t b = vreinterpretq_s64_s32(both[2 * q + 1]);
      words[i][0].v[q] = vreinterpretq_s32_s64(i % 2 == 0 ? vzip1q_s64(a, b)
                                                          : vzip2q_s64(a, b));
    }
  }
}

#include "kernels/conv2d_i8_impl.inc"

}  // namespace

const ConvI8Kernels kConvI8NeonI8mm = {&Conv2dI8, &DepthwiseI8, &AttentionI8,
                                       &AddI8,    &LayerNormI8, &Range,
                                       &Quantize, &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__aarch64__)
