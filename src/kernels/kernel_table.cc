#include "kernels/kernel_table.h"

namespace takt::kernels {

KernelTable SelectKernels(const InstructionSets& sets) {
  KernelTable table;
  table.elementwise = &kElementwisePortable;
  table.mmt4d = &kMmt4dPortable;
#if defined(__x86_64__)
  if (sets.avx2_fma) {
    table.elementwise = &kElementwiseAvx2;
    table.mmt4d = &kMmt4dAvx2;
  }
#elif defined(__aarch64__)
  if (sets.neon_dotprod) table.mmt4d = &kMmt4dNeonDotProd;
#endif
  return table;
}

}  // namespace takt::kernels
