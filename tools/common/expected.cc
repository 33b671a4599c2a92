#include "tools/common/expected.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "tools/common/element.h"
#include "tools/common/value_text.h"

namespace takt::tools {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Absolute(const Tolerances& tolerances, takt_element_type_t type) {
  switch (type) {
    case TAKT_ELEMENT_F16:
      return tolerances.f16;
    case TAKT_ELEMENT_F32:
      return tolerances.f32;
    case TAKT_ELEMENT_F64:
      return tolerances.f64;
    case TAKT_ELEMENT_BF16:
      return tolerances.bf16;
    default:
      return 0;
  }
}

bool IsNear(double actual, double expected, double absolute, double relative) {
  if (std::isnan(actual) || std::isnan(expected)) {
    return std::isnan(actual) && std::isnan(expected);
  }
  if (actual == expected) return true;
  if (std::isinf(actual) || std::isinf(expected)) return false;
  return std::fabs(actual - expected) <=
         absolute + relative * std::fabs(expected);
}

// Integers of one width are compared by their bits, whatever their sign: numpy
// has no integers without one, compiled modules have mostly those.
bool SameType(takt_element_type_t a, takt_element_type_t b) {
  return takt_element_type_fits(a, b) && takt_element_type_fits(b, a);
}

bool SameMetadata(const BufferView& a, const BufferView& b) {
  return SameType(a.element_type(), b.element_type()) &&
         std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(),
                    b.shape().end());
}

std::string TypeOf(const BufferView& view) {
  return TensorTypeText(view.element_type(), view.shape());
}

Result<std::vector<uint8_t>> Read(const Buffer& buffer, size_t byte_length) {
  std::vector<uint8_t> bytes(byte_length);
  TAKT_TOOLS_RETURN_IF_ERROR(buffer.Read(0, bytes));
  return bytes;
}

// The first element that differs.
std::optional<size_t> FindDifference(takt_element_type_t type, size_t count,
                                     const std::vector<uint8_t>& actual,
                                     const std::vector<uint8_t>& expected,
                                     const Tolerances& tolerances) {
  if (actual == expected) return std::nullopt;
  const bool is_near_enough =
      FormOf(type) == ElementForm::kFloat && tolerances.mode != "exact";
  const double absolute = Absolute(tolerances, type);
  const size_t bits = takt_element_type_bit_count(type);
  for (size_t i = 0; i < count; ++i) {
    if (is_near_enough) {
      if (!IsNear(FloatElement(type, actual, i),
                  FloatElement(type, expected, i), absolute,
                  tolerances.relative)) {
        return i;
      }
    } else if (bits % 8 != 0) {
      if (FormatElement(type, actual, i) != FormatElement(type, expected, i)) {
        return i;
      }
    } else if (std::memcmp(&actual[i * bits / 8], &expected[i * bits / 8],
                           bits / 8) != 0) {
      return i;
    }
  }
  return std::nullopt;
}

// What differs between two tensors in a sentence; "" if nothing.
Result<std::string> CompareElements(const BufferView& actual,
                                    const BufferView& expected,
                                    const Tolerances& tolerances) {
  const takt_element_type_t type = actual.element_type();
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<uint8_t> actual_bytes,
                              Read(actual.buffer(), actual.byte_length()));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<uint8_t> expected_bytes,
                              Read(expected.buffer(), expected.byte_length()));
  const std::optional<size_t> index = FindDifference(
      type, actual.element_count(), actual_bytes, expected_bytes, tolerances);
  if (!index) return std::string();
  return "element at index " + std::to_string(*index) + " (" +
         FormatElement(type, actual_bytes, *index) +
         ") does not match the expected (" +
         FormatElement(type, expected_bytes, *index) + ")";
}

Result<std::string> CompareViews(const BufferView& actual,
                                 const BufferView& expected,
                                 const Tolerances& tolerances,
                                 size_t element_count_max) {
  std::string fault;
  if (SameMetadata(actual, expected)) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(fault,
                                CompareElements(actual, expected, tolerances));
  } else {
    fault = "metadata is " + TypeOf(actual) +
            "; expected that the view matches " + TypeOf(expected);
  }
  if (fault.empty()) return fault;
  return fault + "; expected that the view is equal to contents of a view of " +
         TypeOf(expected) + "\n  expected:\n" +
         expected.Format(element_count_max) + "\n  actual:\n" +
         actual.Format(element_count_max);
}

