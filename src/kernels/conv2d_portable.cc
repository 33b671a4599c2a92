// The convolutions for any machine: the compiler maps blocks to the vectors
// that the base architecture has. And what is common to all of them.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "kernels/conv2d.h"

#if defined(__aarch64__)  // 32 registers of 16 bytes.
#define TAKT_CONV_PIXELS 6
#else
#define TAKT_CONV_PIXELS 2
#endif
#define TAKT_CONV_VECTOR_BYTES 16
#define TAKT_CONV_PIXEL_STEP 1
#define TAKT_CONV_BLOCKS 1
#define TAKT_CONV_BF16 1

namespace takt::kernels {
namespace {

typedef float AlignedVector
    __attribute__((vector_size(TAKT_CONV_VECTOR_BYTES)));
inline AlignedVector LoadPart(const float* from, int64_t count) {
  AlignedVector vector{};
  for (int64_t i = 0; i < count; ++i) vector[i] = from[i];
  return vector;
}
inline void StorePart(AlignedVector vector, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = vector[i];
}

typedef int32_t AlignedInts
    __attribute__((vector_size(TAKT_CONV_VECTOR_BYTES)));
inline void RoundRun(const float* from, int64_t count, uint16_t* to) {
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, from + i, sizeof(bits));
    bits += 0x7fff + ((bits >> 16) & 1);  // Half to even.
    to[i] = static_cast<uint16_t>(bits >> 16);
  }
}
inline AlignedInts RoundWords(AlignedVector numbers) {
  const auto bits = (AlignedInts)numbers;
  return bits + 0x7fff + ((bits >> 16) & 1);  // Half to even.
}
inline AlignedVector RoundPairs(AlignedVector even, AlignedVector odd) {
  constexpr auto kUpper = static_cast<int32_t>(0xffff0000);
  return (AlignedVector)(((RoundWords(even) >> 16) & 0xffff) |
                         (RoundWords(odd) & kUpper));
}
inline AlignedVector AddPairProducts(AlignedVector sum, AlignedVector pairs,
                                     AlignedVector weights) {
  constexpr auto kUpper = static_cast<int32_t>(0xffff0000);
  const auto x = (AlignedInts)pairs, row = (AlignedInts)weights;
  sum += (AlignedVector)(x << 16) * (AlignedVector)(row << 16);
  return sum + (AlignedVector)(x & kUpper) * (AlignedVector)(row & kUpper);
}

#include "kernels/conv2d_impl.inc"

}  // namespace

const F32Kernels kF32Portable = {&Conv2d,
                                 &Depthwise,
                                 &Winograd,
                                 &WinogradInputs,
                                 &WinogradSums,
                                 &Pool<PoolKind::kMax>,
                                 &Pool<PoolKind::kMean>,
                                 &Attention<FloatProducts>,
                                 &Gru,
                                 &Lstm,
                                 &Softmax,
                                 &Blend,
                                 &LayerNorm,
                                 &ProductI4};

const ConvBf16Kernels kConvBf16Portable = {&Conv2dBf16,
                                           &Attention<PairProducts>};

const char* CheckConvShape(const ConvShape& s) {
  constexpr int64_t kSizeMax = 1 << 28;               // Of a dimension.
  constexpr int64_t kStepMax = 1 << 16;               // Between elements.
  constexpr int64_t kElementsMax = int64_t{1} << 40;  // Of a tensor.
  for (const int64_t size : {s.batch, s.in_h, s.in_w, s.in_c, s.out_h, s.out_w,
                             s.out_c, s.kernel_h, s.kernel_w, s.groups}) {
    if (size < 1 || size > kSizeMax) {
      return "a size is not from 1 to 268435456";
    }
  }
  if (s.kernel_h > kSizeMax / s.kernel_w) return "a window is too large";
  for (const int64_t step :
       {s.stride_h, s.stride_w, s.dilation_h, s.dilation_w}) {
    if (step < 1 || step > kStepMax) {
      return "a stride or dilation is not from 1 to 65536";
    }
  }
  if (s.pad_top < 0 || s.pad_top > kStepMax || s.pad_left < 0 ||
      s.pad_left > kStepMax) {
    return "a padding is not from 0 to 65536";
  }
  // Products of two sizes fit; of three only below a limit.
  if (s.in_c * s.in_w > kElementsMax / s.in_h / s.batch ||
      s.out_c * s.out_w > kElementsMax / s.out_h / s.batch) {
    return "a tensor is too large";
  }
  if (s.in_c % s.groups != 0 || s.out_c % s.groups != 0) {
    return "the groups do not divide the channels";
  }
  return nullptr;
}

}  // namespace takt::kernels
