// The most memory that an invocation may have if nobody says: half of the
// machine's, or of what the control group of the process may use of it.
#ifndef TAKT_BASE_DEFAULT_MEMORY_LIMIT_H_
#define TAKT_BASE_DEFAULT_MEMORY_LIMIT_H_

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace takt {

// `group_max` is the content of the group's memory.max: a number, "max", or ""
// where there is none.
inline uint64_t DefaultMemoryLimit(uint64_t memory_bytes,
                                   absl::string_view group_max) {
  uint64_t group_bytes = 0;
  if (absl::SimpleAtoi(group_max, &group_bytes) && group_bytes > 0) {
    memory_bytes = std::min(memory_bytes, group_bytes);
  }
  return memory_bytes / 2;
}

}  // namespace takt

#endif  // TAKT_BASE_DEFAULT_MEMORY_LIMIT_H_
