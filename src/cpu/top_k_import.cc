#include "cpu/top_k_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/top_k.h"

namespace takt::cpu {
namespace {

template <typename Number>
struct TopKParameters {
  BufferParameter<const Number> numbers;  // [rows][count]
  BufferParameter<int32_t> places;        // [rows][most]
  int32_t rows, count, most;
  int32_t is_least;
  RowTileParameters tile;
};
static_assert(offsetof(TopKParameters<float>, tile) == 64);

template <typename Number>
int FindRows(const TopKParameters<Number>& p) {
  int64_t begin, end;
  if (p.rows < 0 || p.count < 1 || p.most < 0 || p.most > p.count ||
      p.numbers.size / p.count < p.rows ||
      (p.most > 0 && p.places.size / p.most < p.rows) ||
      !FindRange(p.tile.first_row, p.tile.row_count, p.rows, &begin, &end)) {
    return kImportInvalid;
  }
  const kernels::TopKShape shape = {p.count, p.most, p.is_least != 0};
  for (int64_t row = begin; row < end; ++row) {
    kernels::FindTopK(shape, p.numbers.data() + row * p.count,
                      p.places.data() + row * p.most);
  }
  return 0;
}

}  // namespace

int TopKImport(void* parameters, void*, void*) {
  return FindRows(*static_cast<const TopKParameters<float>*>(parameters));
}

int TopKI64Import(void* parameters, void*, void*) {
  return FindRows(*static_cast<const TopKParameters<int64_t>*>(parameters));
}

}  // namespace takt::cpu
