// The setup times of a problem, by machine.
#ifndef TAKT_SOLVE_SETUP_TABLE_H_
#define TAKT_SOLVE_SETUP_TABLE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "solve/problem.h"

namespace takt::solve {

class SetupTable {
 public:
  // The setups of `problem` name machines that exist.
  explicit SetupTable(const Problem& problem);

  // From an operation of family `from` to the next one; `from` may be
  // Setup::kFirst.
  int64_t Time(uint32_t machine, uint32_t from, uint32_t to) const;
  // Those of a machine, and of these all to one family.
  absl::Span<const Setup> OfMachine(uint32_t machine) const {
    return {list_.data() + begin_[machine],
            begin_[machine + 1] - begin_[machine]};
  }
  absl::Span<const Setup> To(uint32_t machine, uint32_t family) const;
  // A setup that is listed twice, or null.
  const Setup* FindTwice() const;

 private:
  std::vector<Setup> list_;    // By machine, to and from.
  std::vector<size_t> begin_;  // By machine.
};

}  // namespace takt::solve

#endif  // TAKT_SOLVE_SETUP_TABLE_H_
