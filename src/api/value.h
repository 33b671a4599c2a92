// Values between C and the VM. A takt_value_t is a vm::Value: the same kinds at
// the same place, the same bits, and a reference if it is an object. So arrays
// of values are not copied between them.
#ifndef TAKT_API_VALUE_H_
#define TAKT_API_VALUE_H_

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "absl/types/span.h"
#include "takt/object.h"
#include "takt/value.h"
#include "vm/value.h"

namespace takt::api {

// The numbers of the kinds are the same on both sides.
static_assert(TAKT_VALUE_I8 == static_cast<int>(vm::ValueKind::kI8));
static_assert(TAKT_VALUE_I32 == static_cast<int>(vm::ValueKind::kI32));
static_assert(TAKT_VALUE_F64 == static_cast<int>(vm::ValueKind::kF64));
static_assert(TAKT_VALUE_REF == static_cast<int>(vm::ValueKind::kRef));

static_assert(std::is_standard_layout_v<vm::Value> &&
              sizeof(vm::Value) == sizeof(takt_value_t) &&
              alignof(vm::Value) == alignof(takt_value_t));
static_assert(sizeof(vm::ValueKind) == sizeof(takt_value_kind_t) &&
              offsetof(takt_value_t, kind) == 0 &&
              offsetof(takt_value_t, i64) == 8);

inline absl::Span<const vm::Value> ToValues(
    absl::Span<const takt_value_t> values) {
  return {reinterpret_cast<const vm::Value*>(values.data()), values.size()};
}
// `values` are of kind NONE, or own their references.
inline absl::Span<vm::Value> ToValues(absl::Span<takt_value_t> values) {
  return {reinterpret_cast<vm::Value*>(values.data()), values.size()};
}
// Lends the values to a C callback.
inline const takt_value_t* ToCValues(absl::Span<const vm::Value> values) {
  return reinterpret_cast<const takt_value_t*>(values.data());
}

inline bool IsValueKind(takt_value_kind_t kind) {
  return static_cast<unsigned>(kind) <= TAKT_VALUE_REF;
}

// A copy with a reference of its own. `value.kind` must be one of the kinds.
inline vm::Value ToVmValue(const takt_value_t& value) {
  vm::Slot slot;
  slot.i64 = 0;
  switch (value.kind) {
    case TAKT_VALUE_REF:
      return vm::Value::FromRef(
          Ref<Object>::Retain(reinterpret_cast<Object*>(value.ref)));
    case TAKT_VALUE_I64:
    case TAKT_VALUE_F64:
      slot.i64 = value.i64;
      break;
    default:
      slot.i32 = value.i32;
      break;
  }
  return vm::Value::Scalar(static_cast<vm::ValueKind>(value.kind), slot);
}

// A copy with a reference of its own.
inline takt_value_t RetainValue(const takt_value_t& value) {
  if (value.kind == TAKT_VALUE_REF && value.ref != nullptr) {
    takt_object_retain(value.ref);
  }
  return value;
}

// Moves the reference of `value`, if it has one, to the result.
inline takt_value_t TakeVmValue(vm::Value value) {
  takt_value_t result;
  std::memset(&result, 0, sizeof(result));
  result.kind = static_cast<takt_value_kind_t>(value.kind());
  if (value.is_ref()) {
    result.ref = reinterpret_cast<takt_object_t*>(value.TakeRef().release());
  } else {
    result.i64 = value.i64();
  }
  return result;
}

}  // namespace takt::api

#endif  // TAKT_API_VALUE_H_
