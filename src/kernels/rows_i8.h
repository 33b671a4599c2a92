// What quantized networks compute between products: sums of two tensors of
// bytes, layer normalization, and bytes of floats. byte(x) + zero is
// round-half-even(x) + zero, kept between -128 and 127. Each operation is
// rounded to a float as written, so all kernels give the same bytes.
#ifndef TAKT_KERNELS_ROWS_I8_H_
#define TAKT_KERNELS_ROWS_I8_H_

#include <cstdint>

namespace takt::kernels {

struct ConvShape;

// output[i] = byte(((left[i] - left_zero) * left_scale +
//                   (right[i] - right_zero) * right_scale) / output_scale)
//             + output_zero
struct AddI8Operands {
  const int8_t* left;
  const int8_t* right;
  int8_t* output;
  int32_t left_zero, right_zero, output_zero;  // Bytes.
  float left_scale, right_scale, output_scale;
};
// Elements from `begin` to `end`.
using AddI8Kernel = void (*)(const AddI8Operands& operands, int64_t begin,
                             int64_t end);

inline constexpr int64_t kLayerNormSizeMax = 1 << 16;

// For each row, with the mean and the variance of its bytes:
//
//   factor    = input_scale / sqrt(input_scale^2 * variance + epsilon)
//   output[i] = byte(((input[i] - mean) * factor * gamma[i] + beta[i]) /
//                    output_scale) + output_zero
struct LayerNormI8Operands {
  const int8_t* input;  // [rows][size]
  const float* gamma;   // [size]
  const float* beta;    // [size]
  int8_t* output;       // [rows][size]
  int64_t size;         // At most kLayerNormSizeMax.
  int32_t output_zero;  // A byte.
  float input_scale, epsilon, output_scale;
};
// Rows from `begin` to `end`.
using LayerNormI8Kernel = void (*)(const LayerNormI8Operands& operands,
                                   int64_t begin, int64_t end);

// The least and the greatest of `count` floats and 0; what is not a number is
// left out.
struct FloatRange {
  float low, high;
};
using RangeKernel = FloatRange (*)(const float* input, int64_t count);

// What a byte stands for: scale * (byte - zero).
struct ByteSteps {
  float scale;
  int32_t zero;  // A byte.
};

// The steps of ONNX's DynamicQuantizeLinear, for signed bytes.
inline ByteSteps StepsOf(const FloatRange& range) {
  constexpr float kLeast = 1.17549435e-38f;  // Any but 0, if all are 0.
  float scale = (range.high - range.low) / 255.f;
  if (!(scale >= kLeast)) scale = kLeast;
  float zero = __builtin_nearbyintf(-range.low / scale) - 128.f;
  if (!(zero >= -128.f)) zero = -128.f;
  if (zero > 127.f) zero = 127.f;
  return {scale, static_cast<int32_t>(zero)};
}

// output[i] = byte(input[i] / steps.scale) + steps.zero
using QuantizeKernel = void (*)(const float* input, int64_t count,
                                const ByteSteps& steps, int8_t* output);

// output[i] = (input[i] - steps.zero) * steps.scale
using DequantizeKernel = void (*)(const int8_t* input, int64_t count,
                                  const ByteSteps& steps, float* output);

// Pixels from `begin` to `end` of a max pool whose input and output have the
// same steps. Channels are innermost, and out_c equals in_c. What lies outside
// of the image does not count; without anything else the result is -128. The
// shape has passed CheckConvShape().
using MaxPoolI8Kernel = void (*)(const ConvShape& shape, const int8_t* input,
                                 int64_t begin, int64_t end, int8_t* output);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_ROWS_I8_H_
