#include "base/small_float.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace takt {
namespace {

// The meaning of the codes that are not finite numbers.
enum class Specials {
  kIeee,      // The greatest exponent: infinities and NaNs.
  kNanOnly,   // All ones, of either sign: NaN.
  kUnsigned,  // The code of -0: NaN. "FNUZ".
  kScale,     // Exponents only, no sign and no 0; all ones: NaN.
};

struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
};

// By SmallFloat.
constexpr Format kFormats[] = {
    {5, 10, 15, Specials::kIeee},    {8, 7, 127, Specials::kIeee},
    {5, 2, 15, Specials::kIeee},     {4, 3, 7, Specials::kNanOnly},
    {5, 2, 16, Specials::kUnsigned}, {4, 3, 8, Specials::kUnsigned},
    {8, 0, 127, Specials::kScale},
};

const Format& FormatOf(SmallFloat type) {
  return kFormats[static_cast<size_t>(type)];
}

uint32_t MagnitudeMask(const Format& f) {
  return (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
}

// The smallest code that is not a finite magnitude.
uint32_t FirstSpecial(const Format& f) {
  const uint32_t mask = MagnitudeMask(f);
  switch (f.specials) {
    case Specials::kIeee:
      return mask >> f.mantissa_bits << f.mantissa_bits;
    case Specials::kUnsigned:
      return mask + 1;
    default:
      return mask;
  }
}

float DecodeScale(uint32_t bits) {
  if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, static_cast<int>(bits) - 127);
}

uint32_t EncodeScale(float value) {
  if (std::isnan(value) || std::isinf(value)) return 0xff;
  if (value <= 0) return 0;
  int exponent;
  // In [0.5, 1): 0.75 lies in the middle of two scales and goes up.
  const float fraction = std::frexp(value, &exponent);
  return std::clamp(exponent - (fraction < 0.75f ? 1 : 0) + 127, 0, 0xff);
}

}  // namespace

float DecodeSmallFloat(SmallFloat type, uint32_t bits) {
  if (type == SmallFloat::kBF16) {  // The upper half of a float.
    const uint32_t wide = bits << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
  }
  const Format& f = FormatOf(type);
  if (f.specials == Specials::kScale) return DecodeScale(bits);
  const uint32_t mask = MagnitudeMask(f);
  const uint32_t magnitude = bits & mask;
  const bool is_negative = bits > mask;
  if (f.specials == Specials::kUnsigned && bits == mask + 1) {
    return std::numeric_limits<float>::quiet_NaN();  // It has no sign.
  }
  float value;
  if (magnitude >= FirstSpecial(f)) {
    value = f.specials == Specials::kIeee && magnitude == FirstSpecial(f)
                ? std::numeric_limits<float>::infinity()
                : std::numeric_limits<float>::quiet_NaN();
  } else {
    const uint32_t hidden = 1u << f.mantissa_bits;
    const int exponent = magnitude >> f.mantissa_bits;
    const uint32_t mantissa =
        (magnitude & (hidden - 1)) + (exponent == 0 ? 0 : hidden);
    value = std::ldexp(static_cast<float>(mantissa),
                       std::max(exponent, 1) - f.bias - f.mantissa_bits);
  }
  return is_negative ? -value : value;
}

uint32_t EncodeSmallFloat(SmallFloat type, float value) {
  const Format& f = FormatOf(type);
  if (f.specials == Specials::kScale) return EncodeScale(value);
  const uint32_t mask = MagnitudeMask(f);
  const uint32_t sign = std::signbit(value) ? mask + 1 : 0;
  const uint32_t first_special = FirstSpecial(f);
  if (f.specials == Specials::kUnsigned && !std::isfinite(value)) {
    return mask + 1;
  }
  if (std::isnan(value)) {
    return sign | (f.specials == Specials::kIeee
                       ? first_special | 1u << (f.mantissa_bits - 1)
                       : mask);
  }
  uint32_t magnitude = first_special;
  if (std::isfinite(value) && value != 0) {
    int exponent;
    std::frexp(value, &exponent);
    const int exponent_min = 1 - f.bias;
    exponent = std::max(exponent - 1, exponent_min);
    // In units of the last bit; rounds to even. A carry moves into the
    // exponent by itself.
    const double units = std::nearbyint(
        std::ldexp(std::fabs(double{value}), f.mantissa_bits - exponent));
    const double code =
        units + std::ldexp(exponent - exponent_min, f.mantissa_bits);
    magnitude = static_cast<uint32_t>(
        std::min(code, static_cast<double>(first_special)));
  } else if (value == 0) {
    magnitude = 0;
  }
  if (f.specials != Specials::kUnsigned) return sign | magnitude;
  // Neither -0 nor infinities.
  if (magnitude == first_special) return mask + 1;
  return magnitude == 0 ? 0 : sign | magnitude;
}

}  // namespace takt
