#include "cpu/gather_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/gather.h"

namespace takt::cpu {
namespace {

struct GatherParameters {
  BufferParameter<const float> data;      // [outer][size][inner]
  BufferParameter<const int32_t> places;  // [count]
  BufferParameter<float> output;          // [outer][count][inner]
  int32_t outer, size, inner, count;
  RowTileParameters tile;  // Its rows are those of `inner` numbers.
};
static_assert(offsetof(GatherParameters, tile) == 88);

}  // namespace

int GatherImport(void* parameters, void*, void*) {
  const auto& p = *static_cast<const GatherParameters*>(parameters);
  int64_t begin, end;
  // In this order, no product overflows.
  if (p.outer < 1 || p.size < 1 || p.inner < 1 || p.count < 1 ||
      p.data.size / p.inner / p.size < p.outer || p.places.size < p.count ||
      p.output.size / p.inner / p.count < p.outer ||
      !FindRange(p.tile.first_row, p.tile.row_count, int64_t{p.outer} * p.count,
                 &begin, &end)) {
    return kImportInvalid;
  }
  kernels::Gather({p.outer, p.size, p.inner, p.count},
                  {p.data.data(), p.places.data(), p.output.data()}, begin,
                  end);
  return 0;
}

}  // namespace takt::cpu
