// The arithmetic of instructions whose results C++ leaves undefined or defines
// in another way. Pure functions, which the interpreter inlines.
#ifndef TAKT_VM_SCALAR_MATH_H_
#define TAKT_VM_SCALAR_MATH_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace takt::vm {

// Division wraps where the quotient does not fit: MIN / -1 is MIN, its
// remainder 0. The divisor is not 0.
template <typename T>
T Divide(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (b == -1) return static_cast<T>(U{0} - static_cast<U>(a));
  }
  return a / b;
}
template <typename T>
T Remainder(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return a % b;
}

// abs(MIN) is MIN.
template <typename T>
T WrappingAbs(T value) {
  using U = std::make_unsigned_t<T>;
  return value < 0 ? static_cast<T>(U{0} - static_cast<U>(value)) : value;
}

// The width for 0.
inline int32_t CountLeadingZeros(uint32_t value) {
  return value == 0 ? 32 : __builtin_clz(value);
}
inline int64_t CountLeadingZeros(uint64_t value) {
  return value == 0 ? 64 : __builtin_clzll(value);
}

// Float to integer: to the nearest, ties away from zero. A value that does not
// fit gives the result of x86-64, with which compiled models were tested.
inline constexpr float kTwoTo63 = 9223372036854775808.0f;

template <typename F>
int64_t RoundToI64(F value) {
  const F rounded = std::round(value);
  if (rounded >= -F{kTwoTo63} && rounded < F{kTwoTo63}) {
    return static_cast<int64_t>(rounded);
  }
  return std::numeric_limits<int64_t>::min();
}
inline uint64_t RoundToU64(float value) {
  const float rounded = std::round(value);
  if (!(rounded >= kTwoTo63)) {  // A NaN too.
    return static_cast<uint64_t>(RoundToI64(rounded));
  }
  if (rounded >= 2 * kTwoTo63) return 0;
  return static_cast<uint64_t>(rounded);
}
// The low word of the 64-bit result.
inline int32_t RoundToI32(float value) {
  return static_cast<int32_t>(static_cast<uint64_t>(RoundToI64(value)));
}

// `base` raised to the low word of `exponent`, a signed number: squares and
// products, each rounded, then the reciprocal if it is negative. So results are
// those of the compiler's own runtime, bit for bit, which those of pow() are
// not. At most 32 rounds.
template <typename F>
F IntegerPower(F base, int64_t exponent) {
  const int32_t power = static_cast<int32_t>(static_cast<uint32_t>(exponent));
  uint32_t rest = static_cast<uint32_t>(power);
  if (power < 0) rest = 0 - rest;
  F result = 1;
  while (true) {
    if ((rest & 1) != 0) result *= base;
    rest >>= 1;
    if (rest == 0) break;
    base *= base;
  }
  return power < 0 ? 1 / result : result;
}

// SipHash-2-4 with the key bytes 00 01 ... 0f.
uint64_t SipHash24(const uint8_t* data, size_t size);

}  // namespace takt::vm

#endif  // TAKT_VM_SCALAR_MATH_H_
