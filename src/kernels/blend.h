// Sums of two neighbours along an axis, as Resize of ONNX has them in the mode
// linear:
//
//   output[o][i][k] = input[o][first[i]][k] * (1 - share[i]) +
//                     input[o][first[i] + 1][k] * share[i]
//
// Behind the last element is the last one once more.
#ifndef TAKT_KERNELS_BLEND_H_
#define TAKT_KERNELS_BLEND_H_

#include <cstdint>

namespace takt::kernels {

struct BlendShape {
  int64_t size;   // Of the axis.
  int64_t count;  // Results along it.
  int64_t inner;  // Neighbouring numbers that are blended alike.
};
struct BlendOperands {
  const float* input;    // [outer][size][inner]
  const int32_t* first;  // [count], each at least 0 and less than `size`.
  const float* share;    // [count]
  float* output;         // [outer][count][inner]; none of the inputs.
};

// The results from `begin` to `end` of outer * count.
using BlendKernel = void (*)(const BlendShape& shape,
                             const BlendOperands& operands, int64_t begin,
                             int64_t end);

// The same for an `inner` of 1, whose neighbours no vector has side by side.
void BlendNumbers(const BlendShape& shape, const BlendOperands& operands,
                  int64_t begin, int64_t end);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_BLEND_H_
