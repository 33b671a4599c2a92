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

// `o` has the operands of one of the outer elements. `reduce` gives what
// becomes of a number and an update.
template <typename Reduce>
void PutUpdates(const ScatterShape& s, const ScatterOperands& o, Rows rows,
                const Reduce& reduce) {
  for (int64_t k = 0; k < s.count; ++k) {
    const float* const update = o.updates + k * s.inner;
    if (!s.is_wide) {
      const int64_t row = RowOf(o.places[k], s.size, rows);
      if (row < 0) continue;
      float* const numbers = o.output + row * s.inner;
      for (int64_t i = 0; i < s.inner; ++i) {
        numbers[i] = reduce(numbers[i], update[i]);
      }
      continue;
    }
    for (int64_t i = 0; i < s.inner; ++i) {
      const int64_t row = RowOf(o.places[k * s.inner + i], s.size, rows);
      if (row < 0) continue;
      float& number = o.output[row * s.inner + i];
      number = reduce(number, update[i]);
    }
  }
}

void PutUpdates(const ScatterShape& s, const ScatterOperands& o, Rows rows) {
  switch (s.reduction) {
    case ScatterReduction::kNone:
      return PutUpdates(s, o, rows, [](float, float x) { return x; });
    case ScatterReduction::kSum:
      return PutUpdates(s, o, rows, [](float a, float x) { return a + x; });
    case ScatterReduction::kProduct:
      return PutUpdates(s, o, rows, [](float a, float x) { return a * x; });
    case ScatterReduction::kLeast:
      return PutUpdates(s, o, rows, [](float a, float x) {
        return a <= x || a != a ? a : x;
      });
    case ScatterReduction::kGreatest:
      return PutUpdates(s, o, rows, [](float a, float x) {
        return a >= x || a != a ? a : x;
      });
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
