// Checked arithmetic: every size and offset that a file or a caller gives goes
// through here.
#ifndef TAKT_BASE_MATH_H_
#define TAKT_BASE_MATH_H_

#include <cstdint>
#include <type_traits>

namespace takt {

// Each returns false on overflow, leaving *out unspecified.
template <typename T>
[[nodiscard]] constexpr bool CheckedAdd(T a, std::type_identity_t<T> b,
                                        T* out) {
  return !__builtin_add_overflow(a, b, out);
}
template <typename T>
[[nodiscard]] constexpr bool CheckedMul(T a, std::type_identity_t<T> b,
                                        T* out) {
  return !__builtin_mul_overflow(a, b, out);
}

// True if [offset, offset + length) lies within [0, size).
[[nodiscard]] constexpr bool RangeFits(uint64_t offset, uint64_t length,
                                       uint64_t size) {
  return offset <= size && length <= size - offset;
}

constexpr bool IsPowerOfTwo(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

// `alignment` is a power of two; the caller rules out overflow.
constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}
[[nodiscard]] constexpr bool CheckedAlignUp(uint64_t value, uint64_t alignment,
                                            uint64_t* out) {
  uint64_t sum = 0;
  if (!CheckedAdd(value, alignment - 1, &sum)) return false;
  *out = sum & ~(alignment - 1);
  return true;
}

}  // namespace takt

#endif  // TAKT_BASE_MATH_H_
