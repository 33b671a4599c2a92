// The recurrent part of a GRU (gated recurrent unit) that ONNX calls
// linear_before_reset: with the products of the inputs known for all steps,
//
//   z = sigmoid(input_z + R_z h)       input = W x + bias, of each step
//   r = sigmoid(input_r + R_r h)
//   n = tanh(input_n + r * (R_n h + bias_n))
//   h' = (1 - z) * n + z * h
//
// Weights are packed in the order in which a step reads them, which are blocks
// of kConvBlock rows of R, with the gates of a block side by side:
//
//   weights  [hidden / kConvBlock][hidden][3 gates: z, r, n][kConvBlock]
#ifndef TAKT_KERNELS_GRU_H_
#define TAKT_KERNELS_GRU_H_

#include <cstdint>

namespace takt::kernels {

struct RecurrentShape {
  int64_t steps, batch, hidden;  // `hidden` is a multiple of kConvBlock.
};

// The states that one call computes, of all steps: some rows of the batch, and
// of these some lanes, which are multiples of kConvBlock. A step needs all
// lanes of the one before, so a tile of several steps has all lanes.
struct RecurrentTile {
  int64_t row_begin, row_end;
  int64_t lane_begin, lane_end;
};

// NULL, or what is wrong: sizes that a tensor cannot have, so that no product
// of them overflows.
const char* CheckRecurrentShape(const RecurrentShape& shape);

// Finds the tile of `row_count` rows from `first_row` on, and of the part
// `part` of the lanes, each of which has `lanes` lanes; the last rows and the
// last part may be fewer. False if there is no such tile, or the shape is
// invalid.
bool FindRecurrentTile(const RecurrentShape& shape, int64_t lanes, int64_t part,
                       int64_t first_row, int64_t row_count,
                       RecurrentTile* tile);

struct GruOperands {
  const float* input;    // [steps][batch][3 gates: z, r, n][hidden]
  const float* weights;  // As above.
  const float* bias;     // [hidden]
  const float* state;    // [batch][hidden], before the first step.
  float* output;         // [steps][batch][hidden]
};

// The shape has passed CheckRecurrentShape(), and the tile is one that
// FindRecurrentTile() finds; the output is none of the inputs.
using GruKernel = void (*)(const RecurrentShape& shape,
                           const GruOperands& operands,
                           const RecurrentTile& tile);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_GRU_H_
