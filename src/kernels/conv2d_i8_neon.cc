// The convolutions of bytes for any 64-bit Arm: two pixels by a block. Products
// are 16 bits wide, and are added in pairs.
#include "kernels/conv2d_i8.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace takt::kernels {
namespace {

#include "kernels/conv2d_i8_neon_words.inc"

constexpr int kBlocks = 1;
constexpr int kPixelsMax = 4;  // Of depthwise convolutions.
constexpr int kPixelStep = 1;
constexpr int PixelsOf(int64_t) { return 2; }
constexpr bool kHasOffset = false;

// A vector has two sums of each of two channels.
struct Sums {
  int32x4_t v[8];
};

inline void Dot(Sums& sums, uint32_t four, const int8_t* weights) {
  const int8x16_t inputs = vreinterpretq_s8_u32(vdupq_n_u32(four));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const int8x16_t w = vld1q_s8(weights + 16 * i);
    sums.v[2 * i] = vpadalq_s16(sums.v[2 * i],
                                vmull_s8(vget_low_s8(inputs), vget_low_s8(w)));
    sums.v[2 * i + 1] =
        vpadalq_s16(sums.v[2 * i + 1], vmull_high_s8(inputs, w));
  }
}
inline void ToWords(const Sums& sums, Words* words) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    words->v[i] = vpaddq_s32(sums.v[2 * i], sums.v[2 * i + 1]);
  }
}

#include "kernels/conv2d_i8_impl.inc"

}  // namespace

const ConvI8Kernels kConvI8Neon = {&Conv2dI8, &DepthwiseI8, &AttentionI8,
                                   &AddI8,    &LayerNormI8, &Range,
                                   &Quantize, &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels

#endif  // defined(__aarch64__)
