// Streams: a job from its beginning on a worker to its end.
#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "api/handle.h"
#include "api/stream.h"
#include "api/value.h"
#include "base/clock.h"
#include "takt/async.h"

namespace takt::api {

constexpr int32_t kDemotedPriority = 32;

namespace {

EventKind EventOf(takt_stream_outcome_t outcome) {
  switch (outcome) {
    case TAKT_STREAM_OUTCOME_MET:
      return EventKind::kJobMet;
    case TAKT_STREAM_OUTCOME_MISSED:
      return EventKind::kJobMissed;
    case TAKT_STREAM_OUTCOME_DROPPED:
      return EventKind::kJobDropped;
    case TAKT_STREAM_OUTCOME_FAILED:
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

takt_stream_job_t Stream::JobOf(const Pending& pending) const {
  takt_stream_job_t job{};
  job.sequence = pending.sequence;
  job.origin_ns = pending.origin_ns;
  job.deadline_ns = DeadlineAfter(pending.origin_ns, deadline_after_ns_);
  return job;
}

bool Stream::TakePending(Pending* pending) {
  Ref<hal::Fence> idle;
  {
    MutexLock lock(&mutex_);
    if (pending_count_ > 0) {
      *pending = pending_[first_pending_];
      first_pending_ = (first_pending_ + 1) % pending_.size();
      --pending_count_;
      return true;
    }
    is_busy_ = false;
    idle = TakeIdle();
  }
  if (idle != nullptr) idle->Signal().IgnoreError();
  return false;
}

void Stream::Begin() {
  Pending pending;
  while (TakePending(&pending)) {
    if (TryBegin(pending)) return;
  }
  Release();  // Idle. May be the last reference.
}

bool Stream::TryBegin(const Pending& pending) {
  takt_stream_job_t job = JobOf(pending);
  const int64_t now_ns = NowNs();
  const bool is_late = now_ns > job.deadline_ns;
  if (is_late) TellLate(job);
  if (is_late && drops()) {
    job.outcome = TAKT_STREAM_OUTCOME_DROPPED;
    Conclude(job, nullptr, {});
    return false;
  }
  bool is_new = false;
  const ValueEntry* const input = input_queue_.has_value()
                                      ? input_queue_->first()
                                      : latest_input_.Take(&is_new);
  const bool needs_input = !function_->signature().arguments().empty();
  {
    MutexLock lock(&mutex_);
    if (needs_input && input == nullptr) {
      ++counts_.starved_count;
      return false;
    }
    begin_delay_.Add(now_ns - pending.release_ns);
  }
  job.begin_ns = now_ns;
  job.input_sequence = input != nullptr ? input->sequence : 0;
  Issue(job, input != nullptr ? input->values() : absl::Span<takt_value_t>(),
        is_late);
  return true;
}

void Stream::Issue(takt_stream_job_t job, absl::Span<const takt_value_t> input,
                   bool is_late) {
  AsyncCallOptions options;
  options.priority = is_late && late_ == TAKT_STREAM_LATE_DEMOTE
                         ? std::min(kDemotedPriority, priority_)
                         : priority_;
  options.deadline_ns = job.deadline_ns;
  options.cpu_words = cpu_words_;
  options.trace_parent = TraceId(job.sequence);
  const bool is_watched = job.deadline_ns != kInfiniteFuture && !is_late &&
                          (on_late_ != nullptr || drops());
  // Until this returns: the call may end, and the stream with it.
  const Ref<Stream> self = Ref<Stream>::Retain(this);
  Ref<shop::Job> shop_job;
  if (shop_stream_ != nullptr) {
    shop_job = function_->context().shop()->ReleaseJob(
        *shop_stream_, job.origin_ns, job.deadline_ns, /*is_counted=*/true,
        TraceId(job.sequence));
    options.shop_job = shop_job.get();
  }
  {
    MutexLock lock(&mutex_);
    is_in_flight_ = true;
    shop_job_ = shop_job;
    job_ = job;
    is_late_told_ = is_late;
    is_given_up_ = false;
    if (is_watched) {
      Retain();
      timers_->Arm(&deadline_timer_, job.deadline_ns);
    }
  }
  // Copies: once the call has begun it may end, and the next job take inputs.
  const absl::Span<const vm::Value> values = ToValues(input);
  absl::InlinedVector<vm::Value, 8> arguments(values.begin(), values.end());
  if (input_queue_.has_value() && !input.empty()) input_queue_->Pop();
  absl::StatusOr<Ref<AsyncCall>> call =
      AsyncCall::Start(*function_, options, arguments,
                       [this](AsyncCall& done, const absl::Status& status) {
                         OnDone(&done, ToStatus("takt_async_invoke", status));
                       });
  shop_job.reset();
  arguments.clear();
  if (!call.ok()) {
    OnDone(nullptr, ToStatus("takt_stream", call.status()));
    return;
  }
  bool is_given_up = false;
  {
    MutexLock lock(&mutex_);
    // If the call has ended, the next one may be in flight already.
    if (is_in_flight_ && job_.sequence == job.sequence) {
      invocation_ = *call;
      is_given_up = is_given_up_;
    }
  }
  if (is_given_up) (*call)->Cancel();
}

void Stream::OnDeadline(TimerService::Timer* timer) {
  Stream* const self = static_cast<Timer*>(timer)->stream;
  const auto hold = Ref<Stream>::Adopt(self);  // The timer's.
  takt_stream_job_t job;
  Ref<AsyncCall> given_up;
  Ref<shop::Job> shop_job;
  {
    MutexLock lock(&self->mutex_);
    // It may be the next one that is in flight by now.
    if (!self->is_in_flight_ || self->is_late_told_ ||
        NowNs() < self->job_.deadline_ns) {
      return;
    }
    self->is_late_told_ = true;
    job = self->job_;
    if (self->drops()) {
      self->is_given_up_ = true;
      given_up = self->invocation_;
      shop_job = self->shop_job_;
    }
  }
  self->TellLate(job);
  if (given_up != nullptr) given_up->Cancel();
  if (shop_job != nullptr) self->function_->context().shop()->Drop(*shop_job);
}

void Stream::OnDone(AsyncCall* invocation, takt_status_t status) {
  const int64_t now_ns = NowNs();
  if (timers_->Cancel(&deadline_timer_)) Release();
  takt_stream_job_t job;
  bool is_given_up = false;
  bool is_late_told = false;
  Ref<shop::Job> shop_job;
  {
    MutexLock lock(&mutex_);
    job = job_;
    // The scheduler may have given it up sooner.
    is_given_up =
        is_given_up_ || (shop_job_ != nullptr && shop_job_->is_dropped());
    shop_job = std::move(shop_job_);
    // The deadline's timer may be a moment late itself.
    is_late_told = std::exchange(is_late_told_, true);
  }
  shop_job.reset();  // It has ended.
  job.end_ns = now_ns;
  const bool is_good = status == nullptr && invocation != nullptr;
  const absl::Span<takt_value_t> results =
      is_good ? absl::MakeSpan(results_) : absl::Span<takt_value_t>();
  if (is_good) {
    invocation->TakeResults(ToValues(results)).IgnoreError();
    job.outcome = now_ns <= job.deadline_ns ? TAKT_STREAM_OUTCOME_MET
                                            : TAKT_STREAM_OUTCOME_MISSED;
    output_.back().Set(results);
    output_.back().job = job;
    output_.Publish();
  } else {
    job.outcome =
        is_given_up && takt_status_code(status) == TAKT_STATUS_CANCELLED
            ? TAKT_STREAM_OUTCOME_DROPPED
            : TAKT_STREAM_OUTCOME_FAILED;
  }
  if (now_ns > job.deadline_ns && !is_late_told) TellLate(job);
  Conclude(job, status, results);
  if (is_good) ReleaseFollowers(job, results);
  takt_values_release(results.size(), results.data());

  Ref<AsyncCall> ended;
  {
    MutexLock lock(&mutex_);
    is_in_flight_ = false;
    ended = std::move(invocation_);
  }
  // Still busy, so that this adds a release without beginning it.
  if (arrival_ == TAKT_STREAM_ARRIVAL_CLOSED) ReleaseJob(now_ns);
  SubmitBegin();
}

void Stream::Conclude(const takt_stream_job_t& job, takt_status_t status,
                      absl::Span<const takt_value_t> results) {
  {
    MutexLock lock(&mutex_);
    switch (job.outcome) {
      case TAKT_STREAM_OUTCOME_MET:
        ++counts_.met_count;
        break;
      case TAKT_STREAM_OUTCOME_MISSED:
        ++counts_.missed_count;
        break;
      case TAKT_STREAM_OUTCOME_DROPPED:
        ++counts_.dropped_count;
        break;
      case TAKT_STREAM_OUTCOME_FAILED:
        ++counts_.failed_count;
        break;
    }
    if (job.outcome <= TAKT_STREAM_OUTCOME_MISSED) {
      response_.Add(job.end_ns - job.origin_ns);
    }
  }
  if (function_->tracer().is_on()) {
    const bool has_run = job.end_ns != 0;
    Record(EventOf(job.outcome), job.sequence, has_run ? job.end_ns : NowNs(),
           has_run ? job.end_ns - job.origin_ns : 0);
  }
  if (on_done_ != nullptr) {
    on_done_(user_data_, &job, status, results.size(), results.data());
  } else {
    takt_status_free(status);
  }
}

void Stream::TellLate(const takt_stream_job_t& job) const {
  if (on_late_ != nullptr) on_late_(user_data_, &job);
}

void Stream::ReleaseFollowers(const takt_stream_job_t& job,
                              absl::Span<const takt_value_t> results) {
  absl::InlinedVector<Ref<Stream>, 4> followers;
  {
    MutexLock lock(&mutex_);
    followers.assign(followers_.begin(), followers_.end());
  }
  for (const Ref<Stream>& follower : followers) {
    // An input queue that is full keeps what it has.
    if (follower->takes_results_) follower->PutInput(results).IgnoreError();
    follower->ReleaseJob(job.origin_ns);
  }
}

}  // namespace takt::api
