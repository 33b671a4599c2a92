// The memory limit of an invocation that states none: half of the machine's
// memory, or of the part that the process's control group may use.
#ifndef TAKT_BASE_DEFAULT_MEMORY_LIMIT_H_
#define TAKT_BASE_DEFAULT_MEMORY_LIMIT_H_

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace takt {

// `group_max` is the content of the group's memory.max: a number, "max", or ""
// if there is no such file.
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
