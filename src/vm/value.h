// A Value is an argument, result or list element that passes between the host
// and the VM: a scalar with its kind, or a counted reference.
//
// Thread-safety: none; a Value belongs to one thread at a time.
#ifndef TAKT_VM_VALUE_H_
#define TAKT_VM_VALUE_H_

#include <cstdint>
#include <utility>

#include "base/object.h"

namespace takt::vm {

// The numbers and the width are those of the kinds in the C API: its values and
// a Value are the same bits (api/value.h).
enum class ValueKind : uint32_t {
  kNone = 0,
  kI8,
  kI16,
  kI32,
  kI64,
  kF32,
  kF64,
  kRef,
};

// False for a number that no enumerator has.
constexpr bool IsValueKind(ValueKind kind) { return kind <= ValueKind::kRef; }

// The name of a scalar kind in a module's type table ("i32"); "ref" and "none"
// for the others.
const char* ValueKindName(ValueKind kind);

// One argument or result of a native function, between the interpreter and
// native code. The low bytes hold the value; the calling convention says which
// member is valid. Refs are not counted here; see call.h.
union Slot {
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  Object* ref;
};
static_assert(sizeof(Slot) == 8);

class Value {
 public:
  Value() = default;
  static Value I32(int32_t v) { return Make(ValueKind::kI32, {.i32 = v}); }
  static Value I64(int64_t v) { return Make(ValueKind::kI64, {.i64 = v}); }
  static Value F32(float v) { return Make(ValueKind::kF32, {.f32 = v}); }
  static Value F64(double v) { return Make(ValueKind::kF64, {.f64 = v}); }
  // A null ref is a value of kind kRef.
  static Value FromRef(Ref<Object> ref) {
    return Make(ValueKind::kRef, {.ref = ref.release()});
  }
  // i8 and i16 are kept sign-extended in i32.
  static Value Scalar(ValueKind kind, Slot slot) { return Make(kind, slot); }

  Value(const Value& other) : kind_(other.kind_), slot_(other.slot_) {
    if (is_ref() && slot_.ref != nullptr) slot_.ref->Retain();
  }
  Value(Value&& other) noexcept
      : kind_(std::exchange(other.kind_, ValueKind::kNone)),
        slot_(other.slot_) {}
  Value& operator=(Value other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~Value() {
    if (is_ref() && slot_.ref != nullptr) slot_.ref->Release();
  }

  ValueKind kind() const { return kind_; }
  bool is_ref() const { return kind_ == ValueKind::kRef; }
  // Valid for the matching kind only.
  int32_t i32() const { return slot_.i32; }
  int64_t i64() const { return slot_.i64; }
  float f32() const { return slot_.f32; }
  double f64() const { return slot_.f64; }
  const Slot& slot() const { return slot_; }
  // Borrowed; nullptr if the value is no ref.
  Object* ref() const { return is_ref() ? slot_.ref : nullptr; }
  // The reference itself, leaving a null ref. nullptr if the value is no ref.
  Ref<Object> TakeRef() {
    if (!is_ref()) return nullptr;
    return Ref<Object>::Adopt(std::exchange(slot_.ref, nullptr));
  }

 private:
  static Value Make(ValueKind kind, Slot slot) {
    Value value;
    value.kind_ = kind;
    value.slot_ = slot;
    return value;
  }

  ValueKind kind_ = ValueKind::kNone;
  Slot slot_{.i64 = 0};
};

// The value converted to `kind` by the VM's rules for lists and host
// arguments: integers by truncation or sign extension, f32 and f64 by
// rounding, integer to float and back gives 0. Neither side may be a ref.
Slot ConvertScalar(ValueKind from, Slot slot, ValueKind to);

}  // namespace takt::vm

#endif  // TAKT_VM_VALUE_H_
