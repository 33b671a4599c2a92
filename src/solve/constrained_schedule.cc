#include "solve/constrained_schedule.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

#include "base/check.h"
#include "base/stable_sort.h"
#include "solve/bounds.h"

namespace takt::solve {
namespace {

// Chains that wait for each other in part settle within a few sweeps. More make
// an order infeasible.
constexpr uint32_t kSweeps = 64;

int64_t Longest(const Operation& operation) {
  int64_t longest = 0;
  for (const Alternative& alternative : operation.alternatives) {
    longest = std::max(longest, alternative.duration);
  }
  return longest;
}

}  // namespace

ConstrainedSchedule::ConstrainedSchedule(const Problem& problem)
    : problem_(problem),
      chains_(problem),
      setups_(problem),
      successors_(problem),
      predecessor_count_(chains_.count()),
      choice_(problem.operations.size()),
      sequences_(problem.machine_count),
      offsets_(problem.operations.size()),
      place_in_chain_(problem.operations.size()),
      missing_(chains_.count()),
      chain_start_(chains_.count()),
      cause_(chains_.count()),
      kept_(problem.operations.size()),
      kept_cause_(chains_.count()) {
  int64_t longest_setup = 0;
  int64_t last_release = 0;
  for (const Setup& setup : problem.setups) {
    longest_setup = std::max(longest_setup, setup.time);
  }
  may_interlock_ = !problem.no_waits.empty();
  for (uint32_t v = 0; v < operation_count(); ++v) {
    const Operation& operation = problem.operations[v];
    last_release = std::max(last_release, operation.release);
    horizon_ += Longest(operation) + longest_setup;
    for (const Alternative& alternative : operation.alternatives) {
      may_interlock_ = may_interlock_ || alternative.duration == 0;
      width_ =
          std::max(width_, static_cast<uint32_t>(alternative.machines.size()));
    }
    for (const uint32_t u : successors_[v]) {
      const uint32_t chain = chains_.chain_of(u);
      predecessor_count_[chain] += chain != chains_.chain_of(v);
    }
  }
  horizon_ += last_release;
  next_.resize(size_t{operation_count()} * width_);
  for (uint32_t chain = 0; chain < chains_.count(); ++chain) {
    const absl::Span<const uint32_t> members = chains_[chain];
    for (uint32_t i = 0; i < members.size(); ++i) {
      place_in_chain_[members[i]] = i;
    }
  }
}

void ConstrainedSchedule::LoadSerial() {
  const StaticPaths paths = ComputeStaticPaths(problem_);
  // By chain: the least time that it may still lose, of all its operations.
  std::vector<int64_t> slack(chains_.count(),
                             std::numeric_limits<int64_t>::max());
  const int64_t end = horizon_ + Problem::kMaxTime;
  std::vector<int64_t> latest(operation_count());
  for (size_t i = operation_count(); i-- > 0;) {
    const uint32_t v = paths.order[i];
    const Operation& operation = problem_.operations[v];
    latest[v] = end - paths.tails[v];
    if (operation.weight > 0) latest[v] = std::min(latest[v], operation.due);
    for (const uint32_t u : successors_[v]) {
      latest[v] = std::min(latest[v], latest[u] - paths.shortest[u]);
    }
    int64_t& least = slack[chains_.chain_of(v)];
    least = std::min(least, latest[v] - paths.shortest[v]);
  }
  for (std::vector<uint32_t>& list : sequences_) list.clear();
  std::vector<int64_t> free_at(sequences_.size(), 0);
  std::vector<uint32_t> families(sequences_.size(), Setup::kFirst);
  taken_by_.assign(sequences_.size(), kNone);
  std::fill(chain_start_.begin(), chain_start_.end(), 0);
  missing_ = predecessor_count_;
  using Entry = std::pair<int64_t, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (uint32_t chain = 0; chain < chains_.count(); ++chain) {
    if (missing_[chain] == 0) ready.emplace(slack[chain], chain);
  }
  while (!ready.empty()) {
    const uint32_t chain = ready.top().second;
    ready.pop();
    Place(chain, &free_at, &families);
    for (const uint32_t v : chains_[chain]) {
      const int64_t end_of_v =
          chain_start_[chain] + offsets_[v] + chosen(v).duration;
      for (const uint32_t u : successors_[v]) {
        const uint32_t other = chains_.chain_of(u);
        if (other == chain) continue;
        // Offsets of `other` are not known yet; a whole chain waits.
        chain_start_[other] = std::max(chain_start_[other], end_of_v);
        if (--missing_[other] == 0) ready.emplace(slack[other], other);
      }
    }
  }
}

// Each operation takes the alternative that lets it end first.
void ConstrainedSchedule::Place(uint32_t chain, std::vector<int64_t>* free_at,
                                std::vector<uint32_t>* families) {
  int64_t& start = chain_start_[chain];
  int64_t offset = 0;
  for (const uint32_t v : chains_[chain]) {
    const Operation& operation = problem_.operations[v];
    start = std::max(start, operation.release - offset);
    int64_t best_end = std::numeric_limits<int64_t>::max();
    int64_t best_start = 0;
    for (uint32_t a = 0; a < operation.alternatives.size(); ++a) {
      const Alternative& alternative = operation.alternatives[a];
      int64_t at = start + offset;
      for (const uint32_t machine : alternative.machines) {
        // Setups within a chain fit, by Validate().
        if (taken_by_[machine] == chain) continue;
        at = std::max(at, (*free_at)[machine] +
                              setups_.Time(machine, (*families)[machine],
                                           operation.family));
      }
      if (at + alternative.duration < best_end) {
        best_end = at + alternative.duration;
        best_start = at;
        choice_[v] = a;
      }
    }
    start = std::max(start, best_start - offset);
    offsets_[v] = offset;
    offset += chosen(v).duration;
    for (const uint32_t machine : chosen(v).machines) {
      taken_by_[machine] = chain;
      sequences_[machine].push_back(v);
    }
  }
  for (const uint32_t v : chains_[chain]) {
    for (const uint32_t machine : chosen(v).machines) {
      (*free_at)[machine] = start + offsets_[v] + chosen(v).duration;
      (*families)[machine] = problem_.operations[v].family;
    }
  }
}

void ConstrainedSchedule::LoadSchedule(const Schedule& schedule) {
  for (std::vector<uint32_t>& list : sequences_) list.clear();
  // Operations of no duration go before others that start with them; among
  // themselves, precedence decides.
  std::vector<uint32_t> order = ComputeStaticPaths(problem_).order;
  const auto key = [&](uint32_t v) {
    const Schedule::Entry& entry = schedule.entries[v];
    return std::pair(
        entry.start,
        problem_.operations[v].alternatives[entry.alternative].duration);
  };
  StableSort(order, [&key](uint32_t a, uint32_t b) { return key(a) < key(b); });
  for (const uint32_t v : order) {
    choice_[v] = schedule.entries[v].alternative;
    for (const uint32_t machine : chosen(v).machines) {
      sequences_[machine].push_back(v);
    }
  }
}

Schedule ConstrainedSchedule::ToSchedule() const {
  Schedule schedule;
  for (uint32_t v = 0; v < operation_count(); ++v) {
    schedule.entries.push_back({choice_[v], kept_[v]});
    schedule.makespan =
        std::max(schedule.makespan, end(v) + problem_.operations[v].tail);
  }
  return schedule;
}

ConstrainedSchedule::Removed ConstrainedSchedule::Remove(uint32_t v) {
  Removed removed{v, choice_[v], {}};
  for (const uint32_t machine : chosen(v).machines) {
    std::vector<uint32_t>& list = sequences_[machine];
    const auto place = std::find(list.begin(), list.end(), v);
    removed.positions.push_back(static_cast<uint32_t>(place - list.begin()));
    list.erase(place);
  }
  return removed;
}

void ConstrainedSchedule::Insert(const Removed& removed) {
  choice_[removed.operation] = removed.alternative;
  const std::vector<uint32_t>& machines = chosen(removed.operation).machines;
  for (size_t i = 0; i < machines.size(); ++i) {
    std::vector<uint32_t>& list = sequences_[machines[i]];
    list.insert(list.begin() + removed.positions[i], removed.operation);
  }
}

void ConstrainedSchedule::ComputeOffsets() {
  for (uint32_t chain = 0; chain < chains_.count(); ++chain) {
    int64_t offset = 0;
    int64_t start = 0;
    for (const uint32_t v : chains_[chain]) {
      offsets_[v] = offset;
      start = std::max(start, problem_.operations[v].release - offset);
      offset += chosen(v).duration;
    }
    chain_start_[chain] = start;
    cause_[chain] = kNone;
  }
}

bool ConstrainedSchedule::Raise(uint32_t w, int64_t time, uint32_t cause) {
  const uint32_t chain = chains_.chain_of(w);
  const int64_t start = time - offsets_[w];
  if (start <= chain_start_[chain]) return false;
  chain_start_[chain] = start;
  cause_[chain] = cause;
  return true;
}

bool ConstrainedSchedule::Link() {
  std::fill(next_.begin(), next_.end(), Next{kNone, 0});
  missing_ = predecessor_count_;
  for (uint32_t machine = 0; machine < sequences_.size(); ++machine) {
    uint32_t last = kNone;
    for (const uint32_t v : sequences_[machine]) {
      const uint32_t family = problem_.operations[v].family;
      if (last == kNone) {
        Raise(v, setups_.Time(machine, Setup::kFirst, family), kNone);
      } else if (chains_.chain_of(last) == chains_.chain_of(v)) {
        if (place_in_chain_[last] > place_in_chain_[v]) return false;
      } else {
        Next* next = &next_[size_t{last} * width_];
        while (next->operation != kNone) ++next;
        *next = {
            v, setups_.Time(machine, problem_.operations[last].family, family)};
        ++missing_[chains_.chain_of(v)];
      }
      last = v;
    }
  }
  return true;
}

template <typename Visit>
bool ConstrainedSchedule::RaiseFollowers(uint32_t chain, Visit&& visit) {
  bool raised = false;
  for (const uint32_t v : chains_[chain]) {
    const int64_t end = chain_start_[chain] + offsets_[v] + chosen(v).duration;
    for (const uint32_t u : successors_[v]) {
      if (chains_.chain_of(u) == chain) continue;
      raised = Raise(u, end, v) || raised;
      visit(chains_.chain_of(u));
    }
    for (uint32_t i = 0; i < width_; ++i) {
      const Next& next = next_[size_t{v} * width_ + i];
      if (next.operation == kNone) break;
      raised = Raise(next.operation, end + next.setup, v) || raised;
      visit(chains_.chain_of(next.operation));
    }
  }
  return raised;
}

bool ConstrainedSchedule::Settle(std::vector<uint32_t> chains) {
  std::sort(chains.begin(), chains.end(), [this](uint32_t a, uint32_t b) {
    return std::tuple(chain_start_[a], a) < std::tuple(chain_start_[b], b);
  });
  for (uint32_t sweep = 0; sweep < kSweeps; ++sweep) {
    bool raised = false;
    for (const uint32_t chain : chains) {
      if (chain_start_[chain] > horizon_) return false;
      raised = RaiseFollowers(chain, [](uint32_t) {}) || raised;
    }
    if (!raised) return true;
  }
  return false;
}

bool ConstrainedSchedule::Evaluate(Value* value) {
  ComputeOffsets();
  if (!Link()) return false;
  ready_.clear();
  for (uint32_t chain = 0; chain < chains_.count(); ++chain) {
    if (missing_[chain] == 0) ready_.push_back(chain);
  }
  for (size_t i = 0; i < ready_.size(); ++i) {
    RaiseFollowers(ready_[i], [this](uint32_t chain) {
      if (--missing_[chain] == 0) ready_.push_back(chain);
    });
  }
  if (ready_.size() < chains_.count()) {
    if (!may_interlock_) return false;
    std::vector<uint32_t> left;
    for (uint32_t chain = 0; chain < chains_.count(); ++chain) {
      if (missing_[chain] != 0) left.push_back(chain);
    }
    if (!Settle(std::move(left))) return false;
  }
  *value = {};
  for (uint32_t v = 0; v < operation_count(); ++v) {
    const Operation& operation = problem_.operations[v];
    const int64_t end =
        chain_start_[chains_.chain_of(v)] + offsets_[v] + chosen(v).duration;
    value->makespan = std::max(value->makespan, end + operation.tail);
    if (operation.weight > 0 && end > operation.due) {
      value->tardiness += operation.weight * (end - operation.due);
    }
  }
  return true;
}

void ConstrainedSchedule::Keep() {
  for (uint32_t v = 0; v < operation_count(); ++v) {
    kept_[v] = chain_start_[chains_.chain_of(v)] + offsets_[v];
  }
  kept_cause_ = cause_;
}

void ConstrainedSchedule::PathTo(uint32_t v,
                                 std::vector<uint32_t>* path) const {
  path->clear();
  // A path visits a chain once; the limit is for chains that interlock.
  for (uint32_t i = 0; v != kNone && i < chains_.count(); ++i) {
    const uint32_t chain = chains_.chain_of(v);
    for (const uint32_t member : chains_[chain]) path->push_back(member);
    v = kept_cause_[chain];
  }
}

}  // namespace takt::solve
