#include "cpu/lstm_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/conv2d.h"

namespace takt::cpu {
namespace {

struct LstmParameters {
  BufferParameter<const float> input, weights, state, cell;
  BufferParameter<float> output;
  int32_t steps, batch, hidden;
  // Read by LstmTileImport() only.
  int32_t lanes;
  RowTileParameters tile;
};
static_assert(offsetof(LstmParameters, steps) == 120);
static_assert(offsetof(LstmParameters, tile) == 136);

int Run(const LstmParameters& p, const kernels::RecurrentShape& shape,
        const kernels::RecurrentTile& tile, void* context) {
  const int64_t row = shape.batch * shape.hidden;
  if (p.input.size < 4 * shape.steps * row ||
      p.weights.size < 4 * shape.hidden * shape.hidden || p.state.size < row ||
      p.cell.size < row || p.output.size < (shape.steps + 1) * row) {
    return kImportInvalid;
  }
  static_cast<const kernels::F32Kernels*>(context)->lstm(
      shape,
      {p.input.data(), p.weights.data(), p.state.data(), p.cell.data(),
       p.output.data()},
      tile);
  return 0;
}

}  // namespace

int LstmImport(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const LstmParameters*>(parameters);
  const kernels::RecurrentShape shape = {p.steps, p.batch, p.hidden};
  if (kernels::CheckRecurrentShape(shape) != nullptr) return kImportInvalid;
  return Run(p, shape, {0, shape.batch, 0, shape.hidden}, context);
}

int LstmTileImport(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const LstmParameters*>(parameters);
  const kernels::RecurrentShape shape = {p.steps, p.batch, p.hidden};
  kernels::RecurrentTile tile;
  if (!kernels::FindRecurrentTile(shape, p.lanes, p.tile.part, p.tile.first_row,
                                  p.tile.row_count, &tile)) {
    return kImportInvalid;
  }
  return Run(p, shape, tile, context);
}

}  // namespace takt::cpu
