// Converts ranges and options of buffers from the C API to the types of hal.
#ifndef TAKT_API_BUFFER_RANGE_H_
#define TAKT_API_BUFFER_RANGE_H_

#include <cstdint>
#include <cstring>

#include "absl/status/statusor.h"
#include "hal/command_buffer.h"
#include "hal/device.h"
#include "takt/command_buffer.h"

namespace takt::api {

// TAKT_WHOLE_BUFFER or a length.
inline uint64_t LengthOf(size_t byte_length) {
  return byte_length == TAKT_WHOLE_BUFFER ? hal::kWholeBuffer : byte_length;
}

// The bytes of a pattern of 1, 2 or 4 as a number. INVALID_ARGUMENT for
// another length.
absl::StatusOr<uint32_t> ReadPattern(const void* pattern,
                                     size_t pattern_length);

hal::BufferRef RangeOf(const takt_buffer_range_t& range);

// NULL options are the defaults. INVALID_ARGUMENT.
absl::StatusOr<hal::BufferParams> ReadBufferParams(
    const takt_buffer_options_t* options);

}  // namespace takt::api

#endif  // TAKT_API_BUFFER_RANGE_H_
