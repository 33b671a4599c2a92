// Elementwise kernels on two-dimensional operands of 32-bit elements.
//
// Output and inputs may be the same memory with the same strides; otherwise
// they do not overlap. Floats follow IEEE 754 under the thread's rounding and
// denormal modes. exp and log are computed in double precision and are within
// one unit in the last place of the exact result.
#ifndef TAKT_KERNELS_ELEMENTWISE_H_
#define TAKT_KERNELS_ELEMENTWISE_H_

#include <cstdint>

#include "kernels/operand.h"

namespace takt::kernels {

enum class BinaryOp : uint8_t {
  kAddF32,
  kSubF32,
  kMulF32,
  kDivF32,
  kAddI32,  // Integers wrap.
  kSubI32,
  kMulI32,
  kDivSignedI32,  // Towards zero; x / 0 is 0.
  kDivUnsignedI32,
  kAndI32,
  kOrI32,
  kXorI32,
  kShiftLeftI32,  // By the low five bits.
  kShiftRightSignedI32,
  kShiftRightUnsignedI32,
};
inline constexpr int kBinaryOpCount = 15;

enum class UnaryOp : uint8_t {
  kAbsF32,
  kCeilF32,
  kExpF32,
  kFloorF32,
  kLogF32,
  kNegF32,
  kRsqrtF32,              // 1 / sqrt(x), each rounded.
  kCountLeadingZerosI32,  // 32 for 0.
};
inline constexpr int kUnaryOpCount = 8;

// All elements are 32-bit words.
using BinaryKernel = void (*)(Operand2d<const uint32_t> lhs,
                              Operand2d<const uint32_t> rhs,
                              Operand2d<uint32_t> out, Shape2d shape);
using UnaryKernel = void (*)(Operand2d<const uint32_t> in,
                             Operand2d<uint32_t> out, Shape2d shape);

struct ElementwiseKernels {
  BinaryKernel binary[kBinaryOpCount];  // By BinaryOp.
  UnaryKernel unary[kUnaryOpCount];     // By UnaryOp.
};

extern const ElementwiseKernels kElementwisePortable;
#if defined(__x86_64__)
extern const ElementwiseKernels kElementwiseAvx2;  // Needs AVX2 and FMA.
#endif

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_ELEMENTWISE_H_
