#include "cpu/rows_imports.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/conv2d.h"
#include "kernels/conv2d_i8.h"

namespace takt::cpu {
namespace {

struct AddParameters {
  BufferParameter<const int8_t> left, right;
  BufferParameter<int8_t> output;
  int32_t count;
  int32_t left_zero, right_zero, output_zero;
  RowTileParameters tile;  // Its rows are elements.
  float left_scale, right_scale, output_scale;
};
static_assert(offsetof(AddParameters, left_scale) == 100);

struct AddRowParameters {
  BufferParameter<const int8_t> left, right;
  BufferParameter<int8_t> output;
  int32_t rows, size;
  int32_t left_zero, right_zero, output_zero;
  RowTileParameters tile;
  float left_scale, right_scale, output_scale;
};
static_assert(offsetof(AddRowParameters, left_scale) == 104);

struct LayerNormParameters {
  BufferParameter<const int8_t> input;
  BufferParameter<const float> gamma, beta;
  BufferParameter<int8_t> output;
  int32_t rows, size;
  int32_t output_zero;
  RowTileParameters tile;
  float input_scale, epsilon, output_scale;
};
static_assert(offsetof(LayerNormParameters, input_scale) == 120);

struct RangeParameters {
  BufferParameter<const float> input;
  BufferParameter<float> output;  // The range of each tile.
  int32_t count;
  RowTileParameters tile;  // Its rows are elements.
};
static_assert(sizeof(RangeParameters) == 64);

struct QuantizeParameters {
  BufferParameter<const float> input;
  BufferParameter<const float> ranges;
  BufferParameter<int8_t> output;
  int32_t count;
  RowTileParameters tile;  // Its rows are elements.
};
static_assert(sizeof(QuantizeParameters) == 88);

struct DequantizeParameters {
  BufferParameter<const int8_t> input;
  BufferParameter<float> output;
  int32_t count, zero;
  RowTileParameters tile;  // Its rows are elements.
  float scale;
};
static_assert(offsetof(DequantizeParameters, scale) == 68);

struct MaxPoolParameters {
  BufferParameter<const int8_t> input;
  BufferParameter<int8_t> output;
  int32_t shape[16];       // ConvShape, member by member.
  RowTileParameters tile;  // Its rows are pixels.
};
static_assert(offsetof(MaxPoolParameters, tile) == 112);

struct SoftmaxParameters {
  BufferParameter<const float> input;
  BufferParameter<float> output;
  int32_t rows, size;
  RowTileParameters tile;
};
static_assert(offsetof(SoftmaxParameters, tile) == 56);

struct LayerNormF32Parameters {
  BufferParameter<const float> input, gamma, beta;
  BufferParameter<float> output;
  int32_t rows, size;
  RowTileParameters tile;
  float epsilon;
};
static_assert(offsetof(LayerNormF32Parameters, epsilon) == 116);

}  // namespace

kernels::ByteSteps StepsOfRanges(const BufferParameter<const float>& ranges) {
  kernels::FloatRange all = {0, 0};
  for (int64_t i = 0; i + 2 <= ranges.size; i += 2) {
    const float* const range = ranges.data() + i;
    all.low = range[0] < all.low ? range[0] : all.low;
    all.high = range[1] > all.high ? range[1] : all.high;
  }
  return kernels::StepsOf(all);
}

int RangeF32Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const RangeParameters*>(parameters);
  int64_t begin = 0, end = 0;
  if (p.count < 0 || p.input.size < p.count || p.tile.row_count < 1 ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.count, &begin, &end)) {
    return kImportInvalid;
  }
  const int64_t tile = begin / p.tile.row_count;
  if (p.output.size < 2 * tile + 2) return kImportInvalid;
  const kernels::FloatRange range =
      static_cast<const kernels::ConvI8Kernels*>(context)->range(
          p.input.data() + begin, end - begin);
  p.output.data()[2 * tile] = range.low;
  p.output.data()[2 * tile + 1] = range.high;
  return 0;
}

int QuantizeI8Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const QuantizeParameters*>(parameters);
  int64_t begin = 0, end = 0;
  if (p.count < 0 || p.input.size < p.count || p.output.size < p.count ||
      p.ranges.size < 2 ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.count, &begin, &end)) {
    return kImportInvalid;
  }
  static_cast<const kernels::ConvI8Kernels*>(context)->quantize(
      p.input.data() + begin, end - begin, StepsOfRanges(p.ranges),
      p.output.data() + begin);
  return 0;
}

