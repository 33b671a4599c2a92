// A Stream releases calls of a function by the clock, by inputs, or by the jobs
// of another stream. Behind takt_stream_t.
//
//   release (timer, input, ...)      worker                the call ends
//   pending ------------------> begins: late? input? ----> OnDone: outcome,
//      ^                                                   output, followers
//      +---- the next one, if it waits <-----------------------+
//
// Invariants:
//   (1) While is_busy_, one party at a time leads the stream from job to job:
//       the submitted closure, Begin(), or the call in flight.
//   (2) An armed timer, and a stream that is busy, hold a reference.
//   (3) Nobody's code is called under mutex_.
//
// Thread-safety: as takt/stream.h says. Lock order: mutex_ is a leaf, but
// for the timers' own.
#ifndef TAKT_API_STREAM_H_
#define TAKT_API_STREAM_H_

#include <atomic>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "api/async_call.h"
#include "api/function.h"
#include "api/value_slot.h"
#include "base/histogram.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "exec/job.h"
#include "hal/deferred.h"
#include "hal/fence.h"
#include "takt/stream.h"

namespace takt::api {

// Of jobs of that criticality, where nothing else is said.
int32_t PriorityOf(takt_criticality_t criticality);

class Stream final : public Object {
 public:
  static constexpr ObjectType kType{"takt.stream"};

  static absl::StatusOr<Ref<Stream>> Create(
      Function& function, const takt_stream_options_t& options);

