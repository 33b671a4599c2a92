#include "plan/response_analysis.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "sched/demand.h"

namespace takt::plan {
namespace {

using sched::Band;
using sched::Demand;

// The guard of admission (sched/admission.cc), so that both bounds agree.
constexpr double kGuardMinNs = 200'000;
constexpr double kGuardDivisor = 10;
// A window of three hours grows without end, or its bound is useless.
constexpr double kWindowMaxNs = 1e13;

struct Task {
  const WorkloadStream* stream = nullptr;
  Demand demand;
  Band band = Band::kSoft;
  uint32_t level = 0;      // Lower goes first; see Policy job-shop.
  bool is_aging = false;   // It may wait until it counts as hard.
  double response_ns = 0;  // From its own release, so far.
  double jitter_ns = 0;    // Of its release.
  double blocking_ns = 0;
  double period_ns = 0;  // Least time between releases; 0: `count` in all.
  double count = 1;
  std::string fault;         // Why there is no bound.
  bool is_hopeless = false;  // The fault does not depend on other tasks.
};

// Whether jobs of `other` go before those of `task` while its stream has had
// less than its share.
bool GoesByShare(const Task& other, const Task& task) {
  return other.stream->terms.share_permille != 0 && task.band > Band::kHard;
}

// Whether `other` goes before `task` only after it has aged, and has one job at
// a time: each of these jobs then takes the aging time.
bool IsRare(const Task& other, const Task& task) {
  return other.is_aging && other.level > task.level &&
         other.stream->arrival == Arrival::kClosed && !GoesByShare(other, task);
}

double Jobs(const Task& task, double window_ns) {
  if (task.period_ns == 0) return task.count;
  return std::ceil((window_ns + task.response_ns + task.jitter_ns) /
                   task.period_ns);
}

// The reason why a stream that follows `before` in a chain has no bound.
std::string NoBoundBefore(const Task& before) {
  return absl::StrCat("stream ", before.stream->name,
                      ", which it follows, has none: ", before.fault);
}

class Analysis {
 public:
  Analysis(const Workload& workload, const sched::SchedulerOptions& options)
      : workload_(workload), options_(options) {}

  absl::StatusOr<std::vector<ResponseBound>> Run() {
    TAKT_RETURN_IF_ERROR(workload_.RequirePrograms());
    TAKT_RETURN_IF_ERROR(SetUp());
    // A task that ages goes before more tasks, so these may age, too.
    do {
      for (Task& task : tasks_) {
        task.response_ns = task.demand.path_max_ns;
        if (!task.is_hopeless) task.fault.clear();
      }
      FindBlocking();
      FindResponses();
    } while (FindAging());
    return Report();
  }

 private:
  absl::Status SetUp() {
    TAKT_ASSIGN_OR_RETURN(
        scheduler_, sched::Scheduler::Create(workload_.machine, options_));
    for (uint32_t i = 0; i < workload_.kernels.size(); ++i) {
      TAKT_RETURN_IF_ERROR(
          scheduler_
              ->AddKernel({0, i, {1, 1, 1}}, workload_.kernels[i].alternatives)
              .status());
    }
    for (const WorkloadProgram& program : workload_.programs) {
      TAKT_RETURN_IF_ERROR(scheduler_->AddProgram(program.operations).status());
    }
    const std::vector<uint32_t> speeds(workload_.machine.pools.size(), 1000);
    const sched::DemandAnalysis demands(scheduler_->costs(), speeds);
    for (const WorkloadStream& stream : workload_.streams) {
      TAKT_ASSIGN_OR_RETURN(const sched::StreamId id,
                            scheduler_->AddStream(stream.terms));
      Task task;
      task.stream = &stream;
      task.band = BandOf(stream, id);
      task.level =
          static_cast<uint32_t>(task.band) * 256 + 255 - stream.terms.priority;
      task.demand = demands.DemandOf(
          scheduler_->program(stream.terms.program),
          workload_.machine.Allowed(stream.terms.pools, stream.terms.affinity),
          stream.terms.shards_preferred);
      SetArrival(&task);
      task.is_hopeless = !task.fault.empty();
      tasks_.push_back(std::move(task));
    }
    return absl::OkStatus();
  }

