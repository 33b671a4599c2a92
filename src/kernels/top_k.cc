#include "kernels/top_k.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace takt::kernels {
namespace {

int64_t Ordered(int64_t x) { return x; }

// An integer for each number, in the same order.
int64_t Ordered(float x) {
  if (std::isnan(x)) return INT64_MAX;
  // The sum makes both zeros equal.
  const auto bits = std::bit_cast<int32_t>(x + 0.0F);
  return bits ^ ((bits >> 31) & INT32_MAX);
}

template <typename Number>
void FindPlaces(const TopKShape& shape, const Number* row, int32_t* places) {
  if (shape.most == 0) return;
  // The complement turns the order around.
  const int64_t mask = shape.is_least ? -1 : 0;
  const auto rank = [row, mask](int64_t i) { return Ordered(row[i]) ^ mask; };
  const auto precedes = [rank](int32_t a, int32_t b) {
    const int64_t of_a = rank(a);
    const int64_t of_b = rank(b);
    return of_a > of_b || (of_a == of_b && a < b);
  };
  // A heap whose first element is the last of those found so far.
  int32_t* const end = places + shape.most;
  std::iota(places, end, 0);
  std::make_heap(places, end, precedes);
  int64_t last = rank(places[0]);
  for (int64_t i = shape.most; i < shape.count; ++i) {
    if (rank(i) <= last) continue;  // Of equal ones the earlier stays.
    std::pop_heap(places, end, precedes);
    end[-1] = static_cast<int32_t>(i);
    std::push_heap(places, end, precedes);
    last = rank(places[0]);
  }
  std::sort_heap(places, end, precedes);
}

}  // namespace

void FindTopK(const TopKShape& shape, const float* row, int32_t* places) {
  FindPlaces(shape, row, places);
}

void FindTopK(const TopKShape& shape, const int64_t* row, int32_t* places) {
  FindPlaces(shape, row, places);
}

}  // namespace takt::kernels
