// Checks of arguments that several functions of the `hal` module share.
#ifndef TAKT_MODULES_HAL_ARGUMENTS_H_
#define TAKT_MODULES_HAL_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hal/device.h"
#include "vm/byte_buffer.h"

namespace takt::modules {

// The compilers whose dispatches name a function by the handle from
// executable.lookup.function, and those that name it by its position among the
// executable's exports.
inline constexpr char kHandleCompilers[] = "iree-compile 3.12 and 3.13";
inline constexpr char kOrdinalCompilers[] = "iree-compile 3.8 to 3.11";

// A limit of the compiler's ABI.
inline constexpr size_t kMaxExecutableConstants = 64;

// INVALID_ARGUMENT, naming `module`, if one of them is null.
absl::Status CheckDevices(absl::string_view module,
                          absl::Span<const Ref<hal::Device>> devices);

// A range of host bytes, kWholeBuffer for the rest. OUT_OF_RANGE if it does
// not fit.
absl::StatusOr<absl::Span<const uint8_t>> BytesOf(const vm::ByteBuffer& source,
                                                  uint64_t offset,
                                                  uint64_t length);

// The bytes as words; none for a null `source`. INVALID_ARGUMENT for part of a
// word, OUT_OF_RANGE for more than kMaxExecutableConstants.
absl::StatusOr<std::vector<uint32_t>> ExecutableConstants(
    const vm::ByteBuffer* source);

}  // namespace takt::modules

#endif  // TAKT_MODULES_HAL_ARGUMENTS_H_
