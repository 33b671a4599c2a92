#include "api/buffer_range.h"

#include "api/handle.h"

namespace takt::api {

absl::StatusOr<uint32_t> ReadPattern(const void* pattern,
                                     size_t pattern_length) {
  TAKT_RETURN_IF_ERROR(Require(pattern, "pattern"));
  uint32_t value = 0;
  switch (pattern_length) {
    case 1:
      return *static_cast<const uint8_t*>(pattern);
    case 2: {
      uint16_t half;
      std::memcpy(&half, pattern, sizeof(half));
      return half;
    }
    case 4:
      std::memcpy(&value, pattern, sizeof(value));
      return value;
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "pattern_length: expected 1, 2 or 4, got ", pattern_length));
  }
}

hal::BufferRef RangeOf(const takt_buffer_range_t& range) {
  hal::BufferRef result;
  if (range.buffer != nullptr) result.buffer = Unwrap(range.buffer);
  result.slot = range.slot;
  result.offset = range.byte_offset;
  result.length = LengthOf(range.byte_length);
  return result;
}

absl::StatusOr<hal::BufferParams> ReadBufferParams(
    const takt_buffer_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(takt_buffer_options_t given,
                        ReadOptions(options, &takt_buffer_options_init));
  if (given.access == 0 || (given.access & ~TAKT_ACCESS_ALL) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: access ", given.access, " is no set of TAKT_ACCESS_* bits"));
  }
  hal::BufferParams params;
  params.usage |= hal::kUsageMappingScoped | hal::kUsageMappingRandom;
  params.access = static_cast<hal::MemoryAccess>(given.access);
  return params;
}

}  // namespace takt::api
