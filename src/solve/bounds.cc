#include "solve/bounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "base/check.h"
#include "solve/setup_table.h"

namespace takt::solve {
namespace {

// Weights are whole numbers of this sum, so that a bound is exact arithmetic.
constexpr int64_t kWeightSum = int64_t{1} << 30;

int64_t ShortestDuration(const Operation& operation) {
  int64_t shortest = Problem::kMaxTime;
  for (const Alternative& alternative : operation.alternatives) {
    shortest = std::min(shortest, alternative.duration);
  }
  return shortest;
}

// The least time that passes before the first operation of each machine starts,
// and after its last one ends.
std::vector<int64_t> LeastIdle(const Problem& problem) {
  const StaticPaths paths = ComputeStaticPaths(problem);
  const size_t machines = problem.machine_count;
  std::vector<int64_t> heads(machines, Problem::kMaxTime);
  std::vector<int64_t> tails(machines, Problem::kMaxTime);
  for (size_t v = 0; v < problem.operations.size(); ++v) {
    for (const Alternative& alternative : problem.operations[v].alternatives) {
      for (const uint32_t machine : alternative.machines) {
        heads[machine] = std::min(heads[machine], paths.heads[v]);
        tails[machine] = std::min(tails[machine], paths.tails[v]);
      }
    }
  }
  for (size_t i = 0; i < machines; ++i) {
    heads[i] = heads[i] < Problem::kMaxTime ? heads[i] + tails[i] : 0;
  }
  return heads;
}

// The value of one set of weights; stores in `load` how long each machine is
// idle at the least, and what it gets when every operation goes to its cheapest
// alternative.
int64_t WeightedLoad(const Problem& problem, const std::vector<int64_t>& idle,
                     const std::vector<int64_t>& weights,
                     std::vector<double>* load) {
  __int128 total = 0;
  for (size_t i = 0; i < idle.size(); ++i) {
    total += static_cast<__int128>(weights[i]) * idle[i];
    (*load)[i] = static_cast<double>(idle[i]);
  }
  for (const Operation& operation : problem.operations) {
    __int128 least = -1;
    const Alternative* cheapest = nullptr;
    for (const Alternative& alternative : operation.alternatives) {
      __int128 weight = 0;
      for (const uint32_t machine : alternative.machines) {
        weight += weights[machine];
      }
      const __int128 cost = weight * alternative.duration;
      if (least < 0 || cost < least) {
        least = cost;
        cheapest = &alternative;
      }
    }
    total += least;
    for (const uint32_t machine : cheapest->machines) {
      (*load)[machine] += static_cast<double>(cheapest->duration);
    }
  }
  return static_cast<int64_t>((total + kWeightSum - 1) / kWeightSum);
}

// Whole numbers that add up to at most kWeightSum, in the given proportions.
void RoundWeights(const std::vector<double>& exact,
                  std::vector<int64_t>* weights) {
  double sum = 0;
  for (const double weight : exact) sum += weight;
  for (size_t i = 0; i < exact.size(); ++i) {
    TAKT_DCHECK(exact[i] >= 0 && exact[i] <= sum);
    (*weights)[i] =
        static_cast<int64_t>(exact[i] / sum * static_cast<double>(kWeightSum));
  }
  int64_t left = kWeightSum;
  for (int64_t& weight : *weights) {
    weight = std::clamp<int64_t>(weight, 0, left);
    left -= weight;
  }
}

struct Fixed {
  int64_t head;
  int64_t duration;
  int64_t tail;
};

// The preemptive one-machine makespan: at any time the one with the longest
// tail among those released runs.
int64_t PreemptiveMakespan(std::vector<Fixed> jobs) {
  std::sort(jobs.begin(), jobs.end(),
            [](const Fixed& a, const Fixed& b) { return a.head < b.head; });
  const auto shorter_tail = [](const Fixed* a, const Fixed* b) {
    return a->tail < b->tail;
  };
  std::priority_queue<Fixed*, std::vector<Fixed*>, decltype(shorter_tail)>
      ready(shorter_tail);
  int64_t now = 0;
  int64_t makespan = 0;
  for (size_t next = 0; next < jobs.size() || !ready.empty();) {
    if (ready.empty()) now = std::max(now, jobs[next].head);
    while (next < jobs.size() && jobs[next].head <= now) {
      ready.push(&jobs[next++]);
    }
    Fixed* job = ready.top();
    const int64_t until = next < jobs.size()
                              ? std::min(jobs[next].head, now + job->duration)
                              : now + job->duration;
    job->duration -= until - now;
    now = until;
    if (job->duration == 0) {
      makespan = std::max(makespan, now + job->tail);
      ready.pop();
    }
  }
  return makespan;
}

bool AlwaysUses(const Operation& operation, uint32_t machine) {
  return std::all_of(
      operation.alternatives.begin(), operation.alternatives.end(),
      [machine](const Alternative& alternative) {
        return std::binary_search(alternative.machines.begin(),
                                  alternative.machines.end(), machine);
      });
}

bool MayUse(const Operation& operation, uint32_t machine) {
  return std::any_of(
      operation.alternatives.begin(), operation.alternatives.end(),
      [machine](const Alternative& alternative) {
        return std::binary_search(alternative.machines.begin(),
                                  alternative.machines.end(), machine);
      });
}

// The families of a machine, and whether one of their operations can run
// nowhere else.
using Families = std::map<uint32_t, bool>;

// The least time to enter a family from another one that may run there.
int64_t LeastEntry(const SetupTable& table, uint32_t machine, uint32_t family,
                   const Families& families) {
  int64_t least = Problem::kMaxTime;
  size_t listed = 0;
  for (const Setup& setup : table.To(machine, family)) {
    if (setup.from == family || families.count(setup.from) == 0) continue;
    ++listed;
    least = std::min(least, setup.time);
  }
  return listed + 1 < families.size() || listed == 0 ? 0 : least;
}

int64_t SetupBoundOf(const Problem& problem, const StaticPaths& paths,
                     const SetupTable& table, uint32_t machine) {
  Families families;
  int64_t head = Problem::kMaxTime;
  int64_t tail = Problem::kMaxTime;
  int64_t work = 0;
  bool others_may_run = false;
  for (size_t v = 0; v < problem.operations.size(); ++v) {
    const Operation& operation = problem.operations[v];
    if (AlwaysUses(operation, machine)) {
      families[operation.family] = true;
      head = std::min(head, paths.heads[v]);
      tail = std::min(tail, paths.tails[v]);
      work += paths.shortest[v];
    } else if (MayUse(operation, machine)) {
      families.try_emplace(operation.family, false);
      others_may_run = true;
    }
  }
  if (work == 0) return 0;
  int64_t entries = 0;
  for (const auto& [family, must_run] : families) {
    if (must_run) entries += LeastEntry(table, machine, family, families);
  }
  // One of the families is the first, and what enters it does not count.
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const auto& [family, must_run] : families) {
    if (!must_run) continue;
    const int64_t first =
        others_may_run ? 0 : table.Time(machine, Setup::kFirst, family);
    least = std::min(least, std::max(head, first) + entries -
                                LeastEntry(table, machine, family, families));
  }
  return least + work + tail;
}

}  // namespace

