// Rows of a tensor at places that other numbers say, as the operator Gather of
// ONNX defines it.
#ifndef TAKT_KERNELS_GATHER_H_
#define TAKT_KERNELS_GATHER_H_

#include <cstdint>

namespace takt::kernels {

struct GatherShape {
  int64_t outer, size, inner;  // Of the tensor; places are along `size`.
  int64_t count;               // Places.
};

struct GatherOperands {
  const float* data;      // [outer][size][inner]
  const int32_t* places;  // [count]
  float* output;          // [outer][count][inner]
};

// Writes the rows of `inner` numbers from `begin` to `end` of the output, of
// outer * count. A place below zero counts from the end. One that is neither
// there nor then within the tensor is the nearest that is. `size` is not 0.
void Gather(const GatherShape& shape, const GatherOperands& operands,
            int64_t begin, int64_t end);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_GATHER_H_
