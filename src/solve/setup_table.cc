#include "solve/setup_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/stable_sort.h"

namespace takt::solve {

SetupTable::SetupTable(const Problem& problem)
    : list_(problem.setups), begin_(size_t{problem.machine_count} + 1) {
  const auto key = [](const Setup& setup) {
    return std::tuple(setup.machine, setup.to, setup.from);
  };
  StableSort(list_, [&key](const Setup& a, const Setup& b) {
    return key(a) < key(b);
  });
  for (const Setup& setup : list_) ++begin_[setup.machine + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
}

int64_t SetupTable::Time(uint32_t machine, uint32_t from, uint32_t to) const {
  const absl::Span<const Setup> list = OfMachine(machine);
  const auto found = std::partition_point(
      list.begin(), list.end(), [from, to](const Setup& setup) {
        return std::tuple(setup.to, setup.from) < std::tuple(to, from);
      });
  const bool is_listed =
      found != list.end() && found->to == to && found->from == from;
  return is_listed ? found->time : 0;
}

absl::Span<const Setup> SetupTable::To(uint32_t machine,
                                       uint32_t family) const {
  const absl::Span<const Setup> list = OfMachine(machine);
  const auto first = std::partition_point(
      list.begin(), list.end(),
      [family](const Setup& setup) { return setup.to < family; });
  const auto last = std::partition_point(
      first, list.end(),
      [family](const Setup& setup) { return setup.to == family; });
  return list.subspan(static_cast<size_t>(first - list.begin()),
                      static_cast<size_t>(last - first));
}

const Setup* SetupTable::FindTwice() const {
  const auto found = std::adjacent_find(
      list_.begin(), list_.end(), [](const Setup& a, const Setup& b) {
        return a.machine == b.machine && a.to == b.to && a.from == b.from;
      });
  return found == list_.end() ? nullptr : &*found;
}

}  // namespace takt::solve
