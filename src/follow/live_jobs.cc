#include "follow/live_jobs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/stable_sort.h"

namespace takt::follow {

using sched::AdvisedJob;
using sched::AdvisedOperation;

void LiveJobs::Attach(const sched::Scheduler& scheduler) {
  scheduler_ = &scheduler;
  live_.clear();
  last_releases_.clear();
}

LiveJobs::LiveJob* LiveJobs::Find(sched::JobId job) {
  if (job.index >= live_.size()) return nullptr;
  LiveJob& live = live_[job.index];
  return live.job.job == job ? &live : nullptr;
}

void LiveJobs::OnReady(const AdvisedOperation& operation) {
  LiveJob* const live = Find(operation.job);
  if (live == nullptr) return;
  if (live->operations.size() <= operation.program_index) {
    live->operations.resize(operation.program_index + 1);
  }
  live->operations[operation.program_index].state = State::kWaiting;
}

void LiveJobs::OnStarted(const AdvisedOperation& operation,
                         const sched::ResourceSet& resources, int64_t now_ns) {
  LiveJob* const live = Find(operation.job);
  if (live == nullptr) return;
  // It was ready before.
  TAKT_CHECK(operation.program_index < live->operations.size());
  live->operations[operation.program_index] = {
      State::kRunning, operation.kernel, now_ns, resources};
}

void LiveJobs::OnStopped(const AdvisedOperation& operation) {
  LiveJob* const live = Find(operation.job);
  if (live == nullptr) return;
  TAKT_CHECK(operation.program_index < live->operations.size());
  live->operations[operation.program_index].state = State::kDone;
}

void LiveJobs::OnReleased(const AdvisedJob& job) {
  if (live_.size() <= job.job.index) live_.resize(job.job.index + 1);
  live_[job.job.index] = {job, {}};
  if (last_releases_.size() <= job.stream) {
    last_releases_.resize(job.stream + 1, INT64_MIN);
  }
  last_releases_[job.stream] =
      std::max(last_releases_[job.stream], job.release_ns);
}

void LiveJobs::OnOver(sched::JobId job) {
  LiveJob* const live = Find(job);
  if (live != nullptr) *live = {};
}

bool LiveJobs::IsBestEffort(sched::StreamId stream) const {
  return scheduler_->stream_options(stream).criticality ==
         sched::Criticality::kBestEffort;
}

absl::Span<const sched::ProgramOperation> LiveJobs::ProgramOf(
    sched::StreamId stream) {
  if (programs_.size() <= stream) programs_.resize(stream + 1);
  std::vector<sched::ProgramOperation>& operations = programs_[stream];
  const sched::ProgramId id = scheduler_->stream_options(stream).program;
  if (id != sched::kNoProgram) {
    const sched::JobProgram& program = scheduler_->program(id);
    if (operations.size() == program.size()) return operations;
    operations.resize(program.size());
    for (uint32_t i = 0; i < program.size(); ++i) {
      operations[i].kernel = program.kernel(i);
      for (const uint32_t next : program.successors(i)) {
        operations[next].after.push_back(i);
      }
    }
    return operations;
  }
  // The stream's last job is the best estimate: a chain, because only the order
  // of its operations is known.
  operations.clear();
  for (const sched::KernelId kernel : scheduler_->last_sequence(stream)) {
    const auto count = static_cast<uint32_t>(operations.size());
    operations.push_back({kernel, {}});
    if (count > 0) operations.back().after = {count - 1};
  }
  return operations;
}

// The durations are those at the present speeds.
plan::WorkloadKernel LiveJobs::KernelOf(sched::KernelId id) const {
  plan::WorkloadKernel kernel;
  kernel.name = absl::StrCat("kernel ", id);
  for (const auto& way : scheduler_->costs().kernel(id).alternatives) {
    const int64_t permille = scheduler_->speed_permille(way.pool);
    sched::AlternativeOptions option;
    option.pool = way.pool;
    option.shards = way.shards;
    option.tile_ns = way.tile_ns;
    option.guess_ns = std::max<int64_t>(way.expected_ns * 1000 / permille, 1);
    kernel.alternatives.push_back(option);
  }
  return kernel;
}

int64_t LiveJobs::ExpectedEnd(const LiveOperation& operation) const {
  TAKT_DCHECK(operation.state == State::kRunning);
  const uint32_t shards = operation.resources.count();
  int64_t longest_ns = 0;
  for (const auto& way :
       scheduler_->costs().kernel(operation.kernel).alternatives) {
    if (!operation.resources.Intersects(machine().ResourcesOf(way.pool))) {
      continue;
    }
    if (way.shards == shards || longest_ns == 0) longest_ns = way.expected_ns;
  }
  return operation.since_ns + longest_ns;
}

// Best-effort jobs fill the holes. Operations of a job that holds an NPU to its
// end cannot be planned one by one.
bool LiveJobs::IsPlannable(sched::StreamId stream) {
  return !ProgramOf(stream).empty() && !IsBestEffort(stream) &&
         scheduler_->stream_options(stream).lease != sched::LeaseScope::kJob;
}

PendingWork::Job LiveJobs::MakeJob(const KnownJob& known) {
  const auto& [advised, live] = known;
  const sched::StreamOptions& options =
      scheduler_->stream_options(advised.stream);
  Job job;
  job.stream = advised.stream;
  job.release_ns = advised.release_ns;
  job.deadline_ns = advised.deadline_ns;
  job.allowed = machine().Allowed(options.pools, options.affinity);
  const auto program = ProgramOf(advised.stream);
  for (uint32_t i = 0; i < program.size(); ++i) {
    Operation operation;
    operation.ordinal = i;
    operation.kernel = program[i].kernel;
    operation.after = program[i].after;
    if (live != nullptr && i < live->operations.size()) {
      if (live->operations[i].state == State::kDone) continue;
      operation.is_running = live->operations[i].state == State::kRunning;
      if (operation.is_running) {
        operation.end_ns = ExpectedEnd(live->operations[i]);
      }
    }
    job.operations.push_back(std::move(operation));
  }
  return job;
}

// The released and the expected jobs, by release.
std::vector<LiveJobs::KnownJob> LiveJobs::FindJobs(int64_t now_ns,
                                                   int64_t end_ns) const {
  std::vector<KnownJob> jobs;
  for (const LiveJob& live : live_) {
    if (live.job.job.generation != 0) jobs.emplace_back(live.job, &live);
  }
  for (uint32_t i = 0; i < last_releases_.size(); ++i) {
    const sched::StreamOptions& options = scheduler_->stream_options(i);
    const int64_t last_ns = last_releases_[i];
    // A stream that has missed a release has stopped.
    if (options.period_ns <= 0 || last_ns < now_ns - 2 * options.period_ns) {
      continue;
    }
    for (int64_t release_ns = last_ns + options.period_ns; release_ns < end_ns;
         release_ns += options.period_ns) {
      jobs.push_back(
          {{{}, i, release_ns, DeadlineAfter(release_ns, options.deadline_ns)},
           nullptr});
      if (jobs.size() > options_.operation_count_max) break;
    }
  }
  StableSort(jobs, [](const KnownJob& a, const KnownJob& b) {
    return a.first.release_ns < b.first.release_ns;
  });
  return jobs;
}

PendingWork::Snapshot LiveJobs::TakeSnapshot(int64_t now_ns, int64_t) {
  const int64_t budget_ns = options_.planning.budget_ns;
  TAKT_DCHECK(budget_ns > 0);
  Snapshot snapshot;
  // The next plan must be in force when this one ends.
  snapshot.next_ns =
      now_ns + std::max(options_.length_ns - budget_ns, budget_ns);
  snapshot.end_ns = now_ns + options_.length_ns + budget_ns;
  const std::vector<KnownJob> jobs = FindJobs(now_ns, snapshot.end_ns);
  if (jobs.empty()) return snapshot;
  snapshot.origin_ns = std::min(now_ns, jobs[0].first.release_ns);
  snapshot.lost = sched::ResourceSet::Range(0, machine().resource_count()) -
                  scheduler_->available();
  for (const KnownJob& job : jobs) {
    if (IsPlannable(job.first.stream)) snapshot.jobs.push_back(MakeJob(job));
  }
  for (const LiveJob& live : live_) {
    for (const LiveOperation& operation : live.operations) {
      if (operation.state != State::kRunning) continue;
      snapshot.busy.emplace_back(operation.resources, ExpectedEnd(operation));
    }
  }
  return snapshot;
}

FollowerOptions LiveJobs::MakeOptions() {
  FollowerOptions options;
  options.mode = FollowMode::kAdaptive;
  options.divergence_ns = options_.divergence_ns;
  options.longest_ns = [this](sched::KernelId kernel, uint32_t pool) {
    int64_t longest_ns = 0;
    for (const auto& way : scheduler_->costs().kernel(kernel).alternatives) {
      if (way.pool == pool) {
        longest_ns = std::max(longest_ns, way.duration.q99_ns());
      }
    }
    return longest_ns;
  };
  options.fills = [this](sched::StreamId stream) {
    return IsBestEffort(stream);
  };
  return options;
}

void LiveJobs::OnInForce(FollowedPlan& plan, int64_t now_ns) {
  std::vector<const LiveJob*> jobs;
  for (const LiveJob& live : live_) {
    if (live.job.job.generation != 0 && plan.has_stream(live.job.stream)) {
      jobs.push_back(&live);
    }
  }
  // Jobs of one stream are matched by their order.
  StableSort(jobs, [](const LiveJob* a, const LiveJob* b) {
    return a->job.release_ns < b->job.release_ns;
  });
  for (const LiveJob* live : jobs) {
    AdvisedOperation operation;
    operation.job = live->job.job;
    operation.stream = live->job.stream;
    operation.release_ns = live->job.release_ns;
    for (uint32_t i = 0; i < live->operations.size(); ++i) {
      const LiveOperation& known = live->operations[i];
      operation.program_index = i;
      operation.kernel = known.kernel;
      if (known.state == State::kDone) {
        plan.OnStopped(operation, true, now_ns);
      } else if (known.state == State::kRunning) {
        plan.OnStarted(operation, known.resources, known.since_ns);
      }
    }
  }
}

}  // namespace takt::follow
