#include "cpu/rows_imports.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/conv2d_i8.h"

namespace takt::cpu {
namespace {

constexpr int kInvalid = 1;

struct AddParameters {
  BufferParameter<const int8_t> left, right;
  BufferParameter<int8_t> output;
  int32_t count;
  int32_t left_zero, right_zero, output_zero;
  TileParameters tile;  // Its rows are elements.
  float left_scale, right_scale, output_scale;
};
static_assert(offsetof(AddParameters, left_scale) == 100);

struct LayerNormParameters {
  BufferParameter<const int8_t> input;
  BufferParameter<const float> gamma, beta;
  BufferParameter<int8_t> output;
  int32_t rows, size;
  int32_t output_zero;
  TileParameters tile;
  float input_scale, epsilon, output_scale;
};
static_assert(offsetof(LayerNormParameters, input_scale) == 120);

}  // namespace

int AddI8Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const AddParameters*>(parameters);
  int64_t begin = 0, end = 0;
  if (p.left.size < p.count || p.right.size < p.count ||
      p.output.size < p.count || p.count < 0 || !IsByte(p.left_zero) ||
      !IsByte(p.right_zero) || !IsByte(p.output_zero) ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.count, &begin, &end)) {
    return kInvalid;
  }
  static_cast<const kernels::ConvI8Kernels*>(context)->add(
      {p.left.data(), p.right.data(), p.output.data(), p.left_zero,
       p.right_zero, p.output_zero, p.left_scale, p.right_scale,
       p.output_scale},
      begin, end);
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
    return kInvalid;
  }
  static_cast<const kernels::ConvI8Kernels*>(context)->layer_norm(
      {p.input.data(), p.gamma.data(), p.beta.data(), p.output.data(), p.size,
       p.output_zero, p.input_scale, p.epsilon, p.output_scale},
      begin, end);
  return 0;
}

}  // namespace takt::cpu
