// mmt4d of bytes for x86-64 with AVX-VNNI, the same instruction on vectors of
// 32 bytes: one panel at a time. For the rest see mmt4d_avx512_vnni.cc.
#include "kernels/mmt4d.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

#include "kernels/target.h"

#define TAKT_VNNI_PANELS 1
#define TAKT_VNNI_VECTORS 1

TAKT_TARGET_BEGIN("avxvnni,avx2")

namespace takt::kernels {
namespace {

typedef int32_t Vector __attribute__((vector_size(32)));

inline Vector Load(const int8_t* const* panels, int64_t at) {
  return (Vector)_mm256_loadu_si256(
      reinterpret_cast<const __m256i*>(panels[0] + at));
}
inline Vector Repeat(uint32_t four_bytes) {
  return (Vector)_mm256_set1_epi32(static_cast<int>(four_bytes));
}
inline Vector Dot(Vector sum, Vector unsigned_bytes, Vector signed_bytes) {
  return (Vector)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)unsigned_bytes,
                                         (__m256i)signed_bytes);
}
inline Vector Subtract(Vector a, Vector b) {
  return (Vector)_mm256_sub_epi32((__m256i)a, (__m256i)b);
}
inline void Store(Vector sum, int, int32_t* words, bool add) {
  auto* const target = reinterpret_cast<__m256i*>(words);
  __m256i all = (__m256i)sum;
  if (add) all = _mm256_add_epi32(all, _mm256_loadu_si256(target));
  _mm256_storeu_si256(target, all);
}

#include "kernels/mmt4d_vnni_impl.inc"

}  // namespace
}  // namespace takt::kernels

TAKT_TARGET_END

namespace takt::kernels {

void Mmt4dS8AvxVnni(const Mmt4dArguments& a) { Mmt4dS8(a); }

}  // namespace takt::kernels

#endif  // defined(__x86_64__)
