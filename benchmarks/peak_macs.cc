#include "benchmarks/peak_macs.h"

#include "cpu/cpu_features.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace takt::benchmarks {
namespace {

// Long enough to be measured, short enough not to be interrupted: some 100 us.
[[maybe_unused]] constexpr int64_t kTurns = 25'000;

#if defined(__x86_64__)

// Twelve sums hide the latency of a multiplier; with two factors they fit into
// sixteen registers. The assembly names the operands of each turn, so that no
// compiler omits it.
#define TAKT_TWELVE(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

__attribute__((target("avx2,fma"))) int64_t FmaLoop() {
  __m256 sums[12];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  const __m256 x = _mm256_set1_ps(1.f);
  for (int64_t i = 0; i < kTurns; ++i) {
#define TAKT_FMA(n) \
  __asm__ volatile("vfmadd231ps %1, %1, %0" : "+x"(sums[n]) : "x"(x));
    TAKT_TWELVE(TAKT_FMA)
#undef TAKT_FMA
  }
  return kTurns * 12 * 8;
}

// Bytes are widened first, as the kernel does: pairs of products are summed
// without loss, then added.
__attribute__((target("avx2"))) int64_t MaddLoop() {
  __m256i sums[12];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  const __m256i x = _mm256_set1_epi16(1);
  for (int64_t i = 0; i < kTurns; ++i) {
#define TAKT_MADD(n)                    \
  {                                     \
    __m256i product;                    \
    __asm__ volatile(                   \
        "vpmaddwd %2, %2, %1\n\t"       \
        "vpaddd %1, %0, %0"             \
        : "+x"(sums[n]), "=&x"(product) \
        : "x"(x));                      \
  }
    TAKT_TWELVE(TAKT_MADD)
#undef TAKT_MADD
  }
  return kTurns * 12 * 16;
}

__attribute__((target("avx512f"))) int64_t Fma512Loop() {
  __m512 sums[12];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const __m512 x = _mm512_set1_ps(1.f);
  for (int64_t i = 0; i < kTurns; ++i) {
#define TAKT_FMA(n) \
  __asm__ volatile("vfmadd231ps %1, %1, %0" : "+v"(sums[n]) : "v"(x));
    TAKT_TWELVE(TAKT_FMA)
#undef TAKT_FMA
  }
  return kTurns * 12 * 16;
}

__attribute__((target("avx512f,avx512vnni"))) int64_t Vnni512Loop() {
  __m512i sums[12];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  const __m512i x = _mm512_set1_epi8(1);
  for (int64_t i = 0; i < kTurns; ++i) {
#define TAKT_DOT(n) \
  __asm__ volatile("vpdpbusd %1, %1, %0" : "+v"(sums[n]) : "v"(x));
    TAKT_TWELVE(TAKT_DOT)
#undef TAKT_DOT
  }
  return kTurns * 12 * 64;
}

constexpr PeakLoop kFmaLoop = {"vfmadd231ps ymm", &FmaLoop};
constexpr PeakLoop kMaddLoop = {"vpmaddwd, vpaddd ymm", &MaddLoop};
constexpr PeakLoop kFma512Loop = {"vfmadd231ps zmm", &Fma512Loop};
constexpr PeakLoop kVnni512Loop = {"vpdpbusd zmm", &Vnni512Loop};

#elif defined(__aarch64__)

int64_t FmlaLoop() {
  float32x4_t sums[12];
  for (float32x4_t& sum : sums) sum = vdupq_n_f32(0);
  const float32x4_t x = vdupq_n_f32(1);
  for (int64_t i = 0; i < kTurns; ++i) {
    for (float32x4_t& sum : sums) {
      __asm__ volatile("fmla %0.4s, %1.4s, %1.4s" : "+w"(sum) : "w"(x));
    }
  }
  return kTurns * 12 * 4;
}

__attribute__((target("arch=armv8.2-a+dotprod"))) int64_t SdotLoop() {
  int32x4_t sums[12];
  for (int32x4_t& sum : sums) sum = vdupq_n_s32(0);
  const int8x16_t x = vdupq_n_s8(1);
  for (int64_t i = 0; i < kTurns; ++i) {
    for (int32x4_t& sum : sums) {
      __asm__ volatile("sdot %0.4s, %1.16b, %1.16b" : "+w"(sum) : "w"(x));
    }
  }
  return kTurns * 12 * 16;
}

constexpr PeakLoop kFmla = {"fmla", &FmlaLoop};
constexpr PeakLoop kSdot = {"sdot", &SdotLoop};

#endif

}  // namespace

const PeakLoop* FindPeakLoop(bool of_floats) {
  [[maybe_unused]] const cpu::ProcessorData processor = cpu::DetectProcessor();
#if defined(__x86_64__)
  using namespace cpu::x86_64;  // NOLINT(google-build-using-namespace)
  if (of_floats) {
    if (processor.Has(kAvx512F)) return &kFma512Loop;
    return processor.Has(kFma) ? &kFmaLoop : nullptr;
  }
  if (processor.Has(kAvx512Vnni)) return &kVnni512Loop;
  return processor.Has(kAvx2) ? &kMaddLoop : nullptr;
#elif defined(__aarch64__)
  if (of_floats) return &kFmla;
  return processor.Has(cpu::arm_64::kDotProd) ? &kSdot : nullptr;
#else
  (void)of_floats;
  return nullptr;
#endif
}

}  // namespace takt::benchmarks
