// Unrolls a workload into one period of operations.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"
#include "plan/workload_plan.h"
#include "sched/job_program.h"

namespace takt::plan {
namespace {

// The solver takes minutes for one step of a larger problem.
constexpr size_t kOperationsMax = 200'000;
// The largest number of machine sets of an alternative. Four of eight cores
// have 70 sets, which are hardly better than the sets of neighbours.
constexpr size_t kSetsMax = 64;

absl::Status Fault(const WorkloadStream& stream, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("workload: stream ", stream.name, ": ", reason));
}

// All subsets of `count` of the members, in order; if those are too many, the
// subsets of neighbours.
std::vector<std::vector<uint32_t>> SubsetsOf(
    const std::vector<uint32_t>& members, uint32_t count) {
  std::vector<std::vector<uint32_t>> subsets;
  if (count > members.size()) return subsets;
  std::vector<bool> taken(members.size(), false);
  std::fill(taken.begin(), taken.begin() + count, true);
  do {
    std::vector<uint32_t> subset;
    for (size_t i = 0; i < members.size(); ++i) {
      if (taken[i]) subset.push_back(members[i]);
    }
    subsets.push_back(std::move(subset));
  } while (subsets.size() <= kSetsMax &&
           std::prev_permutation(taken.begin(), taken.end()));
  if (subsets.size() <= kSetsMax) return subsets;
  subsets.clear();
  for (size_t i = 0; i + count <= members.size(); ++i) {
    subsets.emplace_back(members.begin() + Narrow<ptrdiff_t>(i),
                         members.begin() + Narrow<ptrdiff_t>(i + count));
  }
  return subsets;
}

class Unroller {
 public:
  explicit Unroller(const Workload& workload)
      : workload_(workload), machine_(workload.machine) {}

  absl::StatusOr<UnrolledWorkload> Unroll() {
    TAKT_RETURN_IF_ERROR(workload_.RequirePrograms());
    TAKT_RETURN_IF_ERROR(FindPeriod());
    AddResources();
    for (const WorkloadStream& stream : workload_.streams) {
      pressures_ppm_.push_back(PressureOn(stream));
    }
    jobs_of_.resize(workload_.streams.size());
    for (uint32_t i = 0; i < workload_.streams.size(); ++i) {
      TAKT_RETURN_IF_ERROR(AddStream(i));
    }
    AddTails();
    TAKT_CHECK(out_.plan.operations.size() == out_.problem.operations.size());
    TAKT_CHECK(out_.ways.size() == out_.problem.operations.size());
    TAKT_CHECK(out_.plan.jobs.size() == jobs_.size());
    TAKT_RETURN_IF_ERROR(out_.problem.Validate());
    return std::move(out_);
  }

 private:
  struct JobInfo {
    uint32_t first = 0;          // The first of its operations.
    std::vector<uint32_t> last;  // Those without a successor in the job.
    int64_t release = 0;
    int64_t due = kNoDeadline;  // Within the plan.
  };

  // The period of the plan is the hyperperiod, if there are periods.
  absl::Status FindPeriod() {
    const WorkloadStream* single = nullptr;
    for (const WorkloadStream& stream : workload_.streams) {
      switch (stream.arrival) {
        case Arrival::kPeriodic: {
          const int64_t period = stream.terms.period_ns;
          const int64_t all = out_.plan.period;
          if (all == 0) {
            out_.plan.period = period;
          } else if (!CheckedMul(all / std::gcd(all, period), period,
                                 &out_.plan.period) ||
                     out_.plan.period > solve::Problem::kMaxTime) {
            return Fault(stream,
                         "its period has no common multiple with the "
                         "others' that is short enough");
          }
          break;
        }
        case Arrival::kOnce:
          single = &stream;
          break;
        case Arrival::kAfter:
          if (stream.probability < 1) {
            return Fault(stream,
                         "it comes with a probability; a plan needs "
                         "what is certain");
          }
          break;
        case Arrival::kPoisson:
        case Arrival::kRecorded:
        case Arrival::kClosed:
          return Fault(stream, "its releases are not known ahead");
      }
    }
    if (single != nullptr && out_.plan.period > 0) {
      return Fault(*single, "a single shot beside periodic streams");
    }
    return absl::OkStatus();
  }

