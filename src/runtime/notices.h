// Notices report what an instance asked the system for and did not get, and
// configurations that have no effect. The log has each notice once, with a
// remedy; the statistics of the instance have the counts.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is
// a leaf; the log is written without it.
#ifndef TAKT_RUNTIME_NOTICES_H_
#define TAKT_RUNTIME_NOTICES_H_

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/cpu_set.h"
#include "base/exceptions.h"
#include "base/mutex.h"
#include "exec/worker_thread.h"
#include "runtime/log.h"

namespace takt::runtime {

class Notices {
 public:
  // takt/instance.h documents them.
  struct Counts {
    uint32_t absent_cpu_count = 0;
    int32_t worker_priority_error = 0;
    int32_t worker_affinity_error = 0;
    int32_t worker_reservation_error = 0;
    int32_t timer_priority_error = 0;
    bool may_be_throttled = false;
    uint32_t callers_stream_count = 0;
    uint32_t unused_npu_count = 0;
    uint32_t missing_backup_count = 0;
    uint32_t refused_thread_count = 0;
    uint32_t failed_capture_count = 0;
  };
  // The part of each period that the kernel gives to real-time threads.
  struct Throttle {
    int64_t runtime_us = -1;  // Negative: the whole period.
    int64_t period_us = 0;

    bool is_on() const { return runtime_us >= 0 && runtime_us < period_us; }
  };
  // It is off if the kernel does not report it.
  static Throttle ReadThrottle(const std::string& folder = "/proc/sys/kernel");

  // `allowed`: the CPUs that the process may use.
  Notices(std::shared_ptr<const Log> log, CpuSet allowed, Throttle throttle)
      : log_(std::move(log)),
        allowed_(std::move(allowed)),
        throttle_(throttle) {}
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  // CPUs of worker_cpus that the machine does not have.
  void AbsentCpus(const CpuSet& absent, uint32_t worker_count);
  // Fewer workers started than the options ask for.
  void FewerWorkers(uint32_t count, uint32_t wanted, absl::string_view reason);
  // Fewer backup threads than workers.
  void FewerBackups(uint32_t count, uint32_t worker_count);
  // A thread of timers or of background work did not start. The caller may hold
  // their lock.
  void RefusedThread();
  // A worker has started. `fifo_priority`: the wanted one; 0: none.
  void Thread(const exec::WorkerThread::Report& report, int fifo_priority);
  // The same for the thread that releases jobs. `error`: errno; 0: none.
  void TimerPriority(int wanted, int error);
  // A stream has started without workers: only callers run its jobs.
  void CallersStream(absl::string_view function);
  // A stream could not write the capture of a job.
  void CaptureFailed(absl::string_view function, absl::string_view reason);
  // A context has an NPU, and none of its modules has code for it.
  void UnusedNpu(absl::string_view device, absl::string_view modules);

  Counts counts() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Without memory for the text there is only the count.
  template <typename... Parts>
  void Warn(const Parts&... parts) const {
    TAKT_TRY { log_->Write(LogSeverity::kWarning, absl::StrCat(parts...)); }
    TAKT_CATCH(const std::bad_alloc&) {}
  }

  const std::shared_ptr<const Log> log_;
  const CpuSet allowed_;
  const Throttle throttle_;

  mutable Mutex mutex_;
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  // The threads of real-time priority, and the CPUs that they may use.
  uint32_t real_time_count_ ABSL_GUARDED_BY(mutex_) = 0;
  CpuSet real_time_cpus_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_NOTICES_H_
