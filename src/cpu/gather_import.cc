#include "cpu/gather_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/gather.h"

namespace takt::cpu {
namespace {

template <typename T>
struct GatherParameters {
  BufferParameter<const T> data;          // [outer][size][inner]
  BufferParameter<const int32_t> places;  // [count]
  BufferParameter<T> output;              // [outer][count][inner]
  int32_t outer, size, inner, count;
  RowTileParameters tile;  // Its rows are those of `inner` numbers.
};
static_assert(offsetof(GatherParameters<float>, tile) == 88);

template <typename T>
int RunGather(void* parameters) {
  const auto& p = *static_cast<const GatherParameters<T>*>(parameters);
  int64_t begin, end;
  // In this order, no product overflows.
  if (p.outer < 1 || p.size < 1 || p.inner < 1 || p.count < 1 ||
      p.data.size / p.inner / p.size < p.outer || p.places.size < p.count ||
      p.output.size / p.inner / p.count < p.outer ||
      !FindRange(p.tile.first_row, p.tile.row_count, int64_t{p.outer} * p.count,
                 &begin, &end)) {
    return kImportInvalid;
  }
  kernels::Gather({p.outer, p.size, p.inner * int64_t{sizeof(T)}, p.count},
                  {p.data.data(), p.places.data(), p.output.data()}, begin,
                  end);
  return 0;
}

}  // namespace

int GatherF32Import(void* parameters, void*, void*) {
  return RunGather<float>(parameters);
}

int GatherI8Import(void* parameters, void*, void*) {
  return RunGather<int8_t>(parameters);
}

}  // namespace takt::cpu
