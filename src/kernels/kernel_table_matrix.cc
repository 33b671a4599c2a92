#include "kernels/kernel_table.h"

namespace takt::kernels {

void SelectMatrixKernels(const InstructionSets& sets, KernelTable* table) {
  table->elementwise = &kElementwisePortable;
  table->mmt4d = &kMmt4dPortable;
#if defined(__x86_64__)
  if (sets.avx2_fma) {
    table->elementwise = &kElementwiseAvx2;
    table->mmt4d = &kMmt4dAvx2;
    if (sets.avx_vnni) table->mmt4d = &kMmt4dAvxVnni;
    if (sets.avx512_vnni) table->mmt4d = &kMmt4dAvx512Vnni;
  }
#elif defined(__aarch64__)
  if (sets.neon_dotprod) table->mmt4d = &kMmt4dNeonDotProd;
  if (sets.neon_dotprod && sets.neon_i8mm) table->mmt4d = &kMmt4dNeonI8mm;
#elif defined(TAKT_KERNELS_RVV)
  if (sets.riscv_v) table->mmt4d = &kMmt4dRvv;
#endif
}

}  // namespace takt::kernels
