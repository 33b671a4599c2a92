#include "kernels/arg_max.h"

#include <cstring>

namespace takt::kernels {
namespace {

constexpr int64_t kLanes = 4;
typedef float Numbers __attribute__((vector_size(4 * kLanes)));
typedef int32_t Places __attribute__((vector_size(4 * kLanes)));
constexpr int64_t kVectors = 4;  // Whose best numbers stay in registers.
constexpr int64_t kBlock = kVectors * kLanes;

template <bool kIsLeast, bool kIsLast, typename T>
auto Replaces(T number, T best) {
  if constexpr (kIsLeast && kIsLast) return number <= best;
  if constexpr (kIsLeast && !kIsLast) return number < best;
  if constexpr (!kIsLeast && kIsLast) return number >= best;
  if constexpr (!kIsLeast && !kIsLast) return number > best;
}

Numbers Load(const float* from) {
  Numbers numbers;
  std::memcpy(&numbers, from, sizeof(numbers));
  return numbers;
}

template <bool kIsLeast, bool kIsLast>
void FindBlock(const ArgMaxShape& shape, const float* numbers,
               int32_t* places) {
  Numbers best[kVectors];
  Places at[kVectors] = {};
#pragma GCC unroll 4
  for (int64_t i = 0; i < kVectors; ++i) best[i] = Load(numbers + i * kLanes);
  for (int64_t row = 1; row < shape.count; ++row) {
    numbers += shape.inner;
    const Places place = Places{} + static_cast<int32_t>(row);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kVectors; ++i) {
      const Numbers next = Load(numbers + i * kLanes);
      const Places replaces = Replaces<kIsLeast, kIsLast>(next, best[i]);
      best[i] = replaces ? next : best[i];
      at[i] = replaces ? place : at[i];
    }
  }
  std::memcpy(places, at, sizeof(at));
}

template <bool kIsLeast, bool kIsLast>
void FindColumns(const ArgMaxShape& shape, const float* numbers,
                 int64_t columns, int32_t* places) {
  int64_t i = 0;
  for (; i + kBlock <= columns; i += kBlock) {
    FindBlock<kIsLeast, kIsLast>(shape, numbers + i, places + i);
  }
  for (; i < columns; ++i) {
    const float* const column = numbers + i;
    int64_t best = 0;
    for (int64_t row = 1; row < shape.count; ++row) {
      if (Replaces<kIsLeast, kIsLast>(column[row * shape.inner],
                                      column[best * shape.inner])) {
        best = row;
      }
    }
    places[i] = static_cast<int32_t>(best);
  }
}

}  // namespace

void FindArgMax(const ArgMaxShape& shape, const float* numbers, int64_t columns,
                int32_t* places) {
  const auto find = shape.is_least
                        ? (shape.is_last ? &FindColumns<true, true>
                                         : &FindColumns<true, false>)
                        : (shape.is_last ? &FindColumns<false, true>
                                         : &FindColumns<false, false>);
  find(shape, numbers, columns, places);
}

}  // namespace takt::kernels
