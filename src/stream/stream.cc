// Streams: how they are made, started and stopped, and how jobs are released.
#include "stream/stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "runtime/blocking_wait.h"
#include "runtime/call_options.h"
#include "sched/priority.h"

namespace takt::stream {

absl::StatusOr<Ref<Stream>> Stream::Create(runtime::Function& function,
                                           StreamOptions options) {
  return Create(function, std::move(options),
                {function.context().instance().release_timers()});
}

absl::StatusOr<Ref<Stream>> Stream::Create(runtime::Function& function,
                                           StreamOptions options,
                                           StreamClock clock) {
  TAKT_RETURN_IF_ERROR(CheckStreamOptions(function, options));
  const sched::Criticality criticality = options.criticality;
  const uint32_t share_permille = options.share_permille;
  const uint32_t weight = options.weight;
  CaptureOptions capture = std::move(options.capture);
  auto stream = Ref<Stream>::Adopt(
      new Stream(function, std::move(options), std::move(clock)));
  TAKT_RETURN_IF_ERROR(stream->StartCapture(std::move(capture)));
  if (shop::JobShop* const shop = function.context().shop()) {
    shop::StreamRequirements requirements =
        stream->ShopRequirements(criticality);
    requirements.share_permille = share_permille;
    requirements.weight = weight;
    TAKT_ASSIGN_OR_RETURN(stream->shop_stream_,
                          shop->AddStream(std::move(requirements)));
  }
  return stream;
}

Stream::Stream(runtime::Function& function, StreamOptions options,
               StreamClock clock)
    : Object(&kType),
      function_(Ref<runtime::Function>::Retain(&function)),
      clock_(std::move(clock)),
      arrival_(options.arrival),
      period_ns_(options.period_ns),
      after_(Ref<Stream>::Retain(options.after)),
      takes_results_(options.takes_results),
      deadline_after_ns_(StreamDeadline(function, options)),
      late_(options.late),
      priority_(StreamPriority(options)),
      lenient_priority_(LenientPriority(options)),
      cpu_words_(options.cpu_words.begin(), options.cpu_words.end()),
      on_done_(std::move(options.on_done)),
      on_late_(std::move(options.on_late)),
      trace_track_(
          function.tracer().AddNewTrack(TrackKind::kStream, function.name())),
      latest_input_(function.signature().arguments().size()),
      output_(function.signature().results().size()),
      results_(function.signature().results().size()),
      schedule_(options.period_ns),
      pending_(options.release_queue_length,
               options.late == sched::LatePolicy::kLatestOnly),
      window_(options.met_min, options.met_window) {
  TAKT_CHECK(priority_ >= 0 && priority_ <= 255);
  if (options.input_queue_length > 0) {
    input_queue_.emplace(function.signature().arguments().size(),
                         options.input_queue_length);
  }
  release_timer_.fires_anywhere = true;
  begin_job_.core_lane_max = exec::LaneOf(static_cast<uint8_t>(priority_));
  begin_job_.lane = options.share_permille > 0
                        ? std::max(begin_job_.core_lane_max,
                                   exec::LaneOf(sched::kBelowHardPriority))
                        : begin_job_.core_lane_max;
}

Stream::~Stream() { function_->tracer().FreeTrack(trace_track_); }

absl::Status Stream::StartCapture(CaptureOptions options) {
  if (options.job_count == 0) {
    if (options.path.empty()) return absl::OkStatus();
    return StreamOptionError(*function_, "capture_path",
                             "there is no capture_job_count");
  }
  capture_writer_ =
      function_->context().instance().CreateBackground("takt-capture");
  TAKT_ASSIGN_OR_RETURN(capture_,
                        JobCapture::Create(*function_, std::move(options),
                                           capture_writer_.get()));
  return absl::OkStatus();
}

absl::Status Stream::WriteCapture(const std::string& path) const {
  if (capture_ != nullptr) return capture_->Write(path);
  return absl::FailedPreconditionError(absl::StrCat(
      function_->name(), ": the stream keeps no jobs (capture_job_count)"));
}

shop::StreamRequirements Stream::ShopRequirements(
    sched::Criticality criticality) {
  runtime::CallOptions call;
  call.priority = priority_;
  call.cpu_words = cpu_words_;
  shop::StreamRequirements requirements;
  requirements.name = function_->name();
  requirements.period_ns = period_ns_;
  requirements.deadline_ns = deadline_after_ns_;
  // A stream without a deadline is never late, so it cannot be hard.
  requirements.criticality = criticality == sched::Criticality::kHard &&
                                     deadline_after_ns_ == kInfiniteFuture
                                 ? sched::Criticality::kSoft
                                 : criticality;
  requirements.priority = static_cast<uint8_t>(priority_);
  // pending_ keeps the latest release; the scheduler sees those that have
  // begun.
  requirements.late = late_ == sched::LatePolicy::kLatestOnly
                          ? sched::LatePolicy::kDrop
                          : late_;
  const auto job = function_->FindJob(call);
  if (job.ok()) requirements.allowed = job->traits.allowed;
  return requirements;
}

absl::StatusOr<sched::AdmissionReport> Stream::Admit(bool promises) {
  if (shop_stream_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        function_->name(), ": nothing schedules the devices of its context"));
  }
  shop::JobShop& shop = *function_->context().shop();
  if (!promises) return shop.Assess(*shop_stream_);
  const sched::AdmissionReport report = shop.Admit(*shop_stream_);
  MutexLock lock(&mutex_);
  is_promised_ |=
      report.verdict == sched::Verdict::kWillFit &&
      shop_stream_->requirements().criticality == sched::Criticality::kHard;
  return report;
}

