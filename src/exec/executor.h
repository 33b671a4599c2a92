// An Executor runs jobs on worker threads, and on the threads of callers that
// wait (helping_callers). It knows nothing of devices or modules.
//
// What was submitted is run by whoever is first: workers, or a helper, the more
// urgent lane first. Small jobs that a helper submits are left to it for as
// long as it keeps coming (no thread is woken for them); everything else wakes
// as many workers as it is worth, but never more threads than the process has
// processors: a helper that works takes the place of a worker.
//
// Thread-safety: every method may run on any thread, unless said otherwise.
#ifndef TAKT_EXEC_EXECUTOR_H_
#define TAKT_EXEC_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/cpu_set.h"
#include "base/job_attributes.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "base/tracer.h"
#include "exec/job.h"
#include "exec/scope.h"
#include "exec/worker_set.h"
#include "exec/worker_thread.h"
#include "topology/topology.h"

namespace takt::exec {

// What an executor has done, and what it got from the system. Counts are taken
// one after the other while the workers go on.
struct ExecutorStatistics {
  struct Counts {
    uint64_t job_count = 0;    // Finished here.
    uint64_t tile_count = 0;   // Run here.
    uint64_t range_count = 0;  // Claims that the tiles came in.
    uint64_t near_steal_count = 0;
    uint64_t far_steal_count = 0;   // From another cluster.
    uint64_t preemption_count = 0;  // Stops for something more urgent.
    uint64_t park_count = 0;        // Times it went to sleep.
    uint64_t wake_count = 0;        // Threads it has woken.

    Counts& operator+=(const Counts& other);
  };
  struct Worker {
    CpuSet placement;  // Where it was to run.
    WorkerThread::Report thread;
    size_t local_bytes = 0;
    Counts counts;
  };
  std::vector<Worker> workers;
  Counts helping_callers;  // Of all callers that worked.
  Counts backup_threads;   // Of all backup_threads.
  uint32_t awake_count = 0;
};

class Executor : public Object {
 public:
  static constexpr ObjectType kType{"exec.executor"};

  struct Options {
    // Threads that the executor starts. 0: only helping_callers work.
    uint32_t worker_count = 0;
    // Where each of them runs, one a worker. Empty: the kernel decides, until
    // an affinity is asked for (FindAffinity()).
    std::vector<CpuSet> placement;
    // Says which workers are near each other; borrowed during Create(). Null:
    // all are.
    const topology::Topology* topology = nullptr;
    size_t stack_bytes = 0;  // As Thread::Options says.
    bool reports_faults = false;
    const char* name = "takt";  // Of the threads: "takt-0".
    // How long a thread looks for work before it sleeps: while no tile runs
    // anywhere, and while some do, so that what follows them is near.
    int64_t spin_ns = 0;
    int64_t linger_ns = 50'000;
    // Threads that may run at once. 0: the processors of this process.
    uint32_t concurrency_max = 0;
    // SCHED_FIFO for the workers; 0: as the process. A worker is an ordinary
    // thread while it runs what is in a lane below kNormalLane.
    int fifo_priority = 0;
    // A second thread for each worker, which sleeps until something waits that
    // is more urgent than a long tile that the worker is in: the system then
    // lets it go first. Not for threads of hooks.
    bool backup_threads = false;
    ThreadHooks hooks;
    // Called on each thread as it starts. Null: not called.
    std::function<void(const WorkerThread::Report&)> on_thread;
    // Where the workers record what they do. Null: nowhere.
    Ref<Tracer> tracer;
    // What workers fire that look for work when it is due; until Shutdown().
    // Null: nothing.
    std::shared_ptr<TimerService> timers;
  };

  // INVALID_ARGUMENT for a placement of another number of workers;
  // RESOURCE_EXHAUSTED if no thread at all could be started though some were
  // asked for.
  static absl::StatusOr<Ref<Executor>> Create(const Options& options);
  // The processors that this process may use.
  static uint32_t AvailableConcurrency();

  // Runs what has been submitted to its end, then stops and joins the workers.
  // What is submitted later runs on the submitting thread, before Submit()
  // returns. Whoever made the executor calls this before letting it go, since
  // devices may hold it longer; the destructor does it otherwise. May be called
  // on a worker. A second call does nothing.
  virtual void Shutdown() = 0;

  virtual uint32_t worker_count() const = 0;
  // Threads that can run tiles at once: workers and helping_callers.
  virtual uint32_t max_concurrency() const = 0;

  // Its fields say how many threads, and which. The caller keeps a reference.
  virtual void Submit(Job* job) = 0;
  // Starts what has been left to a helper that does something else now.
  virtual void Flush() = 0;
  // Runs on this thread what is ready, of all lanes, until there is nothing
  // more or `deadline_ns` (of NowNs()) has passed, which is looked at between
  // jobs and ranges of tiles: so one at least. Returns how many jobs, or parts
  // of them, it ran.
  virtual uint32_t RunReady(int64_t deadline_ns) = 0;
  // Idle workers give their local memory back to the system.
  virtual void Trim() = 0;

  // The workers that are within `cpus`, for Job::allowed; lives as long as the
  // executor. nullptr, which allows all, if that is all of them (as with no
  // workers). The first call keeps each worker on a processor of its own, if
  // they have no placement. INVALID_ARGUMENT if there are none, naming those
  // that there are.
  // Allocates nothing for processors that it has been asked for before.
  virtual absl::StatusOr<const WorkerSet*> FindAffinity(const CpuSet& cpus) = 0;
  // `workers` as a set that lives as long as the executor; nullptr if it is all
  // of them. They are kept in place, as by FindAffinity(). `workers` is not
  // empty, and of this executor.
  virtual const WorkerSet* FindWorkers(const WorkerSet& workers) = 0;
  // How work of such an invocation stands here. Errors of FindAffinity().
  absl::StatusOr<JobTraits> FindTraits(const JobAttributes& job);

  virtual ExecutorStatistics statistics() const = 0;
  Tracer& tracer() const { return *tracer_; }

  // This thread's part of the executor: not nullptr on a worker, and on a
  // thread with a HelpingCaller. Such a thread may run small things itself, at
  // once.
  virtual Worker* current_worker() = 0;

  // A thread that waits, and works meanwhile. Make one on the stack of a
  // synchronous call; they nest. While one exists on a thread, small jobs
  // submitted from that thread are left to it. Used by its own thread but for
  // Notify().
  //
  // It works on what is at least as urgent as `lane`, so that it is not held
  // up by what is less so; in an executor without workers, on everything.
  class HelpingCaller {
   public:
    // `executor` is borrowed.
    explicit HelpingCaller(Executor& executor, uint8_t lane = 0);
    ~HelpingCaller();  // Flushes what is left.
    HelpingCaller(const HelpingCaller&) = delete;
    HelpingCaller& operator=(const HelpingCaller&) = delete;

    // Works until Notify() has been called, or `deadline_ns` (of NowNs()) has
    // passed: false then. Ready for another wait afterwards.
    bool WaitUntilNotified(int64_t deadline_ns);
    // From any thread. The helper may be gone as soon as it has seen it.
    void Notify();

   private:
    friend class StealingExecutor;
    struct Impl;
    Impl* impl() { return reinterpret_cast<Impl*>(storage_); }
    alignas(64) unsigned char storage_[320];
  };

 protected:
  explicit Executor(Ref<Tracer> tracer)
      : Object(&kType),
        tracer_(tracer != nullptr ? std::move(tracer) : MakeRef<Tracer>()) {}

 private:
  const Ref<Tracer> tracer_;
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_EXECUTOR_H_
