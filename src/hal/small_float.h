// The small floats of base/small_float.h, by the kinds of element types.
#ifndef TAKT_HAL_SMALL_FLOAT_H_
#define TAKT_HAL_SMALL_FLOAT_H_

#include <cstdint>

#include "hal/element_type.h"

namespace takt::hal {

float FloatFromF16(uint16_t bits);
float FloatFromBF16(uint16_t bits);
// `kind` is one of the five NumericalKind::kF8….
float FloatFromF8(NumericalKind kind, uint8_t bits);

}  // namespace takt::hal

#endif  // TAKT_HAL_SMALL_FLOAT_H_
