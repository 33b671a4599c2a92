// The flexible job-shop problem: operations with precedences. Each operation
// runs by one of its alternatives: a set of machines that it occupies all at
// once for a duration. A machine runs one operation at a time. Side constraints
// are optional: setup times between families of operations, no-wait pairs and
// due dates.
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
  uint32_t family = 0;  // Of setup times, below kMaxFamilies.
  // Its tardiness is the time from `due` to its end, if that is later; it
  // counts `weight` times. That of a job is that of its last operation.
  int64_t due = 0;
  int64_t weight = 0;
};

// The least time on a machine between the end of an operation of family `from`
// and the start of the next operation, of family `to`.
struct Setup {
  uint32_t machine = 0;
  uint32_t from = 0;  // kFirst: from time 0 to the machine's first operation.
  uint32_t to = 0;
  int64_t time = 0;

  static constexpr uint32_t kFirst = ~uint32_t{0};
};

struct Problem {
  uint32_t machine_count = 0;
  std::vector<Operation> operations;
  // (before, after): the second starts when the first has ended.
  std::vector<std::pair<uint32_t, uint32_t>> precedences;
  // None twice; what is not listed takes no time. An operation that may run on
  // a machine with setup times takes time there.
  std::vector<Setup> setups;
  // (before, after), a precedence too: the second starts at the moment at which
  // the first ends. An operation has one such predecessor and one such
  // successor at the most; operations that are joined this way are a chain. Of
  // two chains or other operations, one comes first by precedence or neither
  // does. A setup between two operations of a chain is no longer than what
  // lies between them at the least.
  std::vector<std::pair<uint32_t, uint32_t>> no_waits;

  // INVALID_ARGUMENT naming the operation for anything that the comments above
  // rule out, a negative or absurd time, or a cycle of precedences.
  absl::Status Validate() const;

  bool HasSideConstraints() const {
    return !setups.empty() || !no_waits.empty();
  }

  // The greatest time of any kind, and of the sum of all durations and the
  // longest setups: far from overflow even when added up.
  static constexpr int64_t kMaxTime = int64_t{1} << 52;
  // The greatest weighted tardiness of a schedule that wastes no time.
  static constexpr int64_t kMaxTardiness = int64_t{1} << 60;
  static constexpr uint32_t kMaxFamilies = 1024;
};

// What a solver minimizes.
enum class Objective : uint8_t {
  kMakespan,
  // The sum over the operations; of schedules with the same sum, the makespan.
  kWeightedTardiness,
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
// release, precedence, no-wait, two operations on one machine at once, a setup
// that has no time, the makespan.
absl::Status CheckSchedule(const Problem& problem, const Schedule& schedule);

// The sum of weighted tardiness of a schedule that CheckSchedule() accepts; the
// greatest number where it is beyond that. Shares no code with the solver.
int64_t WeightedTardiness(const Problem& problem, const Schedule& schedule);

}  // namespace takt::solve

#endif  // TAKT_SOLVE_PROBLEM_H_