  const Function& function() const { return *function_; }
  takt_stream_arrival_t arrival() const { return arrival_; }
  int64_t period_ns() const { return period_ns_; }
  // What the scheduler knows it as; null if there is none.
  shop::Stream* shop_stream() const { return shop_stream_.get(); }
  absl::Status Start(int64_t start_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status WaitIdle(int64_t deadline_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  // takt_stream_admit().
  absl::StatusOr<sched::AdmissionReport> Admit(bool promises);
  absl::Status SetInput(absl::Span<const takt_value_t> arguments);
  absl::StatusOr<ValueEntry::Storage> MapInput(size_t index);
  absl::Status PublishInput();
  bool TakeOutput(absl::Span<takt_value_t> results, takt_stream_job_t* job);
  takt_stream_statistics_t statistics() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A release that has no call yet.
  struct Pending {
    uint64_t sequence;
    int64_t origin_ns;
    int64_t release_ns;
  };
  struct Timer : TimerService::Timer {
    Timer(Stream* stream_in, void (*fire_in)(TimerService::Timer*))
        : stream(stream_in) {
      fire = fire_in;
    }
    Stream* const stream;
  };
  // Where the next job begins: on a worker, or without an executor soon on the
  // thread that brings it about.
  struct BeginJob final : exec::Closure {
    explicit BeginJob(Stream* stream_in)
        : Closure([](exec::Closure* closure, exec::Worker&) {
            static_cast<BeginJob*>(closure)->stream->Begin();
          }),
          stream(stream_in) {}
    Stream* const stream;
  };
  struct BeginLater : hal::Deferred {
    explicit BeginLater(Stream* stream_in) : stream(stream_in) {
      run = [](hal::Deferred* deferred) {
        static_cast<BeginLater*>(deferred)->stream->Begin();
      };
    }
    Stream* const stream;
  };

  Stream(Function& function, const takt_stream_options_t& options,
         std::shared_ptr<TimerService> timers);
  ~Stream() override = default;

  bool drops() const { return late_ >= TAKT_STREAM_LATE_DROP; }
  shop::StreamRequirements ShopTerms(const takt_stream_options_t& options);
  takt_stream_job_t JobOf(const Pending& pending) const;

  // A job comes into being; `origin_ns` is when it should have.
  void ReleaseJob(int64_t origin_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  void TellDropped(const Pending& dropped) ABSL_LOCKS_EXCLUDED(mutex_);
  static void OnReleaseTime(TimerService::Timer* timer);
  // Counts and keeps the release; *dropped receives one that gives way to it.
  // True if the stream is now to begin.
  bool AddPending(int64_t origin_ns, int64_t now_ns,
                  absl::optional<Pending>* dropped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ArmNextPeriod(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Has a worker begin what is pending.
  void SubmitBegin();
  void Begin() ABSL_LOCKS_EXCLUDED(mutex_);
  // True if the call was issued, or ended at once.
  bool TryBegin(const Pending& pending) ABSL_LOCKS_EXCLUDED(mutex_);
  void Issue(takt_stream_job_t job, absl::Span<const takt_value_t> input,
             bool is_late) ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !is_busy_ && telling_count_ == 0;
  }
  // What the caller is to signal, without the lock; null: nothing yet.
  Ref<hal::Fence> TakeIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return IsIdle() ? std::move(idle_) : nullptr;
  }
  // The next pending job, or none: then the stream is idle.
  bool TakePending(Pending* pending) ABSL_LOCKS_EXCLUDED(mutex_);

  static void OnDeadline(TimerService::Timer* timer);
  void OnDone(AsyncCall* invocation, takt_status_t status)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts the outcome and tells it. `status` is the callback's.
  void Conclude(const takt_stream_job_t& job, takt_status_t status,
                absl::Span<const takt_value_t> results)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void TellLate(const takt_stream_job_t& job) const;
  uint64_t TraceId(uint64_t sequence) const {
    return StreamJobId(trace_track_, sequence);
  }
  // What became of a job, or that it is there.
  void Record(EventKind kind, uint64_t sequence, int64_t time_ns,
              int64_t value) const;
  void ReleaseFollowers(const takt_stream_job_t& job,
                        absl::Span<const takt_value_t> results)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckMapping(size_t index) const;
  absl::Status StoreArgument(ValueEntry& entry, size_t index) const;
  void PublishEntry(ValueEntry& entry);
  absl::Status PutInput(absl::Span<const takt_value_t> arguments);

  const Ref<Function> function_;
  const std::shared_ptr<TimerService> timers_;
  const takt_stream_arrival_t arrival_;
  const int64_t period_ns_;
  const Ref<Stream> after_;
  const bool takes_results_;
  const int64_t deadline_after_ns_;  // kInfiniteFuture: none.
  const takt_stream_late_t late_;
  const int32_t priority_;
  const std::vector<uint64_t> cpu_words_;
  // What the scheduler knows it as; null if there is none.
  Ref<shop::Stream> shop_stream_;
  const takt_stream_done_callback_t on_done_;
  const takt_stream_late_callback_t on_late_;
  void* const user_data_;
  const uint16_t trace_track_;

  LatestValues latest_input_;
  absl::optional<ValueQueue> input_queue_;
  std::atomic<uint64_t> input_count_{0};  // Written by the writer.
  LatestValues output_;
  std::vector<takt_value_t> results_;  // Of the call that has just ended.

  BeginJob begin_job_{this};
  BeginLater begin_later_{this};
  Timer release_timer_{this, &Stream::OnReleaseTime};
  Timer deadline_timer_{this, &Stream::OnDeadline};

  mutable Mutex mutex_;
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
  // release_timer_ is armed, or fires; then what it does next is up to it.
  bool is_timer_held_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_restarted_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t next_release_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_busy_ ABSL_GUARDED_BY(mutex_) = false;
  // Threads that tell of a job they have dropped, besides who leads.
  uint32_t telling_count_ ABSL_GUARDED_BY(mutex_) = 0;
  // A ring of releases that wait.
  std::vector<Pending> pending_ ABSL_GUARDED_BY(mutex_);
  size_t first_pending_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t pending_count_ ABSL_GUARDED_BY(mutex_) = 0;

  // The job in flight.
  bool is_in_flight_ ABSL_GUARDED_BY(mutex_) = false;
  takt_stream_job_t job_ ABSL_GUARDED_BY(mutex_){};
  Ref<AsyncCall> invocation_ ABSL_GUARDED_BY(mutex_);
  Ref<shop::Job> shop_job_ ABSL_GUARDED_BY(mutex_);
  bool is_late_told_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_given_up_ ABSL_GUARDED_BY(mutex_) = false;

  std::vector<Ref<Stream>> followers_ ABSL_GUARDED_BY(mutex_);  // Running.
  Ref<hal::Fence> idle_ ABSL_GUARDED_BY(mutex_);  // Somebody waits.

  takt_stream_statistics_t counts_ ABSL_GUARDED_BY(mutex_){};
  Histogram response_ ABSL_GUARDED_BY(mutex_);
  Histogram begin_delay_ ABSL_GUARDED_BY(mutex_);
  Histogram release_error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::api

#endif  // TAKT_API_STREAM_H_
