#include "kernels/kernel_table.h"

namespace takt::kernels {

KernelTable SelectKernels(const InstructionSets& sets) {
  KernelTable table;
  SelectMatrixKernels(sets, &table);
  SelectNativeKernels(sets, &table);
  return table;
}

}  // namespace takt::kernels
