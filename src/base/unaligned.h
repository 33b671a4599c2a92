// Reads of values at addresses without alignment, as in files and packed
// tables.
#ifndef TAKT_BASE_UNALIGNED_H_
#define TAKT_BASE_UNALIGNED_H_

#include <cstring>
#include <type_traits>

namespace takt {

// The T in the sizeof(T) bytes from `source` on, in the machine's byte order.
// The caller has checked the range.
template <typename T>
T LoadUnaligned(const void* source) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, source, sizeof(value));
  return value;
}

}  // namespace takt

#endif  // TAKT_BASE_UNALIGNED_H_
