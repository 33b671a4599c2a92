// The convolution of bfloat16 for x86-64: with AVX-512 BF16, which does twice
// the products of floats in an instruction, and with the tiles of AMX.
#include "kernels/conv2d.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "kernels/target.h"

#define TAKT_CONV_PIXELS 6
#define TAKT_CONV_VECTOR_BYTES 64
#define TAKT_CONV_PIXEL_STEP 2
#define TAKT_CONV_BLOCKS 4
#define TAKT_CONV_BF16 2
#define TAKT_CONV_TILES

// The compiler itself makes no use of tile registers.
TAKT_TARGET_BEGIN(
    "avx512f,avx512bw,avx512vl,avx512bf16,avx2,fma,amx-tile,amx-bf16")

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
inline void RoundRun(const float* from, int64_t count, uint16_t* to) {
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m512bh numbers = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + i + 16),
                                                 _mm512_loadu_ps(from + i));
    _mm512_storeu_si512(to + i, (__m512i)numbers);
  }
  for (; i < count; i += 16) {
    const int64_t left = count - i < 16 ? count - i : 16;
    const auto mask = static_cast<__mmask16>((1u << left) - 1);
    const __m256bh numbers =
        _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from + i));
    _mm256_mask_storeu_epi16(to + i, mask, (__m256i)numbers);
  }
}
inline __m512 RoundPairs(__m512 even, __m512 odd) {
  alignas(64) static constexpr uint16_t kTurns[32] = {
      0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
      8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  return _mm512_castsi512_ps(_mm512_permutexvar_epi16(
      _mm512_load_si512(kTurns), (__m512i)_mm512_cvtne2ps_pbh(odd, even)));
}
inline __m512 AddPairProducts(__m512 sum, __m512 pairs, __m512 weights) {
  return _mm512_dpbf16_ps(sum, (__m512bh)pairs, (__m512bh)weights);
}

#include "kernels/conv2d_impl.inc"

}  // namespace

const ConvBf16Kernels kConvBf16Avx512 = {&Conv2dBf16,
                                         &Attention<PairProducts>};
const ConvBf16Kernels kConvBf16Tiles = {&Conv2dTiles,
                                        &Attention<TileProducts>};

}  // namespace takt::kernels

TAKT_TARGET_END

#endif  // defined(__x86_64__)
