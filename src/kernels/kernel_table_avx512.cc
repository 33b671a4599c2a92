#include "kernels/kernel_table.h"

namespace takt::kernels {

void SelectAvx512Kernels(KernelTable* table) {
#if defined(__x86_64__)
  table->conv = &kConvAvx512;
  table->conv_i8 = &kConvI8Avx512Vnni;
#endif
}

}  // namespace takt::kernels
