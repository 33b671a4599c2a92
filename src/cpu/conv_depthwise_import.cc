#include "cpu/conv_depthwise_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/activation_parameter.h"
#include "cpu/buffer_parameter.h"
#include "cpu/kernel_imports.h"
#include "kernels/conv2d.h"
#include "kernels/conv2d_depthwise.h"

namespace takt::cpu {
namespace {

using kernels::ConvShape;

struct ConvDepthwiseParameters {
  BufferParameter<const float> input;
  BufferParameter<const float> weights, bias;
  BufferParameter<const float> depthwise_weights, depthwise_bias;
  BufferParameter<float> output;
  int32_t shape[16], depthwise_shape[16];
  int32_t activation, depthwise_activation;
  int32_t part_count;      // Parts of the channels.
  RowTileParameters tile;  // Its rows are those of all images.
  float low, high, depthwise_low, depthwise_high;
};
static_assert(offsetof(ConvDepthwiseParameters, shape) == 144);
static_assert(offsetof(ConvDepthwiseParameters, tile) == 284);

int64_t TapsOf(const ConvShape& s) { return s.kernel_h * s.kernel_w; }

// Whether the buffers hold what a valid shape needs.
bool HoldsOperands(const ConvDepthwiseParameters& p,
                   const kernels::ConvDepthwiseShape& s) {
  const int64_t channels = s.conv.block_count() * kernels::kConvBlock;
  return p.input.size / s.conv.in_c / s.conv.in_w / s.conv.in_h >=
             s.conv.batch &&
         p.weights.size / TapsOf(s.conv) / s.conv.in_c >= channels &&
         p.bias.size >= channels &&
         p.depthwise_weights.size / TapsOf(s.depthwise) >= channels &&
         p.depthwise_bias.size >= channels &&
         p.output.size / s.depthwise.out_c >= s.depthwise.pixel_count();
}

// False if there is no such tile.
bool FindTile(const ConvDepthwiseParameters& p,
              const kernels::ConvDepthwiseShape& s,
              kernels::ConvDepthwiseTile* tile) {
  const int64_t blocks = s.conv.block_count();
  if (p.part_count < 1 || p.tile.part < 0 || p.tile.part >= p.part_count ||
      !FindRange(p.tile.first_row, p.tile.row_count, s.row_count(),
                 &tile->row_begin, &tile->row_end)) {
    return false;
  }
  tile->block_begin = blocks * p.tile.part / p.part_count;
  tile->block_end = blocks * (p.tile.part + 1) / p.part_count;
  const int64_t channels =
      (tile->block_end - tile->block_begin) * kernels::kConvBlock;
  return channels > 0 && ConvDepthwiseRows(s, channels) > 0;
}

}  // namespace

int ConvDepthwiseImport(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvDepthwiseParameters*>(parameters);
  const kernels::ConvDepthwiseShape shape = {ShapeOf(p.shape),
                                             ShapeOf(p.depthwise_shape)};
  kernels::ConvDepthwiseTile tile;
  kernels::ConvDepthwiseOperands operands = {
      {p.input.data(), p.weights.data(), p.bias.data()},
      {nullptr, p.depthwise_weights.data(), p.depthwise_bias.data(), nullptr,
       p.output.data()}};
  if (CheckConvDepthwiseShape(shape) != nullptr || !HoldsOperands(p, shape) ||
      !SetActivation(p.activation, p.low, p.high, &operands.conv) ||
      !SetActivation(p.depthwise_activation, p.depthwise_low, p.depthwise_high,
                     &operands.depthwise) ||
      !FindTile(p, shape, &tile)) {
    return kImportInvalid;
  }
  auto& state = *static_cast<KernelImportState*>(context);
  auto* const scratch = static_cast<float*>(state.scratch.Take());
  if (scratch == nullptr) return kImportOutOfMemory;
  ConvolveDepthwise(*state.f32, shape, operands, tile, scratch);
  state.scratch.Return(scratch);
  return 0;
}

}  // namespace takt::cpu
