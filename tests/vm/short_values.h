// Short names for values: i for 32 bits, I for 64 bits, f and F likewise.
#ifndef TAKT_TESTS_VM_SHORT_VALUES_H_
#define TAKT_TESTS_VM_SHORT_VALUES_H_

#include <cstdint>

#include "vm/value.h"

namespace takt::vm {

inline Value i(int64_t value) {
  return Value::I32(static_cast<int32_t>(value));
}
inline Value I(int64_t value) { return Value::I64(value); }
inline Value f(float value) { return Value::F32(value); }
inline Value F(double value) { return Value::F64(value); }
inline Value Null() { return Value::FromRef(nullptr); }

}  // namespace takt::vm

#endif  // TAKT_TESTS_VM_SHORT_VALUES_H_
