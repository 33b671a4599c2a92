// Convolutions over images whose channels are innermost (N, H, W, C), with what
// usually follows them in one pass: the bias, the sum with another image of the
// result's shape, an activation, and a clamp.
//
// Method: implicit matrix product (Dukhan, "The Indirect Convolution
// Algorithm", 2019): a micro kernel reads its pixels through pointers, one for
// each tap of the kernel, so that no patch is copied, and borders point to
// zeros.
//
// Weights are packed ahead of time in blocks of kConvBlock output channels,
// zero padded, with the same layout on every processor:
//
//   Conv2d     [groups][blocks of a group][kernel_h][kernel_w]
//              [input channels of a group][kConvBlock]
//   the same in bfloat16
//              [groups][blocks of a group][kernel_h][kernel_w]
//              [pairs of input channels, rounded up][kConvBlock][2]
//              or, with joined rows (HasJoinedRows()), [blocks][kernel_h]
//              [pairs of kernel_w * input channels, rounded up][kConvBlock][2]
//   Depthwise  [blocks][kernel_h][kernel_w][kConvBlock]
//   Winograd   [blocks][kWinogradPositions][input channels][kConvBlock], the
//              weights transformed: G w G^T, by rows, where G has the rows
//              (6 0 0) / 24, (-4 -4 -4) / 24, (-4 4 -4) / 24, (1 2 4) / 24,
//              (1 -2 4) / 24, (0 0 24) / 24
//   bias       [groups][blocks of a group][kConvBlock]
//
// A call computes one tile: a range of pixels of the result (numbered over
// batch, rows and columns) by a range of blocks. Tiles of one convolution write
// disjoint elements and may run on any threads at once. The output overlaps no
// other operand: a tile may compute a pixel twice.
#ifndef TAKT_KERNELS_CONV2D_H_
#define TAKT_KERNELS_CONV2D_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/activation.h"
#include "kernels/attention.h"
#include "kernels/blend.h"
#include "kernels/gru.h"
#include "kernels/instruction_sets.h"
#include "kernels/layer_norm.h"
#include "kernels/lstm.h"
#include "kernels/pixel_parts.h"
#include "kernels/product_i4.h"
#include "kernels/softmax.h"

namespace takt::kernels {

inline constexpr int64_t kConvBlock = 16;
// The most input channels of a group: as many zeros are there for borders.
inline constexpr int64_t kConvChannelsMax = 16384;
// The most taps (kernel_h * kernel_w) of a convolution that is not depthwise.
inline constexpr int64_t kConvTapsMax = 128;

// The most elements of a joined row, and how many of them there may be.
inline constexpr int64_t kConvJoinedMax = 64;
inline constexpr int64_t kConvJoinedRowsMax = 16;

// The numbers to which Winograd transforms a kernel of 3x3, the size of the
// squares of the result that are computed at once, and the most channels.
inline constexpr int kWinogradPositions = 36;
inline constexpr int64_t kWinogradSquare = 4;
inline constexpr int64_t kWinogradChannelsMax = 512;
// The memory that it needs for what it transforms.
inline constexpr size_t kWinogradScratchBytes = 384 << 10;

struct ConvShape {
  int64_t batch, in_h, in_w, in_c;
  int64_t out_h, out_w, out_c;
  int64_t kernel_h, kernel_w;
  int64_t stride_h, stride_w;
  int64_t dilation_h, dilation_w;
  int64_t pad_top, pad_left;
  int64_t groups;

  int64_t pixel_count() const { return batch * out_h * out_w; }
  int64_t blocks_per_group() const {
    return (out_c / groups + kConvBlock - 1) / kConvBlock;
  }
  int64_t block_count() const { return groups * blocks_per_group(); }
  // The squares of the result of a Winograd convolution.
  int64_t square_count() const {
    return batch * ((out_h + kWinogradSquare - 1) / kWinogradSquare) *
           ((out_w + kWinogradSquare - 1) / kWinogradSquare);
  }
  // Whether the channels of the taps of a row are read as those of one tap:
  // they are consecutive in memory, and few.
  bool HasJoinedRows() const {
    return groups == 1 && dilation_w == 1 && kernel_h <= kConvJoinedRowsMax &&
           kernel_w * in_c <= kConvJoinedMax;
  }
};

// NULL, or what is wrong with a shape. Sizes that a tensor cannot have are
// refused, so that no product of them overflows.
const char* CheckConvShape(const ConvShape& shape);

// The taps of a window that lie within [0, size), in one dimension: the first
// of `taps` is at `at`, the others follow `step` apart. There are none if the
// end is not after the beginning.
struct TapRange {
  int64_t begin, end;
};
inline TapRange TapsInside(int64_t at, int64_t step, int64_t size,
                           int64_t taps) {
  const int64_t begin = at >= 0 ? 0 : (-at + step - 1) / step;
  const int64_t room = at >= size ? 0 : (size - at + step - 1) / step;
  return {begin, room < taps ? room : taps};
}

struct ConvOperands {
  const float* input = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr;
  const float* residual = nullptr;  // NULL: nothing is added.
  float* output = nullptr;
  // The clamp; -inf and inf for none.
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  Activation activation = Activation::kNone;  // Before the clamp.
  // From one pixel of the output to the next, in elements; 0: out_c. More than
  // out_c where the output is some channels of a wider tensor. Then there is no
  // residual.
  int64_t output_stride = 0;
  float slope = 0;  // Of Activation::kLeakyRelu.

