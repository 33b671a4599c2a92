// Windows: what happens to them, and who follows them.
#include "follow/window_advisor.h"

#include <algorithm>
#include <utility>

namespace takt::follow {

using sched::AdvisedJob;
using sched::GuidedOperation;
using sched::Prescription;

namespace {

constexpr int64_t kBudgetDivisor = 20;
// Releases differ from what was expected by no more than this.
constexpr int64_t kReleaseToleranceNs = 1'000'000;

WindowOptions WithBudget(WindowOptions options) {
  if (options.planning.budget_ns <= 0) {
    options.planning.budget_ns =
        std::max<int64_t>(options.length_ns / kBudgetDivisor, 1);
  }
  return options;
}

}  // namespace

WindowAdvisor::WindowAdvisor(WindowOptions options)
    : options_(WithBudget(std::move(options))) {}

WindowReport WindowAdvisor::report() const {
  WindowReport report = report_;
  if (follower_ != nullptr) {
    report.started_count += follower_->report().started_count;
    report.in_place_count += follower_->report().in_place_count;
  }
  return report;
}

// It knows of no job that is there already: those are the policy's.
void WindowAdvisor::OnAttached(const sched::Scheduler& scheduler) {
  scheduler_ = &scheduler;
  Drop();
  window_ = nullptr;
  live_.clear();
  streams_.clear();
  next_ns_ = begin_ns_ = 0;
}

void WindowAdvisor::Drop() {
  if (follower_ != nullptr) {
    report_.started_count += follower_->report().started_count;
    report_.in_place_count += follower_->report().in_place_count;
  }
  follower_ = nullptr;
  current_ = nullptr;
}

// The plan holds no longer. The next one is begun at once.
void WindowAdvisor::Break(int64_t now_ns) {
  if (follower_ == nullptr) return;
  ++report_.broken_count;
  Drop();
  is_changed_ = true;
  begin_ns_ = now_ns;
  next_ns_ = now_ns;
}

bool WindowAdvisor::OnTime(int64_t now_ns) {
  bool has_changed = std::exchange(is_changed_, false);
  if (window_ != nullptr && now_ns >= force_ns_) {
    has_changed |= Install(now_ns);
  }
  if (window_ == nullptr && now_ns >= begin_ns_) Begin(now_ns);
  // There may be nothing to plan any more, or no plan for it.
  if (follower_ != nullptr && now_ns >= end_ns_) {
    Drop();
    has_changed = true;
  }
  next_ns_ = window_ != nullptr ? force_ns_ : begin_ns_;
  if (follower_ != nullptr) next_ns_ = std::min(next_ns_, end_ns_);
  return has_changed;
}

// What nobody thought of when the window was planned cannot wait until the end
// of it, unless it is best effort.
bool WindowAdvisor::IsExpected(const AdvisedJob& job) const {
  const sched::StreamOptions& options = scheduler_->stream_options(job.stream);
  if (options.criticality == sched::Criticality::kBestEffort) return true;
  for (const WindowJob& planned : current_->jobs()) {
    if (planned.stream == job.stream &&
        std::abs(planned.release_ns - job.release_ns) <= kReleaseToleranceNs) {
      return true;
    }
  }
  // Nor is a plan made for what nobody knows, or comes after its end.
  return const_cast<WindowAdvisor*>(this)->ProgramOf(job.stream).empty() ||
         job.release_ns >= begin_ns_;
}

void WindowAdvisor::OnReleased(const AdvisedJob& job, int64_t now_ns) {
  if (live_.size() <= job.job.index) live_.resize(job.job.index + 1);
  LiveJob& live = live_[job.job.index];
  live.job = job;
  live.operations.clear();
  if (streams_.size() <= job.stream) streams_.resize(job.stream + 1);
  streams_[job.stream].last_release_ns =
      std::max(streams_[job.stream].last_release_ns, job.release_ns);
  if (follower_ != nullptr && !IsExpected(job)) Break(now_ns);
}

void WindowAdvisor::OnOver(sched::JobId job, int64_t) {
  if (job.index >= live_.size()) return;
  if (live_[job.index].job.job == job) live_[job.index] = {};
}

Prescription WindowAdvisor::Prescribe(const GuidedOperation& operation,
                                      int64_t now_ns) {
  if (operation.job.index < live_.size() &&
      live_[operation.job.index].job.job == operation.job) {
    auto& operations = live_[operation.job.index].operations;
    if (operations.size() <= operation.program_index) {
      operations.resize(operation.program_index + 1);
    }
    operations[operation.program_index].state = State::kWaiting;
  }
  if (follower_ == nullptr) return {};
  const Prescription prescription = follower_->Prescribe(operation, now_ns);
  if (follower_->is_diverged()) {
    Break(now_ns);
    return {};
  }
  return prescription;
}

sched::ResourceSet WindowAdvisor::MayHave(const GuidedOperation& operation,
                                          int64_t now_ns) {
  if (follower_ == nullptr) return {};
  return follower_->MayHave(operation, now_ns);
}

void WindowAdvisor::OnStarted(const GuidedOperation& operation,
                              const sched::ResourceSet& resources,
                              int64_t now_ns) {
  if (operation.job.index < live_.size() &&
      live_[operation.job.index].job.job == operation.job) {
    LiveOperation& live =
        live_[operation.job.index].operations[operation.program_index];
    live = {State::kRunning, operation.kernel, now_ns, resources};
  }
  if (follower_ != nullptr) {
    follower_->OnStarted(operation, resources, now_ns);
  }
}

void WindowAdvisor::OnStopped(const GuidedOperation& operation, bool is_done,
                              int64_t now_ns) {
  if (operation.job.index < live_.size() &&
      live_[operation.job.index].job.job == operation.job) {
    live_[operation.job.index].operations[operation.program_index].state =
        State::kDone;
  }
  if (follower_ != nullptr) follower_->OnStopped(operation, is_done, now_ns);
}

void WindowAdvisor::OnAvailable(uint32_t, bool, int64_t now_ns) {
  // One that is just being planned counts on it, too.
  window_ = nullptr;
  begin_ns_ = next_ns_ = now_ns;
  Break(now_ns);
}

void WindowAdvisor::Begin(int64_t now_ns) {
  const int64_t budget_ns = options_.planning.budget_ns;
  force_ns_ = now_ns + budget_ns;
  // The one after it is in force when this one ends.
  begin_ns_ = now_ns + std::max(options_.length_ns - budget_ns, budget_ns);
  window_ = LookAround(now_ns);
  if (window_ != nullptr) Window::Solve(window_, options_.planning);
}

bool WindowAdvisor::Install(int64_t now_ns) {
  const std::shared_ptr<Window> window = window_;
  if (!window->is_planned()) {
    // A little longer; but what is planned is getting old.
    force_ns_ = now_ns + options_.planning.budget_ns;
    if (now_ns >= begin_ns_) window_ = nullptr;
    if (window_ == nullptr) ++report_.failed_count;
    return false;
  }
  report_.planning.Add(window->took_ns());
  const absl::StatusOr<WindowPlan> plan = window->TakePlan();
  window_ = nullptr;
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
    return scheduler_->stream_options(stream).criticality ==
           sched::Criticality::kBestEffort;
  };
  absl::StatusOr<std::unique_ptr<PlanFollower>> follower =
      plan.ok() ? PlanFollower::Create(plan->plan, scheduler_->machine(),
                                       window->streams(), std::move(options))
                : plan.status();
  if (!follower.ok()) {
    ++report_.failed_count;
    return false;
  }
  Drop();
  ++report_.planned_count;
  follower_ = *std::move(follower);
  current_ = window;
  end_ns_ = window_end_ns_;
  follower_->Start(window->origin_ns());
  TellPast(now_ns);
  return true;
}

// What has begun or ended since the window was looked at.
void WindowAdvisor::TellPast(int64_t now_ns) {
  std::vector<const LiveJob*> jobs;
  for (const LiveJob& live : live_) {
    if (live.job.job.generation != 0 &&
        follower_->has_stream(live.job.stream)) {
      jobs.push_back(&live);
    }
  }
  // As a stream's jobs are told apart by their order.
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const LiveJob* a, const LiveJob* b) {
                     return a->job.release_ns < b->job.release_ns;
                   });
  for (const LiveJob* live : jobs) {
    GuidedOperation operation;
    operation.job = live->job.job;
    operation.stream = live->job.stream;
    operation.release_ns = live->job.release_ns;
    for (uint32_t i = 0; i < live->operations.size(); ++i) {
      const LiveOperation& known = live->operations[i];
      operation.program_index = i;
      operation.kernel = known.kernel;
      if (known.state == State::kDone) {
        follower_->OnStopped(operation, true, now_ns);
      } else if (known.state == State::kRunning) {
        follower_->OnStarted(operation, known.resources, known.since_ns);
      }
    }
  }
}

}  // namespace takt::follow
