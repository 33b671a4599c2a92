// The convolutions for 64-bit Arm: five pixels by a block, four channels at a
// time, so that a load brings four inputs of a pixel.
#include "kernels/conv2d.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#define TAKT_CONV_PIXELS 5
#define TAKT_CONV_VECTOR_BYTES 16
#define TAKT_CONV_PIXEL_STEP 1
#define TAKT_CONV_BLOCKS 1
#define TAKT_CONV_LANES 4

namespace takt::kernels {
namespace {

inline float32x4_t LoadPart(const float* from, int64_t count) {
  float some[4] = {};
  for (int64_t i = 0; i < count; ++i) some[i] = from[i];
  return vld1q_f32(some);
}
inline void StorePart(float32x4_t vector, int64_t count, float* to) {
  float some[4];
  vst1q_f32(some, vector);
  for (int64_t i = 0; i < count; ++i) to[i] = some[i];
}
template <int kLane>
inline float32x4_t AddProduct(float32x4_t sum, float32x4_t weights,
                              float32x4_t inputs) {
  return vfmaq_laneq_f32(sum, weights, inputs, kLane);
}

#include "kernels/conv2d_impl.inc"

}  // namespace

const F32Kernels kF32Neon = {&Conv2d,
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

}  // namespace takt::kernels

#endif  // defined(__aarch64__)
