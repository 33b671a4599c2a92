// Streams: one job, from its release to the end of its call.
#include <algorithm>
#include <new>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/exceptions.h"
#include "sched/priority.h"
#include "stream/stream.h"

namespace takt::stream {

namespace {

EventKind EventOf(sched::JobOutcome outcome) {
  switch (outcome) {
    case sched::JobOutcome::kMet:
      return EventKind::kJobMet;
    case sched::JobOutcome::kMissed:
      return EventKind::kJobMissed;
    case sched::JobOutcome::kDropped:
      return EventKind::kJobDropped;
    case sched::JobOutcome::kFailed:
      break;
  }
  return EventKind::kJobFailed;
}

}  // namespace

void Stream::Record(EventKind kind, uint64_t sequence, int64_t time_ns,
                    int64_t value) const {
  Event event;
  event.time_ns = time_ns;
  event.kind = kind;
  event.track = trace_track_;
  event.name = function_->trace_name();
  event.id = TraceId(sequence);
  event.value = value;
  function_->tracer().Record(event);
}

StreamJob Stream::JobOf(const PendingRelease& release) const {
  StreamJob job;
  job.sequence = release.sequence;
  job.origin_ns = release.origin_ns;
  job.deadline_ns = DeadlineAfter(release.origin_ns, deadline_after_ns_);
  job.predicted_end_ns = release.predicted_end_ns;
  return job;
}

void Stream::SubmitBegin() {
  // The stream, and with it the executor, may be released before Submit()
  // returns.
  const Ref<Stream> self = Ref<Stream>::Retain(this);
  exec::Executor* const executor = function_->context().executor();
  if (executor != nullptr) {
    executor->Submit(&begin_job_);
  } else {
    begin_later_.next = nullptr;
    hal::RunOrDefer(&begin_later_);
  }
}

absl::optional<PendingRelease> Stream::TakePending() {
  Ref<hal::Fence> idle;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(is_busy_ && !in_flight_.has_value());
    for (; dropped_waiting_count_ > 0; --dropped_waiting_count_) {
      CountInWindow(/*is_met=*/false);
    }
    if (auto release = pending_.Take()) return release;
    is_busy_ = false;
    idle = TakeIdleFence();
  }
  if (idle != nullptr) idle->Signal().IgnoreError();
  return absl::nullopt;
}

void Stream::Begin() {
  while (const auto release = TakePending()) {
    if (TryBegin(*release)) return;
  }
  Release();  // The reference of a busy stream; perhaps the last one.
}

bool Stream::TryBegin(const PendingRelease& release) {
  StreamJob job = JobOf(release);
  const int64_t now_ns = this->now_ns();
  const bool is_late = now_ns > job.deadline_ns;
  if (is_late) ReportLate(job);
  if (is_late && drops_late_jobs()) {
    job.outcome = sched::JobOutcome::kDropped;
    {
      MutexLock lock(&mutex_);
      CountInWindow(/*is_met=*/false);
    }
    Conclude(job, absl::OkStatus(), {});
    return false;
  }
  bool may_miss = false;
  bool is_new = false;
  const ValueEntry* const input = input_queue_.has_value()
                                      ? input_queue_->first()
                                      : latest_input_.Take(&is_new);
  const bool needs_input = !function_->signature().arguments().empty();
  {
    MutexLock lock(&mutex_);
    if (needs_input && input == nullptr) {
      recorder_.CountStarved();
      return false;
    }
    may_miss = !is_promised_ && window_.NextMayMiss();
    recorder_.CountBegin(now_ns - release.release_ns, may_miss);
  }
  job.begin_ns = now_ns;
  if (input != nullptr) job.input_sequence = input->sequence;
  const auto arguments =
      input != nullptr ? input->values() : absl::Span<const vm::Value>();
  if (capture_ != nullptr) capture_->Begin(job, arguments);
  Issue(job, arguments, is_late, may_miss);
  return true;
}

runtime::AsyncCallOptions Stream::CallOptionsFor(const StreamJob& job,
                                                 bool is_late,
                                                 bool may_miss) const {
  runtime::AsyncCallOptions options;
  options.priority = may_miss ? lenient_priority_ : priority_;
  if (is_late && late_ == sched::LatePolicy::kDemote) {
    options.priority = std::min<int32_t>(priority_, sched::kBestEffortPriority);
  }
  options.deadline_ns = job.deadline_ns;
  options.cpu_words = cpu_words_;
  options.trace_parent = TraceId(job.sequence);
  return options;
}

void Stream::EnterFlight(InFlight in_flight) {
  const StreamJob& job = in_flight.job;
  const bool is_watched = job.deadline_ns != kInfiniteFuture &&
                          !in_flight.is_late_reported &&
                          (on_late_ != nullptr || drops_late_jobs());
  MutexLock lock(&mutex_);
  TAKT_CHECK(is_busy_ && !in_flight_.has_value());
  if (is_watched) {
    Retain();  // The timer's.
    // A job that ends at its deadline is met, so it is late a nanosecond after.
    clock_.timers->Arm(&deadline_timer_, DeadlineAfter(job.deadline_ns, 1));
  }
  in_flight_.emplace(std::move(in_flight));
}

