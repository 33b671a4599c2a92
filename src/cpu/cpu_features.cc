#include "cpu/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__riscv) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace takt::cpu {
namespace {

// One feature: a bit of what the processor or the system reports.
struct Feature {
  int bit;         // Of word 0.
  int source_bit;  // Of the register or word it is read from.
};

template <int kCount>
uint64_t Collect(const Feature (&features)[kCount], uint64_t source) {
  uint64_t word = 0;
  for (const Feature& feature : features) {
    word |= (source >> feature.source_bit & 1) << feature.bit;
  }
  return word;
}

#if defined(__x86_64__)

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
// All zero for a leaf that the processor does not have.
Registers Cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) {
    return Registers();
  }
  return r;
}

// Register state that the system saves (XCR0).
uint64_t ReadSavedState() {
  uint32_t low = 0;
  uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

uint64_t DetectWord() {
  using namespace x86_64;  // NOLINT(google-build-using-namespace)
  constexpr Feature kBase[] = {
      {kSse3, 0}, {kSsse3, 9}, {kSse41, 19}, {kSse42, 20}};  // 1 ecx
  constexpr Feature kExtended[] = {{kSse4a, 6}};             // 8…1 ecx
  constexpr Feature kVector[] = {{kAvx, 28}, {kFma, 12}, {kF16c, 29}};
  constexpr Feature kVectorExtended[] = {{kFma4, 16}, {kXop, 11}};
  constexpr Feature kVector2[] = {{kAvx2, 5}};  // 7.0 ebx
  constexpr Feature kWide[] = {{kAvx512F, 16},  {kAvx512Cd, 28},
                               {kAvx512Vl, 31}, {kAvx512Dq, 17},
                               {kAvx512Bw, 30}, {kAvx512Ifma, 21}};
  constexpr Feature kWide2[] = {{kAvx512Vbmi, 1},
                                {kAvx512Vpopcntdq, 14},
                                {kAvx512Vnni, 11},
                                {kAvx512Vbmi2, 6},
                                {kAvx512Bitalg, 12}};  // 7.0 ecx
  constexpr Feature kWide3[] = {{kAvx512Fp16, 23}};    // 7.0 edx
  constexpr Feature kWide4[] = {{kAvx512Bf16, 5}};     // 7.1 eax
  constexpr Feature kTile[] = {
      {kAmxTile, 24}, {kAmxInt8, 25}, {kAmxBf16, 22}};  // 7.0 edx
  // XMM and YMM; and the three parts of ZMM; and the tiles.
  constexpr uint64_t kSavedYmm = 0x6;
  constexpr uint64_t kSavedZmm = 0xe6;
  constexpr uint64_t kSavedTiles = 0x60000;
  constexpr uint32_t kXsaveEnabled = 1u << 27;

  const Registers leaf1 = Cpuid(1, 0);
  const Registers extended = Cpuid(0x80000001, 0);
  uint64_t word = Collect(kBase, leaf1.ecx) | Collect(kExtended, extended.ecx);
  if ((leaf1.ecx & kXsaveEnabled) == 0) return word;
  const uint64_t saved = ReadSavedState();
  if ((saved & kSavedYmm) != kSavedYmm) return word;
  const Registers leaf7 = Cpuid(7, 0);
  word |= Collect(kVector, leaf1.ecx) | Collect(kVectorExtended, extended.ecx) |
          Collect(kVector2, leaf7.ebx);
  if ((saved & kSavedZmm) == kSavedZmm) {
    word |= Collect(kWide, leaf7.ebx) | Collect(kWide2, leaf7.ecx) |
            Collect(kWide3, leaf7.edx);
    // Subleaf 0 has the number of subleaves.
    if (leaf7.eax >= 1) word |= Collect(kWide4, Cpuid(7, 1).eax);
  }
  if ((saved & kSavedTiles) == kSavedTiles) word |= Collect(kTile, leaf7.edx);
  return word;
}

#elif defined(__aarch64__) && defined(__linux__)

uint64_t DetectWord() {
  using namespace arm_64;  // NOLINT(google-build-using-namespace)
  // Bits of the kernel's HWCAP and HWCAP2 words.
  constexpr Feature kCapabilities[] = {
      {kFpArmv8, 0}, {kLse, 8}, {kDotProd, 20}, {kFp16Fml, 23}, {kSve, 22}};
  constexpr Feature kCapabilities2[] = {
      {kSve2, 1},       {kSve2Bitperm, 4}, {kF32mm, 10}, {kF64mm, 11},
      {kI8mm, 13},      {kBf16, 14},       {kSme, 23},   {kSmeI16I64, 24},
      {kSmeF64F64, 25}, {kSve2p1, 36},     {kSme2, 37},  {kSme2p1, 38},
      {kSmeF16F16, 42}};
  constexpr uint64_t kHalfScalar = 1u << 9;
  constexpr uint64_t kHalfVector = 1u << 10;
  const uint64_t capabilities = getauxval(AT_HWCAP);
  uint64_t word = Collect(kCapabilities, capabilities) |
                  Collect(kCapabilities2, getauxval(AT_HWCAP2));
  if ((capabilities & kHalfScalar) && (capabilities & kHalfVector)) {
    word |= uint64_t{1} << kFullFp16;
  }
  return word;
}

#elif defined(__riscv) && defined(__linux__)

uint64_t DetectWord() {
  using namespace riscv_64;  // NOLINT(google-build-using-namespace)
  // riscv_hwprobe, since Linux 6.4: key 4 holds the extensions' bits. Older
  // systems report V in the HWCAP word, one bit a letter.
  struct Pair {
    int64_t key;
    uint64_t value;
  } pair = {4, 0};
  constexpr long kHwprobe = 258;
  if (syscall(kHwprobe, &pair, 1, 0, nullptr, 0) == 0 && pair.key == 4) {
    constexpr Feature kProbed[] = {{kV, 2}, {kZvfh, 30}, {kZvfhmin, 31}};
    return Collect(kProbed, pair.value);
  }
  constexpr Feature kLetters[] = {{kV, 'v' - 'a'}};
  return Collect(kLetters, getauxval(AT_HWCAP));
}

#else

uint64_t DetectWord() { return 0; }

#endif

struct FeatureName {
  int bit;
  const char* name;
};
#if defined(__x86_64__)
using namespace x86_64;  // NOLINT(google-build-using-namespace)
constexpr FeatureName kFeatureNames[] = {
    {kSse3, "sse3"},
    {kSsse3, "ssse3"},
    {kSse41, "sse4.1"},
    {kSse42, "sse4.2"},
    {kSse4a, "sse4a"},
    {kAvx, "avx"},
    {kFma, "fma"},
    {kFma4, "fma4"},
    {kXop, "xop"},
    {kF16c, "f16c"},
    {kAvx2, "avx2"},
    {kAvx512F, "avx512f"},
    {kAvx512Cd, "avx512cd"},
    {kAvx512Vl, "avx512vl"},
    {kAvx512Dq, "avx512dq"},
    {kAvx512Bw, "avx512bw"},
    {kAvx512Ifma, "avx512ifma"},
    {kAvx512Vbmi, "avx512vbmi"},
    {kAvx512Vpopcntdq, "avx512vpopcntdq"},
    {kAvx512Vnni, "avx512vnni"},
    {kAvx512Vbmi2, "avx512vbmi2"},
    {kAvx512Bitalg, "avx512bitalg"},
    {kAvx512Bf16, "avx512bf16"},
    {kAvx512Fp16, "avx512fp16"},
    {kAmxTile, "amx-tile"},
    {kAmxInt8, "amx-int8"},
    {kAmxBf16, "amx-bf16"},
};
#elif defined(__aarch64__)
using namespace arm_64;  // NOLINT(google-build-using-namespace)
constexpr FeatureName kFeatureNames[] = {
    {kFpArmv8, "fp-armv8"},
    {kLse, "lse"},
    {kLse128, "lse128"},
    {kFullFp16, "fullfp16"},
    {kFp16Fml, "fp16fml"},
    {kDotProd, "dotprod"},
    {kI8mm, "i8mm"},
    {kBf16, "bf16"},
    {kSve, "sve"},
    {kSve2, "sve2"},
    {kSve2p1, "sve2p1"},
    {kSve2Bitperm, "sve2-bitperm"},
    {kF32mm, "f32mm"},
    {kF64mm, "f64mm"},
    {kSme, "sme"},
    {kSme2, "sme2"},
    {kSme2p1, "sme2p1"},
    {kSmeF16F16, "sme-f16f16"},
    {kSmeF64F64, "sme-f64f64"},
    {kSmeI16I64, "sme-i16i64"},
};
#elif defined(__riscv)
using namespace riscv_64;  // NOLINT(google-build-using-namespace)
constexpr FeatureName kFeatureNames[] = {
    {kV, "v"},
    {kZvfhmin, "zvfhmin"},
    {kZvfh, "zvfh"},
};
#else
constexpr FeatureName kFeatureNames[] = {{63, "none"}};
#endif

}  // namespace

