#include "kernels/product_i4.h"

#include <initializer_list>

namespace takt::kernels {

const char* CheckProductI4Shape(const ProductI4Shape& s) {
  constexpr int64_t kSizeMax = 1 << 28;  // Of a dimension.
  for (const int64_t size : {s.rows, s.inputs, s.columns, s.block}) {
    if (size < 1 || size > kSizeMax) return "a size is not from 1 to 268435456";
  }
  if (s.columns % kProductColumns != 0) return "columns of no whole group";
  if (s.block > kProductBlockMax) return "blocks of more than 1024 inputs";
  if (s.block % 8 != 0 || s.inputs % s.block != 0) {
    return "blocks of no whole words, or inputs of no whole blocks";
  }
  return nullptr;
}

}  // namespace takt::kernels