  void AddResources() {
    Plan& plan = out_.plan;
    plan.name = workload_.name;
    plan.topology_hash = workload_.topology_hash;
    plan.profile_hash = workload_.profile_hash;
    for (const WorkloadModule& module : workload_.modules) {
      plan.modules.push_back({module.name, module.content_hash});
    }
    // The module of kernels that were written by hand.
    plan.modules.push_back({workload_.name, ""});
    for (uint32_t p = 0; p < machine_.pools.size(); ++p) {
      const sched::Pool& pool = machine_.pools[p];
      const bool is_core = pool.kind == sched::ResourceKind::kCore;
      for (uint32_t i = 0; i < pool.count; ++i) {
        plan.resources.push_back({absl::StrCat(pool.name, "#", i),
                                  is_core ? PlannedResource::Kind::kCore
                                          : PlannedResource::Kind::kNpu,
                                  p});
      }
    }
    out_.problem.machine_count = machine_.resource_count();
  }

  absl::Status AddStream(uint32_t index) {
    const WorkloadStream& stream = workload_.streams[index];
    if (stream.arrival == Arrival::kAfter) {
      TAKT_CHECK(stream.after < index);
      for (const uint32_t before : jobs_of_[stream.after]) {
        const JobInfo origin = jobs_[before];
        TAKT_RETURN_IF_ERROR(AddJob(index, origin.release, &origin));
      }
      return absl::OkStatus();
    }
    int64_t count = stream.count;
    int64_t step = 0;
    if (stream.arrival == Arrival::kPeriodic) {
      step = stream.terms.period_ns;
      count = out_.plan.period / step;
      if (stream.offset_ns >= step) {
        return Fault(stream, "its offset is a period or more");
      }
    }
    if (count > Narrow<int64_t>(kOperationsMax)) {
      return Fault(stream, "too many jobs in the hyperperiod");
    }
    for (int64_t n = 0; n < count; ++n) {
      TAKT_RETURN_IF_ERROR(AddJob(index, stream.offset_ns + n * step, nullptr));
    }
    return absl::OkStatus();
  }

  absl::Status AddJob(uint32_t index, int64_t release, const JobInfo* origin) {
    const WorkloadStream& stream = workload_.streams[index];
    const auto& program = workload_.programs[stream.terms.program];
    TAKT_DCHECK(origin == nullptr || release == origin->release);
    JobInfo job;
    job.first = Narrow<uint32_t>(out_.plan.operations.size());
    job.release = release;
    if (job.first + program.operations.size() > kOperationsMax) {
      return Fault(stream, absl::StrCat("more than ", kOperationsMax,
                                        " operations in the hyperperiod"));
    }
    const auto number = Narrow<uint32_t>(jobs_of_[index].size());
    PlannedJob planned;
    planned.name = absl::StrCat(stream.name, "#", number);
    planned.stream = stream.name;
    planned.instance = number;
    planned.release = release;
    if (stream.terms.deadline_ns != kInfiniteFuture) {
      planned.deadline = release + stream.terms.deadline_ns;
      job.due = planned.deadline;
    }
    if (out_.plan.period > 0) job.due = std::min(job.due, out_.plan.period);
    planned.allowed = AllowedWithFeeders(stream);
    out_.plan.jobs.push_back(planned);
    for (uint32_t i = 0; i < program.operations.size(); ++i) {
      TAKT_RETURN_IF_ERROR(AddOperation(stream, program, i, job));
    }
    TAKT_CHECK(out_.plan.operations.size() ==
               job.first + program.operations.size());
    FindLast(program, &job);
    TAKT_CHECK(program.operations.empty() || !job.last.empty());
    if (origin != nullptr) Chain(*origin, program, job);
    jobs_of_[index].push_back(Narrow<uint32_t>(jobs_.size()));
    jobs_.push_back(std::move(job));
    return absl::OkStatus();
  }

  std::vector<uint32_t> AllowedOf(const WorkloadStream& stream) const {
    std::vector<uint32_t> allowed;
    (machine_.Allowed(stream.terms.pools, stream.terms.affinity) -
     workload_.lost)
        .ForEach([&](uint32_t resource) { allowed.push_back(resource); });
    return allowed;
  }

  // AllowedOf() and the cores that feed the NPUs among them.
  std::vector<uint32_t> AllowedWithFeeders(const WorkloadStream& stream) const {
    std::vector<uint32_t> allowed = AllowedOf(stream);
    sched::ResourceSet feeders;
    for (const uint32_t resource : allowed) {
      const sched::Pool& pool = machine_.pools[machine_.PoolOf(resource)];
      if (pool.feeder_count == 0) continue;
      feeders =
          feeders | machine_.ResourcesOf(Narrow<uint32_t>(pool.feeder_pool));
    }
    feeders.ForEach([&](uint32_t core) { allowed.push_back(core); });
    std::sort(allowed.begin(), allowed.end());
    allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
    return allowed;
  }

