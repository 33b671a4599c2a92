// A Signature says what a function takes and returns. It is made from the
// function's calling convention and its declaration.
//
// Thread-safety: immutable.
#ifndef TAKT_RUNTIME_SIGNATURE_H_
#define TAKT_RUNTIME_SIGNATURE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "hal/compact_signature.h"
#include "runtime/declaration.h"
#include "vm/module.h"
#include "vm/value.h"

namespace takt::runtime {

// One argument or result. The text and the shape belong to the signature.
// The type of takt/signature.h has the same layout (api/signature.cc).
struct ValueType {
  // True if a tensor of this shape may be passed.
  bool AdmitsShape(absl::Span<const int64_t> dimensions) const;
  // The same for a declared shape. Declaration::kDynamic may be any size.
  bool MayAdmitShape(absl::Span<const int64_t> declared_dimensions) const;
  // The declared type, or else the kind: "tensor<?x4xf32>", "i32".
  absl::string_view type_or_kind() const;

  vm::ValueKind kind = vm::ValueKind::kNone;
  const char* name = "";
  const char* type = "";        // As declared; "" if not known.
  const char* attributes = "";  // As declared, inside the braces.
  bool is_tensor = false;       // Then the rest is known.
  hal::ElementType element_type{};
  size_t rank = 0;
  const int64_t* shape = nullptr;  // Declaration::kDynamic: any size.
};

class Signature final : public Object {
 public:
  static constexpr ObjectType kType{"takt.signature"};

  // Ignores a declaration that is malformed or does not fit the calling
  // convention: the module runs without it.
  static Ref<Signature> Create(const vm::ExportInfo& info);
  // The same with a caller's declaration. INVALID_ARGUMENT if it does not fit
  // the calling convention.
  static absl::StatusOr<Ref<Signature>> Declare(const vm::ExportInfo& info,
                                                absl::string_view declaration);
  // A signature without a function. `kinds` has the kind of each argument, then
  // of each result.
  static Ref<Signature> FromDeclaration(Declaration declaration,
                                        absl::Span<const vm::ValueKind> kinds);

  const std::string& convention() const { return convention_; }
  const std::string& declaration() const { return declaration_text_; }
  bool is_async() const { return is_async_; }
  bool is_variadic() const { return is_variadic_; }
  absl::Span<const ValueType> arguments() const { return arguments_; }
  absl::Span<const ValueType> results() const { return results_; }

  // The compact signature that it was read from, if there was one.
  const absl::optional<hal::CompactSignature>& compact() const {
    return compact_;
  }
  void set_compact(hal::CompactSignature compact) {
    compact_ = std::move(compact);
  }

 private:
  Signature() : Object(&kType) {}
  static Ref<Signature> FromConvention(const vm::ExportInfo& info);
  void SetDeclaration(std::string text, Declaration declaration);

  std::string convention_;
  std::string declaration_text_;
  Declaration declaration_;  // Holds the text that the types point to.
  absl::optional<hal::CompactSignature> compact_;
  bool is_async_ = false;
  bool is_variadic_ = false;
  std::vector<ValueType> arguments_;
  std::vector<ValueType> results_;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_SIGNATURE_H_
