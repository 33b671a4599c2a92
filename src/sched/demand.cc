#include "sched/demand.h"

#include <algorithm>
#include <vector>

namespace takt::sched {

struct DemandAnalysis::KernelDemand {
  double duration_max_ns = 0;
  double duration_min_ns = 1e30;
  double work_max_ns = 0;
  double work_min_ns = 1e30;
  double tile_max_ns = 0;
  // The least number of resources that are busy while it waits; and while it
  // keeps others idle.
  uint32_t places = 0;
  uint32_t collecting_places = ResourceSet::kMaxResources;
};

DemandAnalysis::DemandAnalysis(const CostModel& costs,
                               absl::Span<const uint32_t> speeds_permille,
                               bool yields)
    : costs_(costs), speeds_permille_(speeds_permille) {
  for (uint32_t i = 0; i < costs.kernel_count(); ++i) {
    for (const auto& a : costs.kernel(i).alternatives) {
      pressure_most_ppm_ = std::max(pressure_most_ppm_, a.slowdown.pressure());
    }
  }
  for (uint32_t i = 0; i < costs.kernel_count(); ++i) {
    for (const auto& a : costs.kernel(i).alternatives) {
      const double blocks_ns = yields && a.tile_ns > 0
                                   ? Scaled(a.tile_ns, a.pool)
                                   : Scaled(LongestNs(a), a.pool);
      blocking_ns_ = std::max(blocking_ns_, blocks_ns);
    }
  }
}

Demand DemandAnalysis::DemandOf(const JobProgram& program,
                                const ResourceSet& allowed,
                                uint32_t shards_preferred) const {
  Demand demand;
  std::vector<KernelDemand> kernels;
  for (uint32_t i = 0; i < program.size(); ++i) {
    kernels.push_back(DemandOf(program.kernel(i), allowed, shards_preferred));
    const KernelDemand& kernel = kernels.back();
    if (kernel.places == 0) {
      demand.is_known = false;
      return demand;
    }
    demand.time_max_ns += kernel.duration_max_ns;
    demand.work_max_ns += kernel.work_max_ns;
    demand.work_min_ns += kernel.work_min_ns;
    demand.places_min = std::min(demand.places_min, kernel.places);
    demand.collecting_places_min =
        std::min(demand.collecting_places_min, kernel.collecting_places);
    demand.tile_max_ns = std::max(demand.tile_max_ns, kernel.tile_max_ns);
    demand.operation_max_ns =
        std::max(demand.operation_max_ns, kernel.duration_max_ns);
    demand.count += 1;
  }
  AddPaths(program, kernels, &demand);
  return demand;
}

// The 99 % quantile of its runs; or, if that is longer, that of the runs alone
// beside the kernel that presses most, on all other resources.
int64_t DemandAnalysis::LongestNs(const CostModel::Alternative& a) const {
  const int64_t seen_ns = a.duration.q99_ns();
  const Slowdown& slowdown = a.slowdown;
  if (slowdown.alone.count() < CostModel::kKnownCount) return seen_ns;
  const uint32_t others = costs_.machine().resource_count() - a.shards;
  return std::max(seen_ns,
                  SlowedNs(slowdown.alone.q99_ns(), slowdown.sensitivity_ppm,
                           int64_t{pressure_most_ppm_} * others));
}

double DemandAnalysis::Scaled(int64_t duration_ns, uint32_t pool) const {
  return static_cast<double>(duration_ns) * 1000 / speeds_permille_[pool];
}

DemandAnalysis::KernelDemand DemandAnalysis::DemandOf(
    KernelId id, const ResourceSet& allowed, uint32_t shards_preferred) const {
  const Machine& machine = costs_.machine();
  const auto& alternatives = costs_.kernel(id).alternatives;
  const auto count_of = [&](const CostModel::Alternative& a) {
    return (machine.ResourcesOf(a.pool) & allowed).count();
  };
  bool has_preferred = false;
  for (const auto& a : alternatives) {
    has_preferred |= a.shards == shards_preferred && count_of(a) >= a.shards;
  }
  KernelDemand demand;
  bool has_npu = false;
  bool has_single = false;
  uint32_t feeder_max = 0;
  auto last_pool = static_cast<uint32_t>(machine.pools.size());
  for (const auto& a : alternatives) {
    const uint32_t count = count_of(a);
    if (count < a.shards) continue;
    const Pool& pool = machine.pools[a.pool];
    const bool is_npu = pool.kind == ResourceKind::kNpu;
    if (has_preferred && a.shards != shards_preferred && !is_npu) continue;
    const double duration_ns = Scaled(LongestNs(a), a.pool);
    const double work_ns = duration_ns * (a.shards + pool.feeder_count);
    demand.duration_max_ns = std::max(demand.duration_max_ns, duration_ns);
    demand.duration_min_ns = std::min(demand.duration_min_ns, duration_ns);
    demand.work_max_ns = std::max(demand.work_max_ns, work_ns);
    demand.work_min_ns = std::min(demand.work_min_ns, work_ns);
    const double tile_ns =
        a.tile_ns > 0 ? Scaled(a.tile_ns, a.pool) : duration_ns;
    demand.tile_max_ns = std::max(demand.tile_max_ns, tile_ns);
    has_npu |= is_npu;
    demand.places = std::max(demand.places, count - a.shards + 1);
    feeder_max = std::max(feeder_max, pool.feeder_count);
    // The first one of a pool has the fewest shards.
    const bool is_first = a.pool != last_pool;
    last_pool = a.pool;
    if (is_npu || !is_first) continue;
    has_single |= a.shards == 1;
    demand.collecting_places =
        std::min(demand.collecting_places, count - a.shards + 1);
  }
  // With a place for one shard it needs no second one.
  if (has_single) demand.collecting_places = ResourceSet::kMaxResources;
  if (feeder_max > 1) demand.collecting_places = 1;
  // It may wait for an NPU while cores are free.
  if (has_npu) demand.places = 1;
  return demand;
}

// Along the precedences, last operations first. Programs are small and this
// is no hot path, so the order is found by going over them until it holds.
void DemandAnalysis::AddPaths(const JobProgram& program,
                              absl::Span<const KernelDemand> kernels,
                              Demand* demand) {
  const uint32_t size = program.size();
  std::vector<double> longest(size, 0.0);
  std::vector<double> shortest(size, 0.0);
  std::vector<double> counts(size, 0.0);
  std::vector<uint32_t> waits(program.predecessor_counts().begin(),
                              program.predecessor_counts().end());
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < size; ++i) {
    if (waits[i] == 0) order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    const uint32_t i = order[at];
    longest[i] += kernels[i].duration_max_ns;
    shortest[i] += kernels[i].duration_min_ns;
    counts[i] += 1;
    demand->path_max_ns = std::max(demand->path_max_ns, longest[i]);
    demand->path_min_ns = std::max(demand->path_min_ns, shortest[i]);
    demand->path_count = std::max(demand->path_count, counts[i]);
    for (const uint32_t next : program.successors(i)) {
      longest[next] = std::max(longest[next], longest[i]);
      shortest[next] = std::max(shortest[next], shortest[i]);
      counts[next] = std::max(counts[next], counts[i]);
      if (--waits[next] == 0) order.push_back(next);
    }
  }
}

}  // namespace takt::sched
