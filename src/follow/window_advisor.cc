#include "follow/window_advisor.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/check.h"

namespace takt::follow {

using sched::AdvisedJob;
using sched::AdvisedOperation;
using sched::Prescription;

namespace {

// The part of a window's length that planning may take by default: at most 5 %
// of the time of one core.
constexpr int64_t kBudgetDivisor = 20;
// The largest difference between a release and its expected time: far more than
// the lateness of a timer, and less than a common period.
constexpr int64_t kReleaseToleranceNs = 1'000'000;

WindowOptions WithBudget(WindowOptions options) {
  if (options.planning.budget_ns <= 0) {
    options.planning.budget_ns =
        std::max<int64_t>(options.length_ns / kBudgetDivisor, 1);
  }
  return options;
}

ReplannerOptions ReplannerOptionsOf(const WindowOptions& windows) {
  ReplannerOptions options;
  options.planning = windows.planning;
  options.waits = true;
  options.accepts_late_jobs = true;
  options.operation_count_max = windows.operation_count_max;
  return options;
}

}  // namespace

WindowAdvisor::WindowAdvisor(WindowOptions options)
    : options_(WithBudget(std::move(options))),
      jobs_(options_),
      replanner_(jobs_, ReplannerOptionsOf(options_)) {}

WindowReport WindowAdvisor::report() const {
  const FollowReport follow = replanner_.report();
  WindowReport report;
  report.planned_count = follow.resolve_count;
  report.failed_count = follow.refused_count;
  report.broken_count = broken_count_;
  report.started_count = follow.started_count;
  report.in_place_count = follow.in_place_count;
  report.planning = replanner_.planning_times();
  return report;
}

void WindowAdvisor::OnAttached(const sched::Scheduler& scheduler) {
  replanner_.Abandon();
  jobs_.Attach(scheduler);
  replanner_.BeginAt(0);
}

void WindowAdvisor::Break(int64_t now_ns) {
  if (!is_in_force()) return;
  ++broken_count_;
  replanner_.EndCurrent();
  replanner_.BeginAt(now_ns);
  TAKT_DCHECK(!is_in_force());
}

// Whether the window expected the job. An unexpected job cannot wait until the
// window's end, unless it is best effort.
bool WindowAdvisor::IsExpected(const AdvisedJob& job) {
  if (jobs_.IsBestEffort(job.stream)) return true;
  for (const WindowJob& planned : replanner_.current_window().jobs()) {
    if (planned.stream == job.stream &&
        std::abs(planned.release_ns - job.release_ns) <= kReleaseToleranceNs) {
      return true;
    }
  }
  // No plan is made for jobs of unknown contents, or after the window's end.
  return jobs_.ProgramOf(job.stream).empty() ||
         job.release_ns >= replanner_.begin_ns();
}

void WindowAdvisor::OnReleased(const AdvisedJob& job, int64_t now_ns) {
  jobs_.OnReleased(job);
  if (is_in_force() && !IsExpected(job)) Break(now_ns);
}

void WindowAdvisor::OnOver(sched::JobId job, int64_t) { jobs_.OnOver(job); }

Prescription WindowAdvisor::Prescribe(const AdvisedOperation& operation,
                                      int64_t now_ns) {
  jobs_.OnReady(operation);
  FollowedPlan* const plan = replanner_.current();
  if (plan == nullptr) return {};
  const Prescription prescription = plan->Prescribe(operation, now_ns);
  if (!plan->is_diverged()) return prescription;
  Break(now_ns);
  return {};
}

sched::ResourceSet WindowAdvisor::MayHave(const AdvisedOperation& operation,
                                          int64_t now_ns) {
  if (!is_in_force()) return {};
  return replanner_.current()->MayHave(operation, now_ns);
}

void WindowAdvisor::OnStarted(const AdvisedOperation& operation,
                              const sched::ResourceSet& resources,
                              int64_t now_ns) {
  jobs_.OnStarted(operation, resources, now_ns);
  if (is_in_force()) {
    replanner_.current()->OnStarted(operation, resources, now_ns);
  }
}

void WindowAdvisor::OnStopped(const AdvisedOperation& operation, bool is_done,
                              int64_t now_ns) {
  jobs_.OnStopped(operation);
  if (is_in_force()) {
    replanner_.current()->OnStopped(operation, is_done, now_ns);
  }
}

void WindowAdvisor::OnAvailable(uint32_t, bool, int64_t now_ns) {
  // The plan that is being made uses the resource, or was made without it.
  replanner_.CancelPlanning();
  replanner_.BeginAt(now_ns);
  Break(now_ns);
}

}  // namespace takt::follow
