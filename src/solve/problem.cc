#include "solve/problem.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/math.h"
#include "base/status.h"
#include "solve/chains.h"
#include "solve/setup_table.h"

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

absl::Status ValidateSetup(const Problem& problem, const Setup& setup) {
  const bool has_from =
      setup.from < Problem::kMaxFamilies || setup.from == Setup::kFirst;
  if (setup.machine < problem.machine_count && has_from &&
      setup.to < Problem::kMaxFamilies && IsTime(setup.time)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "setup on machine ", setup.machine, " of ", problem.machine_count,
      " from family ", setup.from, " to ", setup.to, ": time ", setup.time));
}

// All but the length of the setups that a chain may need.
absl::Status ValidateSetups(const Problem& problem) {
  if (problem.setups.empty()) return absl::OkStatus();
  for (const Setup& setup : problem.setups) {
    TAKT_RETURN_IF_ERROR(ValidateSetup(problem, setup));
  }
  const SetupTable table(problem);
  if (const Setup* twice = table.FindTwice(); twice != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("setup on machine ", twice->machine, " from family ",
                     twice->from, " to ", twice->to, " is there twice"));
  }
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    for (const Alternative& alternative : problem.operations[i].alternatives) {
      if (alternative.duration > 0) continue;
      for (const uint32_t machine : alternative.machines) {
        if (table.OfMachine(machine).empty()) continue;
        return Error(i, absl::StrCat("takes no time on machine ", machine,
                                     ", which has setup times"));
      }
    }
  }
  return absl::OkStatus();
}

// Due dates; `horizon` is the latest end of a schedule that wastes no time.
absl::Status ValidateDates(const Problem& problem, int64_t horizon) {
  int64_t weights = 0;
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation& operation = problem.operations[i];
    int64_t tardiness = 0;
    if (!IsTime(operation.due) || operation.weight < 0 ||
        !CheckedAdd(weights, operation.weight, &weights) ||
        !CheckedMul(weights, horizon, &tardiness) ||
        tardiness > Problem::kMaxTardiness) {
      return Error(i, absl::StrCat("due ", operation.due, ", weight ",
                                   operation.weight));
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
  int64_t last_release = 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    const Operation& operation = operations[i];
    if (operation.alternatives.empty()) return Error(i, "has no alternative");
    if (!IsTime(operation.release) || !IsTime(operation.tail)) {
      return Error(i, absl::StrCat("release ", operation.release, ", tail ",
                                   operation.tail));
    }
    if (operation.family >= kMaxFamilies) {
      return Error(i, absl::StrCat("family ", operation.family));
    }
    last_release = std::max(last_release, operation.release);
    int64_t longest = 0;
    for (const Alternative& alternative : operation.alternatives) {
      TAKT_RETURN_IF_ERROR(ValidateAlternative(*this, i, alternative));
      longest = std::max(longest, alternative.duration);
    }
    if (!CheckedAdd(total, longest, &total) || !IsTime(total)) {
      return Error(i, "the durations add up to an absurd time");
    }
  }
  TAKT_RETURN_IF_ERROR(ValidateSetups(*this));
  int64_t longest = 0;
  for (const Setup& setup : setups) longest = std::max(longest, setup.time);
  if (!CheckedMul(longest, static_cast<int64_t>(operations.size()), &longest) ||
      !CheckedAdd(total, longest, &total) || !IsTime(total)) {
    return absl::InvalidArgumentError("the setups add up to an absurd time");
  }
  TAKT_RETURN_IF_ERROR(ValidateDates(*this, last_release + total));
  for (const auto& [before, after] : precedences) {
    const size_t count = operations.size();
    if (before >= count || after >= count || before == after) {
      return absl::InvalidArgumentError(absl::StrCat(
          "precedence ", before, " -> ", after, " of ", count, " operations"));
    }
  }
  TAKT_RETURN_IF_ERROR(CheckAcyclic(*this));
  return no_waits.empty() ? absl::OkStatus() : ValidateChains(*this);
}

}  // namespace takt::solve
