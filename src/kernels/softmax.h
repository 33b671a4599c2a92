// Softmax of rows: each number of a row is exp(x - the greatest of the row), by
// the sum of these. Exponentials are those of activation.h; the sum of a row is
// in floats.
#ifndef TAKT_KERNELS_SOFTMAX_H_
#define TAKT_KERNELS_SOFTMAX_H_

#include <cstdint>

namespace takt::kernels {

// `rows` of `size` numbers, at least 1, one after the other. The output may be
// the input.
using SoftmaxKernel = void (*)(const float* input, int64_t rows, int64_t size,
                               float* output);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_SOFTMAX_H_
