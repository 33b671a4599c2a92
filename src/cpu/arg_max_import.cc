#include "cpu/arg_max_import.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/arg_max.h"

namespace takt::cpu {
namespace {

struct ArgMaxParameters {
  BufferParameter<const float> numbers;  // [outer][count][inner]
  BufferParameter<int32_t> places;       // [outer][inner]
  int32_t outer, count, inner;
  int32_t is_least, is_last;
  RowTileParameters tile;  // Its rows are columns, of outer * inner.
};
static_assert(offsetof(ArgMaxParameters, tile) == 68);

}  // namespace

int ArgMaxImport(void* parameters, void*, void*) {
  const auto& p = *static_cast<const ArgMaxParameters*>(parameters);
  // In this order, no product overflows.
  if (p.outer < 0 || p.count < 1 || p.inner < 1 ||
      p.places.size / p.inner < p.outer ||
      p.numbers.size / p.inner / p.count < p.outer) {
    return kImportInvalid;
  }
  int64_t begin, end;
  if (!FindRange(p.tile.first_row, p.tile.row_count, int64_t{p.outer} * p.inner,
                 &begin, &end)) {
    return kImportInvalid;
  }
  const kernels::ArgMaxShape shape = {p.count, p.inner, p.is_least != 0,
                                      p.is_last != 0};
  while (begin < end) {
    const int64_t outer = begin / p.inner, first = begin % p.inner;
    const int64_t columns = std::min(end - begin, p.inner - first);
    kernels::FindArgMax(shape,
                        p.numbers.data() + outer * p.count * p.inner + first,
                        columns, p.places.data() + begin);
    begin += columns;
  }
  return 0;
}

}  // namespace takt::cpu
