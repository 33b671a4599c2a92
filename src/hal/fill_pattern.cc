#include "hal/fill_pattern.h"

#include "absl/strings/str_cat.h"
#include "hal/buffer.h"

namespace takt::hal {

absl::Status CheckPatternLength(uint64_t pattern_length) {
  if (pattern_length == 1 || pattern_length == 2 || pattern_length == 4) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "pattern_length: expected 1, 2 or 4 bytes, got ", pattern_length));
}

absl::Status CheckFillRange(uint64_t offset, uint64_t length,
                            uint64_t pattern_length) {
  if (offset % pattern_length == 0 &&
      (length == kWholeBuffer || length % pattern_length == 0)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("fill of ", length, " bytes at ", offset,
                   " is no multiple of its pattern's ", pattern_length));
}

}  // namespace takt::hal