  Band BandOf(const WorkloadStream& stream, sched::StreamId id) {
    if (stream.asks_admission &&
        scheduler_->Admit(id).verdict == sched::Verdict::kWillFit &&
        stream.terms.criticality == sched::Criticality::kHard) {
      return Band::kPromised;
    }
    return sched::BandOf(stream.terms.criticality);
  }

  // `tasks_` holds the streams before this one.
  void SetArrival(Task* task) {
    const WorkloadStream& stream = *task->stream;
    task->jitter_ns = static_cast<double>(stream.jitter_ns);
    task->period_ns = static_cast<double>(stream.terms.period_ns);
    task->count = stream.count;
    switch (stream.arrival) {
      case Arrival::kPeriodic:
        break;
      case Arrival::kOnce:
        task->period_ns = 0;
        break;
      case Arrival::kRecorded:
        task->fault = "it is a recorded run's";
        break;
      case Arrival::kPoisson:
        task->fault = "its releases come at random";
        break;
      case Arrival::kClosed:
        task->fault = "it is released again as soon as it is done";
        break;
      case Arrival::kAfter: {
        TAKT_CHECK(stream.after < tasks_.size());
        const Task& before = tasks_[stream.after];
        task->period_ns = before.period_ns;
        task->count = before.count;
        if (!before.fault.empty()) task->fault = NoBoundBefore(before);
        break;
      }
    }
    if (!task->fault.empty()) return;
    if (!task->demand.is_known) {
      task->fault = "an operation can run nowhere";
    } else if (stream.terms.lease == sched::LeaseScope::kJob) {
      task->fault = "it keeps an NPU between its operations";
    } else if (IsLowered(*task)) {
      task->fault = "it runs with less urgency while a job of it may miss";
    }
  }

  // Whether jobs of it run a band below its own.
  static bool IsLowered(const Task& task) {
    return task.stream->terms.met_window != 0 && task.band != Band::kPromised;
  }

  // Whether jobs of `other` may go before those of `task`.
  static bool GoesBefore(const Task& other, const Task& task) {
    return other.level <= task.level || GoesByShare(other, task) ||
           (other.is_aging && task.band != Band::kPromised);
  }

  void FindBlocking() {
    for (Task& task : tasks_) {
      task.blocking_ns = 0;
      for (const Task& other : tasks_) {
        // A task that goes before it only once aged blocks it until then.
        const bool is_counted = GoesBefore(other, task) && !IsRare(other, task);
        if (is_counted || !other.demand.is_known) continue;
        task.blocking_ns =
            std::max(task.blocking_ns, task.band == Band::kPromised
                                           ? other.demand.tile_max_ns
                                           : other.demand.operation_max_ns);
      }
      // Its own tiles also block a sibling or a successor.
      if (task.band == Band::kPromised) {
        task.blocking_ns = std::max(task.blocking_ns, task.demand.tile_max_ns);
      }
    }
  }

  // The least number of busy resources while an operation of the task waits.
  double PlacesOf(const Task& task) const {
    uint32_t places = task.demand.places_min;
    for (const Task& other : tasks_) {
      if (!GoesBefore(other, task)) continue;
      places = std::min(places, other.demand.collecting_places_min);
    }
    return places;
  }

  // The time from the release of the first job of its chain to its own release.
  double ChainDelay(const Task& task) const {
    if (task.stream->arrival != Arrival::kAfter) return 0;
    const Task& before = tasks_[task.stream->after];
    return before.jitter_ns + before.response_ns;
  }

  // The duration of the work that goes before `task` in a window of
  // `window_ns`, together with the task's own work.
  double Next(const Task& task, double places, double window_ns) const {
    TAKT_DCHECK(places > 0);
    double time_ns = 0;
    double work_ns = 0;
    double starts = task.demand.path_count;
    for (const Task& other : tasks_) {
      if (!GoesBefore(other, task)) continue;
      const double jobs =
          IsRare(other, task)
              ? std::ceil(window_ns / static_cast<double>(options_.aging_ns)) +
                    1
              : Jobs(other, window_ns);
      time_ns += jobs * other.demand.time_max_ns;
      work_ns += jobs * other.demand.work_max_ns;
      starts += jobs * other.demand.count;
    }
    return task.demand.path_max_ns + std::min(time_ns, work_ns / places) +
           starts * task.blocking_ns;
  }

