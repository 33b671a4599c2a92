// Which extensions of the base architecture kernels may use. The portable
// kernels need none.
#ifndef TAKT_KERNELS_INSTRUCTION_SETS_H_
#define TAKT_KERNELS_INSTRUCTION_SETS_H_

// The intrinsics of RISC-V's V, as compilers name them since version 0.11.
#if defined(__riscv_v_intrinsic) && __riscv_v_intrinsic >= 11000
#define TAKT_KERNELS_RVV 1
#endif

namespace takt::kernels {

struct InstructionSets {
  bool avx2_fma = false;      // AVX2, FMA and F16C.
  bool avx_vnni = false;      // Beside these.
  bool avx512_vnni = false;   // AVX-512 F, BW, VL and VNNI, beside these.
  bool avx512_vbmi = false;   // Beside these.
  bool avx512_bf16 = false;   // Beside avx512_vnni.
  bool amx_bf16 = false;      // Beside avx512_bf16.
  bool neon = false;          // Of 64-bit Arm.
  bool neon_dotprod = false;  // Beside it.
  bool neon_i8mm = false;     // Beside these.
  bool riscv_v = false;
};

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_INSTRUCTION_SETS_H_
