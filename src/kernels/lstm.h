// The recurrent part of an LSTM (long short-term memory), with the products of
// the inputs known for all steps:
//
//   i = sigmoid(input_i + R_i h)       input = W x + all biases, of each step
//   o = sigmoid(input_o + R_o h)
//   f = sigmoid(input_f + R_f h)
//   g = tanh(input_g + R_g h)
//   c' = f * c + i * g
//   h' = o * tanh(c')
//
// Weights are packed as those of gru.h, with four gates: i, o, f, g.
#ifndef TAKT_KERNELS_LSTM_H_
#define TAKT_KERNELS_LSTM_H_

#include "kernels/gru.h"

namespace takt::kernels {

struct LstmOperands {
  const float* input;    // [steps][batch][4 gates: i, o, f, g][hidden]
  const float* weights;  // [hidden / kConvBlock][hidden][4 gates][kConvBlock]
  const float* state;    // [batch][hidden]: h before the first step.
  const float* cell;     // [batch][hidden]: c before the first step.
  float* output;  // [steps + 1][batch][hidden]: h of each step, the last c.
};

// As GruKernel.
using LstmKernel = void (*)(const RecurrentShape& shape,
                            const LstmOperands& operands,
                            const RecurrentTile& tile);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_LSTM_H_
