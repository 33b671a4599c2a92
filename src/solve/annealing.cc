#include "solve/annealing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace takt::solve {
namespace {

// Of the first round, by operation; each later one is twice as long as the one
// before it, up to the last number.
constexpr uint64_t kStepsOfRound = 100;
constexpr uint64_t kStepsOfLongestRound = 6400;

// More operations than this do not move together, so that a step ends soon.
constexpr ptrdiff_t kLongestMove = 1000;

// Temperatures, in mean durations (times the mean weight of due dates).
constexpr double kFirstTemperature = 0.5;
constexpr double kCooling = 0.02;  // From the first to the last of a round.

// The makespan beside the tardiness: it leads where nothing is late.
constexpr double kMakespanShare = 0.01;

}  // namespace

Annealing::Annealing(const Problem& problem, Objective objective,
                     const Schedule& start, uint64_t seed)
    : problem_(problem),
      objective_(objective),
      schedule_(problem),
      random_(seed) {
  double duration = 0;
  double weight = 0;
  double dues = 0;
  for (const Operation& operation : problem.operations) {
    duration += static_cast<double>(operation.alternatives[0].duration);
    weight += static_cast<double>(operation.weight);
    dues += operation.weight > 0 ? 1 : 0;
  }
  const double mean_weight = dues > 0 ? weight / dues : 1;
  first_temperature_ = kFirstTemperature * duration /
                       static_cast<double>(problem.operations.size());
  makespan_weight_ = 1;
  if (objective == Objective::kWeightedTardiness) {
    first_temperature_ *= mean_weight;
    makespan_weight_ = kMakespanShare * mean_weight;
  }
  Begin(start);
  best_ = current_;
  best_schedule_ = schedule_.ToSchedule();
}

double Annealing::EnergyOf(const Value& value) const {
  const double makespan =
      makespan_weight_ * static_cast<double>(value.makespan);
  return objective_ == Objective::kMakespan
             ? makespan
             : makespan + static_cast<double>(value.tardiness);
}

bool Annealing::IsBetter(const Value& a, const Value& b) const {
  if (objective_ == Objective::kWeightedTardiness &&
      a.tardiness != b.tardiness) {
    return a.tardiness < b.tardiness;
  }
  return a.makespan < b.makespan;
}

void Annealing::Keep(const Value& value) {
  schedule_.Keep();
  current_ = value;
  ends_.clear();
  const bool is_late =
      objective_ == Objective::kWeightedTardiness && value.tardiness > 0;
  for (uint32_t v = 0; v < schedule_.operation_count(); ++v) {
    const Operation& operation = problem_.operations[v];
    const int64_t end = schedule_.end(v);
    if (is_late ? operation.weight > 0 && end > operation.due
                : end + operation.tail == value.makespan) {
      ends_.push_back(v);
    }
  }
}

void Annealing::Begin(const Schedule& schedule) {
  schedule_.LoadSchedule(schedule);
  Value value;
  if (!schedule_.Evaluate(&value)) {  // It interlocks beyond what is evaluated.
    schedule_.LoadSerial();
    const bool is_feasible = schedule_.Evaluate(&value);
    TAKT_CHECK(is_feasible);
  }
  Keep(value);
}

void Annealing::Run(
    const Limits& limits,
    const std::function<void(const Schedule&, const Value&)>& on_better,
    const std::function<int64_t()>& best_of_all) {
  if (schedule_.operation_count() == 0) return;
  uint64_t steps_of_round = kStepsOfRound * schedule_.operation_count();
  const uint64_t longest = kStepsOfLongestRound * schedule_.operation_count();
  const auto is_over = [&] {
    return (limits.step_limit != 0 && steps_ >= limits.step_limit) ||
           best_of_all() <= limits.enough || NowNs() >= limits.deadline_ns;
  };
  while (!is_over()) {
    if (random_.Below(2) == 0) Begin(best_schedule_);
    for (uint64_t i = 0; i < steps_of_round && !is_over(); ++i) {
      const double part =
          static_cast<double>(i) / static_cast<double>(steps_of_round);
      Step(first_temperature_ * std::pow(kCooling, part));
      if (!IsBetter(current_, best_)) continue;
      best_ = current_;
      best_schedule_ = schedule_.ToSchedule();
      on_better(best_schedule_, best_);
    }
    steps_of_round = std::min(2 * steps_of_round, longest);
  }
}

void Annealing::Step(double temperature) {
  ++steps_;
  if (!Move(PickOperation())) return;
  const double allowed =
      EnergyOf(current_) - temperature * std::log(1 - random_.Unit());
  Value value;
  if (schedule_.Evaluate(&value) && EnergyOf(value) <= allowed) {
    Keep(value);
  } else {
    MoveBack();
  }
}

uint32_t Annealing::PickOperation() {
  if (random_.Below(8) == 0) return random_.Below(schedule_.operation_count());
  const uint32_t end =
      ends_[random_.Below(static_cast<uint32_t>(ends_.size()))];
  schedule_.PathTo(end, &path_);
  return path_[random_.Below(static_cast<uint32_t>(path_.size()))];
}

uint32_t Annealing::PickAlternative(uint32_t v) {
  const auto& alternatives = problem_.operations[v].alternatives;
  return random_.Below(static_cast<uint32_t>(alternatives.size()));
}