int AddI8Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const AddParameters*>(parameters);
  int64_t begin = 0, end = 0;
  if (p.left.size < p.count || p.right.size < p.count ||
      p.output.size < p.count || p.count < 0 || !IsByte(p.left_zero) ||
      !IsByte(p.right_zero) || !IsByte(p.output_zero) ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.count, &begin, &end)) {
    return kImportInvalid;
  }
  static_cast<const kernels::ConvI8Kernels*>(context)->add(
      {p.left.data(), p.right.data(), p.output.data(), p.left_zero,
       p.right_zero, p.output_zero, p.left_scale, p.right_scale,
       p.output_scale},
      begin, end);
  return 0;
}

int AddRowI8Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const AddRowParameters*>(parameters);
  const int64_t count = int64_t{p.rows} * p.size;
  int64_t begin = 0, end = 0;
  if (p.rows < 0 || p.size < 1 || p.left.size < count ||
      p.right.size < p.size || p.output.size < count || !IsByte(p.left_zero) ||
      !IsByte(p.right_zero) || !IsByte(p.output_zero) ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.rows, &begin, &end)) {
    return kImportInvalid;
  }
  const kernels::AddI8Kernel add =
      static_cast<const kernels::ConvI8Kernels*>(context)->add;
  for (int64_t row = begin; row < end; ++row) {
    add({p.left.data() + row * p.size, p.right.data(),
         p.output.data() + row * p.size, p.left_zero, p.right_zero,
         p.output_zero, p.left_scale, p.right_scale, p.output_scale},
        0, p.size);
  }
  return 0;
}

int LayerNormI8Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const LayerNormParameters*>(parameters);
  const int64_t count = int64_t{p.rows} * p.size;
  int64_t begin = 0, end = 0;
  if (p.rows < 0 || p.size < 1 || p.size > kernels::kLayerNormSizeMax ||
      p.input.size < count || p.gamma.size < p.size || p.beta.size < p.size ||
      p.output.size < count || !IsByte(p.output_zero) ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.rows, &begin, &end)) {
    return kImportInvalid;
  }
  static_cast<const kernels::ConvI8Kernels*>(context)->layer_norm(
      {p.input.data(), p.gamma.data(), p.beta.data(), p.output.data(), p.size,
       p.output_zero, p.input_scale, p.epsilon, p.output_scale},
      begin, end);
  return 0;
}

int DequantizeF32Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const DequantizeParameters*>(parameters);
  int64_t begin = 0, end = 0;
  if (p.count < 0 || p.input.size < p.count || p.output.size < p.count ||
      !IsByte(p.zero) ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.count, &begin, &end)) {
    return kImportInvalid;
  }
  static_cast<const kernels::ConvI8Kernels*>(context)->dequantize(
      p.input.data() + begin, end - begin, {p.scale, p.zero},
      p.output.data() + begin);
  return 0;
}

int MaxPoolI8Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const MaxPoolParameters*>(parameters);
  const kernels::ConvShape s = ShapeOf(p.shape);
  int64_t begin = 0, end = 0;
  if (kernels::CheckConvShape(s) != nullptr || s.in_c != s.out_c ||
      p.input.size < s.batch * s.in_h * s.in_w * s.in_c ||
      p.output.size < s.pixel_count() * s.out_c ||
      !FindRange(p.tile.first_row, p.tile.row_count, s.pixel_count(), &begin,
                 &end)) {
    return kImportInvalid;
  }
  static_cast<const kernels::ConvI8Kernels*>(context)->max_pool(
      s, p.input.data(), begin, end, p.output.data());
  return 0;
}

int SoftmaxF32Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const SoftmaxParameters*>(parameters);
  const int64_t count = int64_t{p.rows} * p.size;
  int64_t begin = 0, end = 0;
  if (p.rows < 0 || p.size < 0 || p.input.size < count ||
      p.output.size < count ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.rows, &begin, &end)) {
    return kImportInvalid;
  }
  if (p.size == 0) return 0;
  static_cast<const kernels::F32Kernels*>(context)->softmax(
      p.input.data() + begin * p.size, end - begin, p.size,
      p.output.data() + begin * p.size);
  return 0;
}

int LayerNormF32Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const LayerNormF32Parameters*>(parameters);
  const int64_t count = int64_t{p.rows} * p.size;
  int64_t begin = 0, end = 0;
  if (p.rows < 0 || p.size < 1 || p.input.size < count ||
      p.output.size < count || std::min(p.gamma.size, p.beta.size) < p.size ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.rows, &begin, &end)) {
    return kImportInvalid;
  }
  static_cast<const kernels::F32Kernels*>(context)->layer_norm(
      {p.input.data() + begin * p.size, p.gamma.data(), p.beta.data(),
       p.output.data() + begin * p.size},
      end - begin, p.size, p.epsilon);
  return 0;
}

}  // namespace takt::cpu
