// The recurrent part of a GRU (gated recurrent unit) that ONNX calls
// linear_before_reset: with the products of the inputs known for all steps,
//
//   z = sigmoid(input_z + R_z h)       input = W x + bias, of each step
//   r = sigmoid(input_r + R_r h)
//   n = tanh(input_n + r * (R_n h + bias_n))
//   h' = (1 - z) * n + z * h
//
// Weights are packed in blocks of kConvBlock rows of R:
//
//   weights  [3 gates: z, r, n][hidden / kConvBlock][hidden][kConvBlock]
#ifndef TAKT_KERNELS_GRU_H_
#define TAKT_KERNELS_GRU_H_

#include <cstdint>

namespace takt::kernels {

struct RecurrentShape {
  int64_t steps, batch, hidden;  // `hidden` is a multiple of kConvBlock.
};

// NULL, or what is wrong: sizes that a tensor cannot have, so that no product
// of them overflows.
const char* CheckRecurrentShape(const RecurrentShape& shape);

struct GruOperands {
  const float* input;    // [steps][batch][3 gates: z, r, n][hidden]
  const float* weights;  // As above.
  const float* bias;     // [hidden]
  const float* state;    // [batch][hidden], before the first step.
  float* output;         // [steps][batch][hidden]
};

// The shape has passed CheckRecurrentShape(); the output is none of the inputs.
using GruKernel = void (*)(const RecurrentShape& shape,
                           const GruOperands& operands);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_GRU_H_
