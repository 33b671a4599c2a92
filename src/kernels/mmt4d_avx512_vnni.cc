// mmt4d of bytes for x86-64 with AVX-512 VNNI: four panels of the right operand
// at a time. AVX2's kernels take the other shapes and types.
#include "kernels/mmt4d.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

#include "kernels/target.h"

#define TAKT_VNNI_PANELS 2
#define TAKT_VNNI_VECTORS 2

// gcc 12 reports intrinsics of its own headers that leave a vector undefined
// on purpose (its bug 105593).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

TAKT_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vnni,avx2")

namespace takt::kernels {
namespace {

// Words, as the instructions see them: gcc copies sums of another type.
typedef int32_t Vector __attribute__((vector_size(64)));

inline Vector Load(const int8_t* const* panels, int64_t at) {
  const __m256i low =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panels[0] + at));
  const __m256i high =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panels[1] + at));
  return (Vector)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
inline Vector Repeat(uint32_t four_bytes) {
  return (Vector)_mm512_set1_epi32(static_cast<int>(four_bytes));
}
inline Vector Dot(Vector sum, Vector unsigned_bytes, Vector signed_bytes) {
  return (Vector)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)unsigned_bytes,
                                     (__m512i)signed_bytes);
}
inline Vector Subtract(Vector a, Vector b) {
  return (Vector)_mm512_sub_epi32((__m512i)a, (__m512i)b);
}
inline void Store(Vector sum, int panel, int32_t* words, bool add) {
  __m256i half = panel == 0 ? _mm512_castsi512_si256((__m512i)sum)
                            : _mm512_extracti64x4_epi64((__m512i)sum, 1);
  auto* const target = reinterpret_cast<__m256i*>(words);
  if (add) half = _mm256_add_epi32(half, _mm256_loadu_si256(target));
  _mm256_storeu_si256(target, half);
}

#include "kernels/mmt4d_vnni_impl.inc"

}  // namespace
}  // namespace takt::kernels

TAKT_TARGET_END

namespace takt::kernels {

void Mmt4dS8Avx512Vnni(const Mmt4dArguments& a) { Mmt4dS8(a); }

}  // namespace takt::kernels

#endif  // defined(__x86_64__)
