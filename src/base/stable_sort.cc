#include "base/stable_sort.h"

#include <algorithm>
#include <numeric>

namespace takt {

std::vector<size_t> StableOrder(
    size_t count, absl::FunctionRef<bool(size_t, size_t)> is_before) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), is_before);
  return order;
}

}  // namespace takt
