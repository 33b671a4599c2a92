#include "plan/workload_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace takt::plan {
namespace {

double PowerOf(const Plan& plan, const PlannedOperation& operation,
               const Workload& workload) {
  double power_mw = 0;
  for (const uint32_t resource : operation.resources) {
    const uint32_t pool = plan.resources[resource].cluster;
    if (pool < workload.power_mw.size()) power_mw += workload.power_mw[pool];
  }
  return power_mw;
}

void Place(const UnrolledWorkload& unrolled, const solve::Schedule& schedule,
           Plan* plan) {
  TAKT_CHECK(schedule.entries.size() == plan->operations.size());
  for (size_t i = 0; i < plan->operations.size(); ++i) {
    const solve::Schedule::Entry& entry = schedule.entries[i];
    const solve::Alternative& way =
        unrolled.problem.operations[i].alternatives[entry.alternative];
    plan->operations[i].start = entry.start;
    plan->operations[i].duration = way.duration;
    plan->operations[i].resources = way.machines;
  }
}

// The reverse of Place(): the entries of `plan`, which may be of another
// workload.
absl::StatusOr<solve::Schedule> ScheduleOf(const UnrolledWorkload& unrolled,
                                           const Plan& plan) {
  const auto& operations = unrolled.problem.operations;
  if (plan.operations.size() != operations.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("start: the plan has ", plan.operations.size(),
                     " operations, and the workload ", operations.size()));
  }
  solve::Schedule schedule;
  for (size_t i = 0; i < operations.size(); ++i) {
    const PlannedOperation& planned = plan.operations[i];
    const auto& ways = operations[i].alternatives;
    const auto way = std::find_if(ways.begin(), ways.end(),
                                  [&planned](const solve::Alternative& each) {
                                    return each.machines == planned.resources;
                                  });
    if (way == ways.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("start: operation ", i, " (", planned.name,
                       ") is planned on resources where it cannot run"));
    }
    schedule.entries.push_back(
        {static_cast<uint32_t>(way - ways.begin()), planned.start});
    schedule.makespan = std::max(
        schedule.makespan, planned.start + way->duration + operations[i].tail);
  }
  return schedule;
}

// Whether `a` is at least as good as `b` by the objectives before energy, and
// better by energy.
bool IsCheaper(const PlanQuality& a, const PlanQuality& b,
               const Workload& workload) {
  for (const Objective objective : workload.objectives) {
    switch (objective) {
      case Objective::kMisses:
        if (a.late_count > b.late_count) return false;
        break;
      case Objective::kMakespan:
        if (a.makespan > b.makespan) return false;
        break;
      case Objective::kResponse:
        if (a.response_sum > b.response_sum) return false;
        break;
      case Objective::kEnergy:
        return a.energy_uj < b.energy_uj;
    }
  }
  return false;
}

// Moves single operations to cheaper resources, where they fit between their
// neighbours without moving other operations.
class EnergySaver {
 public:
  EnergySaver(const UnrolledWorkload& unrolled, const Workload& workload)
      : unrolled_(unrolled), workload_(workload) {}

  void Improve(Plan* plan) {
    // Each move compares all operations: cubic time, some seconds at this size.
    constexpr size_t kOperationsAtMost = 2'000;
    if (plan->operations.size() > kOperationsAtMost) return;
    PlanQuality best = QualityOf(*plan, workload_);
    for (size_t i = 0; i < plan->operations.size(); ++i) {
      const auto& ways = unrolled_.problem.operations[i].alternatives;
      for (const solve::Alternative& way : ways) {
        PlannedOperation& operation = plan->operations[i];
        const PlannedOperation old = operation;
        operation.resources = way.machines;
        operation.duration = way.duration;
        if (Fits(*plan, i)) {
          const PlanQuality quality = QualityOf(*plan, workload_);
          if (IsCheaper(quality, best, workload_)) {
            TAKT_DCHECK(quality.energy_uj < best.energy_uj);
            best = quality;
            continue;
          }
        }
        operation = old;
      }
    }
  }

 private:
  static bool Fits(const Plan& plan, size_t index) {
    const PlannedOperation& moved = plan.operations[index];
    const int64_t end = moved.start + moved.duration;
    for (size_t i = 0; i < plan.operations.size(); ++i) {
      if (i == index) continue;
      const PlannedOperation& other = plan.operations[i];
      const bool follows = std::find(other.after.begin(), other.after.end(),
                                     index) != other.after.end();
      if (follows && other.start < end) return false;
      if (other.start >= end || other.start + other.duration <= moved.start) {
        continue;
      }
      for (const uint32_t resource : moved.resources) {
        if (std::binary_search(other.resources.begin(), other.resources.end(),
                               resource)) {
          return false;
        }
      }
    }
    return plan.period == 0 || end <= plan.period;
  }

  const UnrolledWorkload& unrolled_;
  const Workload& workload_;
};

}  // namespace

PlanQuality QualityOf(const Plan& plan, const Workload& workload) {
  PlanQuality quality;
  std::vector<int64_t> ends(plan.jobs.size(), 0);
  for (const PlannedOperation& operation : plan.operations) {
    TAKT_DCHECK(operation.job < ends.size());
    const int64_t end = operation.start + operation.duration;
    ends[operation.job] = std::max(ends[operation.job], end);
    quality.makespan = std::max(quality.makespan, end);
    quality.energy_uj += PowerOf(plan, operation, workload) *
                         static_cast<double>(operation.duration) / 1e6;
  }
  for (size_t i = 0; i < ends.size(); ++i) {
    const int64_t late = plan.jobs[i].deadline == kNoDeadline
                             ? 0
                             : ends[i] - plan.jobs[i].deadline;
    if (late > 0) ++quality.late_count;
    quality.lateness_max = std::max(quality.lateness_max, late);
    quality.response_sum += ends[i] - plan.jobs[i].release;
  }
  return quality;
}

absl::StatusOr<WorkloadSolution> PlanWorkload(
    const Workload& workload, const solve::SolverOptions& options,
    const Plan* start) {
  TAKT_ASSIGN_OR_RETURN(const UnrolledWorkload unrolled,
                        UnrollWorkload(workload));
  solve::SolverOptions solver = options;
  if (start != nullptr) {
    TAKT_ASSIGN_OR_RETURN(solver.start, ScheduleOf(unrolled, *start));
  }
  WorkloadSolution result;
  TAKT_ASSIGN_OR_RETURN(result.solution,
                        solve::Solve(unrolled.problem, solver));
  result.plan = unrolled.plan;
  // With a horizon, the bound is one of the lateness, not of the end.
  result.plan.lower_bound =
      unrolled.horizon == 0 ? result.solution.lower_bound : 0;
  Place(unrolled, result.solution.schedule, &result.plan);
  const auto& aims = workload.objectives;
  if (std::find(aims.begin(), aims.end(), Objective::kEnergy) != aims.end()) {
    EnergySaver(unrolled, workload).Improve(&result.plan);
  }
  result.quality = QualityOf(result.plan, workload);
  return result;
}

}  // namespace takt::plan
