#include "kernels/scatter.h"

#include <algorithm>
#include <cstdint>

namespace takt::kernels {
namespace {

struct Rows {
  int64_t begin, end;
};

// The row of a place among `rows`, or -1.
int64_t RowOf(int32_t place, int64_t size, Rows rows) {
  const int64_t row = place < 0 ? place + size : place;
  return row >= rows.begin && row < rows.end ? row : -1;
}

void PutRow(const ScatterShape& s, const float* update, float* row) {
  if (s.is_sum) {
    for (int64_t i = 0; i < s.inner; ++i) row[i] += update[i];
  } else {
    std::copy_n(update, s.inner, row);
  }
}

// `o` has the operands of one of the outer elements.
void PutUpdates(const ScatterShape& s, const ScatterOperands& o, Rows rows) {
  for (int64_t k = 0; k < s.count; ++k) {
    const float* const update = o.updates + k * s.inner;
    if (!s.is_wide) {
      const int64_t row = RowOf(o.places[k], s.size, rows);
      if (row >= 0) PutRow(s, update, o.output + row * s.inner);
      continue;
    }
    for (int64_t i = 0; i < s.inner; ++i) {
      const int64_t row = RowOf(o.places[k * s.inner + i], s.size, rows);
      if (row < 0) continue;
      float& number = o.output[row * s.inner + i];
      number = s.is_sum ? number + update[i] : update[i];
    }
  }
}

}  // namespace

void Scatter(const ScatterShape& s, const ScatterOperands& o, int64_t begin,
             int64_t end) {
  std::copy_n(o.data + begin * s.inner, (end - begin) * s.inner,
              o.output + begin * s.inner);
  while (begin < end) {
    const int64_t outer = begin / s.size;
    const int64_t first = outer * s.size;
    const Rows rows = {begin - first, std::min(end - first, s.size)};
    const int64_t updates = outer * s.count * s.inner;
    PutUpdates(s,
               {nullptr, o.places + (s.is_wide ? updates : 0),
                o.updates + updates, o.output + first * s.inner},
               rows);
    begin = first + rows.end;
  }
}

}  // namespace takt::kernels
