#include "solve/chains.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/status.h"
#include "solve/setup_table.h"

namespace takt::solve {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};

absl::Status Error(size_t operation, const std::string& reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("operation ", operation, ": ", reason));
}

// Each pair is a precedence, and no operation has two on one side.
absl::Status ValidatePairs(const Problem& problem) {
  std::vector<std::pair<uint32_t, uint32_t>> precedences = problem.precedences;
  std::sort(precedences.begin(), precedences.end());
  std::vector<uint8_t> has_before(problem.operations.size());
  std::vector<uint8_t> has_after(problem.operations.size());
  for (const auto& pair : problem.no_waits) {
    const auto& [before, after] = pair;
    if (!std::binary_search(precedences.begin(), precedences.end(), pair)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "no-wait pair ", before, " -> ", after, " is no precedence"));
    }
    if (has_after[before]++ != 0) {
      return Error(before, "two may not wait for its end");
    }
    if (has_before[after]++ != 0) {
      return Error(after, "may not wait for two");
    }
  }
  return absl::OkStatus();
}

// Kahn's algorithm on chains.
absl::Status CheckChainsAcyclic(const Problem& problem, const Chains& chains) {
  Problem contracted;
  contracted.operations.resize(chains.count());
  for (const auto& [before, after] : problem.precedences) {
    const uint32_t first = chains.chain_of(before);
    const uint32_t second = chains.chain_of(after);
    if (first != second) contracted.precedences.emplace_back(first, second);
  }
  const Successors successors(contracted);
  std::vector<uint32_t> missing = successors.CountPredecessors();
  std::vector<uint32_t> ready;
  for (uint32_t chain = 0; chain < chains.count(); ++chain) {
    if (missing[chain] == 0) ready.push_back(chain);
  }
  for (size_t i = 0; i < ready.size(); ++i) {
    for (const uint32_t next : successors[ready[i]]) {
      if (--missing[next] == 0) ready.push_back(next);
    }
  }
  if (ready.size() == chains.count()) return absl::OkStatus();
  const auto stuck = std::find_if(missing.begin(), missing.end(),
                                  [](uint32_t n) { return n > 0; });
  const auto chain = static_cast<uint32_t>(stuck - missing.begin());
  return Error(chains[chain][0],
               "its chain of no-wait pairs would have to wait for others, or "
               "is behind one that would");
}

int64_t Shortest(const Operation& operation) {
  int64_t shortest = Problem::kMaxTime;
  for (const Alternative& alternative : operation.alternatives) {
    shortest = std::min(shortest, alternative.duration);
  }
  return shortest;
}

// What lies between two operations of the chain is long enough for a setup.
absl::Status CheckSetups(const Problem& problem, const SetupTable& table,
                         absl::Span<const uint32_t> chain) {
  // When the last operation of a family that may be on a machine ends.
  std::map<std::pair<uint32_t, uint32_t>, int64_t> ends;
  int64_t now = 0;
  for (const uint32_t v : chain) {
    const Operation& operation = problem.operations[v];
    for (const Alternative& alternative : operation.alternatives) {
      for (const uint32_t machine : alternative.machines) {
        for (const Setup& setup : table.To(machine, operation.family)) {
          const auto end = ends.find({machine, setup.from});
          if (end == ends.end() || now - end->second >= setup.time) continue;
          return Error(
              v, absl::StrCat("may not wait for a setup of ", setup.time,
                              " on machine ", machine, " within its chain"));
        }
      }
    }
    now += Shortest(operation);
    for (const Alternative& alternative : operation.alternatives) {
      for (const uint32_t machine : alternative.machines) {
        if (table.OfMachine(machine).empty()) continue;
        ends[{machine, operation.family}] = now;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

Chains::Chains(const Problem& problem)
    : begin_(1), chain_of_(problem.operations.size()) {
  const auto count = static_cast<uint32_t>(problem.operations.size());
  std::vector<uint32_t> next(count, kNone);
  std::vector<uint8_t> is_inner(count);
  for (const auto& [before, after] : problem.no_waits) {
    next[before] = after;
    is_inner[after] = 1;
  }
  for (uint32_t first = 0; first < count; ++first) {
    if (is_inner[first] != 0) continue;
    for (uint32_t v = first; v != kNone; v = next[v]) {
      chain_of_[v] = static_cast<uint32_t>(begin_.size() - 1);
      members_.push_back(v);
    }
    begin_.push_back(static_cast<uint32_t>(members_.size()));
  }
}

absl::Status ValidateChains(const Problem& problem) {
  TAKT_RETURN_IF_ERROR(ValidatePairs(problem));
  const Chains chains(problem);
  TAKT_RETURN_IF_ERROR(CheckChainsAcyclic(problem, chains));
  if (problem.setups.empty()) return absl::OkStatus();
  const SetupTable table(problem);
  for (uint32_t chain = 0; chain < chains.count(); ++chain) {
    if (chains[chain].size() < 2) continue;
    TAKT_RETURN_IF_ERROR(CheckSetups(problem, table, chains[chain]));
  }
  return absl::OkStatus();
}

}  // namespace takt::solve
