#include "modules/check_module.h"

#include <cmath>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "base/status.h"
#include "modules/hal_module.h"
#include "modules/tensor_elements.h"
#include "vm/bytecode_version.h"
#include "vm/native_module.h"

namespace takt::modules {
namespace {

// How many elements a report shows.
constexpr uint64_t kShownElements = 8;

using Number = TensorElements::Number;

struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

bool IsClose(double actual, double expected, const Tolerance& tolerance) {
  if (std::isnan(actual) || std::isnan(expected)) {
    return std::isnan(actual) && std::isnan(expected);
  }
  if (std::isinf(actual) || std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <=
         tolerance.absolute + tolerance.relative * std::abs(expected);
}

class CheckState final : public vm::ModuleState {
 public:
  explicit CheckState(std::shared_ptr<const CheckSink> sink)
      : sink_(std::move(sink)) {}

  absl::Status ExpectTrue(int32_t operand);
  absl::Status ExpectFalse(int32_t operand);
  absl::Status ExpectAllTrue(hal::Device& device, hal::BufferView& operand);
  absl::Status ExpectEq(hal::Device& device, hal::BufferView& actual,
                        hal::BufferView& expected);
  absl::Status ExpectAlmostEq(hal::Device& device, hal::BufferView& actual,
                              hal::BufferView& expected, float absolute,
                              float relative);

 private:
  // True if `b` has the type and the shape of `a`; else reports the difference.
  bool HaveOneShape(absl::string_view expectation, const hal::BufferView& a,
                    const hal::BufferView& b);
  // Reports the elements that `differs` names, if any, each with the text that
  // `text` returns.
  void ReportElements(absl::string_view expectation, absl::string_view type,
                      const TensorElements& elements,
                      absl::FunctionRef<bool(uint64_t)> differs,
                      absl::FunctionRef<std::string(uint64_t)> text);
  void Report(std::string message) { (*sink_)(message); }

  const std::shared_ptr<const CheckSink> sink_;
};

bool CheckState::HaveOneShape(absl::string_view expectation,
                              const hal::BufferView& a,
                              const hal::BufferView& b) {
  if (a.element_type() == b.element_type() && a.shape() == b.shape()) {
    return true;
  }
  Report(absl::StrCat(expectation, ": expected ", b.ShapeAndTypeString(),
                      ", got ", a.ShapeAndTypeString()));
  return false;
}

void CheckState::ReportElements(absl::string_view expectation,
                                absl::string_view type,
                                const TensorElements& elements,
                                absl::FunctionRef<bool(uint64_t)> differs,
                                absl::FunctionRef<std::string(uint64_t)> text) {
  std::string shown;
  uint64_t count = 0;
  for (uint64_t i = 0; i < elements.size(); ++i) {
    if (!differs(i)) continue;
    if (count++ < kShownElements) {
      absl::StrAppend(&shown, "\n  ", elements.IndexText(i), ": ", text(i));
    }
  }
  if (count == 0) return;
  if (count > kShownElements) absl::StrAppend(&shown, "\n  ...");
  Report(absl::StrCat(expectation, ": ", count, " of ", elements.size(),
                      " elements of ", type, " are wrong", shown));
}

absl::Status CheckState::ExpectTrue(int32_t operand) {
  if (operand == 0) Report("expect_true: expected not 0, got 0");
  return absl::OkStatus();
}

absl::Status CheckState::ExpectFalse(int32_t operand) {
  if (operand != 0) {
    Report(absl::StrCat("expect_false: expected 0, got ", operand));
  }
  return absl::OkStatus();
}

absl::Status CheckState::ExpectAllTrue(hal::Device& device,
                                       hal::BufferView& operand) {
  TAKT_ASSIGN_OR_RETURN(TensorElements elements,
                        TensorElements::Read(device, operand));
  auto is_false = [&elements](uint64_t i) {
    Number number;
    if (elements.NumberAt(i, &number)) {
      return number.real == 0 && number.imaginary == 0;
    }
    return elements.BitsAt(i) == TensorElements::Bits{};
  };
  ReportElements("expect_all_true", operand.ShapeAndTypeString(), elements,
                 is_false, [&elements](uint64_t i) {
                   return absl::StrCat("expected not 0, got ",
                                       elements.TextAt(i));
                 });
  return absl::OkStatus();
}

absl::Status CheckState::ExpectEq(hal::Device& device, hal::BufferView& actual,
                                  hal::BufferView& expected) {
  if (!HaveOneShape("expect_eq", actual, expected)) return absl::OkStatus();
  TAKT_ASSIGN_OR_RETURN(TensorElements a, TensorElements::Read(device, actual));
  TAKT_ASSIGN_OR_RETURN(TensorElements b,
                        TensorElements::Read(device, expected));
  ReportElements(
      "expect_eq", actual.ShapeAndTypeString(), a,
      [&](uint64_t i) { return a.BitsAt(i) != b.BitsAt(i); },
      [&](uint64_t i) {
        return absl::StrCat("expected ", b.TextAt(i), ", got ", a.TextAt(i));
      });
  return absl::OkStatus();
}

absl::Status CheckState::ExpectAlmostEq(hal::Device& device,
                                        hal::BufferView& actual,
                                        hal::BufferView& expected,
                                        float absolute, float relative) {
  if (!HaveOneShape("expect_almost_eq", actual, expected)) {
    return absl::OkStatus();
  }
  TAKT_ASSIGN_OR_RETURN(TensorElements a, TensorElements::Read(device, actual));
  TAKT_ASSIGN_OR_RETURN(TensorElements b,
                        TensorElements::Read(device, expected));
  const Tolerance tolerance{absolute, relative};
  auto differs = [&](uint64_t i) {
    Number x;
    Number y;
    if (!a.NumberAt(i, &x) || !b.NumberAt(i, &y)) {
      return a.BitsAt(i) != b.BitsAt(i);
    }
    return !IsClose(x.real, y.real, tolerance) ||
           !IsClose(x.imaginary, y.imaginary, tolerance);
  };
  ReportElements("expect_almost_eq", actual.ShapeAndTypeString(), a, differs,
                 [&](uint64_t i) {
                   return absl::StrCat("expected ", b.TextAt(i), " (within ",
                                       absolute, " + ", relative,
                                       " * |it|), got ", a.TextAt(i));
                 });
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Ref<vm::Module>> CreateCheckModule(vm::TypeRegistry& registry,
                                                  CheckSink sink) {
  if (!sink) return absl::InvalidArgumentError("check: no sink is given");
  TAKT_RETURN_IF_ERROR(RegisterHalTypes(registry));
  vm::NativeModule::Builder builder("check", 0);
  builder.SetCompilers(vm::kSupportedCompilers);
  auto shared = std::make_shared<const CheckSink>(std::move(sink));
  builder.SetStateFactory(
      [shared]() -> absl::StatusOr<std::unique_ptr<vm::ModuleState>> {
        return std::make_unique<CheckState>(shared);
      });
  builder.Export<&CheckState::ExpectTrue>("expect_true");
  builder.Export<&CheckState::ExpectFalse>("expect_false");
  builder.Export<&CheckState::ExpectAllTrue>("expect_all_true");
  builder.Export<&CheckState::ExpectEq>("expect_eq");
  builder.Export<&CheckState::ExpectAlmostEq>("expect_almost_eq");
  TAKT_ASSIGN_OR_RETURN(Ref<vm::NativeModule> module,
                        std::move(builder).Build());
  return Ref<vm::Module>(std::move(module));
}

}  // namespace takt::modules
