// Products of rows of floats with weights of four bits whose blocks have
// scales, as networks that generate language have them:
//
//   output[r][n] = bias[n] + sum over blocks b of inputs:
//       scale[b][n] * (sum over k in b: input[r][k] * weight[k][n]
//                      - zero[b][n] * sum over k in b: input[r][k])
//
// Inputs may be rounded to bytes first, as ONNX Runtime does where a network
// asks for it (accuracy_level 4): those of a block to whole steps of the
// greatest of them by 127. Then the sums over a block are those of integers.
//
// Weights are packed in groups of kProductColumns columns, with the same layout
// on every processor. Byte i of a word of a column has a weight in its lower
// four bits, and in its upper ones the fourth after it:
//
//   weights  [groups of columns][eights of inputs][kProductColumns], in words
//   scales   [groups of columns][blocks of inputs][kProductColumns]
//   zeros    as the scales, or one number for all
//   bias     [columns]
#ifndef TAKT_KERNELS_PRODUCT_I4_H_
#define TAKT_KERNELS_PRODUCT_I4_H_

#include <cstdint>

namespace takt::kernels {

inline constexpr int64_t kProductColumns = 16;
inline constexpr int64_t kProductBlockMax = 1024;

struct ProductI4Shape {
  int64_t rows;
  int64_t inputs;   // A multiple of `block`.
  int64_t columns;  // A multiple of kProductColumns.
  // Inputs that share a scale: a multiple of 8, up to kProductBlockMax.
  int64_t block;
};

// NULL, or what is wrong: also sizes that a tensor cannot have, so that no
// product of two of them overflows.
const char* CheckProductI4Shape(const ProductI4Shape& shape);

struct ProductI4Operands {
  const float* input;  // [rows][inputs]
  const uint32_t* weights;
  const float* scales;
  const float* zeros;
  bool has_one_zero;
  bool in_bytes;  // Whether inputs are rounded to bytes.
  const float* bias;
  float* output;  // [rows][columns]; it overlaps no other operand.
};

// The results that a call computes; the groups are those of columns.
struct ProductTile {
  int64_t row_begin, row_end;
  int64_t group_begin, group_end;
};

// The shape has passed CheckProductI4Shape(), and the tile lies within it.
using ProductI4Kernel = void (*)(const ProductI4Shape& shape,
                                 const ProductI4Operands& operands,
                                 const ProductTile& tile);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_PRODUCT_I4_H_
