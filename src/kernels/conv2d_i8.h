// Convolutions of bytes over images whose channels are innermost, with the
// scaling back to bytes in the same pass. Shapes and tiles are those of
// conv2d.h; weights are packed for dot products of four bytes:
//
//   Conv2d     [groups][blocks of a group][kernel_h][kernel_w]
//              [input channels of a group / 4, rounded up][kConvBlock][4]
//   Depthwise  [blocks][kernel_h][kernel_w][kConvBlock]
//
// What fills up a block or a four is 0. With
//   sum = bias[c] + the sum of input * weight, in wrapping 32-bit integers;
//         outside of the image the input is input_zero
// the result is round-half-even(float(sum) * scale[c]) + output_zero, kept
// between low and high. Conv2d also gives floats: then bias[c] is the sum of a
// channel's weights, and
//   sum = the sum of input * weight, minus input_zero * bias[c]
// the result is float(sum) * (input_scale * scale[c]) + added[c], kept between
// least and most.
// All kernels give the same bytes and the same floats.
#ifndef TAKT_KERNELS_CONV2D_I8_H_
#define TAKT_KERNELS_CONV2D_I8_H_

#include <cstdint>

#include "kernels/attention_i8.h"
#include "kernels/conv2d.h"
#include "kernels/pixel_parts.h"
#include "kernels/rows_i8.h"

namespace takt::kernels {

struct ConvI8Operands {
  const int8_t* input;
  const int8_t* input_end;  // One past the last element.
  const int8_t* weights;
  const int32_t* bias;  // [out_c]
  const float* scale;   // [out_c]
  int8_t* output;
  // [out_c]: the sum of each channel's weights. If NULL, Conv2d finds them.
  const int32_t* weight_sums;
  int8_t input_zero;
  int32_t output_zero;  // In a byte, as low and high are; low <= high.
  int32_t low, high;
  // Not NULL: the results are floats and go here, and `output` is not used.
  float* floats = nullptr;
  const float* added = nullptr;  // [out_c]
  float input_scale = 0;
  float least = 0, most = 0;
};

// The shape has passed CheckConvShape() and the limits of conv2d.h, and the
// tile lies within it.
using ConvI8Kernel = void (*)(const ConvShape& shape,
                              const ConvI8Operands& operands,
                              const ConvTile& tile);

struct ConvI8Kernels {
  ConvI8Kernel conv2d;
  ConvI8Kernel depthwise;  // groups, in_c and out_c are equal.
  AttentionI8Kernel attention;
  AddI8Kernel add;
  LayerNormI8Kernel layer_norm;
  RangeKernel range;
  QuantizeKernel quantize;
  DequantizeKernel dequantize;
  MaxPoolI8Kernel max_pool;
};
extern const ConvI8Kernels kConvI8Portable;
#if defined(__x86_64__)
extern const ConvI8Kernels kConvI8Avx2;
extern const ConvI8Kernels kConvI8AvxVnni;
extern const ConvI8Kernels kConvI8Avx512Vnni;
#elif defined(__aarch64__)
extern const ConvI8Kernels kConvI8Neon;
extern const ConvI8Kernels kConvI8NeonDotProd;
extern const ConvI8Kernels kConvI8NeonI8mm;
#elif defined(TAKT_KERNELS_RVV)
extern const ConvI8Kernels kConvI8Rvv;
#endif

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_CONV2D_I8_H_