  // Raises all responses until none changes.
  void FindResponses() {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (Task& task : tasks_) {
        if (!task.fault.empty()) continue;
        has_changed |= Raise(&task);
      }
    }
  }

  // True if something changed.
  bool Raise(Task* task) {
    for (const Task& other : tasks_) {
      if (other.fault.empty() || !GoesBefore(other, *task)) continue;
      if (&other == task || IsRare(other, *task)) continue;
      task->fault = absl::StrCat("stream ", other.stream->name,
                                 ", which may go before it, has none");
      return true;
    }
    if (task->stream->arrival == Arrival::kAfter) {
      const Task& before = tasks_[task->stream->after];
      if (!before.fault.empty()) {
        task->fault = NoBoundBefore(before);
        return true;
      }
      task->jitter_ns = ChainDelay(*task);
    }
    TAKT_CHECK(task->fault.empty());
    const double places = PlacesOf(*task);
    const double old_ns = task->response_ns;
    double window_ns = old_ns;
    for (;;) {
      const double asked_ns = Next(*task, places, window_ns);
      const double next_ns =
          asked_ns + std::max(kGuardMinNs, asked_ns / kGuardDivisor);
      if (next_ns <= window_ns) break;
      const double percent = 100 * asked_ns / std::max(window_ns, 1.0);
      window_ns = next_ns;
      if (window_ns <= kWindowMaxNs) continue;
      task->fault =
          absl::StrCat("it and what may go before it ask for ",
                       std::llround(std::ceil(percent)), " % of the ", places,
                       places == 1 ? " place" : " places", " that it has");
      return true;
    }
    // The least fixed point: responses only rise.
    TAKT_CHECK(window_ns >= old_ns);
    task->response_ns = window_ns;
    if (task->stream->terms.late == sched::LatePolicy::kDemote &&
        window_ns + ChainDelay(*task) >
            static_cast<double>(task->stream->terms.deadline_ns)) {
      task->fault = "it is demoted once it is late, which it may be";
      return true;
    }
    return window_ns > old_ns;
  }

  // Marks the tasks that may wait for the aging time. True if one is new.
  bool FindAging() {
    if (options_.aging_ns == 0) return false;
    bool is_new = false;
    for (Task& task : tasks_) {
      if (task.is_aging) continue;
      if (task.band <= Band::kHard && !IsLowered(task)) continue;
      const bool is_bounded =
          task.fault.empty() &&
          task.response_ns < static_cast<double>(options_.aging_ns);
      if (is_bounded) continue;
      task.is_aging = true;
      is_new = true;
    }
    return is_new;
  }

  std::vector<ResponseBound> Report() const {
    TAKT_CHECK(tasks_.size() == workload_.streams.size());
    std::vector<ResponseBound> bounds;
    for (const Task& task : tasks_) {
      ResponseBound bound;
      bound.stream = task.stream->name;
      bound.deadline_ns = task.stream->terms.deadline_ns;
      bound.least_ns = std::llround(task.demand.path_min_ns);
      bound.blocking_ns = std::llround(task.blocking_ns);
      if (!task.fault.empty()) {
        bound.reason = task.fault;
      } else {
        bound.bound_ns =
            std::llround(std::ceil(task.response_ns + ChainDelay(task)));
      }
      bounds.push_back(std::move(bound));
    }
    return bounds;
  }

  const Workload& workload_;
  const sched::SchedulerOptions& options_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  std::vector<Task> tasks_;
};

}  // namespace

absl::StatusOr<std::vector<ResponseBound>> AnalyseResponses(
    const Workload& workload, const sched::SchedulerOptions& options) {
  return Analysis(workload, options).Run();
}

}  // namespace takt::plan
