#include "sched/admission.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "sched/demand.h"

namespace takt::sched {
namespace {

// The guard by which a bound is raised, for effects that the analysis leaves
// out: wake-ups, interrupts, durations above the quantiles. A tenth, and at
// least the time of a few wake-ups on a busy machine.
constexpr int64_t kGuardMinNs = 200'000;
constexpr int64_t kGuardDivisor = 10;

// Jobs of `other` whose times can touch those of one job due after that time.
double JobsWithin(double deadline_ns, const StreamOptions& other) {
  if (other.period_ns == 0) return 1;
  const double span_ns = deadline_ns + static_cast<double>(other.deadline_ns);
  return std::floor(span_ns / static_cast<double>(other.period_ns)) + 1;
}

// The least number of resources that are busy while an operation of `own`
// waits.
uint32_t PlacesOf(const Demand& own, absl::Span<const Demand> demands) {
  uint32_t places = own.places_min;
  for (const Demand& demand : demands) {
    places = std::min(places, demand.collecting_places_min);
  }
  return places;
}

// The bound on the response of tasks[index] among all of them.
double ResponseBound(size_t index, absl::Span<const AdmissionTask> tasks,
                     absl::Span<const Demand> demands, double blocking_ns) {
  const auto deadline_ns =
      static_cast<double>(tasks[index].options.deadline_ns);
  const Demand& own = demands[index];
  double work_ns = 0;
  double starts = own.path_count;
  for (size_t j = 0; j < tasks.size(); ++j) {
    const double jobs = JobsWithin(deadline_ns, tasks[j].options);
    work_ns += jobs * demands[j].work_max_ns;
    starts += jobs * demands[j].count;
  }
  const double bound_ns =
      own.path_max_ns + work_ns / PlacesOf(own, demands) + starts * blocking_ns;
  return bound_ns + std::max<double>(kGuardMinNs, bound_ns / kGuardDivisor);
}

int64_t Load(const AdmissionTask& task, const Demand& demand,
             uint32_t resource_count) {
  const int64_t interval_ns = task.options.period_ns > 0
                                  ? task.options.period_ns
                                  : task.options.deadline_ns;
  const double load =
      demand.work_min_ns / static_cast<double>(interval_ns) / resource_count;
  return static_cast<int64_t>(std::min(load, 1e6) * 1e6);
}

double Ms(double time_ns) { return time_ns / 1e6; }

// A time that may be longer than any, as one.
int64_t ToNs(double time_ns) {
  return static_cast<int64_t>(std::min(time_ns, 9e18));
}

// The longest response that admission may promise: the deadline or, if the next
// job replaces one that waits, at most the period.
int64_t LimitNs(const StreamOptions& options) {
  const bool is_replaced =
      options.late == LatePolicy::kLatestOnly && options.period_ns > 0;
  return is_replaced ? std::min(options.deadline_ns, options.period_ns)
                     : options.deadline_ns;
}

// The reason why the candidate alone cannot get a promise; null: there is none.
const char* FindObstacle(const AdmissionTask& candidate, const Policy& policy) {
  if (!policy.KeepsPromises()) return "the policy keeps no promises";
  if (candidate.program == nullptr) return "its operations are not known ahead";
  if (candidate.options.deadline_ns == kInfiniteFuture) {
    return "it has no deadline";
  }
  return nullptr;
}

// Whether the candidate, the last of the tasks, can never be in time: alone, or
// because the machine has too little time for all tasks. Writes the reason into
// `report`.
bool IsImpossible(const AdmissionTask& candidate, const Demand& demand,
                  AdmissionReport* report) {
  const auto deadline_ns = static_cast<double>(candidate.options.deadline_ns);
  if (demand.path_min_ns > deadline_ns) {
    report->reason = absl::StrCat("alone it takes ", Ms(demand.path_min_ns),
                                  " ms at its fastest, and is due after ",
                                  Ms(deadline_ns), " ms");
    return true;
  }
  if (report->load_after_ppm > 1'000'000) {
    report->reason =
        absl::StrCat("the machine would be asked for ",
                     static_cast<double>(report->load_after_ppm) / 1e4, " %");
    return true;
  }
  return false;
}

// Whether the bound on the response of each task is within its limit. Sets the
// reason, and the bound of the last task, the candidate.
bool AllAreInTime(absl::Span<const AdmissionTask> tasks,
                  absl::Span<const Demand> demands, double blocking_ns,
                  AdmissionReport* report) {
  TAKT_CHECK(tasks.size() == demands.size());
  for (size_t i = tasks.size(); i-- > 0;) {
    const double bound_ns = ResponseBound(i, tasks, demands, blocking_ns);
    const StreamOptions& options = tasks[i].options;
    const int64_t limit_ns = LimitNs(options);
    if (i + 1 == tasks.size()) {
      report->response_bound_ns = ToNs(bound_ns);
    }
    if (bound_ns <= static_cast<double>(limit_ns)) continue;
    report->reason = absl::StrCat(
        "stream ", tasks[i].stream, " may take up to ", Ms(bound_ns), " ms, ",
        limit_ns < options.deadline_ns ? "and gives way to its next job"
                                       : "and is due",
        " after ", Ms(static_cast<double>(limit_ns)), " ms");
    return false;
  }
  return true;
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kWillFit:
      return "will fit";
    case Verdict::kMightNot:
      return "might not";
    case Verdict::kCannot:
      return "cannot";
  }
  return "";
}

AdmissionReport Assess(const AdmissionTask& candidate,
                       absl::Span<const AdmissionTask> promised,
                       const CostModel& costs,
                       absl::Span<const uint32_t> speeds_permille,
                       const Policy& policy) {
  AdmissionReport report;
  report.deadline_ns = candidate.options.deadline_ns;
  if (const char* const obstacle = FindObstacle(candidate, policy)) {
    report.reason = obstacle;
    return report;
  }
  const DemandAnalysis analysis(costs, speeds_permille, policy.Yields());
  std::vector<AdmissionTask> tasks(promised.begin(), promised.end());
  tasks.push_back(candidate);
  std::vector<Demand> demands;
  const uint32_t resource_count = costs.machine().resource_count();
  for (const AdmissionTask& task : tasks) {
    demands.push_back(analysis.DemandOf(*task.program, task.allowed,
                                        task.options.shards_preferred));
    if (!demands.back().is_known) {
      report.reason = absl::StrCat("an operation of stream ", task.stream,
                                   " has no resource now");
      return report;
    }
    report.load_before_ppm = report.load_after_ppm;
    report.load_after_ppm += Load(task, demands.back(), resource_count);
  }
  report.response_least_ns = ToNs(demands.back().path_min_ns);
  if (IsImpossible(candidate, demands.back(), &report)) {
    report.verdict = Verdict::kCannot;
    return report;
  }
  if (!AllAreInTime(tasks, demands, analysis.blocking_ns(), &report)) {
    return report;
  }
  report.verdict = Verdict::kWillFit;
  report.reason = absl::StrCat(
      "it takes at most ", Ms(static_cast<double>(report.response_bound_ns)),
      " ms, and is due after ",
      Ms(static_cast<double>(candidate.options.deadline_ns)), " ms");
  return report;
}

}  // namespace takt::sched
