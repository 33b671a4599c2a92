#include "runtime/signature.h"

#include <cstddef>

#include "abi/null.h"
#include "api/handle.h"
#include "takt/signature.h"

using takt::api::Unwrap;

namespace {

using takt::runtime::ValueType;

// A ValueType is handed out as it is: both structs have the same members.
#define TAKT_SAME_MEMBER_(member)                                           \
  static_assert(                                                            \
      offsetof(takt_value_type_t, member) == offsetof(ValueType, member) && \
      sizeof(takt_value_type_t::member) == sizeof(ValueType::member))
TAKT_SAME_MEMBER_(kind);
TAKT_SAME_MEMBER_(name);
TAKT_SAME_MEMBER_(type);
TAKT_SAME_MEMBER_(attributes);
TAKT_SAME_MEMBER_(is_tensor);
TAKT_SAME_MEMBER_(element_type);
TAKT_SAME_MEMBER_(rank);
TAKT_SAME_MEMBER_(shape);
#undef TAKT_SAME_MEMBER_
static_assert(sizeof(takt_value_type_t) == sizeof(ValueType));
static_assert(TAKT_DIMENSION_DYNAMIC == takt::runtime::Declaration::kDynamic);

const takt_value_type_t* TypeAt(absl::Span<const ValueType> types,
                                size_t index) {
  return index < types.size()
             ? reinterpret_cast<const takt_value_type_t*>(&types[index])
             : nullptr;
}

}  // namespace

void takt_signature_retain(takt_signature_t* signature) {
  takt::api::RetainHandle(signature);
}

void takt_signature_release(takt_signature_t* signature) {
  takt::api::ReleaseHandle(signature);
}

const char* takt_signature_convention(const takt_signature_t* signature) {
  TAKT_REQUIRE_OR("", signature);
  return Unwrap(signature)->convention().c_str();
}

const char* takt_signature_declaration(const takt_signature_t* signature) {
  TAKT_REQUIRE_OR("", signature);
  return Unwrap(signature)->declaration().c_str();
}

bool takt_signature_is_async(const takt_signature_t* signature) {
  TAKT_REQUIRE_OR(false, signature);
  return Unwrap(signature)->is_async();
}

size_t takt_signature_argument_count(const takt_signature_t* signature) {
  TAKT_REQUIRE_OR(0, signature);
  return Unwrap(signature)->arguments().size();
}

size_t takt_signature_result_count(const takt_signature_t* signature) {
  TAKT_REQUIRE_OR(0, signature);
  return Unwrap(signature)->results().size();
}

const takt_value_type_t* takt_signature_argument(
    const takt_signature_t* signature, size_t index) {
  TAKT_REQUIRE_OR(nullptr, signature);
  return TypeAt(Unwrap(signature)->arguments(), index);
}

const takt_value_type_t* takt_signature_result(
    const takt_signature_t* signature, size_t index) {
  TAKT_REQUIRE_OR(nullptr, signature);
  return TypeAt(Unwrap(signature)->results(), index);
}
