#include "follow/window.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/exceptions.h"
#include "base/hash_map.h"
#include "base/lean_error.h"
#include "plan/workload_plan.h"

namespace takt::follow {

using sched::ProgramOperation;
using sched::ResourceSet;

namespace {

// The number of steps ends a search; this limit bounds the cost of a bug.
constexpr int64_t kStepsTimeLimitNs = 60'000'000'000;

}  // namespace

Window::Window(const sched::Machine& machine, const ResourceSet& lost,
               int64_t origin_ns, int64_t force_ns)
    : origin_ns_(origin_ns), force_ns_(force_ns) {
  workload_.name = "window";
  workload_.machine = machine;
  workload_.lost = lost;
  workload_.power_mw.assign(machine.pools.size(), 0);
}

std::string Window::NameOf(sched::StreamId stream) {
  return absl::StrCat("stream ", stream);
}

HashMap<std::string, sched::StreamId> Window::streams() const {
  HashMap<std::string, sched::StreamId> streams;
  for (const WindowJob& job : jobs_) streams[NameOf(job.stream)] = job.stream;
  return streams;
}

uint32_t Window::AddKernel(plan::WorkloadKernel kernel) {
  workload_.kernels.push_back(std::move(kernel));
  return static_cast<uint32_t>(workload_.kernels.size() - 1);
}

// Adds a stream that releases those operations once.
void Window::AddStream(std::vector<ProgramOperation> operations,
                       int64_t offset_ns, int64_t deadline_ns,
                       const ResourceSet& allowed) {
  plan::WorkloadProgram program;
  program.name = absl::StrCat(workload_.programs.size());
  program.operations = std::move(operations);
  workload_.programs.push_back(std::move(program));
  plan::WorkloadStream stream;
  stream.arrival = plan::Arrival::kOnce;
  stream.name = absl::StrCat(workload_.streams.size());
  stream.offset_ns = std::max<int64_t>(offset_ns, 0);
  stream.terms.program = static_cast<uint32_t>(workload_.programs.size() - 1);
  stream.terms.affinity = allowed;
  if (deadline_ns != kInfiniteFuture) {
    // The deadline has passed: the job must end as soon as possible.
    stream.terms.deadline_ns =
        std::max<int64_t>(deadline_ns - origin_ns_ - stream.offset_ns, 1);
  }
  workload_.streams.push_back(std::move(stream));
}

void Window::AddJob(WindowJob job, std::vector<ProgramOperation> operations,
                    int64_t ready_ns, const ResourceSet& allowed) {
  TAKT_CHECK(job.ordinals.size() == operations.size());
  TAKT_DCHECK(job.release_ns >= origin_ns_);
  operation_count_ += operations.size();
  AddStream(std::move(operations), ready_ns - origin_ns_, job.deadline_ns,
            allowed);
  jobs_.push_back(std::move(job));
}

// Each busy resource becomes a job that must start at once, after the jobs of
// the window.
void Window::AddBusy(const ResourceSet& resources, int64_t until_ns) {
  const int64_t left_ns = until_ns - force_ns_;
  if (left_ns <= 0) return;
  const sched::Machine& machine = workload_.machine;
  for (uint32_t pool = 0; pool < machine.pools.size(); ++pool) {
    const ResourceSet there = resources & machine.ResourcesOf(pool);
    if (there.empty()) continue;
    plan::WorkloadKernel kernel;
    kernel.name = absl::StrCat("running ", workload_.kernels.size());
    sched::AlternativeOptions option;
    option.pool = pool;
    option.shards = there.count();
    option.guess_ns = left_ns;
    kernel.alternatives.push_back(option);
    ProgramOperation busy;
    busy.kernel = AddKernel(std::move(kernel));
    AddStream({std::move(busy)}, force_ns_ - origin_ns_, until_ns, there);
    // An NPU occupies its feeders too.
    if (machine.pools[pool].feeder_count > 0) return;
  }
}

void Window::Solve(const std::shared_ptr<Window>& window,
                   const WindowPlanning& planning) {
  // `background` is left out, because the last function that it runs might
  // destroy it.
  const WindowPlanning how{planning.budget_ns, planning.step_limit, nullptr};
  auto solve = [window, how] { window->Plan(how); };
  if (planning.background) {
    planning.background(std::move(solve));
  } else {
    solve();
  }
}

// Runs on the thread that plans.
void Window::Plan(const WindowPlanning& planning) {
  const int64_t begin_ns = NowNs();
  solve::SolverOptions solver;
  // The other half is for the rest of planning, and for a busy machine.
  solver.time_limit_ns = planning.budget_ns / 2;
  if (planning.step_limit > 0) {
    solver.step_limit = planning.step_limit;
    solver.time_limit_ns = kStepsTimeLimitNs;
  }
  WindowPlan result;
  bool is_good = false;
  TAKT_TRY {
    absl::StatusOr<plan::WorkloadSolution> found =
        plan::PlanWorkload(workload_, solver);
    if (found.ok()) result.plan = std::move(found->plan);
    is_good = found.ok() && Relabel(&result);
  }
  TAKT_CATCH(const std::bad_alloc&) {}
  MutexLock lock(&mutex_);
  TAKT_CHECK(!is_planned_);
  is_planned_ = true;
  took_ns_ = NowNs() - begin_ns;
  if (is_good) {
    plan_ = std::move(result);
  } else {
    plan_ = LeanError(absl::StatusCode::kFailedPrecondition,
                      [] { return "there is no such plan"; });
  }
}

// Gives the plan the scheduler's streams and jobs. False if an operation that
// runs would have had to wait.
bool Window::Relabel(WindowPlan* result) const {
  plan::Plan* plan = &result->plan;
  const size_t job_count = jobs_.size();
  while (plan->operations.back().job >= job_count) {
    const plan::PlannedOperation& busy = plan->operations.back();
    if (busy.start > plan->jobs[busy.job].release) return false;
    plan->operations.pop_back();
  }
  plan->jobs.resize(job_count);
  HashMap<sched::StreamId, uint32_t> counts;
  for (uint32_t j = 0; j < plan->jobs.size(); ++j) {
    const WindowJob& job = jobs_[j];
    plan->jobs[j].stream = NameOf(job.stream);
    plan->jobs[j].instance = counts[job.stream]++;
    plan->jobs[j].release = job.release_ns - origin_ns_;
    plan->jobs[j].deadline = job.deadline_ns == kInfiniteFuture
                                 ? plan::kNoDeadline
                                 : job.deadline_ns - origin_ns_;
  }
  for (plan::PlannedOperation& operation : plan->operations) {
    operation.ordinal = jobs_[operation.job].ordinals[operation.ordinal];
    // A job that is late anyway does not keep the plan from being shifted.
    plan::PlannedJob& job = plan->jobs[operation.job];
    if (operation.start + operation.duration > job.deadline) {
      if (job.deadline >= force_ns_ - origin_ns_) ++result->late_count;
      job.deadline = plan::kNoDeadline;
    }
  }
  return true;
}

bool Window::is_planned() const {
  MutexLock lock(&mutex_);
  return is_planned_;
}

int64_t Window::took_ns() const {
  MutexLock lock(&mutex_);
  return took_ns_;
}

absl::StatusOr<WindowPlan> Window::TakePlan() {
  MutexLock lock(&mutex_);
  TAKT_CHECK(is_planned_);
  return std::move(plan_);
}

}  // namespace takt::follow
