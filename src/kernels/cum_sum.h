// Sums of all numbers along an axis up to each one, as the operator CumSum of
// ONNX defines them.
#ifndef TAKT_KERNELS_CUM_SUM_H_
#define TAKT_KERNELS_CUM_SUM_H_

#include <cstdint>

namespace takt::kernels {

struct CumSumShape {
  int64_t count;      // Numbers of a column: at least one.
  int64_t inner;      // From a number of a column to the next one.
  bool is_exclusive;  // A sum is without the number at its own place.
  bool is_reversed;   // From the last number to the first.
};

// Writes to `sums` those of each of `columns` neighbouring columns, at most
// `inner`. `numbers` and `sums` are the first ones of the first column.
void AddUpColumns(const CumSumShape& shape, const float* numbers,
                  int64_t columns, float* sums);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_CUM_SUM_H_
