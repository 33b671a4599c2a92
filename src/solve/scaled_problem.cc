#include "solve/scaled_problem.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/stable_sort.h"
#include "base/status.h"

namespace takt::solve {

absl::StatusOr<ScaledProblem> ScaledProblem::Make(const Problem& original) {
  ScaledProblem result(original);
  bool any_zero = false;
  for (const Operation& operation : original.operations) {
    for (const Alternative& alternative : operation.alternatives) {
      any_zero = any_zero || alternative.duration == 0;
    }
  }
  if (!any_zero) return result;
  result.factor_ = static_cast<int64_t>(original.operations.size()) + 1;
  result.scaled_ = original;
  const auto stretch = [&result](int64_t time) {
    // Times that are too great are left for Validate() to refuse.
    return time > Problem::kMaxTime / result.factor_ ? Problem::kMaxTime + 1
                                                     : time * result.factor_;
  };
  for (Operation& operation : result.scaled_.operations) {
    operation.release = stretch(operation.release);
    operation.tail = stretch(operation.tail);
    for (Alternative& alternative : operation.alternatives) {
      alternative.duration =
          std::max<int64_t>(stretch(alternative.duration), 1);
    }
  }
  if (const absl::Status status = result.scaled_.Validate(); !status.ok()) {
    return Annotate(status, "with operations of no duration");
  }
  return result;
}

Schedule ScaledProblem::Restore(const Schedule& schedule) const {
  if (factor_ == 1) return schedule;
  const size_t count = original_->operations.size();
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  StableSort(order, [&schedule](uint32_t a, uint32_t b) {
    return schedule.entries[a].start < schedule.entries[b].start;
  });
  std::vector<std::vector<uint32_t>> predecessors(count);
  for (const auto& [before, after] : original_->precedences) {
    predecessors[after].push_back(before);
  }
  Schedule restored;
  restored.entries = schedule.entries;
  std::vector<int64_t> ends(count, 0);
  std::vector<int64_t> free_at(original_->machine_count, 0);
  for (const uint32_t v : order) {
    const Operation& operation = original_->operations[v];
    Schedule::Entry& entry = restored.entries[v];
    const Alternative& chosen = operation.alternatives[entry.alternative];
    entry.start = operation.release;
    for (const uint32_t u : predecessors[v]) {
      entry.start = std::max(entry.start, ends[u]);
    }
    for (const uint32_t machine : chosen.machines) {
      entry.start = std::max(entry.start, free_at[machine]);
    }
    ends[v] = entry.start + chosen.duration;
    for (const uint32_t machine : chosen.machines) free_at[machine] = ends[v];
    restored.makespan = std::max(restored.makespan, ends[v] + operation.tail);
  }
  return restored;
}

int64_t ScaledProblem::RestoreBound(int64_t bound) const {
  // The scaled optimum exceeds factor times the original one by less than
  // the factor, so rounding down is valid.
  return bound / factor_;
}

}  // namespace takt::solve
