// A WorkerThread is a thread of an executor. It has a name, a stack of a given
// size, given processors and perhaps a real-time priority or a reservation. If
// the system refuses one of these, the report says so, and the thread runs
// without it.
//
// Thread-safety: Start(), Join() and Detach() by the owner; the rest from any
// thread.
#ifndef TAKT_EXEC_WORKER_THREAD_H_
#define TAKT_EXEC_WORKER_THREAD_H_

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/cpu_set.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "base/thread_reservation.h"

namespace takt::exec {

// A kernel's processor mask, with a bit for each processor that a CpuSet may
// have.
class KernelCpuSet {
 public:
  void Add(uint32_t cpu) { CPU_SET_S(cpu, sizeof(sets_), sets_); }
  void Remove(uint32_t cpu) { CPU_CLR_S(cpu, sizeof(sets_), sets_); }
  bool empty() const { return CPU_COUNT_S(sizeof(sets_), sets_) == 0; }
  CpuSet ToCpuSet() const;
  size_t bytes() const { return sizeof(sets_); }
  cpu_set_t* get() { return sets_; }

 private:
  cpu_set_t sets_[CpuSet::kMaxCpus / CPU_SETSIZE] = {};
};

class WorkerThread {
 public:
  // The properties of a thread that runs, as the kernel reports them.
  struct Report {
    bool is_running = false;
    uint64_t thread_id = 0;  // The kernel's.
    CpuSet cpus;             // Where it may run.
    int fifo_priority = 0;   // 0: not SCHED_FIFO.
    ThreadReservation reservation;
    // The errno of a refusal; 0 if there was none.
    int affinity_error = 0;
    int priority_error = 0;
    int reservation_error = 0;
  };
  struct Options {
    std::string name;  // The kernel keeps 15 characters.
    uint32_t worker = 0;
    size_t stack_bytes = 0;  // As Thread::Options says.
    bool reports_faults = false;
    CpuSet cpus;                     // Empty: wherever the kernel puts it.
    int fifo_priority = 0;           // SCHED_FIFO, 1 to 99; 0: as the process.
    ThreadReservation reservation;   // Instead of a priority.
    bool wants_low_latency = false;  // base/thread_latency.h
    ThreadHooks hooks;
    // Called on the thread before run(). Null: not called.
    std::function<void(const Report&)> on_report;

    std::string TraceName() const;  // With its processors.
  };
  WorkerThread() = default;
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Starts a thread that sets its properties, then calls run(argument).
  // RESOURCE_EXHAUSTED if it does not start.
  absl::Status Start(const Options& options, void (*run)(void*),
                     void* argument);
  bool IsThisThread() const;
  void Join();
  // Instead of Join(), on the thread itself. This object must live until run()
  // has returned.
  void Detach();

  // Keeps the thread off `cpu` until it comes back, if it has no processors of
  // its own and may run elsewhere: one that waits there moves at once. The
  // caller knows that the thread does not end meanwhile. Two system calls.
  void MoveOff(int cpu) ABSL_LOCKS_EXCLUDED(mutex_);
  // On the thread itself: it may run again where it might before MoveOff().
  void ComeBack() ABSL_LOCKS_EXCLUDED(mutex_);

  // Moves the thread to `cpus`; the report contains the outcome.
  void SetAffinity(const CpuSet& cpus) ABSL_LOCKS_EXCLUDED(mutex_);
  Report report() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The report's, without a copy of the rest.
  int fifo_priority() const ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(&mutex_);
    return report_.fifo_priority;
  }
  // On the thread itself, if it was given a real-time priority: makes it an
  // ordinary thread, or a real-time one again. One system call. The report
  // contains a refusal.
  void SetRealTime(bool is_real_time) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static void Main(void* argument);
  void Prepare() ABSL_LOCKS_EXCLUDED(mutex_);
  void ApplyAffinity(const CpuSet& cpus) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Options options_;
  void (*run_)(void*) = nullptr;
  void* argument_ = nullptr;
  Thread thread_;

  mutable Mutex mutex_;
  CpuSet wanted_cpus_ ABSL_GUARDED_BY(mutex_);
  // Where it might run before MoveOff().
  KernelCpuSet moved_from_ ABSL_GUARDED_BY(mutex_);
  bool is_moved_ ABSL_GUARDED_BY(mutex_) = false;
  Report report_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_WORKER_THREAD_H_