absl::Status Stream::CheckStart() const {
  if (is_running_) {
    return absl::FailedPreconditionError(
        absl::StrCat(function_->name(), ": the stream runs already"));
  }
  const bool needs_input = !function_->signature().arguments().empty();
  if (arrival_ == Arrival::kClosed && needs_input &&
      input_count_.load(std::memory_order_acquire) == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        function_->name(), ": the closed stream has no input yet"));
  }
  return absl::OkStatus();
}

void Stream::ArmReleaseTimer() {
  TAKT_CHECK(is_running_ && has_start_time());
  if (is_timer_held_) {
    is_restarted_ = true;
    return;
  }
  is_timer_held_ = true;
  Retain();  // The timer's.
  clock_.timers->Arm(&release_timer_, schedule_.next_ns());
}

absl::Status Stream::Start(int64_t start_ns) {
  if (!clock_.timers->StartThread()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        function_->name(), ": the thread of the timer did not start"));
  }
  {
    MutexLock lock(&mutex_);
    TAKT_RETURN_IF_ERROR(CheckStart());
    TAKT_CHECK(pending_.empty() && !is_restarted_);
    // Under the lock, so that Stop() finds a follower that runs, or none.
    if (after_ != nullptr) after_->AddFollower(this);
    is_running_ = true;
    schedule_.Start(start_ns, now_ns());
    if (has_start_time()) ArmReleaseTimer();
  }
  const runtime::Context& context = function_->context();
  runtime::Instance& instance = context.instance();
  if (context.executor() != nullptr &&
      context.executor()->worker_count() == 0 && !instance.has_host_loop()) {
    instance.notices().CallersStream(function_->name());
  }
  return absl::OkStatus();
}

void Stream::Stop() {
  bool is_timer_stopped = false;
  {
    MutexLock lock(&mutex_);
    if (after_ != nullptr) after_->RemoveFollower(this);
    is_running_ = is_restarted_ = false;
    is_timer_stopped = is_timer_held_ && clock_.timers->Cancel(&release_timer_);
    if (is_timer_stopped) is_timer_held_ = false;
    // Counted, but not reported: the caller may hold what its callback needs.
    while (const auto release = pending_.Take()) {
      StreamJob job = JobOf(*release);
      job.outcome = sched::JobOutcome::kDropped;
      recorder_.CountEnd(job);
    }
  }
  if (is_timer_stopped) Release();  // The timer's.
}

void Stream::AddFollower(Stream* follower) {
  TAKT_CHECK(follower->after_.get() == this);
  MutexLock lock(&mutex_);
  for (Ref<Stream>& each : followers_) {
    if (each != nullptr) continue;
    each = Ref<Stream>::Retain(follower);
    return;
  }
  followers_.push_back(Ref<Stream>::Retain(follower));
}

void Stream::RemoveFollower(Stream* follower) {
  MutexLock lock(&mutex_);
  // The caller of the follower's Stop() holds another reference.
  for (Ref<Stream>& each : followers_) {
    if (each.get() == follower) each = nullptr;
  }
}

