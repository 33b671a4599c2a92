// takt/element_type.hpp - element types from C++; contracts are in
// takt/element_type.h, rules for errors and ownership in takt/takt.hpp.
#ifndef TAKT_ELEMENT_TYPE_HPP_
#define TAKT_ELEMENT_TYPE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <complex>
#include <cstddef>
#include <string>
#include <type_traits>

#include "takt/core.hpp"
#include "takt/element_type.h"

namespace takt {
inline namespace cxx {

// The element type that compiled modules use for a C++ type. Integers have no
// sign of their own there, so signed and unsigned ones map to the same. A
// std::byte is an opaque byte.
template <typename T>
constexpr takt_element_type_t ElementTypeOf() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, std::byte>) {
    return TAKT_ELEMENT_OPAQUE_8;
  } else if constexpr (std::is_same_v<U, bool>) {
    return TAKT_ELEMENT_BOOL;
  } else if constexpr (std::is_same_v<U, float>) {
    return TAKT_ELEMENT_F32;
  } else if constexpr (std::is_same_v<U, double>) {
    return TAKT_ELEMENT_F64;
  } else if constexpr (std::is_same_v<U, std::complex<float>>) {
    return TAKT_ELEMENT_CF64;
  } else if constexpr (std::is_same_v<U, std::complex<double>>) {
    return TAKT_ELEMENT_CF128;
  } else {
    static_assert(std::is_integral_v<U>, "no element type for this C++ type");
    return TAKT_NUMERICAL_INTEGER << 24 | sizeof(U) * 8;
  }
}

// Returns OK if elements of type `actual` can be read and written as T, else
// INVALID_ARGUMENT, which names both types. std::byte fits all types.
template <typename T>
Status CheckElementType(takt_element_type_t actual) {
  constexpr takt_element_type_t kExpected = ElementTypeOf<T>();
  if constexpr (kExpected == TAKT_ELEMENT_OPAQUE_8) {
    return Status();
  } else {
    if (takt_element_type_fits(actual, kExpected) &&
        takt_element_type_bit_count(actual) == sizeof(T) * 8) {
      return Status();
    }
    char names[2][TAKT_ELEMENT_TYPE_TEXT_MAX];
    return Status(TAKT_STATUS_INVALID_ARGUMENT,
                  std::string("element type: expected ") +
                      takt_element_type_format(kExpected, names[0]) + ", got " +
                      takt_element_type_format(actual, names[1]));
  }
}

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_ELEMENT_TYPE_HPP_
