#include "vm/value.h"

namespace takt::vm {
namespace {

bool IsInteger(ValueKind kind) {
  return kind == ValueKind::kI8 || kind == ValueKind::kI16 ||
         kind == ValueKind::kI32 || kind == ValueKind::kI64;
}

bool IsFloat(ValueKind kind) {
  return kind == ValueKind::kF32 || kind == ValueKind::kF64;
}

// Bits beyond the value are zero, so that slots of equal values are equal.
Slot FromI32(int32_t value) {
  Slot slot{.i64 = 0};
  slot.i32 = value;
  return slot;
}

Slot ConvertInteger(int64_t value, ValueKind to) {
  switch (to) {
    case ValueKind::kI8:
      return FromI32(static_cast<int8_t>(value));
    case ValueKind::kI16:
      return FromI32(static_cast<int16_t>(value));
    case ValueKind::kI32:
      return FromI32(static_cast<int32_t>(value));
    default:
      return Slot{.i64 = value};
  }
}

Slot ConvertFloat(double value, ValueKind to) {
  Slot result{.i64 = 0};
  if (to == ValueKind::kF32) {
    result.f32 = static_cast<float>(value);
  } else {
    result.f64 = value;
  }
  return result;
}

}  // namespace

const char* ValueKindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNone:
      return "none";
    case ValueKind::kI8:
      return "i8";
    case ValueKind::kI16:
      return "i16";
    case ValueKind::kI32:
      return "i32";
    case ValueKind::kI64:
      return "i64";
    case ValueKind::kF32:
      return "f32";
    case ValueKind::kF64:
      return "f64";
    case ValueKind::kRef:
      return "ref";
  }
  return "?";
}

Slot ConvertScalar(ValueKind from, Slot slot, ValueKind to) {
  if (IsInteger(from) && IsInteger(to)) {
    return ConvertInteger(from == ValueKind::kI64 ? slot.i64 : slot.i32, to);
  }
  if (IsFloat(from) && IsFloat(to)) {
    if (from == to) return slot;
    return ConvertFloat(from == ValueKind::kF32 ? slot.f32 : slot.f64, to);
  }
  return Slot{.i64 = 0};
}

}  // namespace takt::vm
