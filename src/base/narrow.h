// Conversions of integers to types that hold less. The readers of files use
// these instead of static_cast (tests/tidy/narrowing_test.cc), so that each
// conversion says which of three cases it is:
//
//   CheckedNarrow()  any value; the caller handles one that does not fit.
//   Narrow()         a value that was checked before. If that check is missing,
//                    the process ends here, not in an access out of bounds.
//   Truncate()       the upper bits are not wanted.
//
// An enumerator counts as its number. A number with a fraction loses it.
#ifndef TAKT_BASE_NARROW_H_
#define TAKT_BASE_NARROW_H_

#include <limits>
#include <type_traits>

#include "base/check.h"

namespace takt {
namespace narrow_internal {

template <typename From>
constexpr auto NumberOf(From value) {
  if constexpr (std::is_enum_v<From>) {
    return static_cast<std::underlying_type_t<From>>(value);
  } else {
    static_assert(std::is_arithmetic_v<From>);
    return value;
  }
}

}  // namespace narrow_internal

// False if `value` is not a value of To; *out is then unspecified.
template <typename To, typename From>
[[nodiscard]] constexpr bool CheckedNarrow(From value, To* out) {
  const auto number = narrow_internal::NumberOf(value);
  if constexpr (std::is_floating_point_v<From>) {
    // Both bounds are powers of two, or 0: no rounding.
    constexpr From kEnd = From(std::numeric_limits<To>::max() / 2 + 1) * 2;
    constexpr From kLowest = From(std::numeric_limits<To>::lowest());
    if (!(number >= kLowest && number < kEnd)) return false;  // NaN, too.
    *out = static_cast<To>(number);
    return true;
  } else {
    return !__builtin_add_overflow(number, 0, out);
  }
}

// The process that ends names the file and the line of the call.
template <typename To, typename From>
[[nodiscard]] constexpr To Narrow(From value,
                                  const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  To out{};
  if (!CheckedNarrow(value, &out)) {
    CheckFailed(file, line, "the value fits its narrower type");
  }
  return out;
}

template <typename To, typename From>
[[nodiscard]] constexpr To Truncate(From value) {
  return static_cast<To>(narrow_internal::NumberOf(value));
}

}  // namespace takt

#endif  // TAKT_BASE_NARROW_H_
