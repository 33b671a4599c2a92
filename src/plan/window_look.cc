// Windows: what there is to plan, as a workload of single shots, and its plan.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plan/window_guide.h"
#include "plan/workload_plan.h"

namespace takt::plan {

using sched::GuidedJob;
using sched::ResourceSet;

std::string WindowGuide::NameOf(sched::StreamId stream) {
  return absl::StrCat("stream ", stream);
}

// What jobs of the stream are made of, as far as anybody knows.
absl::Span<const sched::ProgramOperation> WindowGuide::ProgramOf(
    sched::StreamId stream) {
  if (chains_.size() <= stream) chains_.resize(stream + 1);
  std::vector<sched::ProgramOperation>& chain = chains_[stream];
  const sched::ProgramId id = scheduler_->stream_options(stream).program;
  if (id != sched::kNoProgram) {
    const sched::Program& program = scheduler_->program(id);
    if (chain.size() == program.size()) return chain;
    chain.resize(program.size());
    for (uint32_t i = 0; i < program.size(); ++i) {
      chain[i].kernel = program.kernel(i);
      for (const uint32_t next : program.successors(i)) {
        chain[next].after.push_back(i);
      }
    }
    return chain;
  }
  chain.clear();
  for (const sched::KernelId kernel : scheduler_->last_sequence(stream)) {
    const auto count = static_cast<uint32_t>(chain.size());
    chain.push_back({kernel, {}});
    if (count > 0) chain.back().after = {count - 1};
  }
  return chain;
}

// As long as it takes at the speeds of now.
Kernel WindowGuide::KernelOf(sched::KernelId id) const {
  Kernel kernel;
  kernel.name = absl::StrCat("kernel ", id);
  for (const auto& way : scheduler_->costs().kernel(id).alternatives) {
    const int64_t permille = scheduler_->speed_permille(way.pool);
    sched::AlternativeOptions option;
    option.pool = way.pool;
    option.shards = way.shards;
    option.tile_ns = way.tile_ns;
    option.guess_ns =
        std::max<int64_t>(way.duration.q50_ns() * 1000 / permille, 1);
    kernel.alternatives.push_back(option);
  }
  return kernel;
}

uint32_t WindowGuide::AddKernel(Window* window, sched::KernelId kernel) {
  const auto [found, is_new] = kernels_.try_emplace(
      kernel, static_cast<uint32_t>(window->workload.kernels.size()));
  if (is_new) window->workload.kernels.push_back(KernelOf(kernel));
  return found->second;
}

// Of the program that was added last.
void WindowGuide::AddStream(Window* window, int64_t offset_ns,
                            int64_t deadline_ns, const ResourceSet& allowed) {
  Stream stream;
  stream.arrival = Arrival::kOnce;
  stream.name = absl::StrCat(window->workload.streams.size());
  stream.offset_ns = std::max<int64_t>(offset_ns, 0);
  stream.terms.program =
      static_cast<uint32_t>(window->workload.programs.size() - 1);
  stream.terms.affinity = allowed;
  if (deadline_ns != kInfiniteFuture) {
    // One that has passed: as soon as can be.
    stream.terms.deadline_ns = std::max<int64_t>(
        deadline_ns - window->origin_ns - stream.offset_ns, 1);
  }
  window->workload.streams.push_back(std::move(stream));
}

// Adds what is left of the job; false if there is nothing to plan.
bool WindowGuide::AddJob(Window* window, const GuidedJob& job,
                         const LiveJob* live, int64_t earliest_ns) {
  const auto known = ProgramOf(job.stream);
  const sched::StreamOptions& options = scheduler_->stream_options(job.stream);
  if (known.empty() || options.criticality == sched::Criticality::kBestEffort ||
      options.lease == sched::LeaseScope::kJob) {
    return false;
  }
  const auto state_of = [&](uint32_t index) {
    return live != nullptr && index < live->operations.size()
               ? live->operations[index].state
               : State::kWaiting;
  };
  WindowJob planned{job.stream, job.release_ns, job.deadline_ns, {}};
  Program program;
  program.name = absl::StrCat(window->workload.programs.size());
  std::vector<uint32_t> place_of(known.size(), UINT32_MAX);
  // What runs delays what comes after it.
  int64_t ready_ns = std::max(job.release_ns, earliest_ns);
  for (uint32_t i = 0; i < known.size(); ++i) {
    if (state_of(i) == State::kDone) continue;
    if (state_of(i) == State::kRunning) {
      ready_ns = std::max(ready_ns, ExpectedEnd(live->operations[i]));
      continue;
    }
    place_of[i] = static_cast<uint32_t>(program.operations.size());
    sched::ProgramOperation operation;
    operation.kernel = AddKernel(window, known[i].kernel);
    for (const uint32_t before : known[i].after) {
      if (place_of[before] != UINT32_MAX) {
        operation.after.push_back(place_of[before]);
      }
    }
    program.operations.push_back(std::move(operation));
    planned.ordinals.push_back(i);
  }
  if (program.operations.empty()) return false;
  window->workload.programs.push_back(std::move(program));
  AddStream(window, ready_ns - window->origin_ns, job.deadline_ns,
            scheduler_->machine().Allowed(options.pools, options.affinity) &
                scheduler_->available());
  window->jobs.push_back(std::move(planned));
  return true;
}

int64_t WindowGuide::ExpectedEnd(const LiveOperation& operation) const {
  uint32_t shards = operation.resources.count();
  int64_t longest_ns = 0;
  for (const auto& way :
       scheduler_->costs().kernel(operation.kernel).alternatives) {
    if (!operation.resources.Intersects(
            scheduler_->machine().ResourcesOf(way.pool))) {
      continue;
    }
    if (way.shards == shards || longest_ns == 0) {
      longest_ns = way.duration.q50_ns();
    }
  }
  return operation.since_ns + longest_ns;
}

// What is there now, and what is expected. Null: nothing to plan.
std::shared_ptr<WindowGuide::Window> WindowGuide::LookAround(int64_t now_ns) {
  auto window = std::make_shared<Window>();
  window->workload.name = "window";
  window->workload.machine = scheduler_->machine();
  window->workload.power_mw.assign(scheduler_->machine().pools.size(), 0);
  kernels_.clear();
  std::vector<std::pair<GuidedJob, const LiveJob*>> jobs;
  for (const LiveJob& live : live_) {
    if (live.job.job.generation != 0) jobs.emplace_back(live.job, &live);
  }
  // Until the next one is in force.
  const int64_t end_ns = now_ns + options_.length_ns + budget_ns_;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    const sched::StreamOptions& options = scheduler_->stream_options(i);
    const int64_t last_ns = streams_[i].last_release_ns;
    // One that has missed a release has stopped.
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
  std::stable_sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) {
    return a.first.release_ns < b.first.release_ns;
  });
  if (jobs.empty()) return nullptr;
  window->end_ns = end_ns;
  window->origin_ns = std::min(now_ns, jobs[0].first.release_ns);
  size_t count = 0;
  for (const auto& [job, live] : jobs) {
    if (count > options_.operation_count_max) break;
    if (!AddJob(window.get(), job, live, force_ns_)) continue;
    count += window->jobs.back().ordinals.size();
  }
  if (window->jobs.empty()) return nullptr;
  for (const LiveJob& live : live_) {
    for (const LiveOperation& operation : live.operations) {
      if (operation.state == State::kRunning) {
        AddRunning(window.get(), operation);
      }
    }
  }
  return window;
}

