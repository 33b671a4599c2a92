// A convolution and a depthwise convolution of its result, one band of rows
// after the other. The rows between the two stay in a core's cache, where the
// whole image between them would be written to memory and read again.
#ifndef TAKT_KERNELS_CONV2D_DEPTHWISE_H_
#define TAKT_KERNELS_CONV2D_DEPTHWISE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/conv2d.h"

namespace takt::kernels {

// Both as in conv2d.h, the first with one group. The input of the second has
// the size of the first one's result.
struct ConvDepthwiseShape {
  ConvShape conv;
  ConvShape depthwise;

  int64_t row_count() const { return depthwise.batch * depthwise.out_h; }
};

// The output of `conv` and the input of `depthwise` are not used. Neither has a
// residual or an output stride.
struct ConvDepthwiseOperands {
  ConvOperands conv;
  ConvOperands depthwise;
};

// Rows of the result, numbered over the batch, by blocks of channels.
struct ConvDepthwiseTile {
  int64_t row_begin, row_end;
  int64_t block_begin, block_end;
};

inline constexpr size_t kConvDepthwiseScratchBytes = kWinogradScratchBytes;

// NULL, or what is wrong with the shape.
const char* CheckConvDepthwiseShape(const ConvDepthwiseShape& shape);

// How many rows of the result a tile of `channels` channels computes at once; 0
// if the scratch memory is too small for one.
int64_t ConvDepthwiseRows(const ConvDepthwiseShape& shape, int64_t channels);

// Computes a tile. Neighbouring tiles of rows both compute the rows that they
// share between the two convolutions. The shape has passed the check, and
// ConvDepthwiseRows() of the tile's channels is not 0. `scratch` has
// kConvDepthwiseScratchBytes, aligned to a cache line.
void ConvolveDepthwise(const F32Kernels& kernels,
                       const ConvDepthwiseShape& shape,
                       const ConvDepthwiseOperands& operands,
                       const ConvDepthwiseTile& tile, float* scratch);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_CONV2D_DEPTHWISE_H_
