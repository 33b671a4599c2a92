#include "solve/problem.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/math.h"
#include "base/status.h"

namespace takt::solve {
namespace {

absl::Status Error(size_t operation, const std::string& reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("operation ", operation, ": ", reason));
}

bool IsTime(int64_t value) { return value >= 0 && value <= Problem::kMaxTime; }

absl::Status ValidateAlternative(const Problem& problem, size_t index,
                                 const Alternative& alternative) {
  if (alternative.machines.empty()) return Error(index, "needs no machine");
  if (!IsTime(alternative.duration)) {
    return Error(index, absl::StrCat("duration ", alternative.duration));
  }
  for (size_t i = 0; i < alternative.machines.size(); ++i) {
    const uint32_t machine = alternative.machines[i];
    if (machine >= problem.machine_count) {
      return Error(index, absl::StrCat("machine ", machine, " of ",
                                       problem.machine_count));
    }
    if (i > 0 && alternative.machines[i - 1] >= machine) {
      return Error(index, "machines are not ascending");
    }
  }
  return absl::OkStatus();
}

// Kahn's algorithm; the operations on or behind a cycle are left over.
absl::Status CheckAcyclic(const Problem& problem) {
  const size_t count = problem.operations.size();
  const Successors successors(problem);
  std::vector<uint32_t> missing = successors.CountPredecessors();
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < count; ++i) {
    if (missing[i] == 0) ready.push_back(i);
  }
  size_t done = 0;
  while (!ready.empty()) {
    const uint32_t operation = ready.back();
    ready.pop_back();
    ++done;
    for (const uint32_t next : successors[operation]) {
      if (--missing[next] == 0) ready.push_back(next);
    }
  }
  if (done == count) return absl::OkStatus();
  const auto stuck = std::find_if(missing.begin(), missing.end(),
                                  [](uint32_t n) { return n > 0; });
  return Error(static_cast<size_t>(stuck - missing.begin()),
               "is part of a cycle of precedences, or behind one");
}

}  // namespace

Successors::Successors(const Problem& problem)
    : begin_(problem.operations.size() + 1), list_(problem.precedences.size()) {
  for (const auto& [before, after] : problem.precedences) ++begin_[before];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  // Each list is filled from its end, so that begin_ comes to be right.
  for (size_t i = problem.precedences.size(); i-- > 0;) {
    const auto& [before, after] = problem.precedences[i];
    list_[--begin_[before]] = after;
  }
}

std::vector<uint32_t> Successors::CountPredecessors() const {
  std::vector<uint32_t> counts(begin_.size() - 1);
  for (const uint32_t v : list_) ++counts[v];
  return counts;
}

absl::Status Problem::Validate() const {
  int64_t total = 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (operation.alternatives.empty()) return Error(i, "has no alternative");
    if (!IsTime(operation.release) || !IsTime(operation.tail)) {
      return Error(i, absl::StrCat("release ", operation.release, ", tail ",
                                   operation.tail));
    }
    int64_t longest = 0;
    for (const Alternative& alternative : operation.alternatives) {
      TAKT_RETURN_IF_ERROR(ValidateAlternative(*this, i, alternative));
      longest = std::max(longest, alternative.duration);
    }
    if (!CheckedAdd(total, longest, &total) || !IsTime(total)) {
      return Error(i, "the durations add up to an absurd time");
    }
  }
  for (const auto& [before, after] : precedences) {
    const size_t count = operations.size();
    if (before >= count || after >= count || before == after) {
      return absl::InvalidArgumentError(absl::StrCat(
          "precedence ", before, " -> ", after, " of ", count, " operations"));
    }
  }
  return CheckAcyclic(*this);
}

absl::Status CheckSchedule(const Problem& problem, const Schedule& schedule) {
  const size_t count = problem.operations.size();
  if (schedule.entries.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the schedule has ", schedule.entries.size(),
                     " entries for ", count, " operations"));
  }
  struct Use {
    int64_t start;
    int64_t end;
    uint32_t operation;
  };
  std::vector<std::vector<Use>> uses(problem.machine_count);
  std::vector<int64_t> ends(count);
  int64_t makespan = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Operation& operation = problem.operations[i];
    const Schedule::Entry& entry = schedule.entries[i];
    if (entry.alternative >= operation.alternatives.size()) {
      return Error(i, absl::StrCat("alternative ", entry.alternative, " of ",
                                   operation.alternatives.size()));
    }
    if (!IsTime(entry.start) || entry.start < operation.release) {
      return Error(
          i, absl::StrCat("starts at ", entry.start, ", before its release at ",
                          operation.release));
    }
    const Alternative& alternative = operation.alternatives[entry.alternative];
    ends[i] = entry.start + alternative.duration;
    makespan = std::max(makespan, ends[i] + operation.tail);
    for (const uint32_t machine : alternative.machines) {
      uses[machine].push_back({entry.start, ends[i], i});
    }
  }
  for (const auto& [before, after] : problem.precedences) {
    if (ends[before] > schedule.entries[after].start) {
      return Error(after,
                   absl::StrCat("starts at ", schedule.entries[after].start,
                                ", before operation ", before, " ends at ",
                                ends[before]));
    }
  }
  for (uint32_t machine = 0; machine < problem.machine_count; ++machine) {
    std::vector<Use>& list = uses[machine];
    std::sort(list.begin(), list.end(), [](const Use& a, const Use& b) {
      return a.start != b.start ? a.start < b.start : a.end < b.end;
    });
    for (size_t i = 1; i < list.size(); ++i) {
      if (list[i - 1].end > list[i].start) {
        return Error(
            list[i].operation,
            absl::StrCat("is on machine ", machine, " from ", list[i].start,
                         " while operation ", list[i - 1].operation,
                         " is until ", list[i - 1].end));
      }
    }
  }
  if (makespan != schedule.makespan) {
    return absl::InvalidArgumentError(absl::StrCat("the makespan is ", makespan,
                                                   ", the schedule says ",
                                                   schedule.makespan));
  }
  return absl::OkStatus();
}

}  // namespace takt::solve
