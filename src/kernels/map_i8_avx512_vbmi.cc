// For x86-64 with AVX-512 VBMI: the table lies in four registers.
#include "kernels/map_i8.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

#include "kernels/target.h"

TAKT_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi")

namespace takt::kernels {
namespace {

constexpr int64_t kWidth = 64;

void Map(const int8_t* table, const int8_t* input, int64_t count,
         int8_t* output) {
  // Read as unsigned, bytes below 0 come last: the halves change places.
  const __m512i c = _mm512_loadu_si512(table);
  const __m512i d = _mm512_loadu_si512(table + kWidth);
  const __m512i a = _mm512_loadu_si512(table + 2 * kWidth);
  const __m512i b = _mm512_loadu_si512(table + 3 * kWidth);
  for (int64_t i = 0; i < count; i += kWidth) {
    const int64_t left = count - i;
    const __mmask64 mask =
        left < kWidth ? (uint64_t{1} << left) - 1 : ~uint64_t{0};
    const __m512i x = _mm512_maskz_loadu_epi8(mask, input + i);
    const __m512i low = _mm512_permutex2var_epi8(a, x, b);
    const __m512i high = _mm512_permutex2var_epi8(c, x, d);
    _mm512_mask_storeu_epi8(
        output + i, mask,
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high));
  }
}

}  // namespace

constexpr MapI8Kernels kMapI8Avx512Vbmi = {&Map};

}  // namespace takt::kernels

TAKT_TARGET_END
#endif  // __x86_64__
