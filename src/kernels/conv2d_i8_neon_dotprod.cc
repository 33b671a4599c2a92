// The convolutions of bytes for 64-bit Arm with the dot product: six pixels by
// a block, whose 24 sums take 24 of 32 registers.
#include "kernels/conv2d_i8.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "kernels/target.h"

TAKT_TARGET_BEGIN("arch=armv8.2-a+dotprod")

namespace takt::kernels {
namespace {

#include "kernels/conv2d_i8_neon_words.inc"

constexpr int kBlocks = 1;
constexpr int kPixelsMax = 6;
constexpr int kPixelStep = 1;
constexpr int PixelsOf(int64_t) { return 6; }
constexpr bool kHasOffset = false;
using Sums = Words;

inline void Dot(Sums& sums, uint32_t four, const int8_t* weights) {
  const int8x16_t inputs = vreinterpretq_s8_u32(vdupq_n_u32(four));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    sums.v[i] = vdotq_s32(sums.v[i], inputs, vld1q_s8(weights + 16 * i));
  }
}
inline void ToWords(const Sums& sums, Words* words) { *words = sums; }

#include "kernels/conv2d_i8_impl.inc"

}  // namespace

const ConvI8Kernels kConvI8NeonDotProd = {&Conv2dI8, &DepthwiseI8, &AttentionI8,
                                          &AddI8,    &LayerNormI8, &Range,
                                          &Quantize, &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__aarch64__)