ProcessorData DetectProcessor() {
  ProcessorData processor;
  processor.words[0] = DetectWord();
#if defined(__x86_64__)
  // In eax of leaf 7.1; usable if the system saves the registers of AVX2.
  processor.has_avx_vnni = processor.Has(x86_64::kAvx2) &&
                           Cpuid(7, 0).eax >= 1 &&
                           (Cpuid(7, 1).eax >> 4 & 1) != 0;
#endif
  return processor;
}

std::vector<std::string> FeatureNames(const ProcessorData& processor) {
  std::vector<std::string> names;
  for (const FeatureName& feature : kFeatureNames) {
    if (processor.Has(feature.bit)) names.push_back(feature.name);
  }
  return names;
}

kernels::InstructionSets UsableInstructionSets(const ProcessorData& processor) {
  kernels::InstructionSets sets;
#if defined(__x86_64__)
  sets.avx2_fma = processor.Has(x86_64::kAvx2) && processor.Has(x86_64::kFma) &&
                  processor.Has(x86_64::kF16c);
  sets.avx_vnni = sets.avx2_fma && processor.has_avx_vnni;
  sets.avx512_vnni = sets.avx2_fma && processor.Has(x86_64::kAvx512F) &&
                     processor.Has(x86_64::kAvx512Bw) &&
                     processor.Has(x86_64::kAvx512Vl) &&
                     processor.Has(x86_64::kAvx512Vnni);
  sets.avx512_vbmi = sets.avx512_vnni && processor.Has(x86_64::kAvx512Vbmi);
  sets.avx512_bf16 = sets.avx512_vnni && processor.Has(x86_64::kAvx512Bf16);
  sets.amx_bf16 = sets.avx512_bf16 && processor.Has(x86_64::kAmxTile) &&
                  processor.Has(x86_64::kAmxBf16);
#elif defined(__aarch64__)
  sets.neon = processor.Has(arm_64::kFpArmv8);
  sets.neon_dotprod = processor.Has(arm_64::kDotProd);
  sets.neon_i8mm = processor.Has(arm_64::kI8mm);
#elif defined(__riscv)
  sets.riscv_v = processor.Has(riscv_64::kV);
#endif
  return sets;
}

}  // namespace takt::cpu