  int64_t OutputStride(const ConvShape& shape) const {
    return output_stride != 0 ? output_stride : shape.out_c;
  }
};

struct ConvTile {
  int64_t pixel_begin, pixel_end;
  int64_t block_begin, block_end;
};

// The shape has passed CheckConvShape(), and the tile lies within it.
using ConvKernel = void (*)(const ConvShape& shape,
                            const ConvOperands& operands, const ConvTile& tile);

// `scratch` has kWinogradScratchBytes, aligned to a cache line; what is in it
// means nothing before and after.
using WinogradKernel = void (*)(const ConvShape& shape,
                                const ConvOperands& operands,
                                const ConvTile& tile, float* scratch);

enum class PoolKind { kMax, kMean };
struct PoolOperands {
  const float* input;
  float* output;
  // Whether the padding counts among the elements of a mean.
  bool count_padding;
};
// Channels are independent: out_c equals in_c. The tile's blocks are of
// channels. An element whose window lies in the padding alone is 0.
using PoolKernel = void (*)(const ConvShape& shape,
                            const PoolOperands& operands, const ConvTile& tile);

// The native kernels of floats.
struct F32Kernels {
  ConvKernel conv2d;
  ConvKernel depthwise;  // groups, in_c and out_c are equal.
  // A dense kernel of 3x3 with stride 1 and one group, of fewer products. The
  // tile counts squares in place of pixels. Its sums are rounded otherwise: by
  // some units of the greatest number of the result.
  WinogradKernel winograd;
  // The same in three parts, for many channels. winograd_inputs() transforms
  // the input to [squares][kWinogradPositions][in_c]. `conv2d` multiplies that,
  // as pixels of kWinogradPositions groups, by weights
  // [kWinogradPositions][blocks][in_c][kConvBlock]. winograd_sums() transforms
  // its sums [squares][kWinogradPositions][out_c] to the result; out_c is a
  // multiple of kConvBlock. Both take the convolution's shape, and tiles of
  // squares with all channels. winograd_inputs() has no operands but the input
  // and the output.
  ConvKernel winograd_inputs;
  ConvKernel winograd_sums;
  PoolKernel max_pool;
  PoolKernel mean_pool;
  AttentionKernel attention;
  GruKernel gru;
  LstmKernel lstm;
  SoftmaxKernel softmax;
  BlendKernel blend;
  LayerNormKernel layer_norm;
  ProductI4Kernel product_i4;
};
extern const F32Kernels kF32Portable;

// The convolution whose weights are bfloat16 (the upper half of a float; two
// of them in place of one). It rounds inputs to the same precision, half to
// even; sums and all that follows them are floats. Where a run is odd, the
// input after it may be multiplied by the 0 that completes the weights.
inline constexpr int64_t kConvBf16PairsMax = 1 << 14;  // Of a pixel's window.
struct ConvBf16Kernels {
  ConvKernel conv2d;
  AttentionKernel attention;  // It rounds all that it multiplies.
};
extern const ConvBf16Kernels kConvBf16Portable;
#if defined(__x86_64__)
extern const ConvBf16Kernels kConvBf16Avx512;
extern const ConvBf16Kernels kConvBf16Tiles;  // See tile_registers.h.
extern const F32Kernels kF32Avx2;
extern const F32Kernels kF32Avx512;
#elif defined(__aarch64__)
extern const F32Kernels kF32Neon;
#elif defined(TAKT_KERNELS_RVV)
extern const F32Kernels kF32Rvv;
#endif

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_CONV2D_H_
