// mmt4d of bytes for x86-64 with AVX-VNNI, the same instruction on vectors of
// 32 bytes: one panel at a time. For the rest see mmt4d_avx512_vnni.cc.
#include "kernels/mmt4d.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>

#include "kernels/target.h"

#define TAKT_VNNI_PANELS 1

TAKT_TARGET_BEGIN("avxvnni,avx2")

namespace takt::kernels {
namespace {

struct Vector {
  __m256i v;
};

inline Vector Zero() { return {_mm256_setzero_si256()}; }
inline Vector Load(const int8_t* const (&tiles)[TAKT_VNNI_PANELS]) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(tiles[0]))};
}
inline Vector Repeat(uint32_t four_bytes) {
  return {_mm256_set1_epi32(static_cast<int>(four_bytes))};
}
inline Vector Dot(Vector sum, Vector unsigned_bytes, Vector signed_bytes) {
  return {_mm256_dpbusd_avx_epi32(sum.v, unsigned_bytes.v, signed_bytes.v)};
}
inline Vector Subtract(Vector a, Vector b) {
  return {_mm256_sub_epi32(a.v, b.v)};
}
inline void Store(Vector sum, int, int32_t* words, bool add) {
  auto* const target = reinterpret_cast<__m256i*>(words);
  if (add) sum.v = _mm256_add_epi32(sum.v, _mm256_loadu_si256(target));
  _mm256_storeu_si256(target, sum.v);
}

#include "kernels/mmt4d_vnni_impl.inc"

}  // namespace
}  // namespace takt::kernels

TAKT_TARGET_END

namespace takt::kernels {

void Mmt4dS8AvxVnni(const Mmt4dArguments& a) { Mmt4dS8(a); }

}  // namespace takt::kernels

#endif  // defined(__x86_64__)
