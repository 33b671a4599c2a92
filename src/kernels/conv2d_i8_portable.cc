// The convolutions of bytes in plain C++.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/conv2d_i8.h"

namespace takt::kernels {
namespace {

#define TAKT_VECTOR_BYTES 16
#include "kernels/block_vectors.inc"

constexpr int kBlocks = 1;
constexpr int kPixelsMax = 4;
constexpr int kPixelStep = 1;
constexpr int PixelsOf(int64_t) { return 2; }
constexpr bool kHasOffset = false;
constexpr int kTapsAtOnce = 1;
typedef int32_t Words __attribute__((vector_size(64)));
using Sums = Words;
using Taps = Words;

// Sums wrap, as -fwrapv would have it.
inline void Dot(Sums& sum, uint32_t four, const int8_t* weights) {
  for (int64_t c = 0; c < kConvBlock; ++c) {
    int32_t dot = 0;
    for (int b = 0; b < 4; ++b) {
      dot += int32_t{static_cast<int8_t>(four >> (8 * b))} * weights[c * 4 + b];
    }
    sum[c] = static_cast<int32_t>(static_cast<uint32_t>(sum[c]) +
                                  static_cast<uint32_t>(dot));
  }
}

inline void ToWords(const Sums& sums, Words* words) { *words = sums; }

inline void LoadTaps(const int8_t* data, const int8_t*, int64_t count,
                     Taps* taps) {
  if (count >= kConvBlock) {
    for (int64_t i = 0; i < kConvBlock; ++i) (*taps)[i] = data[i];
  } else {
    *taps = Taps{};
    for (int64_t i = 0; i < count; ++i) (*taps)[i] = data[i];
  }
}
inline void AddTaps(Words& words, const Taps& x, const Taps& weights) {
  words += x * weights;
}

inline void Finish(const Words& sum, const ConvI8Operands& o, int64_t at,
                   int64_t channel, int64_t count) {
  const auto low = static_cast<float>(o.low - o.output_zero);
  const auto high = static_cast<float>(o.high - o.output_zero);
  for (int64_t c = 0; c < count; ++c) {
    const uint32_t total = static_cast<uint32_t>(sum[c]) +
                           static_cast<uint32_t>(o.bias[channel + c]);
    float x =
        static_cast<float>(static_cast<int32_t>(total)) * o.scale[channel + c];
    x = x > low ? x : low;  // Also if it is not a number.
    x = x < high ? x : high;
    o.output[at + c] = static_cast<int8_t>(std::lrint(x) + o.output_zero);
  }
}

#include "kernels/conv2d_i8_impl.inc"

}  // namespace

const ConvI8Kernels kConvI8Portable = {&Conv2dI8, &DepthwiseI8, &AttentionI8,
                                       &AddI8,    &LayerNormI8, &Range,
                                       &Quantize, &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels
