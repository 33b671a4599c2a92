// Sorts lists where the time does not count. All types share one copy of the
// algorithm; each use of std::stable_sort brings a copy of 2 KB.
#ifndef TAKT_BASE_STABLE_SORT_H_
#define TAKT_BASE_STABLE_SORT_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

namespace takt {

// The numbers below `count` in the order that `is_before` gives. Of two that
// are equal, the smaller one is first.
std::vector<size_t> StableOrder(
    size_t count, absl::FunctionRef<bool(size_t, size_t)> is_before);

// Sorts `values` by `is_before(a, b)`, a strict weak order. Equal values stay
// in their order.
template <typename T, typename IsBefore>
void StableSort(std::vector<T>& values, const IsBefore& is_before) {
  const std::vector<size_t> order =
      StableOrder(values.size(), [&](size_t a, size_t b) {
        return is_before(std::as_const(values)[a], std::as_const(values)[b]);
      });
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (const size_t i : order) sorted.push_back(std::move(values[i]));
  values = std::move(sorted);
}

}  // namespace takt

#endif  // TAKT_BASE_STABLE_SORT_H_
