#include "kernels/kernel_table.h"

namespace takt::kernels {

void SelectNativeKernels(const InstructionSets& sets, KernelTable* table) {
  table->f32 = &kF32Portable;
  table->conv_bf16 = &kConvBf16Portable;
  table->conv_i8 = &kConvI8Portable;
  table->map_i8 = &kMapI8Portable;
#if defined(__x86_64__)
  if (sets.avx2_fma) {
    table->f32 = &kF32Avx2;
    table->conv_i8 = sets.avx_vnni ? &kConvI8AvxVnni : &kConvI8Avx2;
    if (sets.avx512_vnni) SelectAvx512Kernels(sets, table);
  }
#elif defined(__aarch64__)
  if (sets.neon) {
    table->f32 = &kF32Neon;
    table->conv_i8 = &kConvI8Neon;
    if (sets.neon_dotprod) {
      table->conv_i8 = sets.neon_i8mm ? &kConvI8NeonI8mm : &kConvI8NeonDotProd;
    }
  }
#elif defined(TAKT_KERNELS_RVV)
  if (sets.riscv_v) {
    table->f32 = &kF32Rvv;
    table->conv_i8 = &kConvI8Rvv;
  }
#endif
}

}  // namespace takt::kernels
