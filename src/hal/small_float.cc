#include "hal/small_float.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace takt::hal {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What the greatest exponent means.
enum class Specials {
  kIeee,          // Infinity for a zero mantissa, else NaN.
  kNanOnly,       // Numbers, but for NaN with every bit set.
  kNegativeZero,  // Numbers; the only NaN is what would be -0.
};

struct Layout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
};

float Decode(uint32_t bits, const Layout& layout) {
  const uint32_t mantissa_mask = (1u << layout.mantissa_bits) - 1;
  const uint32_t exponent_mask = (1u << layout.exponent_bits) - 1;
  const uint32_t mantissa = bits & mantissa_mask;
  const uint32_t exponent = (bits >> layout.mantissa_bits) & exponent_mask;
  const bool negative =
      (bits >> (layout.mantissa_bits + layout.exponent_bits) & 1) != 0;
  const auto with_sign = [negative](float value) {
    return std::copysign(value, negative ? -1.0f : 1.0f);
  };
  if (layout.specials == Specials::kNegativeZero) {
    if (negative && exponent == 0 && mantissa == 0) return kNan;
  } else if (exponent == exponent_mask) {
    if (layout.specials == Specials::kIeee) {
      return with_sign(mantissa == 0 ? kInfinity : kNan);
    }
    if (mantissa == mantissa_mask) return with_sign(kNan);
  }
  // Subnormal: no leading one, the exponent of the least normal.
  const uint32_t digits =
      exponent == 0 ? mantissa : mantissa | (1u << layout.mantissa_bits);
  const int scale = static_cast<int>(exponent == 0 ? 1 : exponent) -
                    layout.bias - layout.mantissa_bits;
  return with_sign(std::ldexp(static_cast<float>(digits), scale));
}

}  // namespace

float FloatFromF16(uint16_t bits) {
  return Decode(bits, {5, 10, 15, Specials::kIeee});
}

float FloatFromBF16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

float FloatFromF8(NumericalKind kind, uint8_t bits) {
  switch (kind) {
    case NumericalKind::kF8E5M2:
      return Decode(bits, {5, 2, 15, Specials::kIeee});
    case NumericalKind::kF8E4M3FN:
      return Decode(bits, {4, 3, 7, Specials::kNanOnly});
    case NumericalKind::kF8E5M2FNUZ:
      return Decode(bits, {5, 2, 16, Specials::kNegativeZero});
    case NumericalKind::kF8E4M3FNUZ:
      return Decode(bits, {4, 3, 8, Specials::kNegativeZero});
    case NumericalKind::kF8E8M0FNU:
      return bits == 0xff ? kNan : std::ldexp(1.0f, bits - 127);
    default:
      return kNan;
  }
}

}  // namespace takt::hal