void Stream::Issue(const StreamJob& job, absl::Span<const vm::Value> input,
                   bool is_late, bool may_miss) {
  // The call may end, and release the stream, before Start() returns.
  const Ref<Stream> self = Ref<Stream>::Retain(this);
  Ref<shop::ScheduledJob> shop_job;
  // A copy, because the next job takes inputs as soon as this call has ended.
  absl::InlinedVector<vm::Value, 8> arguments;
  bool has_memory = false;
  TAKT_TRY {
    arguments.assign(input.begin(), input.end());
    if (shop_stream_ != nullptr) {
      shop_job = function_->context().shop()->ReleaseJob(
          *shop_stream_, job.origin_ns, job.deadline_ns, /*is_counted=*/true,
          TraceId(job.sequence), may_miss);
    }
    has_memory = true;
  }
  TAKT_CATCH(const std::bad_alloc&) {}
  runtime::AsyncCallOptions options = CallOptionsFor(job, is_late, may_miss);
  options.shop_job = shop_job.get();
  EnterFlight({job, shop_job, nullptr, /*is_late_reported=*/is_late,
               /*is_given_up=*/false});
  if (input_queue_.has_value() && !input.empty()) input_queue_->Pop();
  if (!has_memory) return OnDone(nullptr, OutOfMemory());
  absl::StatusOr<Ref<runtime::AsyncCall>> call = runtime::AsyncCall::Start(
      *function_, options, arguments,
      [this](runtime::AsyncCall& ended, const absl::Status& status) {
        OnDone(&ended, status);
      });
  shop_job.reset();
  arguments.clear();
  if (call.ok()) {
    KeepCall(job.sequence, *std::move(call));
  } else {
    OnDone(nullptr, call.status());
  }
}

void Stream::KeepCall(uint64_t sequence, Ref<runtime::AsyncCall> call) {
  {
    MutexLock lock(&mutex_);
    // The call may have ended, and a later one may be in flight.
    if (!in_flight_.has_value() || in_flight_->job.sequence != sequence) return;
    TAKT_CHECK(in_flight_->call == nullptr);
    in_flight_->call = call;
    if (!in_flight_->is_given_up) return;
  }
  call->Cancel();  // The deadline passed before there was a call to cancel.
}

void Stream::OnDeadline(TimerService::Timer* timer) {
  const auto self = Ref<Stream>::Adopt(static_cast<Timer*>(timer)->stream);
  self->GiveUpLateJob();
}

void Stream::GiveUpLateJob() {
  StreamJob job;
  Ref<runtime::AsyncCall> call;
  Ref<shop::ScheduledJob> shop_job;
  {
    MutexLock lock(&mutex_);
    // The timer may fire while the next job is in flight already.
    if (!in_flight_.has_value() || in_flight_->is_late_reported ||
        now_ns() <= in_flight_->job.deadline_ns) {
      return;
    }
    in_flight_->is_late_reported = true;
    job = in_flight_->job;
    if (drops_late_jobs()) {
      in_flight_->is_given_up = true;
      call = in_flight_->call;
      shop_job = in_flight_->shop_job;
    }
  }
  ReportLate(job);
  if (call != nullptr) call->Cancel();
  if (shop_job != nullptr) function_->context().shop()->Drop(*shop_job);
}

Stream::InFlight Stream::LeaveFlight() {
  if (clock_.timers->Cancel(&deadline_timer_)) Release();  // The timer's.
  MutexLock lock(&mutex_);
  TAKT_CHECK(is_busy_ && in_flight_.has_value());
  InFlight ended = *std::move(in_flight_);
  in_flight_.reset();
  // The scheduler may have given the job up before the timer fired.
  if (ended.shop_job != nullptr && ended.shop_job->is_dropped()) {
    ended.is_given_up = true;
  }
  return ended;
}

void Stream::OnDone(runtime::AsyncCall* call, const absl::Status& status) {
  const int64_t now_ns = this->now_ns();
  InFlight ended = LeaveFlight();
  ended.shop_job.reset();  // For the scheduler the job ends here.
  StreamJob& job = ended.job;
  job.end_ns = now_ns;
  const bool is_done = status.ok() && call != nullptr;
  const absl::Span<vm::Value> results =
      is_done ? absl::MakeSpan(results_) : absl::Span<vm::Value>();
  if (is_done) {
    call->TakeResults(results).IgnoreError();
    job.outcome = now_ns <= job.deadline_ns ? sched::JobOutcome::kMet
                                            : sched::JobOutcome::kMissed;
    output_.back().Set(results);
    output_.back().job = job;
    output_.Publish();
  } else {
    job.outcome = ended.is_given_up && absl::IsCancelled(status)
                      ? sched::JobOutcome::kDropped
                      : sched::JobOutcome::kFailed;
  }
  {
    MutexLock lock(&mutex_);
    CountInWindow(job.outcome == sched::JobOutcome::kMet);
  }
  // The deadline's timer may fire late.
  if (now_ns > job.deadline_ns && !ended.is_late_reported) ReportLate(job);
  Conclude(job, status, results);
  if (is_done) ReleaseFollowers(job, results);
  for (vm::Value& result : results) result = vm::Value();
  // The stream is still busy, so this adds a release and does not begin it.
  if (arrival_ == Arrival::kClosed) ReleaseJob(now_ns);
  SubmitBegin();
}

void Stream::Conclude(const StreamJob& job, const absl::Status& status,
                      absl::Span<const vm::Value> results) {
  {
    MutexLock lock(&mutex_);
    recorder_.CountEnd(job);
    if (job.end_ns != 0) LearnDuration(job);
  }
  if (function_->tracer().is_on()) {
    const bool has_run = job.end_ns != 0;
    Record(EventOf(job.outcome), job.sequence, has_run ? job.end_ns : now_ns(),
           has_run ? job.end_ns - job.origin_ns : 0);
  }
  if (capture_ != nullptr) capture_->End(job, results);
  if (on_done_ != nullptr) on_done_(job, status, results);
}

void Stream::CountInWindow(bool is_met) {
  const uint64_t number = window_.Add();
  if (is_met) window_.SetMet(number);
  if (window_.IsBroken()) recorder_.CountBrokenWindow();
}

void Stream::ReportLate(const StreamJob& job) const {
  if (on_late_ != nullptr) on_late_(job);
}

}  // namespace takt::stream
