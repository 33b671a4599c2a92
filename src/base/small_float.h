// Floating-point numbers of 16 and 8 bits, from and to float. Every value of
// these formats is a value of float (the smallest of E8M0 is a subnormal).
#ifndef TAKT_BASE_SMALL_FLOAT_H_
#define TAKT_BASE_SMALL_FLOAT_H_

#include <cstdint>

namespace takt {

enum class SmallFloat {
  kF16,
  kBF16,
  kF8E5M2,
  kF8E4M3FN,
  kF8E5M2FNUZ,
  kF8E4M3FNUZ,
  kF8E8M0FNU,
};

// Returns the value of the low 16 or 8 bits of `bits`; exact.
float DecodeSmallFloat(SmallFloat type, uint32_t bits);

// Returns the nearest number of the format; of two, the one with an even last
// bit. A value that is too large becomes infinite, or NaN in a format without
// infinities.
uint32_t EncodeSmallFloat(SmallFloat type, float value);

}  // namespace takt

#endif  // TAKT_BASE_SMALL_FLOAT_H_
