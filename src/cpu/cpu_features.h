// The features of this machine's processor: in the form that compiled code
// expects, and as the choice of kernels.
#ifndef TAKT_CPU_CPU_FEATURES_H_
#define TAKT_CPU_CPU_FEATURES_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/instruction_sets.h"

namespace takt::cpu {

// The environment's processor data. Word 0 holds feature bits, numbered per
// architecture (below); the others are 0.
struct ProcessorData {
  std::array<uint64_t, 8> words{};
  bool has_avx_vnni = false;  // Compiled code has no bit for it.

  bool Has(int bit) const { return (words[0] >> bit & 1) != 0; }
};

// Queries the processor and the system at each call. Features that the system
// does not save on a context switch count as absent.
ProcessorData DetectProcessor();

// The features that it has, as the compiler spells them ("avx512vnni").
std::vector<std::string> FeatureNames(const ProcessorData& processor);

// The kernels that may run on it.
kernels::InstructionSets UsableInstructionSets(const ProcessorData& processor);

// Bits of word 0.
namespace x86_64 {
enum Bit {
  kSse3 = 0,
  kSsse3 = 1,
  kSse41 = 2,
  kSse42 = 3,
  kSse4a = 4,
  kAvx = 10,
  kFma = 11,
  kFma4 = 12,
  kXop = 13,
  kF16c = 14,
  kAvx2 = 15,
  kAvx512F = 20,
  kAvx512Cd = 21,
  kAvx512Vl = 22,
  kAvx512Dq = 23,
  kAvx512Bw = 24,
  kAvx512Ifma = 25,
  kAvx512Vbmi = 26,
  kAvx512Vpopcntdq = 27,
  kAvx512Vnni = 28,
  kAvx512Vbmi2 = 29,
  kAvx512Bitalg = 30,
  kAvx512Bf16 = 31,
  kAvx512Fp16 = 32,
  kAmxTile = 50,
  kAmxInt8 = 51,
  kAmxBf16 = 52,
};
}  // namespace x86_64

namespace arm_64 {
enum Bit {
  kFpArmv8 = 0,
  kLse = 1,
  kLse128 = 2,
  kFullFp16 = 10,
  kFp16Fml = 11,
  kDotProd = 12,
  kI8mm = 13,
  kBf16 = 14,
  kSve = 20,
  kSve2 = 21,
  kSve2p1 = 22,
  kSve2Bitperm = 23,
  kF32mm = 24,
  kF64mm = 25,
  kSme = 30,
  kSme2 = 31,
  kSme2p1 = 32,
  kSmeF16F16 = 33,
  kSmeF64F64 = 34,
  kSmeI16I64 = 35,
};
}  // namespace arm_64

namespace riscv_64 {
enum Bit {
  kV = 0,
  kZvfhmin = 1,
  kZvfh = 2,
};
}  // namespace riscv_64

}  // namespace takt::cpu

#endif  // TAKT_CPU_CPU_FEATURES_H_
