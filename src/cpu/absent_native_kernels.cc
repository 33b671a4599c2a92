// In place of the kernels that compiled code imports by name.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/absent.h"
#include "cpu/kernel_imports.h"

namespace takt::cpu {

absl::optional<ImportFunction> FindKernelImport(
    absl::string_view name, const kernels::KernelTable& kernels) {
  return absl::nullopt;
}

absl::Status MissingImportError(absl::string_view name) {
  if (absl::StartsWith(name, "takt_")) {
    return AbsentError(absl::StrCat("the kernel ", name),
                       "TAKT_NATIVE_KERNELS");
  }
  return absl::NotFoundError(
      absl::StrCat("executable library: nothing provides the import ", name));
}

}  // namespace takt::cpu
