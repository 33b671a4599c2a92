// Elements of tensors as text and as numbers.
#ifndef TAKT_TOOLS_COMMON_ELEMENT_H_
#define TAKT_TOOLS_COMMON_ELEMENT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tools/common/status.h"

namespace takt::tools {

// How the elements of a type are written.
enum class ElementForm {
  kInteger,  // Decimal: integers of at most 64 bits.
  kFloat,    // "1.5": floats of at most 64 bits.
  kBytes,    // Two hexadecimal digits a byte, in the order of memory.
};
ElementForm FormOf(takt_element_type_t type);

// "f32".
std::string TypeText(takt_element_type_t type);
// "2x3xf32"; "f32" for rank 0.
std::string TensorTypeText(takt_element_type_t type,
                           std::span<const int64_t> shape);

// Writes the elements that `text` lists, separated by space, comma or
// brackets, to `target`, the bytes of `element_count` elements. One element in
// the text is repeated; none is 0.
//
// Errors: INVALID_ARGUMENT  no number, or none of this type; another number of
//                           elements. OUT_OF_RANGE  the number does not fit.
Status ParseElements(takt_element_type_t type, std::string_view text,
                     size_t element_count, std::span<uint8_t> target);

// The numbers of an element for comparisons. Of form kFloat only.
double FloatElement(takt_element_type_t type, std::span<const uint8_t> bytes,
                    size_t index);
// Element `index` as it is printed: "1.5", "-7", "803F".
std::string FormatElement(takt_element_type_t type,
                          std::span<const uint8_t> bytes, size_t index);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_ELEMENT_H_
