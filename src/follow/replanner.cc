#include "follow/replanner.h"

#include <algorithm>

#include "base/check.h"
#include "base/exceptions.h"
#include "base/hash_map.h"

namespace takt::follow {

void Replanner::EndCurrent() {
  TAKT_DCHECK((current_ == nullptr) == (current_window_ == nullptr));
  if (current_ == nullptr) return;
  past_.Add(current_->report());
  current_ = nullptr;
  current_window_ = nullptr;
  end_ns_ = kInfiniteFuture;
  has_changed_ = true;
}

void Replanner::Abandon() {
  EndCurrent();
  CancelPlanning();
  begin_ns_ = kInfiniteFuture;
}

int64_t Replanner::next_event_ns() const {
  if (has_changed_) return 0;
  const int64_t next_ns = window_ != nullptr ? force_ns_ : begin_ns_;
  return current_ != nullptr ? std::min(next_ns, end_ns_) : next_ns;
}

bool Replanner::OnTime(int64_t now_ns) {
  if (window_ != nullptr && now_ns >= force_ns_) {
    has_changed_ |= Install(now_ns);
  }
  if (now_ns >= end_ns_) EndCurrent();
  if (window_ == nullptr && now_ns >= begin_ns_) Begin(now_ns);
  return std::exchange(has_changed_, false);
}

FollowReport Replanner::report() const {
  FollowReport report = past_;
  if (current_ != nullptr) report.Add(current_->report());
  return report;
}

void Replanner::Begin(int64_t now_ns) {
  TAKT_CHECK(window_ == nullptr);
  force_ns_ = now_ns + options_.planning.budget_ns;
  begin_ns_ = force_ns_;  // If memory runs out.
  TAKT_TRY { return BeginWindow(now_ns); }
  TAKT_CATCH(const std::bad_alloc&) {}
  window_ = nullptr;
  ++past_.refused_count;
}

void Replanner::BeginWindow(int64_t now_ns) {
  PendingWork::Snapshot snapshot = work_.TakeSnapshot(now_ns, force_ns_);
  begin_ns_ = snapshot.next_ns;
  window_end_ns_ = snapshot.end_ns;
  window_ = MakeWindow(std::move(snapshot));
  if (window_ != nullptr) Window::Solve(window_, options_.planning);
}

// Null: there is nothing to plan.
std::shared_ptr<Window> Replanner::MakeWindow(PendingWork::Snapshot snapshot) {
  if (snapshot.jobs.empty()) return nullptr;
  auto window = std::make_shared<Window>(work_.machine(), snapshot.lost,
                                         snapshot.origin_ns, force_ns_);
  HashMap<uint32_t, uint32_t> kernels;
  for (PendingWork::Job& job : snapshot.jobs) {
    if (window->operation_count() > options_.operation_count_max) break;
    TAKT_DCHECK(job.release_ns >= snapshot.origin_ns);
    AddJob(std::move(job), &kernels, window.get());
  }
  if (window->jobs().empty()) return nullptr;
  for (const auto& [resources, until_ns] : snapshot.busy) {
    window->AddBusy(resources, until_ns);
  }
  return window;
}

// Adds the operations of the job that do not run yet.
void Replanner::AddJob(PendingWork::Job job,
                       HashMap<uint32_t, uint32_t>* kernels, Window* window) {
  int64_t ready_ns = std::max(job.release_ns, force_ns_);
  WindowJob planned{job.stream, job.release_ns, job.deadline_ns, {}};
  std::vector<sched::ProgramOperation> operations;
  HashMap<uint32_t, uint32_t> place_of;  // By ordinal.
  for (const PendingWork::Operation& operation : job.operations) {
    // The rest of the job starts after its running operations.
    if (operation.is_running) {
      ready_ns = std::max(ready_ns, operation.end_ns);
      continue;
    }
    place_of[operation.ordinal] = static_cast<uint32_t>(operations.size());
    const auto [kernel, is_new] = kernels->try_emplace(operation.kernel, 0);
    if (is_new) {
      kernel->second = window->AddKernel(work_.KernelOf(operation.kernel));
    }
    operations.push_back({kernel->second, {}});
    planned.ordinals.push_back(operation.ordinal);
  }
  if (operations.empty()) return;
  for (const PendingWork::Operation& operation : job.operations) {
    if (operation.is_running) continue;
    for (const uint32_t before : operation.after) {
      const auto found = place_of.find(before);
      if (found == place_of.end()) continue;
      operations[place_of[operation.ordinal]].after.push_back(found->second);
    }
  }
  TAKT_CHECK(planned.ordinals.size() == operations.size());
  window->AddJob(std::move(planned), std::move(operations), ready_ns,
                 job.allowed);
}

// Puts the finished plan into force. Returns whether it is followed from now
// on.
bool Replanner::Install(int64_t now_ns) {
  TAKT_CHECK(window_ != nullptr);
  TAKT_TRY { return TryInstall(now_ns); }
  TAKT_CATCH(const std::bad_alloc&) {}
  EndCurrent();
  ++past_.refused_count;
  return false;
}

bool Replanner::TryInstall(int64_t now_ns) {
  if (!window_->is_planned() && options_.waits && now_ns < begin_ns_) {
    force_ns_ = now_ns + options_.planning.budget_ns;
    return false;
  }
  const std::shared_ptr<Window> window = std::move(window_);
  window_ = nullptr;
  if (!window->is_planned()) {
    ++past_.refused_count;
    return false;
  }
  planning_times_.Add(window->took_ns());
  const absl::StatusOr<WindowPlan> plan = window->TakePlan();
  if (!plan.ok() || (plan->late_count > 0 && !options_.accepts_late_jobs)) {
    ++past_.refused_count;
    return false;
  }
  auto followed = FollowedPlan::Create(plan->plan, work_.machine(),
                                       window->streams(), work_.MakeOptions());
  if (!followed.ok()) {
    ++past_.refused_count;
    return false;
  }
  EndCurrent();
  ++past_.resolve_count;
  current_ = *std::move(followed);
  current_window_ = window;
  end_ns_ = window_end_ns_;
  current_->Start(window->origin_ns());
  work_.OnInForce(*current_, now_ns);
  TAKT_CHECK(current_ != nullptr);
  return true;
}

}  // namespace takt::follow
