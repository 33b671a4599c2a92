// The convolutions for x86-64 with AVX-512: six pixels by four blocks, whose 24
// sums take 24 of 32 registers and ten loads. Fourteen pixels by two blocks
// take 16 loads for 28 sums, and are a fifth slower on Zen 5.
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
#define TAKT_CONV_VECTOR_BYTES 64
#define TAKT_CONV_PIXEL_STEP 2
#define TAKT_CONV_BLOCKS 4
#define TAKT_CONV_BYTE_PRODUCTS

TAKT_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma")

namespace takt::kernels {
namespace {

inline __m512 LoadPart(const float* from, int64_t count) {
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  return _mm512_maskz_loadu_ps(mask, from);
}
inline void StorePart(__m512 vector, int64_t count, float* to) {
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  _mm512_mask_storeu_ps(to, mask, vector);
}
template <typename Ints, typename Words>
inline Ints AddByteProducts(Ints sum, Words bytes, int32_t inputs) {
  return (Ints)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)bytes,
                                   _mm512_set1_epi32(inputs));
}

#include "kernels/conv2d_impl.inc"

}  // namespace

const F32Kernels kF32Avx512 = {&Conv2d,
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
