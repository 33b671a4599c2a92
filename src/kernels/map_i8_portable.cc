#include "kernels/map_i8.h"

namespace takt::kernels {
namespace {

void Map(const int8_t* table, const int8_t* input, int64_t count,
         int8_t* output) {
  const int8_t* const of_zero = table + kMapI8Size / 2;
  for (int64_t i = 0; i < count; ++i) output[i] = of_zero[input[i]];
}

}  // namespace

constexpr MapI8Kernels kMapI8Portable = {&Map};

}  // namespace takt::kernels
