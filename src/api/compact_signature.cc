#include "api/compact_signature.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "abi/c_string.h"
#include "abi/guard.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/handle.h"
#include "takt/compact_signature.h"

namespace takt::api {
namespace {

using hal::ElementType;
using hal::NumericalKind;
using hal::SignatureItem;
using Kind = hal::SignatureItem::Kind;

// "i32", "ui8", "bf16": as compiled modules declare it, where the integers that
// the compact form calls signed have no sign.
std::string DeclaredName(ElementType type) {
  if (hal::KindOf(type) == NumericalKind::kSignedInteger) {
    type = hal::MakeElementType(NumericalKind::kInteger, hal::BitCount(type));
  }
  return hal::ElementTypeName(type);
}

// And back.
ElementType CompactType(ElementType type) {
  return hal::KindOf(type) == NumericalKind::kInteger
             ? hal::MakeElementType(NumericalKind::kSignedInteger,
                                    hal::BitCount(type))
             : type;
}

std::string TensorName(const SignatureItem& item) {
  std::string name = "tensor<";
  for (const int64_t dimension : item.shape) {
    absl::StrAppend(&name,
                    dimension == SignatureItem::kDynamic
                        ? std::string("?")
                        : absl::StrCat(dimension),
                    "x");
  }
  return absl::StrCat(name, DeclaredName(item.element_type), ">");
}

// What the VM holds a scalar in.
vm::ValueKind ScalarKind(ElementType type) {
  const NumericalKind kind = hal::KindOf(type);
  const bool is_float =
      kind == NumericalKind::kFloatIeee || kind == NumericalKind::kBFloat;
  const bool is_wide = hal::BitCount(type) > 32;
  if (is_float) return is_wide ? vm::ValueKind::kF64 : vm::ValueKind::kF32;
  return is_wide ? vm::ValueKind::kI64 : vm::ValueKind::kI32;
}

runtime::Declaration::Item DeclaredItem(const SignatureItem& item) {
  runtime::Declaration::Item declared;
  switch (item.kind) {
    case Kind::kBuffer:
      declared.type = TensorName(item);
      declared.is_tensor = true;
      declared.element_type = item.element_type;
      declared.shape = item.shape;
      break;
    case Kind::kScalar:
      declared.type = DeclaredName(item.element_type);
      break;
    case Kind::kObject:
      declared.type = "!vm.ref<?>";
      break;
    case Kind::kUnrecognized:
      declared.type = item.content;
      break;
  }
  return declared;
}

// Without a declaration only the kind is known.
absl::string_view TypeOrKind(const runtime::ValueType& type) {
  if (*type.type != '\0') return type.type;
  switch (type.kind) {
    case vm::ValueKind::kI32:
      return "i32";
    case vm::ValueKind::kI64:
      return "i64";
    case vm::ValueKind::kF32:
      return "f32";
    case vm::ValueKind::kF64:
      return "f64";
    default:
      return "!vm.ref<?>";
  }
}

bool CanBeNamed(const SignatureItem& item) {
  hal::CompactSignature signature;
  signature.arguments.push_back(item);
  return signature.ToText().ok();
}

SignatureItem CompactItem(const runtime::ValueType& type) {
  SignatureItem item;
  const absl::string_view text = TypeOrKind(type);
  if (type.is_tensor) {
    item.kind = Kind::kBuffer;
    item.element_type =
        CompactType(static_cast<ElementType>(type.element_type));
    item.shape.assign(type.shape, type.shape + type.rank);
    if (CanBeNamed(item)) return item;
  } else if (absl::StartsWith(text, "!")) {
    item.kind = Kind::kObject;
    return item;
  } else if (const auto scalar = hal::ParseElementType(text); scalar.ok()) {
    item.kind = Kind::kScalar;
    item.element_type = CompactType(*scalar);
    if (CanBeNamed(item)) return item;
  }
  item = SignatureItem();
  item.kind = Kind::kUnrecognized;
  item.content = std::string(text);
  return item;
}

void NameItem(const runtime::ValueType& type, absl::string_view prefix,
              size_t index, std::vector<runtime::Declaration::Item>* items) {
  runtime::Declaration::Item item;
  item.name =
      *type.name != '\0' ? std::string(type.name) : absl::StrCat(prefix, index);
  item.type = std::string(TypeOrKind(type));
  item.attributes = type.attributes;
  items->push_back(std::move(item));
}

absl::Status RequireFixedArguments(const runtime::Signature& signature) {
  if (!signature.is_variadic()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a variadic function has no such signature");
}

absl::StatusOr<Ref<runtime::Signature>> ParseCompact(const char* text) {
  TAKT_ASSIGN_OR_RETURN(hal::CompactSignature compact,
                        hal::CompactSignature::Parse(text));
  return FromCompact(std::move(compact));
}

absl::StatusOr<std::string> FormatCompact(const takt_signature_t* signature) {
  TAKT_ASSIGN_OR_RETURN(const hal::CompactSignature compact,
                        ToCompact(*Unwrap(signature)));
  return compact.ToText();
}

absl::StatusOr<std::string> FormatDeclarationOf(
    const takt_signature_t* signature, const char* function_name) {
  return FormatDeclaration(*Unwrap(signature), function_name);
}

}  // namespace

Ref<runtime::Signature> FromCompact(hal::CompactSignature compact) {
  runtime::Declaration declaration;
  std::vector<vm::ValueKind> kinds;
  const auto add = [&kinds](const std::vector<SignatureItem>& items,
                            std::vector<runtime::Declaration::Item>* declared) {
    for (const SignatureItem& item : items) {
      declared->push_back(DeclaredItem(item));
      kinds.push_back(item.kind == Kind::kScalar ? ScalarKind(item.element_type)
                                                 : vm::ValueKind::kRef);
    }
  };
  add(compact.arguments, &declaration.arguments);
  add(compact.results, &declaration.results);
  Ref<runtime::Signature> signature =
      runtime::Signature::FromDeclaration(std::move(declaration), kinds);
  signature->set_compact(std::move(compact));
  return signature;
}

absl::StatusOr<hal::CompactSignature> ToCompact(
    const runtime::Signature& signature) {
  if (signature.compact().has_value()) return *signature.compact();
  TAKT_RETURN_IF_ERROR(RequireFixedArguments(signature));
  hal::CompactSignature compact;
  for (const runtime::ValueType& type : signature.arguments()) {
    compact.arguments.push_back(CompactItem(type));
  }
  for (const runtime::ValueType& type : signature.results()) {
    compact.results.push_back(CompactItem(type));
  }
  return compact;
}

absl::StatusOr<std::string> FormatDeclaration(
    const runtime::Signature& signature, absl::string_view function_name) {
  TAKT_RETURN_IF_ERROR(RequireFixedArguments(signature));
  if (function_name.empty()) {
    return absl::InvalidArgumentError("function_name is empty");
  }
  runtime::Declaration declaration;
  declaration.is_async = signature.is_async();
  declaration.name = std::string(function_name);
  for (size_t i = 0; i < signature.arguments().size(); ++i) {
    NameItem(signature.arguments()[i], "input", i, &declaration.arguments);
  }
  for (size_t i = 0; i < signature.results().size(); ++i) {
    NameItem(signature.results()[i], "output", i, &declaration.results);
  }
  return declaration.ToText();
}

}  // namespace takt::api

takt_status_t takt_signature_parse_compact(const char* text,
                                           takt_signature_t** out_signature) {
  TAKT_REQUIRE(text, out_signature);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::ParseCompact(text),
                           out_signature);
  }
  TAKT_CATCH_ALL(text, out_signature);
}

takt_status_t takt_signature_format_compact(const takt_signature_t* signature,
                                            char** out_text) {
  TAKT_REQUIRE(signature, out_text);
  TAKT_TRY {
    return takt::api::GiveText(__func__, takt::api::FormatCompact(signature),
                               out_text);
  }
  TAKT_CATCH_ALL(signature, out_text);
}

takt_status_t takt_signature_format_declaration(
    const takt_signature_t* signature, const char* function_name,
    char** out_text) {
  TAKT_REQUIRE(signature, function_name, out_text);
  TAKT_TRY {
    return takt::api::GiveText(
        __func__, takt::api::FormatDeclarationOf(signature, function_name),
        out_text);
  }
  TAKT_CATCH_ALL(signature, function_name, out_text);
}
