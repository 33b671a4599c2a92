// The demand of a stream's jobs on the machine, from which bounds on responses
// are computed (admission.h, plan/response_analysis.h). Pure functions.
#ifndef TAKT_SCHED_DEMAND_H_
#define TAKT_SCHED_DEMAND_H_

#include <cstdint>

#include "absl/types/span.h"
#include "sched/cost_model.h"
#include "sched/job_program.h"
#include "sched/resource_set.h"

namespace takt::sched {

// The demand of one job, at 99 % quantiles and the current speeds. Times are
// added and multiplied as reals: they are bounds, and never exact.
struct Demand {
  double path_max_ns = 0;  // Each operation at its slowest.
  double path_min_ns = 0;  // At its fastest.
  double time_max_ns = 0;  // All operations one after the other, slowest.
  double work_max_ns = 0;  // Resource time, at the most.
  double work_min_ns = 0;  // At the least.
  double path_count = 0;   // Operations on the longest chain.
  double count = 0;        // Operations.
  // The least number of resources that are busy while one of its operations
  // waits.
  uint32_t places_min = ResourceSet::kMaxResources;
  // The same of those operations that keep free resources idle meanwhile,
  // because they need several at once. Less urgent work waits for them, too.
  uint32_t collecting_places_min = ResourceSet::kMaxResources;
  // The longest time for which one of its operations keeps a resource before it
  // yields (a tile; or the whole operation if it has no tiles), and the longest
  // operation.
  double tile_max_ns = 0;
  double operation_max_ns = 0;
  bool is_known = true;  // False: an operation can run nowhere.
};

class DemandAnalysis {
 public:
  // `speeds_permille` is by pool. Both are borrowed. `yields`: whether running
  // work yields to more urgent work at the end of its tile.
  DemandAnalysis(const CostModel& costs,
                 absl::Span<const uint32_t> speeds_permille,
                 bool yields = true);

  // The longest time for which running work can block: a tile, or the whole
  // operation.
  double blocking_ns() const { return blocking_ns_; }

  // The demand of a job of the program within `allowed`. `shards_preferred`:
  // see StreamOptions.
  Demand DemandOf(const JobProgram& program, const ResourceSet& allowed,
                  uint32_t shards_preferred = 0) const;

 private:
  struct KernelDemand;

  int64_t LongestNs(const CostModel::Alternative& alternative) const;
  double Scaled(int64_t duration_ns, uint32_t pool) const;
  KernelDemand DemandOf(KernelId id, const ResourceSet& allowed,
                        uint32_t shards_preferred) const;
  static void AddPaths(const JobProgram& program,
                       absl::Span<const KernelDemand> kernels, Demand* demand);

  const CostModel& costs_;
  const absl::Span<const uint32_t> speeds_permille_;
  double blocking_ns_ = 0;
  int32_t pressure_most_ppm_ = 0;  // Of a kernel, on each of its resources.
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_DEMAND_H_
