#include "kernels/conv2d_depthwise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace takt::kernels {
namespace {

// With fewer rows at once, more time goes to the calls of the kernels; more do
// not stay in the cache of a core.
constexpr int64_t kFloatsAtOnce = (192 << 10) / sizeof(float);
constexpr int64_t kFloatsMax = kConvDepthwiseScratchBytes / sizeof(float);

// Some rows of a result of one image as a convolution of its own, and the rows
// of the input that it reads.
struct RowsPart {
  RowsPart(const ConvShape& whole, int64_t begin, int64_t end) : shape(whole) {
    const int64_t first = begin * whole.stride_h - whole.pad_top;
    const int64_t last = (end - 1) * whole.stride_h - whole.pad_top +
                         (whole.kernel_h - 1) * whole.dilation_h;
    input_begin = std::clamp(first, int64_t{0}, whole.in_h);
    input_end = std::clamp(last + 1, input_begin, whole.in_h);
    shape.batch = 1;
    shape.in_h = input_end - input_begin;
    shape.out_h = end - begin;
    shape.pad_top = input_begin - first;
  }
  ConvTile Tile(int64_t block_count) const {
    return {0, shape.pixel_count(), 0, block_count};
  }

  ConvShape shape;
  int64_t input_begin, input_end;
};

// A band of channels of one image, from its first row to its last one.
class Band {
 public:
  Band(const F32Kernels& kernels, const ConvDepthwiseShape& whole,
       const ConvDepthwiseOperands& operands, int64_t image,
       const ConvDepthwiseTile& tile, float* scratch)
      : kernels_(kernels),
        shape_(whole),
        operands_(operands),
        block_count_(tile.block_end - tile.block_begin),
        between_(scratch) {
    const int64_t first_channel = tile.block_begin * kConvBlock;
    const int64_t all_channels = whole.depthwise.out_c;
    channels_ =
        std::min(tile.block_end * kConvBlock, all_channels) - first_channel;
    ConvShape& conv = shape_.conv;
    conv.out_c = channels_;
    operands_.conv.input += image * conv.in_h * conv.in_w * conv.in_c;
    operands_.conv.weights += first_channel * TapsOf(conv) * conv.in_c;
    operands_.conv.bias += first_channel;
    ConvShape& depthwise = shape_.depthwise;
    depthwise.in_c = depthwise.out_c = depthwise.groups = channels_;
    operands_.depthwise.input = between_;
    operands_.depthwise.weights += first_channel * TapsOf(depthwise);
    operands_.depthwise.bias += first_channel;
    operands_.depthwise.output +=
        image * depthwise.out_h * depthwise.out_w * all_channels +
        first_channel;
    operands_.depthwise.output_stride = all_channels;
  }

  // Computes rows of the result. Those of earlier calls come before them.
  void Compute(int64_t begin, int64_t end) {
    const RowsPart rows(shape_.depthwise, begin, end);
    MakeBetween(rows.input_begin, rows.input_end);
    ConvOperands operands = operands_.depthwise;
    operands.output += begin * rows.shape.out_w * operands.output_stride;
    kernels_.depthwise(rows.shape, operands, rows.Tile(block_count_));
  }

 private:
  static int64_t TapsOf(const ConvShape& s) { return s.kernel_h * s.kernel_w; }

  // Makes the scratch memory hold these rows between the two convolutions.
  void MakeBetween(int64_t begin, int64_t end) {
    const int64_t row_floats = shape_.conv.out_w * channels_;
    const int64_t kept = std::max<int64_t>(0, between_end_ - begin);
    if (kept > 0) {
      std::memmove(between_, between_ + (begin - between_begin_) * row_floats,
                   static_cast<size_t>(kept * row_floats) * sizeof(float));
    }
    between_begin_ = begin;
    between_end_ = end;
    if (begin + kept == end) return;
    const RowsPart rows(shape_.conv, begin + kept, end);
    ConvOperands operands = operands_.conv;
    operands.input += rows.input_begin * rows.shape.in_w * rows.shape.in_c;
    operands.output = between_ + kept * row_floats;
    kernels_.conv2d(rows.shape, operands, rows.Tile(block_count_));
  }

  const F32Kernels& kernels_;
  ConvDepthwiseShape shape_;  // Of these channels.
  ConvDepthwiseOperands operands_;
  const int64_t block_count_;
  int64_t channels_;
  float* const between_;
  int64_t between_begin_ = 0, between_end_ = 0;  // The rows that are there.
};

}  // namespace

const char* CheckConvDepthwiseShape(const ConvDepthwiseShape& shape) {
  const ConvShape& conv = shape.conv;
  const ConvShape& depthwise = shape.depthwise;
  for (const ConvShape* each : {&conv, &depthwise}) {
    const char* const wrong = CheckConvShape(*each);
    if (wrong != nullptr) return wrong;
  }
  if (conv.groups != 1) return "the first convolution has groups";
  if (conv.in_c > kConvChannelsMax ||
      conv.kernel_h * conv.kernel_w > kConvTapsMax) {
    return "the first convolution has too many input channels or taps";
  }
  if (depthwise.groups != depthwise.in_c ||
      depthwise.groups != depthwise.out_c) {
    return "the second convolution is not depthwise";
  }
  if (depthwise.batch != conv.batch || depthwise.in_h != conv.out_h ||
      depthwise.in_w != conv.out_w || depthwise.in_c != conv.out_c) {
    return "the second convolution's input is not the first one's result";
  }
  return nullptr;
}

int64_t ConvDepthwiseRows(const ConvDepthwiseShape& shape, int64_t channels) {
  const ConvShape& s = shape.depthwise;
  const int64_t row_floats = s.in_w * channels;
  const int64_t window = (s.kernel_h - 1) * s.dilation_h + 1;
  if (row_floats * std::min(window, s.in_h) > kFloatsMax) return 0;
  const int64_t rows = (kFloatsAtOnce / row_floats - window) / s.stride_h + 1;
  return std::clamp<int64_t>(rows, 1, s.out_h);
}

void ConvolveDepthwise(const F32Kernels& kernels,
                       const ConvDepthwiseShape& shape,
                       const ConvDepthwiseOperands& operands,
                       const ConvDepthwiseTile& tile, float* scratch) {
  const int64_t channels = (tile.block_end - tile.block_begin) * kConvBlock;
  const int64_t at_once = ConvDepthwiseRows(shape, channels);
  const int64_t out_h = shape.depthwise.out_h;
  for (int64_t row = tile.row_begin; row < tile.row_end;) {
    const int64_t image = row / out_h;
    const int64_t begin = row - image * out_h;
    const int64_t end = std::min(out_h, tile.row_end - image * out_h);
    Band band(kernels, shape, operands, image, tile, scratch);
    const int64_t steps = (end - begin + at_once - 1) / at_once;
    for (int64_t i = 0; i < steps; ++i) {
      band.Compute(begin + (end - begin) * i / steps,
                   begin + (end - begin) * (i + 1) / steps);
    }
    row += end - begin;
  }
}

}  // namespace takt::kernels
