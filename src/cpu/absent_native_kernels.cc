// Replaces the kernels that compiled code imports by name, in a build without
// them.
#include "absl/strings/str_cat.h"
#include "base/absent.h"
#include "cpu/kernel_imports.h"

namespace takt::cpu {

KernelImportState::KernelImportState() : scratch(0), attention_scratch(0) {}

absl::optional<ImportFunction> FindKernelImport(
    absl::string_view name, const kernels::KernelTable& kernels,
    KernelImportState* state) {
  return absl::nullopt;
}

absl::Status MissingImportError(absl::string_view name) {
  return absl::NotFoundError(absl::StrCat(
      "executable library: nothing provides the import ", name, "; ",
      AbsentError("kernels for imports", "TAKT_NATIVE_KERNELS").message()));
}

}  // namespace takt::cpu
