// Plan runs: the calls that they make, and the events that they report.
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/exceptions.h"
#include "base/lean_error.h"
#include "plan_run/plan_run.h"
#include "sched/priority.h"

namespace takt::plan_run {
namespace {

// A release that finds no memory for its call is tried again after this time.
constexpr int64_t kNoMemoryNs = 1'000'000;

}  // namespace

absl::optional<plan_run::NextRelease> PlanRun::NextRelease() {
  for (;;) {
    if (const auto next = part_.cursor.Next()) return next;
    if (next_part_.plan == nullptr) return absl::nullopt;
    part_ = std::exchange(next_part_, Part());
    TAKT_CHECK(part_.plan != nullptr && next_part_.plan == nullptr);
  }
}

bool PlanRun::HasCallsLeft() {
  if (in_flight_count_ > 0 || is_issuing_ || is_controlled_) return true;
  return phase_ == Phase::kRunning && NextRelease().has_value();
}

void PlanRun::OnReleaseTime(TimerService::Timer* timer) {
  const auto self = Ref<PlanRun>::Adopt(static_cast<Timer*>(timer)->run);
  {
    MutexLock lock(&self->mutex_);
    TAKT_CHECK(self->is_release_armed_);
    self->is_release_armed_ = false;
  }
  self->ReleaseDue();
}

std::unique_ptr<PlanRun::CallInFlight> PlanRun::TakeDue(bool* is_last) {
  MutexLock lock(&mutex_);
  TAKT_CHECK(is_issuing_ && !is_release_armed_);
  is_issuing_ = false;
  const auto next = phase_ == Phase::kRunning ? NextRelease() : absl::nullopt;
  if (!next.has_value()) {
    *is_last = call_count_ > 0 && !HasCallsLeft();
    return nullptr;
  }
  const int64_t now_ns = NowNs();
  int64_t call_ns = next->release_ns - options_.timing.lead_ns;
  std::unique_ptr<CallInFlight> call;
  if (call_ns <= now_ns) {
    call.reset(new (std::nothrow) CallInFlight);
    if (call == nullptr) call_ns = now_ns + kNoMemoryNs;
  }
  if (call == nullptr) {
    is_release_armed_ = true;
    Retain();  // The timer's.
    timers_->Arm(&release_timer_, call_ns);
    return nullptr;
  }
  const plan::PlannedJob& job = part_.plan->jobs[next->job];
  const Binding& binding = BindingOf(job);
  call->run = Ref<PlanRun>::Retain(this);
  call->function = binding.functions[job.instance % binding.functions.size()];
  call->binding = &binding;
  call->job = {next->job, next->cycle, next->release_ns, 0};
  call->deadline_ns =
      job.deadline == plan::kNoDeadline
          ? kInfiniteFuture
          : DeadlineAfter(next->release_ns, job.deadline - job.release);
  last_issued_ns_ = next->release_ns;
  part_.cursor.Advance();
  ++in_flight_count_;
  ++call_count_;
  is_issuing_ = true;
  return call;
}

void PlanRun::ReleaseDue() {
  {
    MutexLock lock(&mutex_);
    if (is_issuing_ || phase_ != Phase::kRunning) return;
    // The timer may be armed for a release that is no longer the next one.
    if (is_release_armed_) {
      if (!timers_->Cancel(&release_timer_)) return;  // It fires now.
      is_release_armed_ = false;
      Release();  // The timer's; the caller holds another.
    }
    is_issuing_ = true;
  }
  bool is_last = false;
  while (auto call = TakeDue(&is_last)) Issue(std::move(call));
  if (is_last) EndSoon();
}

void PlanRun::Issue(std::unique_ptr<CallInFlight> call) {
  Ref<shop::ScheduledJob> job;
  TAKT_TRY {
    call->results.resize(call->function->signature().results().size());
    job = shop_->ReleaseJob(*call->binding->shop_stream, call->job.release_ns,
                            call->deadline_ns, /*is_counted=*/true);
  }
  TAKT_CATCH(const std::bad_alloc&) {
    return EndCall(std::move(call), nullptr, OutOfMemory());
  }
  runtime::AsyncCallOptions options;
  options.priority = sched::PriorityOf(call->binding->criticality);
  options.deadline_ns = call->deadline_ns;
  options.shop_job = job.get();
  // Owned by EndCall(), which follows the start or its failure.
  CallInFlight* const started = call.release();
  const absl::StatusOr<Ref<runtime::AsyncCall>> invocation =
      runtime::AsyncCall::Start(
          *started->function, options, started->binding->arguments,
          [started](runtime::AsyncCall& ended, const absl::Status& status) {
            started->run->EndCall(std::unique_ptr<CallInFlight>(started),
                                  &ended, status);
          });
  if (!invocation.ok()) {
    EndCall(std::unique_ptr<CallInFlight>(started), nullptr,
            invocation.status());
  }
}

void PlanRun::EndCall(std::unique_ptr<CallInFlight> call,
                      runtime::AsyncCall* invocation, absl::Status status) {
  TAKT_CHECK(call->run.get() == this && call->job.end_ns == 0);
  call->job.end_ns = NowNs();
  const bool is_good = status.ok() && invocation != nullptr;
  if (is_good) {
    status = invocation->TakeResults(absl::MakeSpan(call->results));
  } else {
    call->results.clear();
  }
  if (call->binding->on_done != nullptr) {
    call->binding->on_done(call->job, status, call->results);
  }
  call->results.clear();
  bool is_last = false;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(in_flight_count_ > 0);
    --in_flight_count_;
    if (!is_good) ++failed_count_;
    is_last = !HasCallsLeft();
  }
  if (is_last) EndSoon();
}

