#include "cpu/lstm_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "cpu/recurrent_parameters.h"
#include "kernels/conv2d.h"

namespace takt::cpu {
namespace {

struct LstmParameters {
  BufferParameter<const float> input, weights, state, cell;
  BufferParameter<float> output;
  RecurrentParameters numbers;
};
static_assert(offsetof(LstmParameters, numbers) == 120);

}  // namespace

int LstmImport(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const LstmParameters*>(parameters);
  kernels::RecurrentShape shape;
  kernels::RecurrentTile tile;
  if (!FindWork(p.numbers, &shape, &tile)) return kImportInvalid;
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

}  // namespace takt::cpu
