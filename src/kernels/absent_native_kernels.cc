// In place of convolutions and pools.
#include "kernels/kernel_table.h"

namespace takt::kernels {

void SelectNativeKernels(const InstructionSets& sets, KernelTable* table) {}

}  // namespace takt::kernels
