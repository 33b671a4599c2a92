// The convolutions for RISC-V with V: six pixels by a block, which is a vector
// of four registers of 16 bytes, or of fewer longer ones: the compiler sets the
// length to 16 floats.
#include "kernels/conv2d.h"

#if defined(TAKT_KERNELS_RVV)
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#define TAKT_CONV_PIXELS 6
#define TAKT_CONV_VECTOR_BYTES 64
#define TAKT_CONV_PIXEL_STEP 1
#define TAKT_CONV_BLOCKS 1

namespace takt::kernels {
namespace {

typedef float AlignedVector
    __attribute__((vector_size(TAKT_CONV_VECTOR_BYTES)));
inline AlignedVector LoadPart(const float* from, int64_t count) {
  float some[kConvBlock] = {};
  for (int64_t i = 0; i < count; ++i) some[i] = from[i];
  AlignedVector vector;
  __builtin_memcpy(&vector, some, sizeof(vector));
  return vector;
}
inline void StorePart(AlignedVector vector, int64_t count, float* to) {
  float some[kConvBlock];
  __builtin_memcpy(some, &vector, sizeof(vector));
  for (int64_t i = 0; i < count; ++i) to[i] = some[i];
}

#include "kernels/conv2d_impl.inc"

}  // namespace

const F32Kernels kF32Rvv = {&Conv2d,
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

#endif  // defined(TAKT_KERNELS_RVV)
