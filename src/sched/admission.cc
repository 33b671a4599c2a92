#include "sched/admission.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

namespace takt::sched {
namespace {

constexpr int64_t kGuardMinNs = 200'000;
constexpr int64_t kGuardDivisor = 10;

// Times are added and multiplied as reals: they are bounds, and never exact.
struct Demand {
  double path_max_ns = 0;  // Each operation at its slowest.
  double path_min_ns = 0;  // At its fastest.
  double work_max_ns = 0;  // Resource time, at the most.
  double work_min_ns = 0;  // At the least.
  double path_count = 0;   // Operations on the longest chain.
  double count = 0;        // Operations.
  uint32_t places_min = ResourceSet::kMaxResources;
  bool is_known = true;
};

struct KernelDemand {
  double duration_max_ns = 0;
  double duration_min_ns = 1e30;
  double work_max_ns = 0;
  double work_min_ns = 1e30;
  // While it waits, at least so many resources are busy.
  uint32_t places = 0;
};

class Analysis {
 public:
  Analysis(const CostModel& costs, absl::Span<const uint32_t> speeds_permille)
      : costs_(costs), speeds_permille_(speeds_permille) {
    // Whatever runs may be in the way for a tile, or whole if it has none.
    for (uint32_t i = 0; i < costs.kernel_count(); ++i) {
      for (const auto& a : costs.kernel(i).alternatives) {
        const double blocks_ns = a.tile_ns > 0
                                     ? Scaled(a.tile_ns, a.pool)
                                     : Scaled(a.duration.q99_ns(), a.pool);
        blocking_ns_ = std::max(blocking_ns_, blocks_ns);
      }
    }
  }

  double blocking_ns() const { return blocking_ns_; }

  Demand DemandOf(const AdmissionTask& task) const {
    Demand demand;
    const Program& program = *task.program;
    std::vector<KernelDemand> kernels;
    for (uint32_t i = 0; i < program.size(); ++i) {
      kernels.push_back(DemandOf(program.kernel(i), task.allowed));
      const KernelDemand& kernel = kernels.back();
      if (kernel.places == 0) {
        demand.is_known = false;
        return demand;
      }
      demand.work_max_ns += kernel.work_max_ns;
      demand.work_min_ns += kernel.work_min_ns;
      demand.places_min = std::min(demand.places_min, kernel.places);
      demand.count += 1;
    }
    AddPaths(program, kernels, &demand);
    return demand;
  }

 private:
  double Scaled(int64_t duration_ns, uint32_t pool) const {
    return static_cast<double>(duration_ns) * 1000 / speeds_permille_[pool];
  }

  KernelDemand DemandOf(KernelId id, const ResourceSet& allowed) const {
    const Machine& machine = costs_.machine();
    KernelDemand demand;
    bool has_npu = false;
    for (const auto& a : costs_.kernel(id).alternatives) {
      const uint32_t count = (machine.ResourcesOf(a.pool) & allowed).count();
      if (count < a.shards) continue;
      const Pool& pool = machine.pools[a.pool];
      const double duration_ns = Scaled(a.duration.q99_ns(), a.pool);
      const double work_ns = duration_ns * (a.shards + pool.feeder_count);
      demand.duration_max_ns = std::max(demand.duration_max_ns, duration_ns);
      demand.duration_min_ns = std::min(demand.duration_min_ns, duration_ns);
      demand.work_max_ns = std::max(demand.work_max_ns, work_ns);
      demand.work_min_ns = std::min(demand.work_min_ns, work_ns);
      has_npu |= pool.kind == ResourceKind::kNpu;
      demand.places = std::max(demand.places, count - a.shards + 1);
    }
    // It may wait for an NPU while cores are free.
    if (has_npu) demand.places = 1;
    return demand;
  }

  // Along the precedences, last operations first. Programs are small and this
  // is no hot path, so the order is found by going over them until it holds.
  static void AddPaths(const Program& program,
                       const std::vector<KernelDemand>& kernels,
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

  const CostModel& costs_;
  const absl::Span<const uint32_t> speeds_permille_;
  double blocking_ns_ = 0;
};

// Jobs of `other` whose times can touch those of one job due after that time.
double JobsWithin(double deadline_ns, const StreamOptions& other) {
  if (other.period_ns == 0) return 1;
  const double span_ns = deadline_ns + static_cast<double>(other.deadline_ns);
  return static_cast<double>(
      static_cast<int64_t>(span_ns / static_cast<double>(other.period_ns)) + 1);
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
      own.path_max_ns + work_ns / own.places_min + starts * blocking_ns;
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
                       absl::Span<const uint32_t> speeds_permille) {
  AdmissionReport report;
  report.deadline_ns = candidate.options.deadline_ns;
  if (candidate.program == nullptr) {
    report.reason = "its operations are not known ahead";
    return report;
  }
  if (candidate.options.deadline_ns == kInfiniteFuture) {
    report.reason = "it has no deadline";
    return report;
  }
  const Analysis analysis(costs, speeds_permille);
  std::vector<AdmissionTask> tasks(promised.begin(), promised.end());
  tasks.push_back(candidate);
  std::vector<Demand> demands;
  const uint32_t resource_count = costs.machine().resource_count();
  for (const AdmissionTask& task : tasks) {
    demands.push_back(analysis.DemandOf(task));
    if (!demands.back().is_known) {
      report.reason = absl::StrCat("an operation of stream ", task.stream,
                                   " has no resource now");
      return report;
    }
    report.load_before_ppm = report.load_after_ppm;
    report.load_after_ppm += Load(task, demands.back(), resource_count);
  }
  const auto deadline_ns = static_cast<double>(candidate.options.deadline_ns);
  report.response_least_ns = static_cast<int64_t>(demands.back().path_min_ns);
  if (demands.back().path_min_ns > deadline_ns) {
    report.verdict = Verdict::kCannot;
    report.reason = absl::StrCat(
        "alone it takes ", Ms(demands.back().path_min_ns),
        " ms at its fastest, and is due after ", Ms(deadline_ns), " ms");
    return report;
  }
  if (report.load_after_ppm > 1'000'000) {
    report.verdict = Verdict::kCannot;
    report.reason =
        absl::StrCat("the machine would be asked for ",
                     static_cast<double>(report.load_after_ppm) / 1e4, " %");
    return report;
  }
  for (size_t i = tasks.size(); i-- > 0;) {
    const double bound_ns =
        ResponseBound(i, tasks, demands, analysis.blocking_ns());
    if (i + 1 == tasks.size()) {
      report.response_bound_ns = static_cast<int64_t>(std::min(bound_ns, 9e18));
    }
    if (bound_ns <= static_cast<double>(tasks[i].options.deadline_ns)) continue;
    report.reason = absl::StrCat(
        "stream ", tasks[i].stream, " may take up to ", Ms(bound_ns),
        " ms, and is due after ",
        Ms(static_cast<double>(tasks[i].options.deadline_ns)), " ms");
    return report;
  }
  report.verdict = Verdict::kWillFit;
  report.reason = absl::StrCat(
      "it takes at most ", Ms(static_cast<double>(report.response_bound_ns)),
      " ms, and is due after ", Ms(deadline_ns), " ms");
  return report;
}

}  // namespace takt::sched
