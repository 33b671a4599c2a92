// The rules for the patterns of fills.
#ifndef TAKT_HAL_FILL_PATTERN_H_
#define TAKT_HAL_FILL_PATTERN_H_

#include <cstdint>

#include "absl/status/status.h"

namespace takt::hal {

// INVALID_ARGUMENT unless a pattern may have this length.
absl::Status CheckPatternLength(uint64_t pattern_length);

// INVALID_ARGUMENT unless the range is a multiple of the pattern. `length` may
// be kWholeBuffer: it is checked once it is known.
absl::Status CheckFillRange(uint64_t offset, uint64_t length,
                            uint64_t pattern_length);

}  // namespace takt::hal

#endif  // TAKT_HAL_FILL_PATTERN_H_
