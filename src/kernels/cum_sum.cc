#include "kernels/cum_sum.h"

#include <algorithm>

namespace takt::kernels {

void AddUpColumns(const CumSumShape& shape, const float* numbers,
                  int64_t columns, float* sums) {
  const int64_t step = shape.is_reversed ? -shape.inner : shape.inner;
  int64_t at = shape.is_reversed ? (shape.count - 1) * shape.inner : 0;
  if (shape.is_exclusive) {
    std::fill_n(sums + at, columns, 0.0f);
  } else {
    std::copy_n(numbers + at, columns, sums + at);
  }
  for (int64_t row = 1; row < shape.count; ++row) {
    const float* const last = sums + at;
    const float* const added = numbers + at + (shape.is_exclusive ? 0 : step);
    at += step;
    float* const next = sums + at;
#pragma GCC ivdep
    for (int64_t i = 0; i < columns; ++i) next[i] = last[i] + added[i];
  }
}

}  // namespace takt::kernels
