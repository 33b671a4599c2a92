// In place of convolutions for AVX-512: those of AVX2 stay.
#include "kernels/kernel_table.h"

namespace takt::kernels {

void SelectAvx512Kernels(const InstructionSets& sets, KernelTable* table) {}

}  // namespace takt::kernels