  // How often the stream's program runs on average, in runs a nanosecond. What
  // is released once shares the machine with all that is.
  double RateOf(const WorkloadStream& stream) const {
    const WorkloadStream* origin = &stream;
    while (origin->arrival == Arrival::kAfter) {
      origin = &workload_.streams[origin->after];
    }
    if (origin->arrival != Arrival::kOnce) {
      return 1 / static_cast<double>(origin->terms.period_ns);
    }
    double work_ns = 0;
    for (const WorkloadStream& other : workload_.streams) {
      work_ns += other.count * WorkOf(other, [](const auto&) { return 1.0; });
    }
    return origin->count * machine_.resource_count() / std::max(work_ns, 1.0);
  }

  // The sum over the stream's operations, each at its cheapest, of the time of
  // its resources by `weight(alternative)`.
  template <typename Weight>
  double WorkOf(const WorkloadStream& stream, const Weight& weight) const {
    double sum_ns = 0;
    for (const auto& operation :
         workload_.programs[stream.terms.program].operations) {
      const auto& ways = workload_.kernels[operation.kernel].alternatives;
      const auto cheapest = std::min_element(
          ways.begin(), ways.end(), [](const auto& a, const auto& b) {
            return a.guess_ns * a.shards < b.guess_ns * b.shards;
          });
      if (cheapest == ways.end()) continue;
      sum_ns += static_cast<double>(cheapest->guess_ns) * cheapest->shards *
                weight(*cheapest);
    }
    return sum_ns;
  }

  // The mean pressure of the other streams (sched/slowdown.h).
  int64_t PressureOn(const WorkloadStream& stream) const {
    double pressure_ppm = 0;
    for (const WorkloadStream& other : workload_.streams) {
      if (&other == &stream) continue;
      pressure_ppm += RateOf(other) * WorkOf(other, [](const auto& way) {
                        return static_cast<double>(way.pressure_ppm);
                      });
    }
    // Of all resources of the largest machine together.
    constexpr double kMost = double{sched::Slowdown::kPressureMaxPpm} *
                             sched::ResourceSet::kMaxResources;
    return Narrow<int64_t>(std::llround(std::min(pressure_ppm, kMost)));
  }

  int64_t DurationOf(const sched::AlternativeOptions& way,
                     int64_t pressure_ppm) const {
    int64_t duration = way.guess_ns;
    if (way.sample_count > 0) {
      if (workload_.planned_quantile == sched::Quantile::k90) {
        duration = way.q90_ns;
      } else if (workload_.planned_quantile == sched::Quantile::k99) {
        duration = way.q99_ns;
      }
    }
    duration = sched::SlowedNs(duration, way.sensitivity_ppm, pressure_ppm);
    return std::max<int64_t>(duration + workload_.handover_ns, 1);
  }

  absl::Status AddOperation(const WorkloadStream& stream,
                            const WorkloadProgram& program, uint32_t index,
                            const JobInfo& job) {
    const sched::ProgramOperation& given = program.operations[index];
    const WorkloadKernel& kernel = workload_.kernels[given.kernel];
    PlannedOperation planned;
    planned.job = Narrow<uint32_t>(out_.plan.jobs.size() - 1);
    planned.name = absl::StrCat(out_.plan.jobs[planned.job].name, "/", index);
    planned.module = kernel.module >= 0
                         ? Narrow<uint32_t>(kernel.module)
                         : Narrow<uint32_t>(workload_.modules.size());
    planned.kernel = kernel.name;
    planned.ordinal = index;
    solve::Operation operation;
    operation.release = job.release;
    std::vector<uint32_t> ways;
    for (const sched::AlternativeOptions& way : kernel.alternatives) {
      AddWay(stream, way, &planned, &operation, &ways);
    }
    if (operation.alternatives.empty()) {
      return Fault(stream, absl::StrCat("kernel ", kernel.name,
                                        " can run on none of its resources"));
    }
    for (const uint32_t before : given.after) {
      Precede(job.first + before, &planned);
    }
    out_.plan.operations.push_back(std::move(planned));
    out_.problem.operations.push_back(std::move(operation));
    out_.ways.push_back(std::move(ways));
    return absl::OkStatus();
  }