void PlanRun::EndSoon() {
  MutexLock lock(&event_mutex_);
  ends_soon_ = true;
  ArmEventTimer();
}

void PlanRun::ArmEventTimer() {
  if (is_event_timer_armed_) return;
  is_event_timer_armed_ = true;
  Retain();  // The timer's.
  timers_->Arm(&event_timer_, NowNs());
}

void PlanRun::AddEvent(const follow::PlanEvent& event) {
  if (ends_on_violation()) switcher_.Abandon();
  if (options_.on_event == nullptr && !ends_on_violation()) return;
  MutexLock lock(&event_mutex_);
  events_.push_back(event);
  ArmEventTimer();
}

void PlanRun::OnEventTime(TimerService::Timer* timer) {
  const auto self = Ref<PlanRun>::Adopt(static_cast<Timer*>(timer)->run);
  self->HandleEvents();
}

void PlanRun::HandleEvents() {
  bool ends = false;
  {
    MutexLock lock(&event_mutex_);
    TAKT_CHECK(is_event_timer_armed_);
    is_event_timer_armed_ = false;
    ends = std::exchange(ends_soon_, false);
  }
  ReportEvents();
  if (!ends) return;
  // The end of the last operations may still be on its way to the scheduler,
  // and may be an event too.
  shop_->Run([](sched::Scheduler&, int64_t) {});
  ReportEvents();
  {
    MutexLock lock(&mutex_);
    // A plan that takes over may bring more calls.
    if (HasCallsLeft()) return;
  }
  End(absl::OkStatus());
  EndIfIdle();
}

void PlanRun::ReportEvents() {
  std::vector<follow::PlanEvent> events;
  {
    MutexLock lock(&event_mutex_);
    events.swap(events_);
  }
  if (options_.on_event != nullptr) {
    for (const follow::PlanEvent& event : events) options_.on_event(event);
  }
  if (!events.empty() && ends_on_violation()) End(ErrorOf(events[0]));
}

absl::Status PlanRun::ErrorOf(const follow::PlanEvent& event) const {
  MutexLock lock(&mutex_);
  const plan::Plan& plan = *part_.plan;
  return LeanError(absl::StatusCode::kAborted, [&] {
    const absl::string_view name =
        event.operation < plan.operations.size()
            ? absl::string_view(plan.operations[event.operation].name)
            : "(none)";
    return absl::StrCat("plan \"", plan.name, "\": operation \"", name,
                        "\": ", follow::PlanEventName(event.kind), " by ",
                        event.by_ns, " ns in cycle ", event.cycle);
  });
}

}  // namespace takt::plan_run
