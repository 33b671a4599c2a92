// Where the greatest or the least numbers are along an axis, as the operators
// ArgMax and ArgMin of ONNX define it.
#ifndef TAKT_KERNELS_ARG_MAX_H_
#define TAKT_KERNELS_ARG_MAX_H_

#include <cstdint>

namespace takt::kernels {

struct ArgMaxShape {
  int64_t count;  // Numbers of a column: at least one, and less than 2^31.
  int64_t inner;  // From a number of a column to the next one.
  bool is_least;  // The least ones, and not the greatest.
  bool is_last;   // The last of equal ones, and not the first.
};

// Writes to `places` which number of each of `columns` neighbouring columns is
// the greatest or the least; `numbers` is the first one of the first column.
// A NaN is neither, unless it is the first of its column.
void FindArgMax(const ArgMaxShape& shape, const float* numbers, int64_t columns,
                int32_t* places);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_ARG_MAX_H_
