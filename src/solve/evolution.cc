#include "solve/evolution.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/stable_sort.h"

namespace takt::solve {
namespace {

constexpr size_t kPopulation = 8;
// After this many searches that did not improve the population, another begins.
constexpr uint32_t kPatience = 30;

// Steps without a new best, by operation: of the first of a population, near
// which the others begin, and of those.
constexpr uint64_t kStepsToSettle = 200;
constexpr uint64_t kSteps = 5;

constexpr uint32_t kInheritPercent = 80;

}  // namespace

Evolution::Evolution(const Problem& problem, const Schedule& start,
                     std::vector<double> excess_loads, uint64_t seed)
    : graph_(problem),
      search_(graph_, std::move(excess_loads), seed),
      random_(seed ^ 0x5bd1e995) {
  graph_.LoadSchedule(start);
  graph_.Save(&start_);
  best_ = start_;
  const absl::Span<const uint32_t> order = graph_.topological_order();
  by_precedence_.assign(order.begin(), order.end());
}

bool Evolution::IsOver() const {
  return (limits_.step_limit != 0 &&
          search_.step_count() >= limits_.step_limit) ||
         (*best_of_all_)() <= limits_.enough || NowNs() >= limits_.deadline_ns;
}

void Evolution::Run(const Limits& limits,
                    const std::function<void(const Schedule&)>& on_better,
                    const std::function<int64_t()>& best_of_all) {
  limits_ = limits;
  on_better_ = &on_better;
  best_of_all_ = &best_of_all;
  while (!IsOver()) {
    if (population_.empty()) {
      population_.push_back(Settle());
    } else if (population_.size() < kPopulation) {
      population_.push_back(Neighbour());
    } else {
      Add(Child());
    }
  }
}

Evolution::Individual Evolution::Settle() {
  graph_.Load(start_);
  if (!is_first_population_) {
    search_.Perturb(graph_.operation_count(), limits_.deadline_ns);
  }
  is_first_population_ = false;
  best_of_population_.makespan = std::numeric_limits<int64_t>::max();
  return Search(kStepsToSettle, std::nullopt);
}

Evolution::Individual Evolution::Neighbour() {
  graph_.Load(best_of_population_);
  search_.Perturb(5 + random_.Below(graph_.operation_count() / 2 + 1),
                  limits_.deadline_ns);
  return Search(kSteps, TabuSearch::DrawThrift(random_));
}

Evolution::Individual Evolution::Child() {
  const uint32_t a = random_.Below(kPopulation);
  const uint32_t b = (a + 1 + random_.Below(kPopulation - 1)) % kPopulation;
  const bool inherits = random_.Below(100) < kInheritPercent;
  const double thrift =
      inherits ? population_[a].thrift : TabuSearch::DrawThrift(random_);
  graph_.Load(Mix(population_[a], population_[b]));
  return Search(kSteps, thrift);
}

Evolution::Individual Evolution::Search(uint64_t steps_of_operation,
                                        std::optional<double> thrift) {
  const uint64_t steps = 500 + steps_of_operation * graph_.operation_count();
  Individual found;
  found.thrift = thrift.value_or(0);
  found.state.makespan = std::numeric_limits<int64_t>::max();
  search_.Run({.deadline_ns = limits_.deadline_ns,
               .enough = limits_.enough,
               .stall_steps = steps,
               .step_limit = limits_.step_limit,
               .thrift = thrift},
              &found.state);
  graph_.Load(found.state);
  if (found.state.makespan < best_of_population_.makespan) {
    best_of_population_ = found.state;
  }
  if (found.state.makespan < best_.makespan) {
    best_ = found.state;
    (*on_better_)(graph_.ToSchedule());
  }
  for (uint32_t v = 0; v < graph_.operation_count(); ++v) {
    found.middle.push_back(graph_.head(v) + graph_.makespan() - graph_.tail(v) -
                           graph_.duration(v));
  }
  return found;
}

bool Evolution::IsKnown(const Individual& individual) const {
  return std::any_of(
      population_.begin(), population_.end(),
      [&individual](const Individual& other) {
        return other.state.makespan == individual.state.makespan &&
               other.state.choice == individual.state.choice &&
               other.state.sequences == individual.state.sequences;
      });
}

void Evolution::Add(Individual individual) {
  ++fruitless_;
  const auto worst =
      std::max_element(population_.begin(), population_.end(),
                       [](const Individual& a, const Individual& b) {
                         return a.state.IsBetterThan(b.state);
                       });
  const int64_t makespan = individual.state.makespan;
  if (makespan <= worst->state.makespan && !IsKnown(individual)) {
    if (makespan < worst->state.makespan) fruitless_ = 0;
    *worst = std::move(individual);
  }
  if (fruitless_ > kPatience) {
    fruitless_ = 0;
    population_.clear();
  }
}

DisjunctiveGraph::State Evolution::Mix(const Individual& a,
                                       const Individual& b) {
  const uint32_t share = 10 + random_.Below(81);  // Of b, in percent.
  DisjunctiveGraph::State child;
  child.choice.resize(graph_.operation_count());
  child.sequences.resize(graph_.machine_count());
  std::vector<std::pair<int64_t, uint32_t>> order;
  for (const uint32_t v : by_precedence_) {
    const bool from_b = random_.Below(100) < share;
    child.choice[v] = (from_b ? b : a).state.choice[v];
    order.emplace_back(a.middle[v] * (100 - share) + b.middle[v] * share, v);
  }
  // Stable: of operations that take no time, precedence decides.
  StableSort(order,
             [](const auto& x, const auto& y) { return x.first < y.first; });
  for (const auto& [key, v] : order) {
    for (const uint32_t machine : graph_.machines(v, child.choice[v])) {
      child.sequences[machine].push_back(v);
    }
  }
  return child;
}

}  // namespace takt::solve