StaticPaths ComputeStaticPaths(const Problem& problem) {
  const size_t count = problem.operations.size();
  StaticPaths paths;
  paths.heads.resize(count);
  paths.tails.resize(count);
  const Successors successors(problem);
  std::vector<uint32_t> missing = successors.CountPredecessors();
  paths.order.reserve(count);
  paths.shortest.reserve(count);
  for (uint32_t v = 0; v < count; ++v) {
    const Operation& operation = problem.operations[v];
    paths.shortest.push_back(ShortestDuration(operation));
    paths.heads[v] = operation.release;
    paths.tails[v] = operation.tail;
    if (missing[v] == 0) paths.order.push_back(v);
  }
  for (size_t i = 0; i < paths.order.size(); ++i) {
    const uint32_t v = paths.order[i];
    for (const uint32_t u : successors[v]) {
      paths.heads[u] =
          std::max(paths.heads[u], paths.heads[v] + paths.shortest[v]);
      if (--missing[u] == 0) paths.order.push_back(u);
    }
  }
  TAKT_CHECK(paths.order.size() == count);
  for (size_t i = count; i-- > 0;) {
    const uint32_t v = paths.order[i];
    for (const uint32_t u : successors[v]) {
      paths.tails[v] =
          std::max(paths.tails[v], paths.tails[u] + paths.shortest[u]);
    }
  }
  return paths;
}

int64_t CriticalPathBound(const Problem& problem) {
  const StaticPaths paths = ComputeStaticPaths(problem);
  int64_t bound = 0;
  for (size_t v = 0; v < paths.heads.size(); ++v) {
    bound =
        std::max(bound, paths.heads[v] + paths.shortest[v] + paths.tails[v]);
  }
  return bound;
}

int64_t MachineLoadBound(const Problem& problem, int64_t enough,
                         int64_t deadline_ns, std::vector<double>* prices) {
  constexpr int kRounds = 400;
  constexpr int kPatience = 10;  // Rounds without a gain, before it aims lower.
  constexpr double kGain = 1e-5;
  constexpr double kStepMax = 50;  // A price changes by e^50 at most.
  const size_t machines = problem.machine_count;
  if (machines == 0 || problem.operations.empty()) return 0;
  std::vector<double> exact(machines, 1.0 / static_cast<double>(machines));
  std::vector<double> best_exact = exact;
  std::vector<double> load(machines);
  std::vector<int64_t> weights(machines);
  const std::vector<int64_t> idle = LeastIdle(problem);
  int64_t bound = 0;
  double best = 0;
  double above = 0;  // How far from the best the level is.
  int idle_rounds = 0;
  for (int round = 0; round < kRounds && bound < enough; ++round) {
    RoundWeights(exact, &weights);
    bound = std::max(bound, WeightedLoad(problem, idle, weights, &load));
    if (NowNs() >= deadline_ns) break;
    double value = 0;
    for (size_t i = 0; i < machines; ++i) value += exact[i] * load[i];
    if (round == 0) {
      above = (*std::max_element(load.begin(), load.end()) - value) / 2;
    }
    idle_rounds = value > best * (1 + kGain) ? 0 : idle_rounds + 1;
    if (value > best) {
      best = value;
      best_exact = exact;
    }
    if (idle_rounds >= kPatience) {
      idle_rounds = 0;
      above /= 2;
      exact = best_exact;
      continue;
    }
    double steepest = 0;
    for (const double each : load) {
      steepest = std::max(steepest, std::abs(each - value));
    }
    if (steepest <= 0 || above < best * 1e-9) break;  // All get their share.
    // Where the loads are nearly equal, a step would be too large for numbers.
    const double step =
        std::min((best + above - value) / steepest, kStepMax) / steepest;
    double sum = 0;
    for (size_t i = 0; i < machines; ++i) {
      exact[i] *= std::exp(step * (load[i] - value));
      sum += exact[i];
    }
    for (double& weight : exact) weight /= sum;
  }
  if (prices != nullptr) *prices = std::move(best_exact);
  return bound;
}

