// A KernelTable holds the kernels chosen for one processor. The object that
// runs kernels owns one; there is no global table.
#ifndef TAKT_KERNELS_KERNEL_TABLE_H_
#define TAKT_KERNELS_KERNEL_TABLE_H_

#include "kernels/conv2d.h"
#include "kernels/conv2d_i8.h"
#include "kernels/elementwise.h"
#include "kernels/instruction_sets.h"
#include "kernels/map_i8.h"
#include "kernels/mmt4d.h"

namespace takt::kernels {

struct KernelTable {
  const ElementwiseKernels* elementwise = nullptr;
  const Mmt4dKernels* mmt4d = nullptr;
  const F32Kernels* f32 = nullptr;
  const ConvBf16Kernels* conv_bf16 = nullptr;
  // Faster ones, once EnableTileRegisters() has returned true; or NULL.
  const ConvBf16Kernels* conv_bf16_tiles = nullptr;
  const ConvI8Kernels* conv_i8 = nullptr;
  const MapI8Kernels* map_i8 = nullptr;

  BinaryKernel binary(BinaryOp op) const {
    return elementwise->binary[static_cast<int>(op)];
  }
  UnaryKernel unary(UnaryOp op) const {
    return elementwise->unary[static_cast<int>(op)];
  }
  Mmt4dKernel Mmt4d(Mmt4dType type) const {
    return mmt4d->by_type[static_cast<int>(type)];
  }
};

// The fastest kernels that need nothing beyond `sets`. Those that the build is
// without stay NULL.
KernelTable SelectKernels(const InstructionSets& sets);

// Its two parts: what vmvx and NPUs run, and what compiled code imports.
void SelectMatrixKernels(const InstructionSets& sets, KernelTable* table);
void SelectNativeKernels(const InstructionSets& sets, KernelTable* table);
// Of the latter those for AVX-512, on a processor that has it.
void SelectAvx512Kernels(const InstructionSets& sets, KernelTable* table);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_KERNEL_TABLE_H_
