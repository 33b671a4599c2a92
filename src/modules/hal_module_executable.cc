// executable.*
#include <cstring>
#include <vector>

#include "base/status.h"
#include "modules/hal_state.h"

namespace takt::modules {
namespace {

// The bytes as words; compiled code may place them anywhere.
absl::StatusOr<std::vector<uint32_t>> ConstantsOf(const vm::Buffer* source) {
  std::vector<uint32_t> constants;
  if (source == nullptr) return constants;
  const size_t byte_length = source->byte_length();
  if (byte_length % sizeof(uint32_t) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "constants: expected a multiple of 4 bytes, got ", byte_length));
  }
  if (byte_length / sizeof(uint32_t) > kMaxExecutableConstants) {
    return absl::OutOfRangeError(absl::StrCat("constants: expected at most ",
                                              kMaxExecutableConstants, ", got ",
                                              byte_length / sizeof(uint32_t)));
  }
  constants.resize(byte_length / sizeof(uint32_t));
  if (byte_length != 0) {
    std::memcpy(constants.data(), source->data(), byte_length);
  }
  return constants;
}

}  // namespace

absl::StatusOr<Ref<hal::Executable>> HalState::ExecutableCreate(
    hal::Device& device, uint64_t affinity, vm::Buffer& format,
    vm::Buffer& data, vm::Buffer* constants) {
  TAKT_ASSIGN_OR_RETURN(std::vector<uint32_t> words, ConstantsOf(constants));
  return device.LoadExecutable(format.text(), data.bytes(),
                               Ref<Object>::Retain(&data), words);
}

absl::StatusOr<uint64_t> HalState::ExecutableLookupFunction(
    hal::Executable& executable, vm::Buffer& name) {
  return executable.LookupFunction(name.text());
}

}  // namespace takt::modules
