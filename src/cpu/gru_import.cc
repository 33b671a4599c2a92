#include "cpu/gru_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "cpu/recurrent_parameters.h"
#include "kernels/conv2d.h"

namespace takt::cpu {
namespace {

struct GruParameters {
  BufferParameter<const float> input, weights, bias, state;
  BufferParameter<float> output;
  RecurrentParameters numbers;
};
static_assert(offsetof(GruParameters, numbers) == 120);

}  // namespace

int GruImport(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const GruParameters*>(parameters);
  kernels::RecurrentShape shape;
  kernels::RecurrentTile tile;
  if (!FindWork(p.numbers, &shape, &tile)) return kImportInvalid;
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

}  // namespace takt::cpu