std::vector<double> ExcessLoads(const Problem& problem,
                                const std::vector<double>& prices) {
  std::vector<double> excess;
  for (const Operation& operation : problem.operations) {
    const size_t first = excess.size();
    for (const Alternative& alternative : operation.alternatives) {
      double price = 0;
      if (!prices.empty()) {
        for (const uint32_t machine : alternative.machines) {
          price += prices[machine];
        }
      }
      excess.push_back(price * static_cast<double>(alternative.duration));
    }
    const auto own = excess.begin() + static_cast<ptrdiff_t>(first);
    const double least = *std::min_element(own, excess.end());
    std::for_each(own, excess.end(), [least](double& cost) { cost -= least; });
  }
  if (prices.empty()) return excess;
  const double dearest = *std::max_element(prices.begin(), prices.end());
  for (double& cost : excess) cost /= dearest;
  return excess;
}

int64_t OneMachineBound(const Problem& problem) {
  const StaticPaths paths = ComputeStaticPaths(problem);
  int64_t bound = 0;
  for (uint32_t machine = 0; machine < problem.machine_count; ++machine) {
    std::vector<Fixed> jobs;
    for (size_t v = 0; v < problem.operations.size(); ++v) {
      if (AlwaysUses(problem.operations[v], machine)) {
        jobs.push_back({paths.heads[v], paths.shortest[v], paths.tails[v]});
      }
    }
    bound = std::max(bound, PreemptiveMakespan(std::move(jobs)));
  }
  return bound;
}

int64_t LowerBound(const Problem& problem, int64_t enough, int64_t deadline_ns,
                   std::vector<double>* prices) {
  const int64_t bound =
      std::max(CriticalPathBound(problem), OneMachineBound(problem));
  if (bound >= enough) return bound;
  return std::max(bound,
                  MachineLoadBound(problem, enough, deadline_ns, prices));
}

int64_t SetupBound(const Problem& problem) {
  if (problem.setups.empty()) return 0;
  const StaticPaths paths = ComputeStaticPaths(problem);
  const SetupTable table(problem);
  int64_t bound = 0;
  for (uint32_t machine = 0; machine < problem.machine_count; ++machine) {
    if (table.OfMachine(machine).empty()) continue;
    bound = std::max(bound, SetupBoundOf(problem, paths, table, machine));
  }
  return bound;
}

int64_t TardinessBound(const Problem& problem) {
  const StaticPaths paths = ComputeStaticPaths(problem);
  const Successors successors(problem);
  const size_t count = problem.operations.size();
  int64_t sum = 0;
  int64_t least_weight = 0;
  // By operation: what must follow its end until the end of an operation with a
  // due date, less that date; the greatest.
  std::vector<int64_t> lateness(count, -2 * Problem::kMaxTime);
  for (size_t i = count; i-- > 0;) {
    const uint32_t v = paths.order[i];
    const Operation& operation = problem.operations[v];
    for (const uint32_t u : successors[v]) {
      lateness[v] = std::max(lateness[v], lateness[u] + paths.shortest[u]);
    }
    if (operation.weight == 0) continue;
    lateness[v] = std::max(lateness[v], -operation.due);
    const int64_t end = paths.heads[v] + paths.shortest[v];
    sum += operation.weight * std::max<int64_t>(end - operation.due, 0);
    least_weight = least_weight == 0 ? operation.weight
                                     : std::min(least_weight, operation.weight);
  }
  if (least_weight == 0) return 0;
  int64_t latest = 0;
  for (uint32_t machine = 0; machine < problem.machine_count; ++machine) {
    std::vector<Fixed> jobs;
    for (size_t v = 0; v < count; ++v) {
      if (AlwaysUses(problem.operations[v], machine)) {
        jobs.push_back({paths.heads[v], paths.shortest[v], lateness[v]});
      }
    }
    latest = std::max(latest, PreemptiveMakespan(std::move(jobs)));
  }
  return std::max(sum, least_weight * latest);
}

}  // namespace takt::solve
