#include "kernels/kernel_table.h"

namespace takt::kernels {

void SelectAvx512Kernels(const InstructionSets& sets, KernelTable* table) {
#if defined(__x86_64__)
  table->f32 = &kF32Avx512;
  if (sets.avx512_bf16) {
    table->conv_bf16 = &kConvBf16Avx512;
    if (sets.amx_bf16) table->conv_bf16_tiles = &kConvBf16Tiles;
  }
  table->conv_i8 = &kConvI8Avx512Vnni;
  if (sets.avx512_vbmi) table->map_i8 = &kMapI8Avx512Vbmi;
#endif
}

}  // namespace takt::kernels
