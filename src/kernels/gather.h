// Rows of a tensor at places that other numbers say, as the operator Gather of
// ONNX defines it.
#ifndef TAKT_KERNELS_GATHER_H_
#define TAKT_KERNELS_GATHER_H_

#include <cstdint>

namespace takt::kernels {

struct GatherShape {
  int64_t outer, size;  // Of the tensor; places are along `size`.
  int64_t row_bytes;    // What lies side by side behind that dimension.
  int64_t count;        // Places.
};

struct GatherOperands {
  const void* data;       // [outer][size][row_bytes]
  const int32_t* places;  // [count]
  void* output;           // [outer][count][row_bytes]
};

// Writes the rows from `begin` to `end` of the output, of outer * count. A
// place below zero counts from the end. One that is neither there nor then
// within the tensor is the nearest that is. `size` is not 0.
void Gather(const GatherShape& shape, const GatherOperands& operands,
            int64_t begin, int64_t end);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_GATHER_H_
