#include "cpu/shuffle_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/shuffle.h"

namespace takt::cpu {
namespace {

template <typename T>
struct ShuffleParameters {
  BufferParameter<const T> input;  // [rows][groups][each]
  BufferParameter<T> output;       // [rows][each][groups]
  int32_t rows, groups, each;
  RowTileParameters tile;
};
static_assert(offsetof(ShuffleParameters<float>, tile) == 60);

template <typename T>
int RunShuffle(void* parameters) {
  const auto& p = *static_cast<const ShuffleParameters<T>*>(parameters);
  int64_t begin, end;
  // In this order, no product overflows.
  if (p.groups < 1 || p.each < 1 ||
      p.input.size / p.groups / p.each < p.rows ||
      p.output.size / p.groups / p.each < p.rows ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.rows, &begin, &end)) {
    return kImportInvalid;
  }
  kernels::Shuffle<T>({p.groups, p.each}, p.input.data(), p.output.data(),
                      begin, end);
  return 0;
}

}  // namespace

int ShuffleF32Import(void* parameters, void*, void*) {
  return RunShuffle<float>(parameters);
}

int ShuffleI8Import(void* parameters, void*, void*) {
  return RunShuffle<int8_t>(parameters);
}

}  // namespace takt::cpu
