#include "cpu/scatter_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/scatter.h"

namespace takt::cpu {
namespace {

struct ScatterParameters {
  BufferParameter<const float> data;      // [outer][size][inner]
  BufferParameter<const int32_t> places;  // See kernels/scatter.h.
  BufferParameter<const float> updates;   // [outer][count][inner]
  BufferParameter<float> output;          // As `data`.
  int32_t outer, size, inner, count;
  int32_t reduction, is_wide;  // kernels::ScatterReduction.
  RowTileParameters tile;      // Its rows are those of `inner` numbers.
};
static_assert(offsetof(ScatterParameters, tile) == 120);

}  // namespace

int ScatterImport(void* parameters, void*, void*) {
  const auto& p = *static_cast<const ScatterParameters*>(parameters);
  // In this order, no product overflows.
  if (p.reduction < 0 || p.reduction >= kernels::kScatterReductionCount ||
      p.outer < 0 || p.size < 1 || p.inner < 1 || p.count < 0 ||
      p.data.size / p.inner / p.size < p.outer ||
      p.output.size / p.inner / p.size < p.outer) {
    return kImportInvalid;
  }
  if (p.count > 0 && p.outer > 0 &&
      (p.updates.size / p.inner / p.count < p.outer ||
       p.places.size < p.count ||
       (p.is_wide != 0 && p.places.size / p.inner / p.count < p.outer))) {
    return kImportInvalid;
  }
  int64_t begin, end;
  if (!FindRange(p.tile.first_row, p.tile.row_count, int64_t{p.outer} * p.size,
                 &begin, &end)) {
    return kImportInvalid;
  }
  kernels::Scatter(
      {p.outer, p.size, p.inner, p.count,
       static_cast<kernels::ScatterReduction>(p.reduction), p.is_wide != 0},
      {p.data.data(), p.places.data(), p.updates.data(), p.output.data()},
      begin, end);
  return 0;
}

}  // namespace takt::cpu
