#include "cpu/product_i4_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/conv2d.h"

namespace takt::cpu {
namespace {

struct ProductI4Parameters {
  BufferParameter<const float> input;
  BufferParameter<const uint32_t> weights;
  BufferParameter<const float> scales, zeros, bias;
  BufferParameter<float> output;
  int32_t rows, inputs, columns, block;
  int32_t in_bytes;     // 0 or 1.
  int32_t part_groups;  // Groups of columns in a part.
  RowTileParameters tile;
};
static_assert(offsetof(ProductI4Parameters, tile) == 168);

// Whether every buffer has what a product of this shape reads or writes.
bool HasOperands(const ProductI4Parameters& p,
                 const kernels::ProductI4Shape& s) {
  const int64_t scales = s.inputs / s.block * s.columns;
  return p.input.size >= s.rows * s.inputs &&
         p.weights.size >= s.inputs / 8 * s.columns &&
         p.scales.size >= scales &&
         (p.zeros.size == 1 || p.zeros.size >= scales) &&
         p.bias.size >= s.columns && p.output.size >= s.rows * s.columns;
}

}  // namespace

int ProductI4Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const ProductI4Parameters*>(parameters);
  const kernels::ProductI4Shape shape = {p.rows, p.inputs, p.columns, p.block};
  kernels::ProductTile tile;
  if (kernels::CheckProductI4Shape(shape) != nullptr ||
      !HasOperands(p, shape) || p.part_groups < 1 || p.tile.part < 0 ||
      !FindRange(int64_t{p.tile.part} * p.part_groups, p.part_groups,
                 shape.columns / kernels::kProductColumns, &tile.group_begin,
                 &tile.group_end) ||
      !FindRange(p.tile.first_row, p.tile.row_count, shape.rows,
                 &tile.row_begin, &tile.row_end)) {
    return kImportInvalid;
  }
  static_cast<const kernels::F32Kernels*>(context)->product_i4(
      shape,
      {p.input.data(), p.weights.data(), p.scales.data(), p.zeros.data(),
       p.zeros.size == 1, p.in_bytes != 0, p.bias.data(), p.output.data()},
      tile);
  return 0;
}

}  // namespace takt::cpu
