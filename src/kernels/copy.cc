#include "kernels/copy.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace takt::kernels {
namespace {

template <typename T>
void CopyElements(Operand2d<const uint8_t> in, Operand2d<uint8_t> out,
                  Shape2d shape) {
  const T* const source = reinterpret_cast<const T*>(in.data);
  T* const target = reinterpret_cast<T*>(out.data);
  for (int64_t i = 0; i < shape.size0; ++i) {
    const T* const from = source + i * in.stride0;
    T* const to = target + i * out.stride0;
    if (in.stride1 == 1 && out.stride1 == 1) {
      std::memmove(to, from, static_cast<size_t>(shape.size1) * sizeof(T));
    } else if (in.stride1 == 0 && out.stride1 == 1) {
      std::fill_n(to, shape.size1, *from);
    } else {
      for (int64_t j = 0; j < shape.size1; ++j) {
        to[j * out.stride1] = from[j * in.stride1];
      }
    }
  }
}

}  // namespace

void Copy2d(size_t element_bytes, Operand2d<const uint8_t> in,
            Operand2d<uint8_t> out, Shape2d shape) {
  if (shape.size0 == 0 || shape.size1 == 0) return;
  const bool is_one_row = in.stride1 == 1 && out.stride1 == 1 &&
                          in.stride0 == shape.size1 &&
                          out.stride0 == shape.size1;
  if (is_one_row) shape = {1, shape.size0 * shape.size1};
  switch (element_bytes) {
    case 1:
      return CopyElements<uint8_t>(in, out, shape);
    case 2:
      return CopyElements<uint16_t>(in, out, shape);
    case 4:
      return CopyElements<uint32_t>(in, out, shape);
    case 8:
      return CopyElements<uint64_t>(in, out, shape);
  }
  TAKT_CHECK(false);
}

void Fill2d(uint32_t value, Operand2d<uint32_t> out, Shape2d shape) {
  for (int64_t i = 0; i < shape.size0; ++i) {
    uint32_t* const row = out.data + i * out.stride0;
    if (out.stride1 == 1) {
      std::fill_n(row, shape.size1, value);
    } else {
      for (int64_t j = 0; j < shape.size1; ++j) row[j * out.stride1] = value;
    }
  }
}

}  // namespace takt::kernels
