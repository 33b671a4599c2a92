// The greatest or the least numbers of each row, as the operator TopK of ONNX
// defines them.
#ifndef TAKT_KERNELS_TOP_K_H_
#define TAKT_KERNELS_TOP_K_H_

#include <cstdint>

namespace takt::kernels {

struct TopKShape {
  int64_t count;  // Numbers of a row, less than 2^31.
  int64_t most;   // So many of them are found, at most `count`.
  bool is_least;  // The least ones, and not the greatest.
};

// Writes to `places` where the numbers of one row are that come first, in their
// order: greatest or least first, and those that are equal in the order of the
// row. A NaN counts as greater than all numbers. Takes no memory, and at most
// some count * log2(most) steps.
void FindTopK(const TopKShape& shape, const float* row, int32_t* places);
void FindTopK(const TopKShape& shape, const int64_t* row, int32_t* places);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_TOP_K_H_
