#include "hal/small_float.h"

#include <limits>

#include "base/small_float.h"

namespace takt::hal {

float FloatFromF16(uint16_t bits) {
  return DecodeSmallFloat(SmallFloat::kF16, bits);
}

float FloatFromBF16(uint16_t bits) {
  return DecodeSmallFloat(SmallFloat::kBF16, bits);
}

float FloatFromF8(NumericalKind kind, uint8_t bits) {
  switch (kind) {
    case NumericalKind::kF8E5M2:
      return DecodeSmallFloat(SmallFloat::kF8E5M2, bits);
    case NumericalKind::kF8E4M3FN:
      return DecodeSmallFloat(SmallFloat::kF8E4M3FN, bits);
    case NumericalKind::kF8E5M2FNUZ:
      return DecodeSmallFloat(SmallFloat::kF8E5M2FNUZ, bits);
    case NumericalKind::kF8E4M3FNUZ:
      return DecodeSmallFloat(SmallFloat::kF8E4M3FNUZ, bits);
    case NumericalKind::kF8E8M0FNU:
      return DecodeSmallFloat(SmallFloat::kF8E8M0FNU, bits);
    default:
      return std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace takt::hal
