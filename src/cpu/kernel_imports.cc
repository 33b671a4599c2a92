#include "cpu/kernel_imports.h"

#include <cstddef>
#include <cstdint>

#include "kernels/conv2d.h"

namespace takt::cpu {
namespace {

using kernels::ConvKernels;
using kernels::ConvShape;
using kernels::ConvTile;

// A non-zero result fails the dispatch.
constexpr int kInvalid = 1;

// What a workgroup computes: one of block_tiles * pixel_tiles equal parts.
struct TileParameters {
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
  int64_t has_residual;
  TileParameters tile;
  float low, high;
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
  TileParameters tile;
};
static_assert(offsetof(PoolParameters, shape) == 40);
static_assert(offsetof(PoolParameters, tile) == 176);

// False if there is no such tile.
bool FindTile(const TileParameters& p, int64_t pixel_count, int64_t block_count,
              ConvTile* tile) {
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

int RunConvolution(const ConvParameters& p, kernels::ConvKernel kernel,
                   int64_t block_count) {
  ConvTile tile;
  if (!FindTile(p.tile, p.shape.pixel_count(), block_count, &tile)) {
    return kInvalid;
  }
  kernel(p.shape,
         {p.input + p.input_offset, p.weights + p.weights_offset,
          p.bias + p.bias_offset,
          p.has_residual != 0 ? p.residual + p.residual_offset : nullptr,
          p.output + p.output_offset, p.low, p.high},
         tile);
  return 0;
}

int64_t BlocksOf(int64_t channels) {
  return (channels + kernels::kConvBlock - 1) / kernels::kConvBlock;
}

int Conv2d(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvParameters*>(parameters);
  const auto& table = *static_cast<const ConvKernels*>(context);
  if (kernels::CheckConvShape(p.shape) != nullptr ||
      p.shape.in_c / p.shape.groups > kernels::kConvChannelsMax ||
      p.shape.kernel_h * p.shape.kernel_w > kernels::kConvTapsMax) {
    return kInvalid;
  }
  return RunConvolution(p, table.conv2d, p.shape.block_count());
}

int Depthwise2d(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ConvParameters*>(parameters);
  const auto& table = *static_cast<const ConvKernels*>(context);
  if (kernels::CheckConvShape(p.shape) != nullptr ||
      p.shape.in_c != p.shape.groups || p.shape.out_c != p.shape.groups) {
    return kInvalid;
  }
  return RunConvolution(p, table.depthwise, BlocksOf(p.shape.out_c));
}

int RunPool(const PoolParameters& p, kernels::PoolKernel kernel) {
  ConvTile tile;
  if (kernels::CheckConvShape(p.shape) != nullptr ||
      p.shape.in_c != p.shape.out_c ||
      !FindTile(p.tile, p.shape.pixel_count(), BlocksOf(p.shape.out_c),
                &tile)) {
    return kInvalid;
  }
  kernel(p.shape,
         {p.input + p.input_offset, p.output + p.output_offset,
          p.count_padding != 0},
         tile);
  return 0;
}

int MaxPool2d(void* parameters, void* context, void*) {
  return RunPool(*static_cast<const PoolParameters*>(parameters),
                 static_cast<const ConvKernels*>(context)->max_pool);
}

int MeanPool2d(void* parameters, void* context, void*) {
  return RunPool(*static_cast<const PoolParameters*>(parameters),
                 static_cast<const ConvKernels*>(context)->mean_pool);
}

struct Entry {
  absl::string_view name;
  int (*function)(void*, void*, void*);
};
constexpr Entry kEntries[] = {
    {"takt_conv2d_f32", &Conv2d},
    {"takt_depthwise2d_f32", &Depthwise2d},
    {"takt_max_pool2d_f32", &MaxPool2d},
    {"takt_mean_pool2d_f32", &MeanPool2d},
};

}  // namespace

absl::optional<ImportFunction> FindKernelImport(
    absl::string_view name, const kernels::KernelTable& kernels) {
  for (const Entry& entry : kEntries) {
    if (entry.name != name) continue;
    // The tables are constants; nothing writes through the pointer.
    return ImportFunction{entry.function,
                          const_cast<ConvKernels*>(kernels.conv)};
  }
  return absl::nullopt;
}

}  // namespace takt::cpu
