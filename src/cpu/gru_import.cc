#include "cpu/gru_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/conv2d.h"

namespace takt::cpu {
namespace {

struct GruParameters {
  BufferParameter<const float> input, weights, bias, state;
  BufferParameter<float> output;
  int32_t steps, batch, hidden;
  // Read by GruTileImport() only.
  int32_t lanes;
  RowTileParameters tile;
};
static_assert(offsetof(GruParameters, steps) == 120);
static_assert(offsetof(GruParameters, tile) == 136);

int Run(const GruParameters& p, const kernels::RecurrentShape& shape,
        const kernels::RecurrentTile& tile, void* context) {
  const int64_t states = shape.steps * shape.batch * shape.hidden;
  if (p.input.size < 3 * states ||
      p.weights.size < 3 * shape.hidden * shape.hidden ||
      p.bias.size < shape.hidden || p.state.size < shape.batch * shape.hidden ||
      p.output.size < states) {
    return kImportInvalid;
  }
  static_cast<const kernels::F32Kernels*>(context)->gru(
      shape,
      {p.input.data(), p.weights.data(), p.bias.data(), p.state.data(),
       p.output.data()},
      tile);
  return 0;
}

}  // namespace

int GruImport(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const GruParameters*>(parameters);
  const kernels::RecurrentShape shape = {p.steps, p.batch, p.hidden};
  if (kernels::CheckRecurrentShape(shape) != nullptr) return kImportInvalid;
  return Run(p, shape, {0, shape.batch, 0, shape.hidden}, context);
}

int GruTileImport(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const GruParameters*>(parameters);
  const kernels::RecurrentShape shape = {p.steps, p.batch, p.hidden};
  kernels::RecurrentTile tile;
  if (!kernels::FindRecurrentTile(shape, p.lanes, p.tile.part, p.tile.first_row,
                                  p.tile.row_count, &tile)) {
    return kImportInvalid;
  }
  return Run(p, shape, tile, context);
}

}  // namespace takt::cpu
