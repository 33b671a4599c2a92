// The checks of schedules, which share no code with the solver.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>

#include "base/math.h"
#include "base/stable_sort.h"
#include "base/status.h"
#include "solve/problem.h"

namespace takt::solve {
namespace {

absl::Status Error(size_t operation, const std::string& reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("operation ", operation, ": ", reason));
}

bool IsTime(int64_t value) { return value >= 0 && value <= Problem::kMaxTime; }

// What a machine does.
struct Use {
  int64_t start;
  int64_t end;
  uint32_t operation;
};
using Uses = std::vector<std::vector<Use>>;  // By machine.

// By machine, from and to.
using Setups = std::map<std::tuple<uint32_t, uint32_t, uint32_t>, int64_t>;

absl::Status CheckEntries(const Problem& problem, const Schedule& schedule,
                          Uses* uses, std::vector<int64_t>* ends,
                          int64_t* makespan) {
  for (uint32_t i = 0; i < problem.operations.size(); ++i) {
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
    const int64_t end = entry.start + alternative.duration;
    ends->push_back(end);
    *makespan = std::max(*makespan, end + operation.tail);
    for (const uint32_t machine : alternative.machines) {
      (*uses)[machine].push_back({entry.start, end, i});
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOrder(const Problem& problem, const Schedule& schedule,
                        const std::vector<int64_t>& ends) {
  for (const auto& [before, after] : problem.precedences) {
    const int64_t start = schedule.entries[after].start;
    if (ends[before] > start) {
      return Error(after,
                   absl::StrCat("starts at ", start, ", before operation ",
                                before, " ends at ", ends[before]));
    }
  }
  for (const auto& [before, after] : problem.no_waits) {
    const int64_t start = schedule.entries[after].start;
    if (ends[before] != start) {
      return Error(
          after, absl::StrCat("starts at ", start, ", and may not wait when ",
                              "operation ", before, " ends at ", ends[before]));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMachine(const Problem& problem, uint32_t machine,
                          const Setups& setups, std::vector<Use>* uses) {
  StableSort(*uses, [](const Use& a, const Use& b) {
    return a.start != b.start ? a.start < b.start : a.end < b.end;
  });
  int64_t end = 0;  // Of the one before.
  uint32_t family = Setup::kFirst;
  for (size_t i = 0; i < uses->size(); ++i) {
    const Use& use = (*uses)[i];
    if (end > use.start) {
      return Error(use.operation,
                   absl::StrCat("is on machine ", machine, " from ", use.start,
                                " while operation ", (*uses)[i - 1].operation,
                                " is until ", end));
    }
    const uint32_t next = problem.operations[use.operation].family;
    const auto setup = setups.find({machine, family, next});
    if (setup != setups.end() && use.start - end < setup->second) {
      return Error(use.operation,
                   absl::StrCat("starts at ", use.start, " on machine ",
                                machine, ", which is free from ", end,
                                " on and needs a setup of ", setup->second));
    }
    end = use.end;
    family = next;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSchedule(const Problem& problem, const Schedule& schedule) {
  const size_t count = problem.operations.size();
  if (schedule.entries.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the schedule has ", schedule.entries.size(),
                     " entries for ", count, " operations"));
  }
  Uses uses(problem.machine_count);
  std::vector<int64_t> ends;
  int64_t makespan = 0;
  TAKT_RETURN_IF_ERROR(
      CheckEntries(problem, schedule, &uses, &ends, &makespan));
  TAKT_RETURN_IF_ERROR(CheckOrder(problem, schedule, ends));
  Setups setups;
  for (const Setup& setup : problem.setups) {
    setups[{setup.machine, setup.from, setup.to}] = setup.time;
  }
  for (uint32_t machine = 0; machine < uses.size(); ++machine) {
    TAKT_RETURN_IF_ERROR(
        CheckMachine(problem, machine, setups, &uses[machine]));
  }
  if (makespan != schedule.makespan) {
    return absl::InvalidArgumentError(absl::StrCat("the makespan is ", makespan,
                                                   ", the schedule says ",
                                                   schedule.makespan));
  }
  return absl::OkStatus();
}

int64_t WeightedTardiness(const Problem& problem, const Schedule& schedule) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t sum = 0;
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation& operation = problem.operations[i];
    const Schedule::Entry& entry = schedule.entries[i];
    const int64_t end =
        entry.start + operation.alternatives[entry.alternative].duration;
    if (end <= operation.due) continue;
    int64_t cost = 0;
    if (!CheckedMul(end - operation.due, operation.weight, &cost) ||
        !CheckedAdd(sum, cost, &sum)) {
      return kMost;
    }
  }
  return sum;
}

}  // namespace takt::solve