  void Precede(uint32_t before, PlannedOperation* planned) {
    TAKT_DCHECK(before < out_.plan.operations.size());
    planned->after.push_back(before);
    out_.problem.precedences.emplace_back(
        before, Narrow<uint32_t>(out_.plan.operations.size()));
  }

  void AddWay(const WorkloadStream& stream,
              const sched::AlternativeOptions& way, PlannedOperation* planned,
              solve::Operation* operation, std::vector<uint32_t>* ways) const {
    const sched::Pool& pool = machine_.pools[way.pool];
    const bool is_core = pool.kind == sched::ResourceKind::kCore;
    std::vector<uint32_t> places;
    for (const uint32_t resource : AllowedOf(stream)) {
      if (machine_.PoolOf(resource) == way.pool) places.push_back(resource);
    }
    const int64_t duration = DurationOf(
        way,
        pressures_ppm_[Narrow<size_t>(&stream - workload_.streams.data())]);
    const auto number = Narrow<uint32_t>(planned->alternatives.size());
    bool is_possible = false;
    for (std::vector<uint32_t>& set : SubsetsOf(places, way.shards)) {
      for (const std::vector<uint32_t>& feeders : FeedersOf(pool)) {
        std::vector<uint32_t> all = set;
        all.insert(all.end(), feeders.begin(), feeders.end());
        std::sort(all.begin(), all.end());
        operation->alternatives.push_back({std::move(all), duration});
        ways->push_back(number);
        is_possible = true;
      }
    }
    TAKT_DCHECK(operation->alternatives.size() == ways->size());
    if (!is_possible) return;
    planned->alternatives.push_back(
        {is_core ? PlannedResource::Kind::kCore : PlannedResource::Kind::kNpu,
         way.pool, way.shards, duration, pool.feeder_count});
  }

  // The sets of cores that may feed an NPU of the pool; or one empty set.
  std::vector<std::vector<uint32_t>> FeedersOf(const sched::Pool& pool) const {
    if (pool.feeder_count == 0) return {{}};
    std::vector<uint32_t> cores;
    (machine_.ResourcesOf(Narrow<uint32_t>(pool.feeder_pool)) - workload_.lost)
        .ForEach([&](uint32_t core) { cores.push_back(core); });
    return SubsetsOf(cores, pool.feeder_count);
  }

  static void FindLast(const WorkloadProgram& program, JobInfo* job) {
    std::vector<bool> is_last(program.operations.size(), true);
    for (const sched::ProgramOperation& operation : program.operations) {
      for (const uint32_t before : operation.after) is_last[before] = false;
    }
    for (uint32_t i = 0; i < is_last.size(); ++i) {
      if (is_last[i]) job->last.push_back(job->first + i);
    }
  }

  // The first operations of the job come after the last of `origin`.
  void Chain(const JobInfo& origin, const WorkloadProgram& program,
             const JobInfo& job) {
    for (uint32_t i = 0; i < program.operations.size(); ++i) {
      if (!program.operations[i].after.empty()) continue;
      PlannedOperation& first = out_.plan.operations[job.first + i];
      for (const uint32_t before : origin.last) {
        first.after.push_back(before);
        out_.problem.precedences.emplace_back(before, job.first + i);
      }
    }
  }

  // Due dates become tails, measured from the latest due date.
  void AddTails() {
    for (const JobInfo& job : jobs_) {
      if (job.due != kNoDeadline)
        out_.horizon = std::max(out_.horizon, job.due);
    }
    for (const JobInfo& job : jobs_) {
      if (job.due == kNoDeadline) continue;
      TAKT_DCHECK(out_.horizon >= job.due);
      for (const uint32_t last : job.last) {
        TAKT_DCHECK(last < out_.problem.operations.size());
        out_.problem.operations[last].tail = out_.horizon - job.due;
      }
    }
  }

  const Workload& workload_;
  const sched::Machine& machine_;
  UnrolledWorkload out_;
  std::vector<JobInfo> jobs_;
  std::vector<std::vector<uint32_t>> jobs_of_;  // By stream.
  std::vector<int64_t> pressures_ppm_;          // On each stream.
};

}  // namespace

absl::StatusOr<UnrolledWorkload> UnrollWorkload(const Workload& workload) {
  return Unroller(workload).Unroll();
}

}  // namespace takt::plan
