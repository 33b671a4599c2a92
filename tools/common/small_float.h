// Floats of 16 and 8 bits as their bits.
#ifndef TAKT_TOOLS_COMMON_SMALL_FLOAT_H_
#define TAKT_TOOLS_COMMON_SMALL_FLOAT_H_

#include <cstdint>

#include "takt/element_type.h"

namespace takt::tools {

// Whether `type` is f16, bf16 or one of the f8 types.
bool IsSmallFloat(takt_element_type_t type);

// The value of a small float; exact.
float DecodeSmallFloat(takt_element_type_t type, uint32_t bits);

// The nearest small float; of two the one with an even last bit. What is too
// large is infinite, or NaN in a type without infinities.
uint32_t EncodeSmallFloat(takt_element_type_t type, float value);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_SMALL_FLOAT_H_
