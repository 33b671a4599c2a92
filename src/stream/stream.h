// A Stream calls one function again and again. The clock, its inputs, the end
// of its own jobs or the end of another stream's jobs release each call.
//
//   timer, input         a worker                      the call ends
//   ReleaseJob() --> pending_ --> Begin() --> Issue() --> OnDone()
//                       ^                                    |
//                       +----- SubmitBegin(): the next one --+
//
// Invariants:
//   (1) While is_busy_, one of these leads the stream from job to job: the
//       submitted closure, Begin(), or the call in flight.
//   (2) An armed timer holds a reference to the stream, and so does a stream
//       that is busy.
//   (3) No callback runs under mutex_.
//
// Thread-safety: every method may run on any thread. Methods that write inputs
// must not overlap, and calls of TakeOutput() must not either. Lock order:
// mutex_ of a follower, then that of the stream that it follows; it is a leaf
// apart from the locks of the timers.
#ifndef TAKT_STREAM_STREAM_H_
#define TAKT_STREAM_STREAM_H_

#include <atomic>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "exec/job.h"
#include "hal/deferred.h"
#include "hal/fence.h"
#include "runtime/async_call.h"
#include "runtime/function.h"
#include "sched/met_window.h"
#include "shop/job_shop.h"
#include "stream/job_capture.h"
#include "stream/release_queue.h"
#include "stream/release_schedule.h"
#include "stream/response_predictor.h"
#include "stream/statistics.h"
#include "stream/stream_options.h"
#include "stream/value_slot.h"

namespace takt::stream {

class Stream final : public Object {
 public:
  static constexpr ObjectType kType{"takt.stream"};

  // INVALID_ARGUMENT names the option.
  static absl::StatusOr<Ref<Stream>> Create(runtime::Function& function,
                                            StreamOptions options);
  // The same with a clock of its own.
  static absl::StatusOr<Ref<Stream>> Create(runtime::Function& function,
                                            StreamOptions options,
                                            StreamClock clock);

  runtime::Function& function() const { return *function_; }
  Arrival arrival() const { return arrival_; }
  int64_t period_ns() const { return period_ns_; }
  // The scheduler's handle of the stream; null without a scheduler.
  shop::ScheduledStream* shop_stream() const { return shop_stream_.get(); }

