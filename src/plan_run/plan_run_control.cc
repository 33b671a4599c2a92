// Plan runs: how they begin and end, and what they report.
#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/duration_text.h"
#include "base/exceptions.h"
#include "base/status.h"
#include "plan_run/plan_run.h"
#include "runtime/blocking_wait.h"

namespace takt::plan_run {
namespace {

absl::Status CheckNotPassed(const char* name, int64_t time_ns) {
  const int64_t now_ns = NowNs();
  if (time_ns >= now_ns) return absl::OkStatus();
  // A caller's time may be any number.
  const int64_t by_ns = now_ns - std::max(time_ns, int64_t{0});
  return absl::InvalidArgumentError(
      absl::StrCat(name, " has passed, by ", DurationText(by_ns)));
}

constexpr char kIsTakingOver[] = "another plan is just taking over";

}  // namespace

void PlanRun::EnterPhase(Phase from, Phase to) {
  TAKT_CHECK(phase_ == from);
  // A phase is never entered twice.
  TAKT_CHECK(from < to);
  TAKT_CHECK(to != Phase::kOver || in_flight_count_ == 0);
  phase_ = to;
}

absl::Status PlanRun::StartStreams(const Part& part) {
  for (size_t i = 0; i < part.streams.size(); ++i) {
    const Binding& binding = *part.streams[i];
    const int64_t first_ns = FirstRelease(*part.plan, binding.name);
    TAKT_CHECK(binding.to != nullptr);
    const absl::Status status =
        binding.to->Start(DeadlineAfter(part.cursor.origin_ns(), first_ns));
    if (status.ok()) continue;
    while (i-- > 0) part.streams[i]->to->Stop();
    return status;
  }
  return absl::OkStatus();
}

void PlanRun::StopStreams() {
  for (const auto& binding : bindings_) {
    if (binding->to != nullptr) binding->to->Stop();
  }
}

absl::Status PlanRun::Start(int64_t start_ns) {
  {
    MutexLock lock(&mutex_);
    if (phase_ != Phase::kNew || is_controlled_) {
      return absl::FailedPreconditionError("the run has been started");
    }
    is_controlled_ = true;
  }
  const absl::Status status = Attempt([&] { return TryStart(start_ns); });
  EndControl();
  return status;
}

absl::Status PlanRun::TryStart(int64_t start_ns) {
  Part part;
  {
    MutexLock lock(&mutex_);
    part_.cursor.SetOrigin(start_ns);
    part = part_;
  }
  TAKT_RETURN_IF_ERROR(CheckNotPassed("start_ns", start_ns));
  TAKT_ASSIGN_OR_RETURN(auto follower, MakeFollower(*part.plan));
  switcher_.Follow(std::move(follower), start_ns);
  const bool sees_all = options_.mode == follow::FollowMode::kStrict ||
                        options_.timing.small_ns == 0;
  if (!shop_->SwapAdvisor(nullptr, &switcher_, sees_all)) {
    return absl::FailedPreconditionError(
        "another plan is being carried out on this instance");
  }
  absl::Status status = OutOfMemory();
  TAKT_TRY { status = StartStreams(part); }
  TAKT_CATCH(const std::bad_alloc&) { StopStreams(); }
  if (!status.ok()) {
    TAKT_CHECK(shop_->SwapAdvisor(&switcher_, nullptr, false));
    return status;
  }
  Retain();  // Until the run is over.
  MutexLock lock(&mutex_);
  EnterPhase(Phase::kNew, Phase::kRunning);
  return absl::OkStatus();
}

void PlanRun::EndControl() {
  bool ends = false;
  absl::Status status;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(is_controlled_);
    is_controlled_ = false;
    ends = std::exchange(is_end_left_, false);
    status = status_;
  }
  if (ends) {
    End(status);
  } else {
    ReleaseDue();  // Also finds that no call is left.
  }
}

absl::StatusOr<int64_t> PlanRun::BeginTakeOver(Part* part, int64_t at_ns) {
  bool is_taking_over = false;
  shop_->Run([&](sched::Scheduler&, int64_t) {
    is_taking_over = switcher_.is_taking_over();
  });
  MutexLock lock(&mutex_);
  if (is_taking_over || next_part_.plan != nullptr) {
    return absl::FailedPreconditionError(kIsTakingOver);
  }
  TAKT_RETURN_IF_ERROR(CheckTakeOver(*part_.plan, *part->plan, bound_));
  at_ns = part_.cursor.EndOfPeriod(std::max(at_ns, last_issued_ns_ + 1));
  TAKT_CHECK(at_ns > last_issued_ns_ && phase_ == Phase::kRunning);
  part->cursor.SetOrigin(at_ns);
  part_.cursor.SetEnd(at_ns);
  return at_ns;
}

absl::StatusOr<int64_t> PlanRun::Replace(const plan::Plan& plan,
                                         int64_t at_ns) {
  {
    MutexLock lock(&mutex_);
    if (phase_ != Phase::kRunning) {
      return absl::FailedPreconditionError("the run is not under way");
    }
    if (is_controlled_) return absl::FailedPreconditionError(kIsTakingOver);
    is_controlled_ = true;
  }
  absl::StatusOr<int64_t> result = OutOfMemory();
  TAKT_TRY { result = TryReplace(plan, at_ns); }
  TAKT_CATCH(const std::bad_alloc&) {}
  EndControl();
  return result;
}

