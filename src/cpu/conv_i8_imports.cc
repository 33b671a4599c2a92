#include "cpu/conv_i8_imports.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "cpu/rows_imports.h"
#include "kernels/conv2d_i8.h"
#include "kernels/map_i8.h"

namespace takt::cpu {
namespace {

using kernels::ConvShape;
using kernels::ConvTile;

struct ConvI8Parameters {
  BufferParameter<const int8_t> input;
  BufferParameter<const int8_t> weights;
  BufferParameter<const int32_t> bias;
  BufferParameter<const float> scale;
  // The sum of each channel's weights. The size is 0 in older modules and for
  // depthwise convolutions: they have no such sums.
  BufferParameter<const int32_t> sums;
  BufferParameter<int8_t> output;
  int32_t shape[16];  // ConvShape, member by member.
  int32_t pixel_begin, pixel_count;
  int32_t block_begin, block_count;
  int32_t input_zero, output_zero, no_zero;
  int32_t low, high;
  float no_scale;
};
static_assert(offsetof(ConvI8Parameters, shape) == 144);
static_assert(offsetof(ConvI8Parameters, pixel_begin) == 208);
static_assert(offsetof(ConvI8Parameters, no_scale) == 244);

// From bytes to floats.
struct ConvI8F32Parameters {
  BufferParameter<const int8_t> input;
  BufferParameter<const int8_t> weights;
  BufferParameter<const int32_t> sums;  // Of each channel's weights.
  BufferParameter<const float> scale;
  BufferParameter<const float> bias;
  BufferParameter<const float> ranges;  // Read if the scale is 0.
  BufferParameter<float> output;
  int32_t shape[16];  // ConvShape, member by member.
  int32_t tile_blocks;
  int32_t input_zero;
  RowTileParameters tile;  // Its part is a tile of blocks, its rows are pixels.
  float input_scale;
  float low, high;
};
static_assert(offsetof(ConvI8F32Parameters, shape) == 168);
static_assert(offsetof(ConvI8F32Parameters, high) == 260);

bool IsConvI8(const ConvShape& s) {
  return kernels::CheckConvShape(s) == nullptr &&
         s.kernel_h * s.kernel_w <= kernels::kConvTapsMax &&
         s.in_c / s.groups <= kernels::kConvChannelsMax;
}

// The packed weights of a convolution with groups.
int64_t WeightsOf(const ConvShape& s) {
  return s.block_count() * s.kernel_h * s.kernel_w *
         ((s.in_c / s.groups + 3) / 4 * 4) * kernels::kConvBlock;
}

// Whether each buffer is long enough for the accesses of a checked shape.
bool FitsBuffers(const ConvI8Parameters& p, const ConvShape& s,
                 int64_t weights) {
  return p.input.size >= s.batch * s.in_h * s.in_w * s.in_c &&
         p.weights.size >= weights && p.bias.size >= s.out_c &&
         p.scale.size >= s.out_c &&
         (p.sums.size == 0 || p.sums.size >= s.out_c) &&
         p.output.size >= s.pixel_count() * s.out_c;
}

int RunConvI8(const ConvI8Parameters& p, kernels::ConvI8Kernel kernel,
              bool is_depthwise) {
  const ConvShape s = ShapeOf(p.shape);
  if (!IsConvI8(s) ||
      (is_depthwise && (s.in_c != s.groups || s.out_c != s.groups ||
                        s.in_c > kernels::kConvChannelsMax))) {
    return kImportInvalid;
  }
  if (!IsByte(p.input_zero) || !IsByte(p.output_zero) || !IsByte(p.low) ||
      !IsByte(p.high) || p.low > p.high) {
    return kImportInvalid;
  }
  const int64_t blocks =
      is_depthwise ? (s.out_c + kernels::kConvBlock - 1) / kernels::kConvBlock
                   : s.block_count();
  ConvTile tile;
  if (!FitsBuffers(p, s,
                   is_depthwise
                       ? blocks * s.kernel_h * s.kernel_w * kernels::kConvBlock
                       : WeightsOf(s)) ||
      !FindRange(p.pixel_begin, p.pixel_count, s.pixel_count(),
                 &tile.pixel_begin, &tile.pixel_end) ||
      !FindRange(p.block_begin, p.block_count, blocks, &tile.block_begin,
                 &tile.block_end)) {
    return kImportInvalid;
  }
  kernel(s,
         {p.input.data(), p.input.data() + p.input.size, p.weights.data(),
          p.bias.data(), p.scale.data(), p.output.data(),
          p.sums.size > 0 ? p.sums.data() : nullptr,
          static_cast<int8_t>(p.input_zero), p.output_zero, p.low, p.high},
         tile);
  return 0;
}

}  // namespace

int Conv2dI8Import(void* parameters, void* context, void*) {
  return RunConvI8(*static_cast<const ConvI8Parameters*>(parameters),
                   static_cast<const kernels::ConvI8Kernels*>(context)->conv2d,
                   false);
}

int Depthwise2dI8Import(void* parameters, void* context, void*) {
  return RunConvI8(
      *static_cast<const ConvI8Parameters*>(parameters),
      static_cast<const kernels::ConvI8Kernels*>(context)->depthwise, true);
}

int Conv2dI8F32Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvI8F32Parameters*>(parameters);
  const ConvShape s = ShapeOf(p.shape);
  if (!IsConvI8(s)) return kImportInvalid;
  if (p.input.size < s.batch * s.in_h * s.in_w * s.in_c ||
      p.weights.size < WeightsOf(s) || p.sums.size < s.out_c ||
      p.scale.size < s.out_c || p.bias.size < s.out_c ||
      (p.input_scale == 0 && p.ranges.size < 2) || !IsByte(p.input_zero) ||
      p.output.size < s.pixel_count() * s.out_c || p.tile_blocks < 1) {
    return kImportInvalid;
  }
  ConvTile tile;
  if (!FindRange(p.tile.first_row, p.tile.row_count, s.pixel_count(),
                 &tile.pixel_begin, &tile.pixel_end) ||
      !FindRange(int64_t{p.tile.part} * p.tile_blocks, p.tile_blocks,
                 s.block_count(), &tile.block_begin, &tile.block_end)) {
    return kImportInvalid;
  }
  kernels::ConvI8Operands o = {};
  o.input = p.input.data();
  o.input_end = p.input.data() + p.input.size;
  o.weights = p.weights.data();
  o.bias = o.weight_sums = p.sums.data();
  o.scale = p.scale.data();
  o.added = p.bias.data();
  kernels::ByteSteps steps = {p.input_scale, p.input_zero};
  if (p.input_scale == 0) steps = StepsOfRanges(p.ranges);
  o.input_scale = steps.scale;
  o.input_zero = static_cast<int8_t>(steps.zero);
  o.least = p.low;
  o.most = p.high;
  o.floats = p.output.data();
  static_cast<const kernels::ConvI8Kernels*>(context)->conv2d(s, o, tile);
  return 0;
}

// The elements are the pixels of an image of one row and one channel, and the
// weights are the table. Bias and scale are not read.
int MapI8Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvI8Parameters*>(parameters);
  constexpr int32_t kInWidth = 2, kOutWidth = 5;  // Of ConvShape.
  const int64_t count = p.shape[kInWidth];
  for (int i = 0; i < 7; ++i) {
    const bool is_width = i == kInWidth || i == kOutWidth;
    if (p.shape[i] != (is_width ? count : 1)) return kImportInvalid;
  }
  int64_t begin = 0, end = 0;
  if (count < 0 || p.input.size < count || p.output.size < count ||
      p.weights.size < kernels::kMapI8Size ||
      !FindRange(p.pixel_begin, p.pixel_count, count, &begin, &end)) {
    return kImportInvalid;
  }
  static_cast<const kernels::MapI8Kernels*>(context)->map(
      p.weights.data(), p.input.data() + begin, end - begin,
      p.output.data() + begin);
  return 0;
}

}  // namespace takt::cpu
