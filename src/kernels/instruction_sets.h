// Which extensions of the base architecture kernels may use. The portable
// kernels need none.
#ifndef TAKT_KERNELS_INSTRUCTION_SETS_H_
#define TAKT_KERNELS_INSTRUCTION_SETS_H_

namespace takt::kernels {

struct InstructionSets {
  bool avx2_fma = false;     // AVX2 and FMA.
  bool avx512_vnni = false;  // AVX-512 F, BW, VL and VNNI.
  bool neon_dotprod = false;
};

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_INSTRUCTION_SETS_H_