Result<std::string> CompareBuffers(const Buffer& actual,
                                   const Buffer& expected) {
  if (actual.byte_length() != expected.byte_length()) {
    return "buffer has " + std::to_string(actual.byte_length()) +
           " bytes; expected " + std::to_string(expected.byte_length());
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<uint8_t> actual_bytes,
                              Read(actual, actual.byte_length()));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<uint8_t> expected_bytes,
                              Read(expected, expected.byte_length()));
  const auto at = std::mismatch(actual_bytes.begin(), actual_bytes.end(),
                                expected_bytes.begin())
                      .first;
  if (at == actual_bytes.end()) return std::string();
  return "buffers differ at byte " + std::to_string(at - actual_bytes.begin());
}

// Scalars. (The peer never finds two of them equal.)
std::string CompareScalars(const Value& actual, const Value& expected,
                           const Tolerances& tolerances) {
  const bool is_exact = tolerances.mode == "exact";
  bool is_equal;
  switch (actual.kind()) {
    case TAKT_VALUE_F32:
      is_equal =
          IsNear(actual.f32(), expected.f32(), is_exact ? 0 : tolerances.f32,
                 is_exact ? 0 : tolerances.relative);
      break;
    case TAKT_VALUE_F64:
      is_equal =
          IsNear(actual.f64(), expected.f64(), is_exact ? 0 : tolerances.f64,
                 is_exact ? 0 : tolerances.relative);
      break;
    case TAKT_VALUE_I64:
      is_equal = actual.i64() == expected.i64();
      break;
    default:
      is_equal = actual.i32() == expected.i32();
      break;
  }
  if (is_equal) return "";
  // Neither formats a tensor, which is all that could fail.
  return "value " + *FormatValue(actual, 0) + " does not match the expected " +
         *FormatValue(expected, 0);
}

Result<std::string> CompareValues(const Value& actual, const Value& expected,
                                  const Tolerances& tolerances,
                                  size_t element_count_max) {
  const std::string actual_type = ValueTypeText(actual);
  const std::string expected_type = ValueTypeText(expected);
  if (actual_type != expected_type) {
    return "variant types mismatch; expected " + expected_type + " but got " +
           actual_type;
  }
  if (actual.kind() != TAKT_VALUE_REF) {
    return CompareScalars(actual, expected, tolerances);
  }
  if (const BufferView view = actual.view()) {
    return CompareViews(view, expected.view(), tolerances, element_count_max);
  }
  if (const Buffer buffer = actual.buffer()) {
    return CompareBuffers(buffer, expected.buffer());
  }
  return std::string();  // Both are null.
}

}  // namespace

void Tolerances::AddTo(Flags* flags) {
  flags->AddReal("expected_f16_threshold", 0, kInfinity, &f16,
                 "Absolute tolerance for f16 results.");
  flags->AddReal("expected_f32_threshold", 0, kInfinity, &f32,
                 "Absolute tolerance for f32 results.");
  flags->AddReal("expected_f64_threshold", 0, kInfinity, &f64,
                 "Absolute tolerance for f64 results.");
  flags->AddReal("expected_bf16_threshold", 0, kInfinity, &bf16,
                 "Absolute tolerance for bf16 results.");
  flags->AddReal("expected_rtol", 0, kInfinity, &relative,
                 "Relative tolerance for results of all float types.");
  flags->AddChoice("equality_mode", {"approximate", "exact"}, &mode,
                   "approximate: floats match within the tolerances;\n"
                   "exact: results match bit by bit.");
}

Result<std::string> CompareResults(const std::vector<Value>& actual,
                                   const std::vector<Input>& expected,
                                   const Tolerances& tolerances,
                                   size_t element_count_max) {
  if (actual.size() != expected.size()) {
    return "[FAILED] expected " + std::to_string(expected.size()) +
           " list elements but " + std::to_string(actual.size()) +
           " provided\n";
  }
  std::string text;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (expected[i].is_ignored) continue;
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string fault,
                                CompareValues(actual[i], expected[i].value,
                                              tolerances, element_count_max));
    if (fault.empty()) continue;
    text += "[FAILED] result[" + std::to_string(i) + "]: " + fault + "\n";
  }
  return text;
}

}  // namespace takt::tools
