// Copies and fills of two-dimensional ranges, bit by bit.
#ifndef TAKT_KERNELS_COPY_H_
#define TAKT_KERNELS_COPY_H_

#include <cstddef>
#include <cstdint>

#include "kernels/operand.h"

namespace takt::kernels {

// Copies elements of 1, 2, 4 or 8 bytes; strides are in elements. Input and
// output do not overlap, unless they are the same.
void Copy2d(size_t element_bytes, Operand2d<const uint8_t> in,
            Operand2d<uint8_t> out, Shape2d shape);

// Sets words to `value`. The inner stride is any, 1 being the fast one.
void Fill2d(uint32_t value, Operand2d<uint32_t> out, Shape2d shape);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_COPY_H_