// Once the timer is armed again, it may fire on another thread, and Stop() may
// drop its reference.
void Stream::OnReleaseTime(TimerService::Timer* timer) {
  const auto self = Ref<Stream>::Retain(static_cast<Timer*>(timer)->stream);
  const int64_t now_ns = self->now_ns();
  absl::optional<Released> released;
  bool goes_on = false;
  {
    MutexLock lock(&self->mutex_);
    TAKT_CHECK(self->is_timer_held_);
    if (self->is_running_ && self->is_restarted_) {
      self->is_restarted_ = false;
      self->clock_.timers->Arm(timer, self->schedule_.next_ns());
      return;
    }
    if (self->is_running_) {
      const int64_t origin_ns = self->schedule_.next_ns();
      goes_on = self->CountTimerRelease(now_ns);
      released = self->AddRelease(origin_ns, now_ns);
    }
    self->is_timer_held_ = goes_on;
  }
  if (released.has_value()) self->FinishRelease(*released);
  if (!goes_on) self->Release();  // The timer's.
}

bool Stream::CountTimerRelease(int64_t now_ns) {
  const int64_t error_ns = now_ns - schedule_.next_ns();
  if (arrival_ != Arrival::kPeriodic) {
    recorder_.CountTimer(error_ns, 0);
    return false;
  }
  recorder_.CountTimer(error_ns, schedule_.Advance(now_ns));
  clock_.timers->Arm(&release_timer_, schedule_.next_ns());
  return true;
}

void Stream::ReleaseJob(int64_t origin_ns) {
  Released released;
  {
    MutexLock lock(&mutex_);
    if (!is_running_) return;
    released = AddRelease(origin_ns, now_ns());
  }
  FinishRelease(released);
}

Stream::Released Stream::AddRelease(int64_t origin_ns, int64_t now_ns) {
  TAKT_DCHECK(is_running_);
  Released released;
  released.origin_ns = origin_ns;
  released.release_ns = now_ns;
  // A closed stream releases its next job before the last one's end.
  const bool is_overrun = is_busy_ && arrival_ != Arrival::kClosed;
  released.sequence = recorder_.CountRelease(is_overrun);
  const Prediction prediction = PredictLocked(origin_ns, now_ns);
  released.replaced =
      pending_.Add({released.sequence, origin_ns, now_ns, prediction.q99_ns});
  if (released.replaced.has_value()) {
    ++reporting_count_;
    ++dropped_waiting_count_;
  }
  released.begins = !std::exchange(is_busy_, true);
  return released;
}

void Stream::FinishRelease(const Released& released) {
  if (function_->tracer().is_on()) {
    Record(EventKind::kJobReleased, released.sequence, released.release_ns,
           DeadlineAfter(released.origin_ns, deadline_after_ns_));
  }
  if (released.replaced.has_value()) DropPending(*released.replaced);
  if (!released.begins) return;
  Retain();  // While the stream is busy.
  SubmitBegin();
}

void Stream::DropPending(const PendingRelease& release) {
  StreamJob job = JobOf(release);
  job.outcome = sched::JobOutcome::kDropped;
  Conclude(job, absl::OkStatus(), {});
  Ref<hal::Fence> idle;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(reporting_count_ > 0);
    --reporting_count_;
    idle = TakeIdleFence();
  }
  if (idle != nullptr) idle->Signal().IgnoreError();
}

void Stream::ReleaseFollowers(const StreamJob& job,
                              absl::Span<const vm::Value> results) {
  for (size_t i = 0;; ++i) {
    Ref<Stream> follower;
    {
      MutexLock lock(&mutex_);
      if (i >= followers_.size()) return;
      follower = followers_[i];
    }
    if (follower == nullptr) continue;
    // A full input queue stays as it is.
    if (follower->takes_results_) follower->PutInput(results).IgnoreError();
    follower->ReleaseJob(job.origin_ns);
  }
}

absl::Status Stream::WaitIdle(int64_t deadline_ns) {
  Ref<hal::Fence> idle;
  {
    MutexLock lock(&mutex_);
    if (IsIdle()) return absl::OkStatus();
    if (idle_ == nullptr) idle_ = hal::Fence::Create();
    idle = idle_;
  }
  runtime::BlockingWait thread(function_->context().executor());
  return runtime::WaitForFence(*idle, thread, deadline_ns);
}

StreamStatistics Stream::statistics() const {
  MutexLock lock(&mutex_);
  return recorder_.Summarize();
}

}  // namespace takt::stream
