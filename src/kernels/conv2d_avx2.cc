// The convolutions for x86-64 with AVX2 and FMA.
#include "kernels/conv2d.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "kernels/target.h"

#define TAKT_CONV_PIXELS 6
#define TAKT_CONV_VECTOR_BYTES 32
#define TAKT_CONV_PIXEL_STEP 1
#define TAKT_CONV_BLOCKS 1
#define TAKT_CONV_BYTE_PRODUCTS

TAKT_TARGET_BEGIN("avx2,fma")

namespace takt::kernels {
namespace {

inline __m256i FirstLanes(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline __m256 LoadPart(const float* from, int64_t count) {
  return _mm256_maskload_ps(from, FirstLanes(count));
}
inline void StorePart(__m256 vector, int64_t count, float* to) {
  _mm256_maskstore_ps(to, FirstLanes(count), vector);
}
template <typename Ints, typename Words>
inline Ints AddByteProducts(Ints sum, Words bytes, int32_t inputs) {
  const __m256i pairs =
      _mm256_maddubs_epi16((__m256i)bytes, _mm256_set1_epi32(inputs));
  return sum + (Ints)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

#include "kernels/conv2d_impl.inc"

}  // namespace

const F32Kernels kF32Avx2 = {&Conv2d,
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

TAKT_TARGET_END

#endif  // defined(__x86_64__)
