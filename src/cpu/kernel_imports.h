// The functions that compiled kernels may import from Takt itself: convolutions
// and pools of src/kernels. A module's code calls them by name with the
// arguments of docs/native_kernels.md; python/takt/lowering.py writes such
// modules.
#ifndef TAKT_CPU_KERNEL_IMPORTS_H_
#define TAKT_CPU_KERNEL_IMPORTS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cpu/import_resolver.h"
#include "cpu/kernel_scratch.h"
#include "kernels/kernel_table.h"

namespace takt::cpu {

// What the imports of one executable share.
struct KernelImportState {
  KernelImportState();

  const kernels::F32Kernels* f32 = nullptr;
  const kernels::ConvI8Kernels* conv_i8 = nullptr;
  // For Winograd's method, and for convolutions with a depthwise one.
  KernelScratch scratch;
  // For attention of bytes with many keys.
  KernelScratch attention_scratch;
};

// The result of an import that found no memory.
inline constexpr int kImportOutOfMemory = 8;

// The function of that name over `kernels`; nullopt if there is none. What the
// result points to is `*state`, or lives for ever.
absl::optional<ImportFunction> FindKernelImport(
    absl::string_view name, const kernels::KernelTable& kernels,
    KernelImportState* state);

// The error for a kernel that needs an import which nothing provides.
absl::Status MissingImportError(absl::string_view name);

}  // namespace takt::cpu

#endif  // TAKT_CPU_KERNEL_IMPORTS_H_
