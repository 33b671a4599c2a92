#include "base/small_float.h"

#include <limits>
#include <optional>

#include "takt/tools/small_float.h"

namespace takt::analysis {
namespace {

std::optional<SmallFloat> Find(takt_element_type_t type) {
  switch (type) {
    case TAKT_ELEMENT_F16:
      return SmallFloat::kF16;
    case TAKT_ELEMENT_BF16:
      return SmallFloat::kBF16;
    case TAKT_ELEMENT_F8E5M2:
      return SmallFloat::kF8E5M2;
    case TAKT_ELEMENT_F8E4M3FN:
      return SmallFloat::kF8E4M3FN;
    case TAKT_ELEMENT_F8E5M2FNUZ:
      return SmallFloat::kF8E5M2FNUZ;
    case TAKT_ELEMENT_F8E4M3FNUZ:
      return SmallFloat::kF8E4M3FNUZ;
    case TAKT_ELEMENT_F8E8M0FNU:
      return SmallFloat::kF8E8M0FNU;
    default:
      return std::nullopt;
  }
}

}  // namespace
}  // namespace takt::analysis

bool takt_element_is_small_float(takt_element_type_t type) {
  return takt::analysis::Find(type).has_value();
}

float takt_small_float_decode(takt_element_type_t type, uint32_t bits) {
  const auto found = takt::analysis::Find(type);
  return found ? takt::DecodeSmallFloat(*found, bits)
               : std::numeric_limits<float>::quiet_NaN();
}

uint32_t takt_small_float_encode(takt_element_type_t type, float value) {
  const auto found = takt::analysis::Find(type);
  return found ? takt::EncodeSmallFloat(*found, value) : 0;
}
