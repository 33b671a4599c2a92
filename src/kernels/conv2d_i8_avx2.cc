// The convolutions of bytes for x86-64 with AVX2: two pixels by a block. Bytes
// are widened to 16 bits, so that the products of two of them and their sum fit
// (vpmaddwd): the saturating products of bytes (vpmaddubsw) are not exact.
#include "kernels/conv2d_i8.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/target.h"

TAKT_TARGET_BEGIN("avx2,fma")

namespace takt::kernels {
namespace {

#include "kernels/conv2d_i8_avx2_words.inc"

constexpr int kBlocks = 1;
constexpr int kPixelsMax = 4;  // Of depthwise convolutions.
constexpr int kPixelStep = 1;
constexpr int PixelsOf(int64_t) { return 2; }
constexpr bool kHasOffset = false;

// A vector has two sums of each of four channels.
struct Sums {
  __m256i a, b, c, d;
};

inline __m256i AddPairs(__m256i sums, __m256i inputs, const int8_t* weights) {
  const __m256i wide = _mm256_cvtepi8_epi16(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(weights)));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(inputs, wide));
}
inline void Dot(Sums& sums, uint32_t four, const int8_t* weights) {
  const __m256i inputs =
      _mm256_cvtepi8_epi16(_mm_set1_epi32(static_cast<int>(four)));
  sums.a = AddPairs(sums.a, inputs, weights);
  sums.b = AddPairs(sums.b, inputs, weights + 16);
  sums.c = AddPairs(sums.c, inputs, weights + 32);
  sums.d = AddPairs(sums.d, inputs, weights + 48);
}
inline void ToWords(const Sums& sums, Words* words) {
  words->low =
      _mm256_permute4x64_epi64(_mm256_hadd_epi32(sums.a, sums.b), 0xd8);
  words->high =
      _mm256_permute4x64_epi64(_mm256_hadd_epi32(sums.c, sums.d), 0xd8);
}

#include "kernels/conv2d_i8_impl.inc"

}  // namespace

const ConvI8Kernels kConvI8Avx2 = {&Conv2dI8, &DepthwiseI8, &AttentionI8,
                                   &AddI8,    &LayerNormI8, &Range,
                                   &Quantize, &Dequantize,  &MaxPoolI8};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__x86_64__)
