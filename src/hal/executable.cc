#include "hal/executable.h"

#include "base/status.h"

namespace takt::hal {

absl::StatusOr<uint64_t> Executable::LookupFunction(
    absl::string_view name) const {
  for (size_t i = 0; i < function_count(); ++i) {
    if (function_name(i) == name) return uint64_t{i};
  }
  // No name is copied before: calls of open sizes look up the function of each
  // dispatch.
  std::string known;
  for (size_t i = 0; i < function_count(); ++i) {
    absl::StrAppend(&known, i == 0 ? "" : ", ", function_name(i));
  }
  return absl::NotFoundError(absl::StrCat("the executable has no function '",
                                          name, "'; it has: ", known));
}

}  // namespace takt::hal
