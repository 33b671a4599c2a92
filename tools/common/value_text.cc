#include "tools/common/value_text.h"

#include <cstdint>
#include <cstdio>

namespace takt::tools {
namespace {

constexpr int kListDepthMax = 32;
// Of the lists of one value, in all: lists that hold one list twice each have
// 2^depth elements to print.
constexpr int64_t kListElementsMax = 100'000;

// What the text of one value may still have.
struct Budget {
  size_t tensor_elements;  // Of each tensor.
  int64_t list_elements = kListElementsMax;
};

// Scalars are printed by %g, elements of tensors by %G: as the peer has it.
std::string FormatScalar(const takt_value_t& value) {
  std::string text = takt_value_kind_name(value.kind);
  text += '=';
  char number[32];
  switch (value.kind) {
    case TAKT_VALUE_I64:
      return text + std::to_string(value.i64);
    case TAKT_VALUE_F32:
      std::snprintf(number, sizeof(number), "%g", value.f32);
      return text + number;
    case TAKT_VALUE_F64:
      std::snprintf(number, sizeof(number), "%g", value.f64);
      return text + number;
    default:
      return text + std::to_string(value.i32);
  }
}

Result<std::string> FormatView(const BufferView& view,
                               size_t element_count_max) {
  char* text = nullptr;
  TAKT_TOOLS_RETURN_IF_ERROR(
      Status(takt_buffer_view_format(view.get(), element_count_max, &text)));
  std::string result = std::string("hal.buffer_view\n") + text;
  takt_string_free(text);
  return result;
}

Result<std::string> Format(const Value& value, Budget* budget, int depth);

Result<std::string> FormatList(const List& list, Budget* budget, int depth) {
  std::string text = "vm.list\n";
  if (depth == kListDepthMax) return text + "...\n";
  for (size_t i = 0; i < list.size(); ++i) {
    if (--budget->list_elements < 0) return text + "...\n";
    TAKT_TOOLS_ASSIGN_OR_RETURN(const Value element, list.Get(i));
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string element_text,
                                Format(element, budget, depth + 1));
    text += "child_list[" + std::to_string(i) + "]: " + element_text + "\n";
  }
  return text;
}

Result<std::string> Format(const Value& value, Budget* budget, int depth) {
  const bool is_ref = value.kind() == TAKT_VALUE_REF;
  if (value.kind() == TAKT_VALUE_NONE || (is_ref && !value.get().ref)) {
    return std::string("(null)");
  }
  if (!is_ref) return FormatScalar(value.get());
  if (const BufferView view = value.view()) {
    return FormatView(view, budget->tensor_elements);
  }
  if (const List list = value.list()) {
    return FormatList(list, budget, depth);
  }
  return ValueTypeText(value) + "\n(no printer)";
}

}  // namespace

Result<std::string> FormatValue(const Value& value, size_t element_count_max) {
  Budget budget{.tensor_elements = element_count_max};
  return Format(value, &budget, 0);
}

std::string ValueTypeText(const Value& value) {
  if (value.kind() == TAKT_VALUE_NONE) return "(null)";
  if (value.kind() != TAKT_VALUE_REF) {
    return takt_value_kind_name(value.kind());
  }
  if (value.get().ref == nullptr) return "(null)";
  return takt_object_type_name(value.get().ref);
}

}  // namespace takt::tools
