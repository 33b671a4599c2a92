// Notices are what an instance asked the system for and did not get, and what
// it was given to do that nothing sees to. The log says each of it once, with
// what can be done about it; takt/instance.h has the counts.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is
// a leaf; the log is written without it.
#ifndef TAKT_RUNTIME_NOTICES_H_
#define TAKT_RUNTIME_NOTICES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "base/cpu_set.h"
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
    int32_t timer_priority_error = 0;
    bool may_be_throttled = false;
    uint32_t callers_stream_count = 0;
    uint32_t unused_npu_count = 0;
  };
  // What the kernel lets real-time threads have of each period.
  struct Throttle {
    int64_t runtime_us = -1;  // Negative: all of it.
    int64_t period_us = 0;

    bool is_on() const { return runtime_us >= 0 && runtime_us < period_us; }
  };
  // Off if the kernel does not say.
  static Throttle ReadThrottle(const std::string& folder = "/proc/sys/kernel");

  // `allowed`: the CPUs that the process may use.
  Notices(std::shared_ptr<const Log> log, CpuSet allowed, Throttle throttle)
      : log_(std::move(log)),
        allowed_(std::move(allowed)),
        throttle_(throttle) {}
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  // CPUs of worker_cpus that there are not.
  void AbsentCpus(const CpuSet& absent, uint32_t worker_count);
  // As they were asked for, by a number; `reason`: why there are fewer.
  void FewerWorkers(uint32_t count, uint32_t wanted, absl::string_view reason);
  // A thread has come up that was to have this SCHED_FIFO priority (0: none).
  void Thread(const exec::WorkerThread::Report& report, int fifo_priority);
  // The same of the thread that releases jobs.
  void TimerPriority(int wanted, int error);
  // A stream was started, whose jobs only callers run.
  void CallersStream(absl::string_view function);
  void UnusedNpu(absl::string_view device, absl::string_view modules);

  Counts counts() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Warn(absl::string_view message) const {
    log_->Write(LogSeverity::kWarning, message);
  }

  const std::shared_ptr<const Log> log_;
  const CpuSet allowed_;
  const Throttle throttle_;

  mutable Mutex mutex_;
  Counts counts_ ABSL_GUARDED_BY(mutex_);
  // The threads that have a real-time priority, and the CPUs they may use.
  uint32_t real_time_count_ ABSL_GUARDED_BY(mutex_) = 0;
  CpuSet real_time_cpus_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_NOTICES_H_
