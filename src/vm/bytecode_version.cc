#include "vm/bytecode_version.h"

#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace takt::vm {
namespace {

// Oldest first. The comments name the supported compilers that write a version.
constexpr BytecodeVersion kVersions[] = {
    // 3.8 and 3.9. discard.refs is the first code of the core set beyond it.
    {15u << 16, {0x84, 0x3d, 0x3f}, true, true, true},
    // 3.10. call.yieldable is the first code of the core set beyond it.
    {16u << 16, {0x86, 0x3d, 0x3f}, false, false, true},
    // 3.11 to 3.13: all of opcodes.inc.
    {17u << 16, {0xff, 0xff, 0xff}, false, false, false},
};
constexpr uint32_t kOldest = kVersions[0].number;
constexpr uint32_t kNewest = kVersions[std::size(kVersions) - 1].number;

const char* WriterOf(uint32_t number) {
  if (number < kOldest) return "an iree-compile from before March 2023";
  if (number > kNewest) return "an iree-compile newer than 3.13";
  return "no release of iree-compile";
}

}  // namespace

const BytecodeVersion& NewestBytecode() {
  return kVersions[std::size(kVersions) - 1];
}

absl::StatusOr<const BytecodeVersion*> FindBytecodeVersion(uint32_t number) {
  std::string supported;
  for (const BytecodeVersion& version : kVersions) {
    if (version.number == number) return &version;
    absl::StrAppend(&supported, supported.empty() ? "" : ", ",
                    BytecodeVersionText(version.number));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "bytecode version ", BytecodeVersionText(number),
      " is not supported: written by ", WriterOf(number),
      "; supported: ", kSupportedCompilers, " (bytecode ", supported, ")"));
}

std::string BytecodeVersionText(uint32_t number) {
  return absl::StrCat(number >> 16, ".", number & 0xffff);
}

}  // namespace takt::vm
