// Values of options, which come from the user.
#ifndef TAKT_PYTHON_OPTIONS_H_
#define TAKT_PYTHON_OPTIONS_H_

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "errors.h"

namespace takt::python {

// Throws takt.InvalidArgument: "priority: expected 0 to 255, got 'high'".
[[noreturn]] inline void RaiseUnexpected(const char* name, const char* expected,
                                         nanobind::handle value) {
  RaiseInvalidArgument(std::string(name) + ": expected " + expected + ", got " +
                       nanobind::repr(value).c_str());
}

// A number, a str or a bool. Throws takt.InvalidArgument, which names the
// option, if `value` is of another type or too large.
template <typename T>
T ToOption(nanobind::handle value, const char* name) {
  try {
    return nanobind::cast<T>(value);
  } catch (const std::bad_cast&) {
    RaiseUnexpected(name,
                    std::is_same_v<T, std::string> ? "a str"
                    : std::is_same_v<T, bool>      ? "a bool"
                    : std::is_unsigned_v<T>        ? "an int from 0 on"
                    : std::is_integral_v<T>        ? "an int"
                                                   : "a pair of ints from 0 on",
                    value);
  }
}

// The text for a C function. Throws takt.InvalidArgument, which names the
// option, if it has a NUL character: a C function would see what is before it.
inline const char* ToCString(const std::string& text, const char* name) {
  if (text.find('\0') != std::string::npos) {
    RaiseUnexpected(name, "a str without NUL characters", nanobind::cast(text));
  }
  return text.c_str();
}

inline int32_t ToPriority(nanobind::handle value) {
  const int64_t priority = ToOption<int64_t>(value, "priority");
  if (priority < 0 || priority > 255) {
    RaiseUnexpected("priority", "0 to 255", value);
  }
  return static_cast<int32_t>(priority);
}

// A callable, or None.
inline nanobind::object ToCallback(nanobind::handle value, const char* name) {
  if (!value.is_none() && PyCallable_Check(value.ptr()) == 0) {
    RaiseUnexpected(name, "a callable", value);
  }
  return nanobind::borrow(value);
}

}  // namespace takt::python

#endif  // TAKT_PYTHON_OPTIONS_H_
