// Normalization of rows: each number of a row less the mean of the row, by the
// root of the row's variance and epsilon, times gamma and plus beta. The sums
// of a row are in floats.
#ifndef TAKT_KERNELS_LAYER_NORM_H_
#define TAKT_KERNELS_LAYER_NORM_H_

#include <cstdint>

namespace takt::kernels {

struct LayerNormOperands {
  const float* input;  // `rows` of `size` numbers, one after the other.
  const float* gamma;  // [size]
  const float* beta;   // [size]
  float* output;       // As the input, and may be it.
};

// `size` is at least 1.
using LayerNormKernel = void (*)(const LayerNormOperands& operands,
                                 int64_t rows, int64_t size, float epsilon);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_LAYER_NORM_H_
