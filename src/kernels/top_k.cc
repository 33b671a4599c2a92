#include "kernels/top_k.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace takt::kernels {
namespace {

template <bool kIsLeast>
bool Precedes(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(kIsLeast ? b : a) && !std::isnan(kIsLeast ? a : b);
  }
  return kIsLeast ? a < b : a > b;
}

// `places` is a heap whose first element is the last of those found so far.
template <bool kIsLeast>
void FindPlaces(const TopKShape& shape, const float* row, int32_t* places) {
  const auto precedes = [row](int32_t a, int32_t b) {
    if (Precedes<kIsLeast>(row[a], row[b])) return true;
    return !Precedes<kIsLeast>(row[b], row[a]) && a < b;
  };
  int32_t* const end = places + shape.most;
  std::iota(places, end, 0);
  std::make_heap(places, end, precedes);
  for (int64_t i = shape.most; i < shape.count; ++i) {
    // Of equal ones the earlier stays.
    if (!Precedes<kIsLeast>(row[i], row[places[0]])) continue;
    std::pop_heap(places, end, precedes);
    end[-1] = static_cast<int32_t>(i);
    std::push_heap(places, end, precedes);
  }
  std::sort_heap(places, end, precedes);
}

}  // namespace

void FindTopK(const TopKShape& shape, const float* row, int32_t* places) {
  if (shape.most == 0) return;
  if (shape.is_least) {
    FindPlaces<true>(shape, row, places);
  } else {
    FindPlaces<false>(shape, row, places);
  }
}

}  // namespace takt::kernels
