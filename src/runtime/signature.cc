#include "runtime/signature.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hal/element_type.h"

namespace takt::runtime {
namespace {

vm::ValueKind KindOf(vm::Letter letter) {
  switch (letter) {
    case vm::Letter::kI32:
      return vm::ValueKind::kI32;
    case vm::Letter::kI64:
      return vm::ValueKind::kI64;
    case vm::Letter::kF32:
      return vm::ValueKind::kF32;
    case vm::Letter::kF64:
      return vm::ValueKind::kF64;
    case vm::Letter::kRef:
      break;
  }
  return vm::ValueKind::kRef;
}

char LetterOf(vm::ValueKind kind) {
  switch (kind) {
    case vm::ValueKind::kI32:
      return 'i';
    case vm::ValueKind::kI64:
      return 'I';
    case vm::ValueKind::kF32:
      return 'f';
    case vm::ValueKind::kF64:
      return 'F';
    default:
      return 'r';
  }
}

// One side of a calling convention.
std::string Letters(absl::Span<const vm::ValueKind> kinds) {
  std::string letters;
  for (const vm::ValueKind kind : kinds) letters.push_back(LetterOf(kind));
  if (letters.empty()) letters.push_back('v');
  return letters;
}

ValueType TypeOf(vm::ValueKind kind) {
  ValueType type;
  type.kind = kind;
  return type;
}

void Describe(const std::vector<Declaration::Item>& items,
              std::vector<ValueType>* types) {
  for (size_t i = 0; i < items.size(); ++i) {
    ValueType& type = (*types)[i];
    type.name = items[i].name.c_str();
    type.type = items[i].type.c_str();
    type.attributes = items[i].attributes.c_str();
    if (!items[i].is_tensor || type.kind != vm::ValueKind::kRef) continue;
    type.is_tensor = true;
    type.element_type = items[i].element_type;
    type.rank = items[i].shape.size();
    type.shape = items[i].shape.data();
  }
}

// The last two arguments are the fences of the coarse-fences model.
bool EndsWithFences(const std::vector<ValueType>& arguments) {
  const size_t count = arguments.size();
  return count >= 2 && arguments[count - 1].kind == vm::ValueKind::kRef &&
         arguments[count - 2].kind == vm::ValueKind::kRef;
}

absl::Status CheckFits(const std::vector<Declaration::Item>& items,
                       const std::vector<ValueType>& types,
                       absl::string_view what) {
  if (items.size() != types.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("declaration: expected ", types.size(), " ", what,
                     types.size() == 1 ? "" : "s", ", got ", items.size()));
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const bool is_ref = types[i].kind == vm::ValueKind::kRef;
    // Any object fits a type that is no tensor and no number, such as
    // "!hal.buffer".
    const bool is_number =
        !items[i].is_tensor && hal::ParseElementType(items[i].type).ok();
    if (is_ref ? !is_number : !items[i].is_tensor) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "declaration: ", what, " ", i, ": ", items[i].type,
        ", but the function has ", vm::ValueKindName(types[i].kind)));
  }
  return absl::OkStatus();
}

}  // namespace

bool ValueType::AdmitsShape(absl::Span<const int64_t> dimensions) const {
  return std::equal(shape, shape + rank, dimensions.begin(), dimensions.end(),
                    [](int64_t declared, int64_t given) {
                      return declared == Declaration::kDynamic ||
                             declared == given;
                    });
}

bool ValueType::MayAdmitShape(
    absl::Span<const int64_t> declared_dimensions) const {
  return std::equal(shape, shape + rank, declared_dimensions.begin(),
                    declared_dimensions.end(), [](int64_t own, int64_t other) {
                      return own == Declaration::kDynamic ||
                             other == Declaration::kDynamic || own == other;
                    });
}

absl::string_view ValueType::type_or_kind() const {
  return *type != '\0' ? type : vm::ValueKindName(kind);
}

Ref<Signature> Signature::FromConvention(const vm::ExportInfo& info) {
  auto result = Ref<Signature>::Adopt(new Signature);
  result->convention_ = info.convention.text;
  for (const auto& argument : info.convention.arguments) {
    if (argument.is_span) {
      result->is_variadic_ = true;
    } else {
      result->arguments_.push_back(TypeOf(KindOf(argument.letters.front())));
    }
  }
  for (vm::Letter letter : info.convention.results) {
    result->results_.push_back(TypeOf(KindOf(letter)));
  }
  const std::string* model = info.FindAttribute("iree.abi.model");
  if (model != nullptr && *model == "coarse-fences" && !result->is_variadic_ &&
      EndsWithFences(result->arguments_)) {
    result->is_async_ = true;
    result->arguments_.resize(result->arguments_.size() - 2);
  }
  return result;
}

void Signature::SetDeclaration(std::string text, Declaration declaration) {
  declaration_text_ = std::move(text);
  declaration_ = std::move(declaration);
  Describe(declaration_.arguments, &arguments_);
  Describe(declaration_.results, &results_);
}

Ref<Signature> Signature::Create(const vm::ExportInfo& info) {
  Ref<Signature> result = FromConvention(info);
  const std::string* text = info.FindAttribute("iree.abi.declaration");
  if (text == nullptr) return result;
  result->declaration_text_ = *text;
  auto declaration = Declaration::Parse(*text);
  if (!declaration.ok() || result->is_variadic_ ||
      declaration->arguments.size() != result->arguments_.size() ||
      declaration->results.size() != result->results_.size()) {
    return result;
  }
  result->SetDeclaration(*text, *std::move(declaration));
  return result;
}

absl::StatusOr<Ref<Signature>> Signature::Declare(
    const vm::ExportInfo& info, absl::string_view declaration) {
  Ref<Signature> result = FromConvention(info);
  const absl::string_view model = result->is_async_ ? "async" : "sync";
  std::string text(declaration);
  if (absl::StartsWith(text, "(")) {
    text = absl::StrCat(model, " func @", info.name, text);
  }
  TAKT_ASSIGN_OR_RETURN(Declaration read, Declaration::Parse(text));
  if (read.is_async != result->is_async_) {
    return absl::InvalidArgumentError(
        absl::StrCat("declaration: the function is ", model));
  }
  if (result->is_variadic_) {
    return absl::InvalidArgumentError(
        "declaration: the function takes a varying number of arguments");
  }
  TAKT_RETURN_IF_ERROR(CheckFits(read.arguments, result->arguments_, "input"));
  TAKT_RETURN_IF_ERROR(CheckFits(read.results, result->results_, "result"));
  result->SetDeclaration(std::move(text), std::move(read));
  return result;
}

Ref<Signature> Signature::FromDeclaration(
    Declaration declaration, absl::Span<const vm::ValueKind> kinds) {
  auto result = Ref<Signature>::Adopt(new Signature);
  result->declaration_ = std::move(declaration);
  const size_t argument_count = result->declaration_.arguments.size();
  const auto arguments = kinds.subspan(0, argument_count);
  const auto results = kinds.subspan(argument_count);
  for (const vm::ValueKind kind : arguments) {
    result->arguments_.push_back(TypeOf(kind));
  }
  for (const vm::ValueKind kind : results) {
    result->results_.push_back(TypeOf(kind));
  }
  result->convention_ =
      absl::StrCat("0", Letters(arguments), "_", Letters(results));
  Describe(result->declaration_.arguments, &result->arguments_);
  Describe(result->declaration_.results, &result->results_);
  return result;
}

}  // namespace takt::runtime