absl::StatusOr<int64_t> PlanRun::TryReplace(const plan::Plan& plan,
                                            int64_t at_ns) {
  TAKT_ASSIGN_OR_RETURN(Part part, MakePart(plan));
  TAKT_ASSIGN_OR_RETURN(auto follower, MakeFollower(*part.plan));
  TAKT_RETURN_IF_ERROR(CheckNotPassed("at_ns", at_ns));
  TAKT_ASSIGN_OR_RETURN(at_ns, BeginTakeOver(&part, at_ns));
  // The scheduler must know the plan before the run makes a call of it.
  TAKT_TRY {
    shop_->Run([&](sched::Scheduler& scheduler, int64_t decided_ns) {
      switcher_.TakeOver(std::move(follower), at_ns);
      scheduler.ReviewAdvised(decided_ns);
    });
  }
  TAKT_CATCH(const std::bad_alloc&) {
    MutexLock lock(&mutex_);
    part_.cursor.SetEnd(kInfiniteFuture);
    return OutOfMemory();
  }
  MutexLock lock(&mutex_);
  TAKT_CHECK(next_part_.plan == nullptr);
  next_part_ = std::move(part);
  return at_ns;
}

void PlanRun::Stop() { End(absl::OkStatus()); }

void PlanRun::End(const absl::Status& status) {
  bool has_timer = false;
  {
    MutexLock lock(&mutex_);
    if (is_controlled_) {
      if (!std::exchange(is_end_left_, true)) status_ = status;
      return;
    }
    if (phase_ != Phase::kRunning) return;
    EnterPhase(Phase::kRunning, Phase::kStopping);
    status_ = status;
    has_timer = is_release_armed_ && timers_->Cancel(&release_timer_);
    if (has_timer) is_release_armed_ = false;
  }
  StopStreams();
  TAKT_CHECK(shop_->SwapAdvisor(&switcher_, nullptr, false));
  {
    MutexLock lock(&mutex_);
    EnterPhase(Phase::kStopping, Phase::kEnding);
  }
  if (has_timer) Release();  // The timer's; the run holds another.
  EndIfIdle();
}

void PlanRun::EndIfIdle() {
  absl::Status status;
  {
    MutexLock lock(&mutex_);
    if (phase_ != Phase::kEnding || in_flight_count_ > 0) return;
    EnterPhase(Phase::kEnding, Phase::kOver);
    status = status_;
  }
  over_->Settle(status);
  Release();  // Start()'s.
}

absl::Status PlanRun::Wait(int64_t deadline_ns) {
  {
    MutexLock lock(&mutex_);
    if (phase_ == Phase::kNew) {
      return absl::FailedPreconditionError("the run has not been started");
    }
  }
  // The plan gives each operation its cores. A waiting thread that ran tiles
  // would take a core from one of them, so it helps only without workers.
  const Ref<exec::Executor> executor = instance_->FindExecutor();
  const bool helps = executor != nullptr && executor->worker_count() == 0;
  runtime::BlockingWait thread(helps ? executor.get() : nullptr);
  return runtime::WaitForFence(*over_, thread, deadline_ns);
}

PlanRunReport PlanRun::Query() {
  PlanRunReport result;
  shop_->Run([&](sched::Scheduler&, int64_t) {
    result.follow = switcher_.report();
    result.first_release_ns = switcher_.first_release_ns();
    result.last_end_ns = switcher_.last_end_ns();
    if (switcher_.follower() == nullptr) return;
    const follow::Divergence& divergence = switcher_.follower()->divergence();
    result.late_start = divergence.late_starts().quantiles();
    result.late_end = divergence.late_ends().quantiles();
  });
  MutexLock lock(&mutex_);
  TAKT_CHECK(failed_count_ + in_flight_count_ <= call_count_);
  result.is_running = phase_ == Phase::kRunning;
  result.call_count = call_count_;
  result.failed_count = failed_count_;
  return result;
}

absl::StatusOr<PlanOperationReport> PlanRun::QueryOperation(size_t operation) {
  size_t count = 0;
  {
    MutexLock lock(&mutex_);
    const Part& part = next_part_.plan != nullptr ? next_part_ : part_;
    count = part.plan->operations.size();
  }
  if (operation >= count) {
    return absl::OutOfRangeError(
        absl::StrCat("operation ", operation, ": the plan has ", count));
  }
  PlanOperationReport report;
  shop_->Run([&](sched::Scheduler&, int64_t) {
    if (switcher_.follower() == nullptr) return;
    const follow::Divergence& divergence = switcher_.follower()->divergence();
    if (operation >= divergence.operation_count()) return;
    report.start = divergence.starts(static_cast<uint32_t>(operation));
    report.end = divergence.ends(static_cast<uint32_t>(operation));
  });
  return report;
}

}  // namespace takt::plan_run
