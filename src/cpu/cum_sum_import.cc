#include "cpu/cum_sum_import.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/cum_sum.h"

namespace takt::cpu {
namespace {

struct CumSumParameters {
  BufferParameter<const float> numbers;  // [outer][count][inner]
  BufferParameter<float> sums;           // The same.
  int32_t outer, count, inner;
  int32_t is_exclusive, is_reversed;
  RowTileParameters tile;  // Its rows are columns, of outer * inner.
};
static_assert(offsetof(CumSumParameters, tile) == 68);

}  // namespace

int CumSumImport(void* parameters, void*, void*) {
  const auto& p = *static_cast<const CumSumParameters*>(parameters);
  // In this order, no product overflows.
  if (p.outer < 0 || p.count < 1 || p.inner < 1 ||
      std::min(p.numbers.size, p.sums.size) / p.inner / p.count < p.outer) {
    return kImportInvalid;
  }
  int64_t begin, end;
  if (!FindRange(p.tile.first_row, p.tile.row_count, int64_t{p.outer} * p.inner,
                 &begin, &end)) {
    return kImportInvalid;
  }
  const kernels::CumSumShape shape = {p.count, p.inner, p.is_exclusive != 0,
                                      p.is_reversed != 0};
  while (begin < end) {
    const int64_t outer = begin / p.inner, inner = begin % p.inner;
    const int64_t columns = std::min(end - begin, p.inner - inner);
    const int64_t first = outer * p.count * p.inner + inner;
    kernels::AddUpColumns(shape, p.numbers.data() + first, columns,
                          p.sums.data() + first);
    begin += columns;
  }
  return 0;
}

}  // namespace takt::cpu
