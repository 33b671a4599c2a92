#include "cpu/kernel_imports.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "cpu/activation_parameter.h"
#include "cpu/arg_max_import.h"
#include "cpu/attention_imports.h"
#include "cpu/blend_import.h"
#include "cpu/boxes_import.h"
#include "cpu/buffer_parameter.h"
#include "cpu/conv_depthwise_import.h"
#include "cpu/conv_i8_imports.h"
#include "cpu/cum_sum_import.h"
#include "cpu/gather_import.h"
#include "cpu/gru_import.h"
#include "cpu/lstm_import.h"
#include "cpu/product_i4_import.h"
#include "cpu/rows_imports.h"
#include "cpu/scatter_import.h"
#include "cpu/shuffle_import.h"
#include "cpu/top_k_import.h"
#include "kernels/conv2d.h"
#include "kernels/conv2d_i8.h"
#include "kernels/tile_registers.h"

namespace takt::cpu {
namespace {

using kernels::ConvShape;
using kernels::ConvTile;
using kernels::F32Kernels;

// The part of the result that a workgroup computes: one of block_tiles *
// pixel_tiles equal parts.
struct BlockTileParameters {
  int64_t block_tile, block_tiles;
  int64_t pixel_tile, pixel_tiles;
};

struct ConvParameters {
  int32_t result;
  const float* input;
  int64_t input_offset;
  const float* weights;
  int64_t weights_offset;
  const float* bias;
  int64_t bias_offset;
  const float* residual;
  int64_t residual_offset;
  float* output;
  int64_t output_offset;
  ConvShape shape;
  // Bit 0: there is a residual. Bits 8 to 15: the activation. From bit 16: the
  // output's elements from pixel to pixel; 0: out_c.
  int64_t flags;
  BlockTileParameters tile;
  float low, high;  // `low` is the slope of a leaky ReLU.
};
static_assert(offsetof(ConvParameters, input) == 8);
static_assert(offsetof(ConvParameters, shape) == 88);
static_assert(offsetof(ConvParameters, low) == 256);

struct PoolParameters {
  int32_t result;
  const float* input;
  int64_t input_offset;
  float* output;
  int64_t output_offset;
  ConvShape shape;
  int64_t count_padding;
  BlockTileParameters tile;
};
static_assert(offsetof(PoolParameters, shape) == 40);
static_assert(offsetof(PoolParameters, tile) == 176);

// False if there is no such tile.
bool FindTile(const BlockTileParameters& p, int64_t pixel_count,
              int64_t block_count, ConvTile* tile) {
  constexpr int64_t kTilesMax = 1 << 20;
  if (p.block_tiles < 1 || p.block_tiles > kTilesMax || p.pixel_tiles < 1 ||
      p.pixel_tiles > kTilesMax || p.block_tile < 0 ||
      p.block_tile >= p.block_tiles || p.pixel_tile < 0 ||
      p.pixel_tile >= p.pixel_tiles) {
    return false;
  }
  tile->pixel_begin = pixel_count * p.pixel_tile / p.pixel_tiles;
  tile->pixel_end = pixel_count * (p.pixel_tile + 1) / p.pixel_tiles;
  tile->block_begin = block_count * p.block_tile / p.block_tiles;
  tile->block_end = block_count * (p.block_tile + 1) / p.block_tiles;
  return true;
}

constexpr int64_t kOutputStrideMax = 1 << 20;

template <typename Kernel>
int RunConvolution(const ConvParameters& p, const Kernel& kernel,
                   int64_t pixel_count, int64_t block_count) {
  ConvTile tile;
  const bool has_residual = (p.flags & 1) != 0;
  const int64_t stride = p.flags >> 16;
  kernels::ConvOperands operands = {
      p.input + p.input_offset, p.weights + p.weights_offset,
      p.bias + p.bias_offset,
      has_residual ? p.residual + p.residual_offset : nullptr,
      p.output + p.output_offset};
  operands.output_stride = stride;
  if (!FindTile(p.tile, pixel_count, block_count, &tile) ||
      (p.flags & 0xfe) != 0 ||
      !SetActivation(p.flags >> 8 & 0xff, p.low, p.high, &operands)) {
    return kImportInvalid;
  }
  if (stride != 0 &&
      (stride < p.shape.out_c || stride > kOutputStrideMax || has_residual)) {
    return kImportInvalid;
  }
  kernel(p.shape, operands, tile);
  return 0;
}

int64_t BlocksOf(int64_t channels) {
  return (channels + kernels::kConvBlock - 1) / kernels::kConvBlock;
}

bool IsConv2d(const ConvShape& s) {
  return kernels::CheckConvShape(s) == nullptr &&
         s.in_c / s.groups <= kernels::kConvChannelsMax &&
         s.kernel_h * s.kernel_w <= kernels::kConvTapsMax;
}

int Conv2d(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvParameters*>(parameters);
  if (!IsConv2d(p.shape)) return kImportInvalid;
  return RunConvolution(p, static_cast<const F32Kernels*>(context)->conv2d,
                        p.shape.pixel_count(), p.shape.block_count());
}

// Whether Winograd's method computes a convolution.
bool IsWinograd(const ConvShape& s) {
  return kernels::CheckConvShape(s) == nullptr && s.kernel_h == 3 &&
         s.kernel_w == 3 && s.stride_h == 1 && s.stride_w == 1 &&
         s.dilation_h == 1 && s.dilation_w == 1 && s.groups == 1;
}

int Winograd2d(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvParameters*>(parameters);
  const ConvShape& s = p.shape;
  if (!IsWinograd(s) || s.in_c > kernels::kWinogradChannelsMax) {
    return kImportInvalid;
  }
  auto& state = *static_cast<KernelImportState*>(context);
  auto* const scratch = static_cast<float*>(state.scratch.Take());
  if (scratch == nullptr) return kImportOutOfMemory;
  const auto kernel = [&](const ConvShape& shape,
                          const kernels::ConvOperands& operands,
                          const ConvTile& tile) {
    state.f32->winograd(shape, operands, tile, scratch);
  };
  const int result =
      RunConvolution(p, kernel, s.square_count(), s.block_count());
  state.scratch.Return(scratch);
  return result;
}

// A part of Winograd's method, whose tiles have all channels.
int RunWinogradPart(const ConvParameters& p, kernels::ConvKernel kernel) {
  if (!IsWinograd(p.shape) || p.tile.block_tiles != 1) return kImportInvalid;
  return RunConvolution(p, kernel, p.shape.square_count(), 1);
}

int WinogradInputs(void* parameters, void* context, void*) {
  return RunWinogradPart(
      *static_cast<const ConvParameters*>(parameters),
      static_cast<const F32Kernels*>(context)->winograd_inputs);
}

int WinogradSums(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvParameters*>(parameters);
  if (p.shape.out_c % kernels::kConvBlock != 0) return kImportInvalid;
  return RunWinogradPart(
      p, static_cast<const F32Kernels*>(context)->winograd_sums);
}

int Conv2dBf16(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvParameters*>(parameters);
  if (!IsConv2d(p.shape) ||
      (p.shape.in_c / p.shape.groups + 1) / 2 >
          kernels::kConvBf16PairsMax / p.shape.kernel_h / p.shape.kernel_w) {
    return kImportInvalid;
  }
  return RunConvolution(
      p, static_cast<const kernels::ConvBf16Kernels*>(context)->conv2d,
      p.shape.pixel_count(), p.shape.block_count());
}

int Depthwise2d(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvParameters*>(parameters);
  const auto& table = *static_cast<const F32Kernels*>(context);
  if (kernels::CheckConvShape(p.shape) != nullptr ||
      p.shape.in_c != p.shape.groups || p.shape.out_c != p.shape.groups) {
    return kImportInvalid;
  }
  return RunConvolution(p, table.depthwise, p.shape.pixel_count(),
                        BlocksOf(p.shape.out_c));
}

int RunPool(const PoolParameters& p, kernels::PoolKernel kernel) {
  ConvTile tile;
  if (kernels::CheckConvShape(p.shape) != nullptr ||
      p.shape.in_c != p.shape.out_c ||
      !FindTile(p.tile, p.shape.pixel_count(), BlocksOf(p.shape.out_c),
                &tile)) {
    return kImportInvalid;
  }
  kernel(p.shape,
         {p.input + p.input_offset, p.output + p.output_offset,
          p.count_padding != 0},
         tile);
  return 0;
}

int MaxPool2d(void* parameters, void* context, void*) {
  return RunPool(*static_cast<const PoolParameters*>(parameters),
                 static_cast<const F32Kernels*>(context)->max_pool);
}

int MeanPool2d(void* parameters, void* context, void*) {
  return RunPool(*static_cast<const PoolParameters*>(parameters),
                 static_cast<const F32Kernels*>(context)->mean_pool);
}

struct Entry {
  absl::string_view name;
  int (*function)(void*, void*, void*);
};
constexpr Entry kEntries[] = {
    {"takt_conv2d_f32", &Conv2d},
    {"takt_winograd_inputs_f32", &WinogradInputs},
    {"takt_winograd_sums_f32", &WinogradSums},
    {"takt_depthwise2d_f32", &Depthwise2d},
    {"takt_max_pool2d_f32", &MaxPool2d},
    {"takt_mean_pool2d_f32", &MeanPool2d},
    {"takt_attention_f32", &AttentionF32Import},
    {"takt_attention_bias_f32", &AttentionBiasF32Import},
    {"takt_gather_f32", &GatherF32Import},
    {"takt_gather_i8", &GatherI8Import},
    {"takt_gru_steps_f32", &GruImport},
    {"takt_lstm_steps_f32", &LstmImport},
    {"takt_product_i4_f32", &ProductI4Import},
    {"takt_layer_norm_f32", &LayerNormF32Import},
    {"takt_softmax_f32", &SoftmaxF32Import},
    {"takt_select_boxes_f32", &SelectBoxesImport},
    {"takt_select_box_lists_f32", &SelectBoxListsImport},
    {"takt_join_box_lists", &JoinBoxListsImport},
    {"takt_top_k_f32", &TopKImport},
    {"takt_top_k_i64", &TopKI64Import},
    {"takt_arg_max_f32", &ArgMaxImport},
    {"takt_blend_f32", &BlendImport},
    {"takt_cum_sum_f32", &CumSumImport},
    {"takt_scatter_f32", &ScatterImport},
    {"takt_scatter_reduced_f32", &ScatterImport},
    {"takt_shuffle_f32", &ShuffleF32Import},
    {"takt_shuffle_i8", &ShuffleI8Import},
};
constexpr Entry kI8Entries[] = {
    {"takt_conv2d_i8", &Conv2dI8Import},
    {"takt_conv2d_i8_f32", &Conv2dI8F32Import},
    {"takt_depthwise2d_i8", &Depthwise2dI8Import},
    {"takt_add_i8", &AddI8Import},
    {"takt_add_row_i8", &AddRowI8Import},
    {"takt_layer_norm_i8", &LayerNormI8Import},
    {"takt_range_f32", &RangeF32Import},
    {"takt_quantize_i8", &QuantizeI8Import},
    {"takt_dequantize_f32", &DequantizeF32Import},
    {"takt_max_pool2d_i8", &MaxPoolI8Import},
};
constexpr Entry kBf16Entries[] = {
    {"takt_conv2d_bf16", &Conv2dBf16},
    {"takt_attention_bf16", &AttentionBf16Import},
};
// These use memory of the executable.
constexpr Entry kScratchEntries[] = {
    {"takt_winograd2d_f32", &Winograd2d},
    {"takt_conv2d_depthwise2d_f32", &ConvDepthwiseImport},
    {"takt_attention_i8", &AttentionI8Import},
};
constexpr absl::string_view kMapI8Name = "takt_map_i8";

}  // namespace

KernelImportState::KernelImportState()
    : scratch(kernels::kWinogradScratchBytes),
      attention_scratch(kernels::kAttentionI8ScratchBytes) {}

absl::optional<ImportFunction> FindKernelImport(
    absl::string_view name, const kernels::KernelTable& kernels,
    KernelImportState* state) {
  for (const Entry& entry : kEntries) {
    if (entry.name != name) continue;
    // The tables are constants; nothing writes through the pointer.
    return ImportFunction{entry.function, const_cast<F32Kernels*>(kernels.f32)};
  }
  for (const Entry& entry : kI8Entries) {
    if (entry.name != name) continue;
    return ImportFunction{entry.function,
                          const_cast<kernels::ConvI8Kernels*>(kernels.conv_i8)};
  }
  for (const Entry& entry : kBf16Entries) {
    if (entry.name != name) continue;
    const bool has_tiles =
        kernels.conv_bf16_tiles != nullptr && kernels::EnableTileRegisters();
    return ImportFunction{
        entry.function,
        const_cast<kernels::ConvBf16Kernels*>(
            has_tiles ? kernels.conv_bf16_tiles : kernels.conv_bf16)};
  }
  for (const Entry& entry : kScratchEntries) {
    if (entry.name != name) continue;
    state->f32 = kernels.f32;
    state->conv_i8 = kernels.conv_i8;
    return ImportFunction{entry.function, state};
  }
  if (name == kMapI8Name) {
    return ImportFunction{&MapI8Import,
                          const_cast<kernels::MapI8Kernels*>(kernels.map_i8)};
  }
  return absl::nullopt;
}

absl::Status MissingImportError(absl::string_view name) {
  return absl::NotFoundError(
      absl::StrCat("executable library: nothing provides the import ", name));
}

}  // namespace takt::cpu
