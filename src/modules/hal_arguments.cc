#include "modules/hal_arguments.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "hal/buffer.h"

namespace takt::modules {

absl::Status CheckDevices(absl::string_view module,
                          absl::Span<const Ref<hal::Device>> devices) {
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] != nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(module, ": device ", i, " is null"));
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::Span<const uint8_t>> BytesOf(const vm::ByteBuffer& source,
                                                  uint64_t offset,
                                                  uint64_t length) {
  const absl::Span<const uint8_t> bytes = source.bytes();
  if (length == hal::kWholeBuffer && offset <= bytes.size()) {
    length = bytes.size() - offset;
  }
  if (!RangeFits(offset, length, bytes.size())) {
    return absl::OutOfRangeError(
        absl::StrCat("source: expected a range within its ", bytes.size(),
                     " bytes, got ", length, " at offset ", offset));
  }
  return bytes.subspan(offset, length);
}

absl::StatusOr<std::vector<uint32_t>> ExecutableConstants(
    const vm::ByteBuffer* source) {
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

}  // namespace takt::modules
