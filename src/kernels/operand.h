// A two-dimensional operand of a kernel. The caller has checked that every
// element lies in memory and is aligned to its size.
#ifndef TAKT_KERNELS_OPERAND_H_
#define TAKT_KERNELS_OPERAND_H_

#include <cstdint>

namespace takt::kernels {

// Element (i, j) is data[i * stride0 + j * stride1]; strides are in elements
// and not negative. A stride of 0 repeats an element.
template <typename T>
struct Operand2d {
  T* data = nullptr;
  int64_t stride0 = 0;
  int64_t stride1 = 0;
};

struct Shape2d {
  int64_t size0 = 0;
  int64_t size1 = 0;
};

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_OPERAND_H_