// Keeps resources that are still busy when the plan comes into force: a job
// beyond those of the window, which has to start at once.
void WindowGuide::AddRunning(Window* window, const LiveOperation& operation) {
  const int64_t left_ns = ExpectedEnd(operation) - force_ns_;
  if (left_ns <= 0) return;
  const sched::Machine& machine = scheduler_->machine();
  for (uint32_t pool = 0; pool < machine.pools.size(); ++pool) {
    const ResourceSet there = operation.resources & machine.ResourcesOf(pool);
    if (there.empty()) continue;
    Kernel kernel;
    kernel.name = absl::StrCat("running ", window->workload.kernels.size());
    sched::AlternativeOptions option;
    option.pool = pool;
    option.shards = there.count();
    option.guess_ns = left_ns;
    kernel.alternatives.push_back(option);
    window->workload.kernels.push_back(std::move(kernel));
    Program program;
    program.name = absl::StrCat(window->workload.programs.size());
    sched::ProgramOperation busy;
    busy.kernel = static_cast<uint32_t>(window->workload.kernels.size() - 1);
    program.operations.push_back(std::move(busy));
    window->workload.programs.push_back(std::move(program));
    AddStream(window, force_ns_ - window->origin_ns, force_ns_ + left_ns,
              there);
    // An NPU takes its feeders with it.
    if (machine.pools[pool].feeder_count > 0) return;
  }
}

// On whichever thread plans.
void WindowGuide::Solve(Window* window, const WindowOptions& options,
                        int64_t budget_ns) {
  SolverOptions solver;
  solver.time_limit_ns = budget_ns / 2;
  if (options.step_limit > 0) {
    solver.step_limit = options.step_limit;
    solver.time_limit_ns = 60'000'000'000;
  }
  absl::StatusOr<WorkloadSolution> found =
      PlanWorkload(window->workload, solver);
  const bool is_good = found.ok() && Relabel(window, &found->plan);
  MutexLock lock(&window->mutex);
  window->is_planned = true;
  if (is_good) {
    window->plan = std::move(found->plan);
  } else {
    window->plan = absl::FailedPreconditionError("there is no such plan");
  }
}

// The plan of the workload becomes one of the scheduler's streams and jobs.
// False if something that runs would have had to wait.
bool WindowGuide::Relabel(Window* window, Plan* plan) {
  const size_t job_count = window->jobs.size();
  while (plan->operations.back().job >= job_count) {
    const PlannedOperation& busy = plan->operations.back();
    if (busy.start > plan->jobs[busy.job].release) return false;
    plan->operations.pop_back();
  }
  plan->jobs.resize(job_count);
  absl::flat_hash_map<sched::StreamId, uint32_t> counts;
  for (uint32_t j = 0; j < plan->jobs.size(); ++j) {
    const WindowJob& job = window->jobs[j];
    plan->jobs[j].stream = NameOf(job.stream);
    plan->jobs[j].instance = counts[job.stream]++;
    plan->jobs[j].release = job.release_ns - window->origin_ns;
    plan->jobs[j].deadline = job.deadline_ns == kInfiniteFuture
                                 ? kNoDeadline
                                 : job.deadline_ns - window->origin_ns;
  }
  for (PlannedOperation& operation : plan->operations) {
    operation.ordinal = window->jobs[operation.job].ordinals[operation.ordinal];
    // One that is late anyway keeps nothing from being moved.
    PlannedJob& job = plan->jobs[operation.job];
    if (operation.start + operation.duration > job.deadline) {
      job.deadline = kNoDeadline;
    }
  }
  return true;
}

}  // namespace takt::plan
