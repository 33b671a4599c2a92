// The convolutions of bytes for x86-64 with AVX-512 VNNI: six pixels by four
// blocks, or twelve by two. The dot product takes unsigned inputs, so 128 is
// added to each, and 128 times the weights is taken off the sums.
#include "kernels/conv2d_i8.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/target.h"

// gcc 12 reports intrinsics of its own headers that leave a vector undefined
// on purpose (its bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

TAKT_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma")

namespace takt::kernels {
namespace {

constexpr int kBlocks = 4;
constexpr int kPixelsMax = 12;
// As many sums as hide the time of a product, and fit into the registers.
constexpr int PixelsOf(int64_t blocks) { return blocks <= 2 ? 12 : 6; }
constexpr bool kHasOffset = true;

constexpr int kTapsAtOnce = 1;
typedef int32_t Words __attribute__((vector_size(64)));
using Sums = Words;
using Taps = Words;

inline void Dot(Sums& sums, uint32_t four, const int8_t* weights) {
  const __m512i inputs =
      _mm512_set1_epi32(static_cast<int>(four ^ 0x80808080u));
  sums = (Sums)_mm512_dpbusd_epi32((__m512i)sums, inputs,
                                   _mm512_loadu_si512(weights));
}
inline void ToWords(const Sums& sums, Words* words) { *words = sums; }

inline void LoadTaps(const int8_t* data, const int8_t*, int64_t count,
                     Taps* taps) {
  const auto mask =
      static_cast<__mmask16>((1u << (count < 16 ? count : 16)) - 1);
  *taps = (Taps)_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, data));
}
inline void AddTaps(Words& words, const Taps& x, const Taps& weights) {
  words += x * weights;
}

inline void Finish(const Words& sum, const ConvI8Operands& o, int64_t at,
                   int64_t channel, int64_t count) {
  const auto mask = static_cast<__mmask16>((1u << count) - 1);
  const __m512i total = _mm512_add_epi32(
      (__m512i)sum, _mm512_maskz_loadu_epi32(mask, o.bias + channel));
  __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(total),
                           _mm512_maskz_loadu_ps(mask, o.scale + channel));
  if (o.residual != nullptr) {
    const __m512i residual =
        _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, o.residual + at));
    x = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(
                            residual, _mm512_set1_epi32(o.residual_zero))),
                        _mm512_set1_ps(o.residual_scale), x);
  }
  // Low also if it is not a number.
  x = _mm512_max_ps(x,
                    _mm512_set1_ps(static_cast<float>(o.low - o.output_zero)));
  x = _mm512_min_ps(x,
                    _mm512_set1_ps(static_cast<float>(o.high - o.output_zero)));
  const __m512i result =
      _mm512_add_epi32(_mm512_cvtps_epi32(x), _mm512_set1_epi32(o.output_zero));
  _mm_mask_storeu_epi8(o.output + at, mask, _mm512_cvtepi32_epi8(result));
}

#include "kernels/conv2d_i8_impl.inc"

}  // namespace

const ConvI8Kernels kConvI8Avx512Vnni = {&Conv2dI8, &DepthwiseI8, &AttentionI8,
                                         &AddI8, &LayerNormI8};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__x86_64__)