uint32_t Annealing::PlaceOfTime(uint32_t machine, int64_t time) const {
  const absl::Span<const uint32_t> list = schedule_.sequence(machine);
  const auto place = std::partition_point(
      list.begin(), list.end(),
      [this, time](uint32_t x) { return schedule_.start(x) < time; });
  return static_cast<uint32_t>(place - list.begin());
}

// Near the time at which `v` starts, as a rule.
uint32_t Annealing::PickPlace(uint32_t v, uint32_t machine) {
  const auto size = static_cast<uint32_t>(schedule_.sequence(machine).size());
  if (random_.Below(4) == 0) return random_.Below(size + 1);
  const uint32_t here = PlaceOfTime(machine, schedule_.start(v));
  uint32_t distance = random_.Below(2);
  while (random_.Below(2) == 0 && distance < size) ++distance;
  if (random_.Below(2) == 0) return here - std::min(here, distance);
  return std::min(size, here + distance);
}

// Between setups, a machine has a run of operations of one family. Moving one
// of them alone adds setups, so a run, or a part of it, moves as a whole.
bool Annealing::TakeRunOut(uint32_t v) {
  const auto is_single = [this](uint32_t u) {
    return schedule_.chosen(u).machines.size() == 1 &&
           schedule_.chains()[schedule_.chains().chain_of(u)].size() == 1;
  };
  if (!is_single(v)) return false;
  const uint32_t machine = schedule_.chosen(v).machines[0];
  if (!schedule_.HasSetups(machine)) return false;
  const absl::Span<const uint32_t> list = schedule_.sequence(machine);
  const auto belongs = [&](uint32_t u) {
    return is_single(u) &&
           problem_.operations[u].family == problem_.operations[v].family;
  };
  const auto here = std::find(list.begin(), list.end(), v);
  auto first = here;
  auto last = here + 1;
  while (first != list.begin() && belongs(*(first - 1))) --first;
  while (last != list.end() && belongs(*last)) ++last;
  const uint32_t part = random_.Below(4);  // Half of the time, all of them.
  if (part == 0) first = here;
  if (part == 1) last = here + 1;
  if (last - first < 2 || last - first > kLongestMove) return false;
  const std::vector<uint32_t> run(first, last);
  for (const uint32_t u : run) {
    removed_.push_back(schedule_.Remove(u));
    inserted_.push_back({u, removed_.back().alternative, {}});
  }
  const uint32_t place = PickPlace(v, machine);
  for (ConstrainedSchedule::Removed& next : inserted_) {
    next.positions.push_back(place);
  }
  return true;
}

void Annealing::TakeOut(uint32_t v) {
  const absl::Span<const uint32_t> chain =
      schedule_.chains()[schedule_.chains().chain_of(v)];
  const bool is_whole = chain.size() > 1 &&
                        static_cast<ptrdiff_t>(chain.size()) <= kLongestMove &&
                        random_.Below(2) == 0;
  for (const uint32_t u : chain) {
    if (!is_whole && u != v) continue;
    removed_.push_back(schedule_.Remove(u));
    const uint32_t alternative = random_.Below(2) == 0
                                     ? removed_.back().alternative
                                     : PickAlternative(u);
    inserted_.push_back({u, alternative, {}});
  }
}

const Alternative& Annealing::AlternativeOf(
    const ConstrainedSchedule::Removed& next) const {
  return problem_.operations[next.operation].alternatives[next.alternative];
}

// All are out while places are chosen. So the place of a later operation of a
// chain is not before that of an earlier one.
void Annealing::ChoosePlaces(uint32_t v) {
  size_t index = 0;
  int64_t time = 0;  // When the first of them is to start.
  while (inserted_[index].operation != v) {
    time -= AlternativeOf(inserted_[index++]).duration;
  }
  const uint32_t machine = AlternativeOf(inserted_[index]).machines[0];
  const absl::Span<const uint32_t> list = schedule_.sequence(machine);
  const uint32_t place = PickPlace(v, machine);
  if (place < list.size()) {
    time += schedule_.start(list[place]);
  } else if (!list.empty()) {
    time += schedule_.end(list.back());
  }
  for (ConstrainedSchedule::Removed& next : inserted_) {
    for (const uint32_t taken : AlternativeOf(next).machines) {
      const bool is_picked = next.operation == v && taken == machine;
      next.positions.push_back(is_picked ? place : PlaceOfTime(taken, time));
    }
    time += AlternativeOf(next).duration;
  }
}

bool Annealing::Move(uint32_t v) {
  removed_.clear();
  inserted_.clear();
  if (random_.Below(4) != 0 || !TakeRunOut(v)) {
    TakeOut(v);
    ChoosePlaces(v);
  }
  bool changes = false;
  for (size_t i = inserted_.size(); i-- > 0;) {
    changes = changes || inserted_[i].alternative != removed_[i].alternative ||
              inserted_[i].positions != removed_[i].positions;
    schedule_.Insert(inserted_[i]);
  }
  return changes;
}

void Annealing::MoveBack() {
  for (size_t i = inserted_.size(); i-- > 0;) {
    schedule_.Remove(inserted_[i].operation);
  }
  for (size_t i = removed_.size(); i-- > 0;) schedule_.Insert(removed_[i]);
}

}  // namespace takt::solve
