// The flexible job-shop problem: operations with precedences. Each operation
// runs by one of its alternatives: a set of machines that it occupies all at
// once for a duration. A machine runs one operation at a time.
//
// The caller decides what machines are (cores, NPUs) and what unit times have.
#ifndef TAKT_SOLVE_PROBLEM_H_
#define TAKT_SOLVE_PROBLEM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace takt::solve {

struct Alternative {
  std::vector<uint32_t> machines;  // At least one; ascending, none twice.
  int64_t duration = 0;
};

struct Operation {
  std::vector<Alternative> alternatives;  // At least one.
  int64_t release = 0;                    // It does not start before.
  // What must pass between its end and the end of the schedule (delivery
  // time). Due dates are tails measured from a common horizon.
  int64_t tail = 0;
};

struct Problem {
  uint32_t machine_count = 0;
  std::vector<Operation> operations;
  // (before, after): the second starts when the first has ended.
  std::vector<std::pair<uint32_t, uint32_t>> precedences;

  // INVALID_ARGUMENT naming the operation for anything that the comments above
  // rule out, a negative or absurd time, or a cycle of precedences.
  absl::Status Validate() const;

  // The greatest time of any kind, and of the sum of all durations: far from
  // overflow even when added up.
  static constexpr int64_t kMaxTime = int64_t{1} << 52;
};

// Which operations follow each directly, in the order of `precedences`.
class Successors {
 public:
  // The precedences of `problem` name operations that exist.
  explicit Successors(const Problem& problem);

  absl::Span<const uint32_t> operator[](uint32_t v) const {
    return {list_.data() + begin_[v], begin_[v + 1] - begin_[v]};
  }
  std::vector<uint32_t> CountPredecessors() const;  // By operation.

 private:
  std::vector<uint32_t> begin_, list_;
};

// When and how each operation runs.
struct Schedule {
  struct Entry {
    uint32_t alternative = 0;
    int64_t start = 0;
  };
  std::vector<Entry> entries;  // By operation.
  int64_t makespan = 0;        // The latest end plus tail.
};

// Checks a schedule against a problem, sharing no code with the solver.
// INVALID_ARGUMENT naming the operations and the rule that is broken: the
// number of entries, an alternative that does not exist, a start before the
// release, precedence, two operations on one machine at once, the makespan.
absl::Status CheckSchedule(const Problem& problem, const Schedule& schedule);

}  // namespace takt::solve

#endif  // TAKT_SOLVE_PROBLEM_H_