  absl::Status Start(int64_t start_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status WaitIdle(int64_t deadline_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the scheduler expects the stream to meet its deadlines. With
  // `promises` the stream is admitted if it does.
  absl::StatusOr<sched::AdmissionReport> Admit(bool promises);

  // When the job of a release at `release_ns` will end. None: the next release
  // of the clock, or now.
  Prediction Predict(absl::optional<int64_t> release_ns) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Admission's bound of the time from a job's release to its end;
  // kInfiniteFuture: none is known.
  int64_t ResponseBound();

  absl::Status SetInput(absl::Span<const vm::Value> arguments);
  absl::StatusOr<ValueEntry::Storage> MapInput(size_t index);
  absl::Status PublishInput();
  // The newest results, which the caller may read until it calls this again;
  // null if it has taken them already, or there are none.
  const ValueEntry* TakeOutput();
  StreamStatistics statistics() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Writes the last jobs with their inputs and results. FAILED_PRECONDITION if
  // the stream keeps none.
  absl::Status WriteCapture(const std::string& path) const;

 private:
  struct Timer : TimerService::Timer {
    Timer(Stream* stream_in, void (*fire_in)(TimerService::Timer*))
        : stream(stream_in) {
      fire = fire_in;
    }
    Stream* const stream;
  };
  // Calls Begin() on a worker.
  struct BeginJob final : exec::Closure {
    explicit BeginJob(Stream* stream_in)
        : Closure([](exec::Closure* closure, exec::Worker&) {
            static_cast<BeginJob*>(closure)->stream->Begin();
          }),
          stream(stream_in) {}
    Stream* const stream;
  };
  // Calls Begin() where there is no executor: on this thread, once it has left
  // the calls that it is in.
  struct BeginLater : hal::Deferred {
    explicit BeginLater(Stream* stream_in) : stream(stream_in) {
      run = [](hal::Deferred* deferred) {
        static_cast<BeginLater*>(deferred)->stream->Begin();
      };
    }
    Stream* const stream;
  };
  // The job whose call was issued and has not ended.
  struct InFlight {
    StreamJob job;
    Ref<shop::ScheduledJob> shop_job;  // Null without a scheduler.
    // Null until AsyncCall::Start() has returned.
    Ref<runtime::AsyncCall> call;
    bool is_late_reported = false;
    bool is_given_up = false;
  };

  Stream(runtime::Function& function, StreamOptions options, StreamClock clock);
  absl::Status StartCapture(CaptureOptions options);
  ~Stream() override;

  int64_t now_ns() const { return clock_.now_ns(); }
  bool drops_late_jobs() const { return late_ >= sched::LatePolicy::kDrop; }
  bool has_start_time() const {
    return arrival_ == Arrival::kPeriodic || arrival_ == Arrival::kClosed;
  }
  shop::StreamRequirements ShopRequirements(sched::Criticality criticality);
  StreamJob JobOf(const PendingRelease& release) const;

  // Releases.
  absl::Status CheckStart() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ArmReleaseTimer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void OnReleaseTime(TimerService::Timer* timer);
  // Counts a release that the timer makes at `now_ns`, and arms the timer for
  // the next one. Returns whether it is armed.
  bool CountTimerRelease(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddFollower(Stream* follower) ABSL_LOCKS_EXCLUDED(mutex_);
  void RemoveFollower(Stream* follower) ABSL_LOCKS_EXCLUDED(mutex_);
  // A job that was released, and what is to be done about it without the lock.
  struct Released {
    uint64_t sequence = 0;
    int64_t origin_ns = 0;
    int64_t release_ns = 0;
    absl::optional<PendingRelease> replaced;
    bool begins = false;
  };
  // Releases a job that was due at `origin_ns`.
  void ReleaseJob(int64_t origin_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  Released AddRelease(int64_t origin_ns, int64_t now_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishRelease(const Released& released) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends a job that a later release has replaced, or for which there was no
  // place.
  void DropPending(const PendingRelease& release) ABSL_LOCKS_EXCLUDED(mutex_);
  void ReleaseFollowers(const StreamJob& job,
                        absl::Span<const vm::Value> results)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Predictions.
  Prediction PredictLocked(int64_t release_ns, int64_t now_ns) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LearnDuration(const StreamJob& job)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Jobs, from pending to issued.
  void SubmitBegin();
  void Begin() ABSL_LOCKS_EXCLUDED(mutex_);
  // The oldest pending release. None: the stream is idle from now on.
  absl::optional<PendingRelease> TakePending() ABSL_LOCKS_EXCLUDED(mutex_);
  // False if the job ended without a call.
  bool TryBegin(const PendingRelease& release) ABSL_LOCKS_EXCLUDED(mutex_);
  void Issue(const StreamJob& job, absl::Span<const vm::Value> input,
             bool is_late, bool may_miss) ABSL_LOCKS_EXCLUDED(mutex_);
  runtime::AsyncCallOptions CallOptionsFor(const StreamJob& job, bool is_late,
                                           bool may_miss) const;
  void EnterFlight(InFlight in_flight) ABSL_LOCKS_EXCLUDED(mutex_);
  // Keeps the call of job `sequence` so that its deadline can cancel it.
  void KeepCall(uint64_t sequence, Ref<runtime::AsyncCall> call)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Jobs, from issued to ended.
  static void OnDeadline(TimerService::Timer* timer);
  void GiveUpLateJob() ABSL_LOCKS_EXCLUDED(mutex_);
  // `call` is null if it could not be started.
  void OnDone(runtime::AsyncCall* call, const absl::Status& status)
      ABSL_LOCKS_EXCLUDED(mutex_);
  InFlight LeaveFlight() ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts the outcome, records it and calls on_done_.
  void Conclude(const StreamJob& job, const absl::Status& status,
                absl::Span<const vm::Value> results)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Adds the next job to the window, once it has ended.
  void CountInWindow(bool is_met) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReportLate(const StreamJob& job) const;
  uint64_t TraceId(uint64_t sequence) const {
    return StreamJobId(trace_track_, sequence);
  }
  void Record(EventKind kind, uint64_t sequence, int64_t time_ns,
              int64_t value) const;

  // No job is in flight or pending, and no thread reports a dropped one.
  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !is_busy_ && reporting_count_ == 0;
  }
  // The fence that the caller must signal once it has released mutex_; null:
  // none.
  Ref<hal::Fence> TakeIdleFence() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return IsIdle() ? std::move(idle_) : nullptr;
  }

  // Inputs.
  absl::Status CheckMapping(size_t index) const;
  absl::Status StoreArgument(ValueEntry& entry, size_t index) const;
  void PublishEntry(ValueEntry& entry);
  absl::Status PutInput(absl::Span<const vm::Value> arguments);

  const Ref<runtime::Function> function_;
  const StreamClock clock_;
  const Arrival arrival_;
  const int64_t period_ns_;
  const Ref<Stream> after_;
  const bool takes_results_;
  const int64_t deadline_after_ns_;  // kInfiniteFuture: none.
  const sched::LatePolicy late_;
  const int32_t priority_;
  const int32_t lenient_priority_;  // Of jobs that may miss.
  const std::vector<uint64_t> cpu_words_;
  Ref<shop::ScheduledStream> shop_stream_;  // Null without a scheduler.
  const StreamDoneCallback on_done_;
  const StreamLateCallback on_late_;
  const uint16_t trace_track_;

  LatestValues latest_input_;
  absl::optional<ValueQueue> input_queue_;
  std::atomic<uint64_t> input_count_{0};  // Stored by the writer of inputs.
  LatestValues output_;
  std::vector<vm::Value> results_;  // Of the call that has just ended.

  BeginJob begin_job_{this};
  BeginLater begin_later_{this};
  Timer release_timer_{this, &Stream::OnReleaseTime};
  Timer deadline_timer_{this, &Stream::OnDeadline};

  mutable Mutex mutex_;
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
  // release_timer_ is armed or fires.
  bool is_timer_held_ ABSL_GUARDED_BY(mutex_) = false;
  // The timer fires for an earlier Start(), and arms itself for the latest.
  bool is_restarted_ ABSL_GUARDED_BY(mutex_) = false;
  ReleaseSchedule schedule_ ABSL_GUARDED_BY(mutex_);
  bool is_busy_ ABSL_GUARDED_BY(mutex_) = false;
  // Threads that report a job which they have dropped.
  uint32_t reporting_count_ ABSL_GUARDED_BY(mutex_) = 0;
  ReleaseQueue pending_ ABSL_GUARDED_BY(mutex_);
  absl::optional<InFlight> in_flight_ ABSL_GUARDED_BY(mutex_);
  // Running streams that this one's jobs release.
  // A place whose stream is gone is null, and taken by the next: the end of a
  // job goes through them by index, without the lock in between.
  std::vector<Ref<Stream>> followers_ ABSL_GUARDED_BY(mutex_);
  Ref<hal::Fence> idle_ ABSL_GUARDED_BY(mutex_);  // Null: no thread waits.
  // The jobs that have ended. Releases that were dropped while they waited come
  // after the job that was taken up before them.
  sched::MetWindow window_ ABSL_GUARDED_BY(mutex_);
  uint64_t dropped_waiting_count_ ABSL_GUARDED_BY(mutex_) = 0;
  // The scheduler has promised the deadlines, so no job is less urgent.
  bool is_promised_ ABSL_GUARDED_BY(mutex_) = false;
  StatisticsRecorder recorder_ ABSL_GUARDED_BY(mutex_);
  ResponsePredictor predictor_ ABSL_GUARDED_BY(mutex_);
  // When the last job's call ended; 0: none has.
  int64_t last_end_ns_ ABSL_GUARDED_BY(mutex_) = 0;

  std::shared_ptr<JobCapture> capture_;  // Null: the stream keeps no jobs.
  // It goes first: what it writes uses the function.
  std::shared_ptr<BackgroundThread> capture_writer_;
};

}  // namespace takt::stream

#endif  // TAKT_STREAM_STREAM_H_
