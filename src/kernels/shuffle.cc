#include "kernels/shuffle.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace takt::kernels {
namespace {

// Vectors that every 64-bit processor with vectors has.
constexpr int kVectorBytes = 16;
template <typename T>
constexpr int kLanes = kVectorBytes / sizeof(T);
template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;
// One of each group.
template <int kGroups, typename T>
struct Vectors {
  Vector<T> of[kGroups];
};

// The lanes of a and b in turns, from lane kFirst of both on.
template <int kFirst, typename T, int... kIndex>
inline Vector<T> Turns(Vector<T> a, Vector<T> b,
                       std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(
      a, b, (kFirst + kIndex / 2 + kIndex % 2 * kLanes<T>)...);
}

// The lanes of all vectors in turns. Each step does that with the vectors of
// the lower half and those of the upper half.
template <int kGroups, typename T>
inline void TakeTurns(Vectors<kGroups, T>* vectors) {
  constexpr std::make_integer_sequence<int, kLanes<T>> kAll;
#pragma GCC unroll 4
  for (int step = 1; step < kGroups; step *= 2) {
    const Vectors<kGroups, T> from = *vectors;
#pragma GCC unroll 4
    for (int i = 0; i < kGroups / 2; ++i) {
      const Vector<T> a = from.of[i], b = from.of[i + kGroups / 2];
      vectors->of[2 * i] = Turns<0, T>(a, b, kAll);
      vectors->of[2 * i + 1] = Turns<kLanes<T> / 2, T>(a, b, kAll);
    }
  }
}

// A row. kGroups is a power of two.
template <int kGroups, typename T>
void ShuffleRow(int64_t each, const T* input, T* output) {
  for (int64_t next = 0; next < each; next += kLanes<T>) {
    // The last vectors overlap those before, to be whole.
    const int64_t i = std::min(next, each - kLanes<T>);
    Vectors<kGroups, T> vectors;
#pragma GCC unroll 4
    for (int group = 0; group < kGroups; ++group) {
      std::memcpy(&vectors.of[group], input + group * each + i, kVectorBytes);
    }
    TakeTurns<kGroups, T>(&vectors);
#pragma GCC unroll 4
    for (int group = 0; group < kGroups; ++group) {
      std::memcpy(output + i * kGroups + group * kLanes<T>, &vectors.of[group],
                  kVectorBytes);
    }
  }
}

template <typename T>
void ShuffleAnyRow(const ShuffleShape& shape, const T* input, T* output) {
  for (int64_t group = 0; group < shape.groups; ++group) {
    for (int64_t i = 0; i < shape.each; ++i) {
      output[i * shape.groups + group] = input[group * shape.each + i];
    }
  }
}

}  // namespace

template <typename T>
void Shuffle(const ShuffleShape& shape, const T* input, T* output,
             int64_t begin, int64_t end) {
  const int64_t size = shape.groups * shape.each;
  for (int64_t row = begin; row < end; ++row) {
    const T* const from = input + row * size;
    T* const to = output + row * size;
    if (shape.groups == 2 && shape.each >= kLanes<T>) {
      ShuffleRow<2>(shape.each, from, to);
    } else if (shape.groups == 4 && shape.each >= kLanes<T>) {
      ShuffleRow<4>(shape.each, from, to);
    } else {
      ShuffleAnyRow(shape, from, to);
    }
  }
}
template void Shuffle(const ShuffleShape&, const float*, float*, int64_t,
                      int64_t);
template void Shuffle(const ShuffleShape&, const int8_t*, int8_t*, int64_t,
                      int64_t);

}  // namespace takt::kernels
