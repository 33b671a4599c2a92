// Results as the tools print them.
#ifndef TAKT_TOOLS_COMMON_VALUE_TEXT_H_
#define TAKT_TOOLS_COMMON_VALUE_TEXT_H_

#include <string>

#include "tools/common/status.h"

namespace takt::tools {

// One line or more, without a final newline:
//   i32=7                   a scalar
//   (null)                  a null object, or nothing at all
//   hal.buffer_view         a tensor, of which `element_count_max` elements
//   2x2xf32=[1 2][3 4]        are printed
//   vm.list                 a list; each element as child_list[i]: value, and
//   child_list[0]: i32=7      a newline at the end; ... for what is nested
//                             deeper than 32, or beyond 100,000 elements
//   hal.buffer              any other object
//   (no printer)
//
// Errors: a tensor that cannot be read.
Result<std::string> FormatValue(const Value& value, size_t element_count_max);

// "i32", "hal.buffer_view", "(null)": what kind of thing a value is.
std::string ValueTypeText(const Value& value);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_VALUE_TEXT_H_
