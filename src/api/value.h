// Values on their way across the line between C and the VM.
#ifndef TAKT_API_VALUE_H_
#define TAKT_API_VALUE_H_

#include <cstring>

#include "takt/object.h"
#include "takt/value.h"
#include "vm/value.h"

namespace takt::api {

// The numbers of the kinds are the same on both sides.
static_assert(TAKT_VALUE_I8 == static_cast<int>(vm::ValueKind::kI8));
static_assert(TAKT_VALUE_I32 == static_cast<int>(vm::ValueKind::kI32));
static_assert(TAKT_VALUE_F64 == static_cast<int>(vm::ValueKind::kF64));
static_assert(TAKT_VALUE_REF == static_cast<int>(vm::ValueKind::kRef));

inline bool IsValueKind(takt_value_kind_t kind) {
  return static_cast<unsigned>(kind) <= TAKT_VALUE_REF;
}

// A value of its own: an object gets a reference more. `value.kind` must be
// one of the kinds.
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

// Hands the reference of `value`, if it has one, to the result.
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
