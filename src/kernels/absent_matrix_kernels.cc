// In place of the kernels that vmvx and NPUs run.
#include "kernels/kernel_table.h"

namespace takt::kernels {

void SelectMatrixKernels(const InstructionSets& sets, KernelTable* table) {}

}  // namespace takt::kernels
