// Plan runs: the calls that they make, and what they tell.
#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "api/handle.h"
#include "api/plan_run.h"
#include "api/value.h"
#include "base/clock.h"
#include "sched/priority.h"

namespace takt::api {

const PlanRun::PlannedCall* PlanRun::NextRelease(int64_t* release_ns) {
  for (;;) {
    const int64_t period = part_.plan->plan().period;
    if (part_.next == part_.releases.size() && part_.next > 0 && period > 0) {
      part_.next = 0;
      ++part_.cycle;
    }
    if (part_.next < part_.releases.size()) {
      const PlannedCall& release = part_.releases[part_.next];
      *release_ns = part_.origin_ns +
                    static_cast<int64_t>(part_.cycle) * period +
                    release.offset_ns;
      if (*release_ns < part_.end_ns) return &release;
    }
    if (next_part_.plan == nullptr) return nullptr;
    part_ = std::move(next_part_);
    next_part_ = Part();
  }
}

void PlanRun::OnReleaseTime(TimerService::Timer* timer) {
  const auto self = Ref<PlanRun>::Adopt(static_cast<Timer*>(timer)->run);
  {
    MutexLock lock(&self->mutex_);
    self->is_release_armed_ = false;
  }
  self->ReleaseDue();
}

PlanRun::Call* PlanRun::TakeDue(bool* is_last) {
  MutexLock lock(&mutex_);
  is_issuing_ = false;
  int64_t release_ns = 0;
  const PlannedCall* const release =
      phase_ == Phase::kRunning ? NextRelease(&release_ns) : nullptr;
  if (release == nullptr) {
    *is_last = call_count_ > 0 && in_flight_ == 0 && !is_replacing_;
    return nullptr;
  }
  if (release_ns - options_.timing.lead_ns > NowNs()) {
    is_release_armed_ = true;
    Retain();  // The timer's.
    timers_->Arm(&release_timer_, release_ns - options_.timing.lead_ns);
    return nullptr;
  }
  const plan::PlannedJob& job = part_.plan->plan().jobs[release->job];
  const auto& functions = release->binding->functions;
  auto* call = new Call{Ref<PlanRun>::Retain(this),
                        functions[job.instance % functions.size()],
                        release->binding,
                        {release->job, part_.cycle, release_ns, 0},
                        job.deadline == plan::kNoDeadline
                            ? kInfiniteFuture
                            : release_ns + (job.deadline - job.release)};
  ++part_.next;
  last_issued_ns_ = release_ns;
  ++in_flight_;
  ++call_count_;
  is_issuing_ = true;
  return call;
}

// Makes the calls that are due, one thread at a time.
void PlanRun::ReleaseDue() {
  {
    MutexLock lock(&mutex_);
    if (is_issuing_ || phase_ != Phase::kRunning) return;
    // What it is armed for may not be the next release any more.
    if (is_release_armed_) {
      if (!timers_->Cancel(&release_timer_)) return;  // It fires now.
      is_release_armed_ = false;
      Release();  // The timer's; the caller holds another.
    }
    is_issuing_ = true;
  }
  bool is_last = false;
  while (Call* const call = TakeDue(&is_last)) Issue(call);
  if (is_last) NoteLast();
}

// All calls that there were to make are done: perhaps that is all.
void PlanRun::NoteLast() {
  MutexLock lock(&event_mutex_);
  ends_ = true;
  ArmNotice();
}

void PlanRun::Issue(Call* call) {
  AsyncCallOptions options;
  options.priority = sched::PriorityOf(call->binding->criticality);
  options.deadline_ns = call->deadline_ns;
  const Ref<shop::Job> job =
      shop_->ReleaseJob(*call->binding->shop_stream, call->job.release_ns,
                        call->deadline_ns, /*is_counted=*/true);
  options.shop_job = job.get();
  const absl::StatusOr<Ref<AsyncCall>> invocation = AsyncCall::Start(
      *call->function, options,
      ToValues(absl::MakeConstSpan(call->binding->arguments)),
      [call](AsyncCall& done, const absl::Status& status) {
        call->run->EndCall(call, &done, ToStatus("takt_async_invoke", status));
      });
  if (!invocation.ok()) {
    EndCall(call, nullptr, ToStatus("takt_plan_run", invocation.status()));
  }
}

void PlanRun::EndCall(Call* call, AsyncCall* invocation, takt_status_t status) {
  const std::unique_ptr<Call> ended(call);
  const Ref<PlanRun> self = std::move(call->run);
  call->job.end_ns = NowNs();
  const bool is_good = status == nullptr && invocation != nullptr;
  absl::InlinedVector<takt_value_t, 4> results;
  if (is_good) {
    results.resize(call->function->signature().results().size());
    std::memset(results.data(), 0, results.size() * sizeof(takt_value_t));
    status =
        ToStatus("takt_plan_run",
                 invocation->TakeResults(ToValues(absl::MakeSpan(results))));
  }
  if (call->binding->on_done != nullptr) {
    call->binding->on_done(call->binding->user_data, &call->job, status,
                           results.size(), results.data());
  } else {
    takt_status_free(status);
  }
  takt_values_release(results.size(), results.data());
  bool is_last = false;
  {
    MutexLock lock(&mutex_);
    if (!is_good) ++failed_count_;
    is_last = --in_flight_ == 0;
    if (phase_ == Phase::kRunning) {
      int64_t next_ns = 0;
      is_last = is_last && !is_issuing_ && !is_replacing_ &&
                NextRelease(&next_ns) == nullptr;
    }
  }
  if (is_last) NoteLast();
}

void PlanRun::ArmNotice() {
  if (is_notice_armed_) return;
  is_notice_armed_ = true;
  Retain();  // The timer's.
  timers_->Arm(&notice_timer_, NowNs());
}

void PlanRun::Note(const follow::PlanEvent& violation) {
  const bool fails = options_.mode == TAKT_PLAN_MODE_STRICT &&
                     options_.late == TAKT_PLAN_LATE_FAIL;
  if (fails) conductor_.Abandon();
  if (options_.on_event == nullptr && !fails) return;
  MutexLock lock(&event_mutex_);
  events_.push_back(violation);
  ArmNotice();
}

void PlanRun::OnNoticeTime(TimerService::Timer* timer) {
  const auto self = Ref<PlanRun>::Adopt(static_cast<Timer*>(timer)->run);
  self->Tell();
}

void PlanRun::Tell() {
  bool ends = false;
  {
    MutexLock lock(&event_mutex_);
    is_notice_armed_ = false;
    ends = std::exchange(ends_, false);
  }
  TellEvents();
  if (!ends) return;
  // Who decides may not have heard yet that the last operations have ended,
  // and that may be worth telling, too.
  shop_->Run([](sched::Scheduler&, int64_t) {});
  TellEvents();
  {
    MutexLock lock(&mutex_);
    // A plan that takes over may have calls to make.
    int64_t next_ns = 0;
    if (in_flight_ > 0 || is_issuing_ || is_replacing_) return;
    if (phase_ == Phase::kRunning && NextRelease(&next_ns) != nullptr) return;
  }
  End(absl::OkStatus());
  EndIfIdle();
}

void PlanRun::TellEvents() {
  std::vector<follow::PlanEvent> events;
  {
    MutexLock lock(&event_mutex_);
    events.swap(events_);
  }
  if (options_.on_event != nullptr) {
    for (const follow::PlanEvent& event : events) {
      const takt_plan_event_t told = {
          static_cast<takt_plan_event_kind_t>(event.kind), event.operation,
          event.cycle, event.by_ns};
      options_.on_event(options_.user_data, &told);
    }
  }
  if (!events.empty() && options_.mode == TAKT_PLAN_MODE_STRICT &&
      options_.late == TAKT_PLAN_LATE_FAIL) {
    End(ErrorOf(events[0]));
  }
}

absl::Status PlanRun::ErrorOf(const follow::PlanEvent& event) const {
  std::string name = "(none)";
  MutexLock lock(&mutex_);
  const auto& operations = part_.plan->plan().operations;
  if (event.operation < operations.size()) {
    name = operations[event.operation].name;
  }
  return absl::AbortedError(
      absl::StrCat("plan \"", part_.plan->plan().name, "\": operation \"", name,
                   "\": ", follow::PlanEventName(event.kind), " by ",
                   event.by_ns, " ns in cycle ", event.cycle));
}

}  // namespace takt::api
