// An Executor runs jobs on worker threads, and on the threads of callers that
// wait (helping callers). It knows neither devices nor modules.
//
// The first thread that is free runs a job, and jobs of a higher lane come
// first. A small job that a helping caller submits is left to that caller, and
// wakes no thread. Every other job wakes as many workers as it is worth. No
// more threads run than the process has processors: a helping caller that works
// takes the place of a worker.
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
#include "base/thread_reservation.h"
#include "base/timer_service.h"
#include "base/tracer.h"
#include "exec/core_arbiter.h"
#include "exec/job.h"
#include "exec/worker_set.h"
#include "exec/worker_thread.h"
#include "topology/topology.h"

namespace takt::exec {

// The work of an executor, and what the system granted it. The counts are read
// one after the other while the workers run.
struct ExecutorStatistics {
  struct Counts {
    uint64_t job_count = 0;    // Finished here.
    uint64_t tile_count = 0;   // Run here.
    uint64_t range_count = 0;  // Ranges in which the tiles were claimed.
    uint64_t near_steal_count = 0;
    uint64_t far_steal_count = 0;   // From another cluster.
    uint64_t preemption_count = 0;  // Stops for a more urgent job.
    uint64_t park_count = 0;        // Sleeps.
    uint64_t wake_count = 0;        // Wake-ups of other threads.

    Counts& operator+=(const Counts& other);
  };
  struct Worker {
    CpuSet placement;  // As the executor placed it.
    WorkerThread::Report thread;
    size_t local_bytes = 0;
    Counts counts;
  };
  std::vector<Worker> workers;
  Counts helping_callers;  // Sums over all of them.
  Counts backup_threads;
  uint32_t backup_count = 0;
  uint32_t awake_count = 0;
  CoreArbiter::Statistics cores;
};

class Executor : public Object {
 public:
  static constexpr ObjectType kType{"exec.executor"};

  struct Options {
    // Threads that the executor starts. 0: only helping callers run jobs.
    uint32_t worker_count = 0;
    // The CPUs of each worker. Empty: the kernel decides, until the first call
    // of FindAffinity().
    std::vector<CpuSet> placement;
    // Says which workers are near each other. Borrowed during Create(). Null:
    // all are.
    const topology::Topology* topology = nullptr;
    size_t stack_bytes = 0;  // As Thread::Options says.
    bool reports_faults = false;
    const char* name = "takt";  // The threads are "takt-0" and so on.
    // How long a thread looks for a job before it sleeps: while no tile runs on
    // any thread, and while some do. Their job may make others ready soon, and
    // a sleep and a wake-up take some 10 us together; 50 us are a few
    // dispatches.
    int64_t spin_ns = 0;
    int64_t linger_ns = 50'000;
    // Threads that may run at once. 0: the processors of this process.
    uint32_t concurrency_max = 0;
    // SCHED_FIFO for the workers; 0: as the process. A worker is an ordinary
    // thread while it runs a job of a lane below kNormalLane.
    int fifo_priority = 0;
    // Processor time for each worker, instead of a priority; they then have no
    // backup threads, which would get the processor only after them.
    ThreadReservation reservation;
    // A second thread for each worker. It sleeps until a job waits that is more
    // urgent than a long tile that the worker runs; the system then lets it go
    // first. Threads of hooks have none, and neither has a worker for whose
    // second thread the system has no resources.
    bool backup_threads = false;
    ThreadHooks hooks;
    bool StartsBackups() const {
      return backup_threads && hooks.create == nullptr && !reservation.is_set();
    }
    // Called on each thread at its start. Null: not called.
    std::function<void(const WorkerThread::Report&)> on_thread;
    // Records what the workers do. Null: nothing does.
    Ref<Tracer> tracer;
    // Workers that search for jobs fire these timers when they are due. Held
    // until Shutdown(). Null: they fire none.
    std::shared_ptr<TimerService> timers;
    // The file by which executors of several processes share cores
    // (core_arbiter.h). Empty: this one takes part in nothing.
    std::string cores_path;
    // Of its cores, for CoreQuota; at most 1000.
    uint32_t cores_share_permille = 0;
  };

  // INVALID_ARGUMENT if `placement` has another number of workers; the errors
  // of CoreFile::Join();
  // RESOURCE_EXHAUSTED if the options ask for threads and none starts.
  static absl::StatusOr<Ref<Executor>> Create(const Options& options);
  // The processors that this process may use.
  static uint32_t AvailableConcurrency();

  // Runs all submitted jobs, then stops and joins the workers. Later jobs run
  // on the submitting thread, before Submit() returns. The maker of the
  // executor calls this before it drops its reference, since devices may hold
  // theirs for longer; the destructor does it otherwise. May be called on a
  // worker. A second call does nothing.
  virtual void Shutdown() = 0;

  virtual uint32_t worker_count() const = 0;
  // Workers that have a backup thread.
  virtual uint32_t backup_count() const { return 0; }
  // Threads that can run tiles at once: workers and helping callers.
  virtual uint32_t max_concurrency() const = 0;

  // Submits `job`, whose fields say how many threads may run it, and which. The
  // caller keeps a reference to the executor.
  virtual void Submit(Job* job) = 0;
  // Raises `job` (submitted with can_be_raised) to `lane`: it goes before the
  // other jobs of that lane. Job::kNotRaised takes that back. The caller keeps
  // the job alive. No effect on a job that is done, nor on running tiles.
  virtual void Raise(Job* job, int32_t lane) { job->SetRaised(lane); }
  // Makes jobs that were kept for a helping caller available to other threads.
  virtual void Flush() = 0;
  // Runs ready jobs of all lanes on this thread until there are none or
  // `deadline_ns` (of NowNs()) has passed. It looks at the time between jobs
  // and ranges of tiles, so it runs at least one. Returns how many jobs, or
  // parts of jobs, it ran.
  virtual uint32_t RunReady(int64_t deadline_ns) = 0;
  // Idle workers return their local memory to the system.
  virtual void Trim() = 0;

  // The workers on `cpus`, for Job::allowed; the set lives as long as the
  // executor. nullptr, which allows all workers, if all of them are on `cpus`
  // or there are no workers. If the workers have no placement, the first call
  // keeps each on a processor of its own. INVALID_ARGUMENT, with the CPUs of
  // the workers, if none is on `cpus`. Allocates nothing, and keeps nothing
  // more, for the workers of an earlier call.
  virtual absl::StatusOr<const WorkerSet*> FindAffinity(const CpuSet& cpus) = 0;
  // `workers`, which is not empty, as a set that lives as long as the executor;
  // nullptr if it has all workers. They stay on their CPUs, as after
  // FindAffinity().
  virtual const WorkerSet* FindWorkers(const WorkerSet& workers) = 0;
  // Whether the calling thread is to take tiles from the last one back, as
  // threads on half of the processors do. So a thread more often reads what it
  // wrote in the job before, and finds it in its cache.
  virtual bool TakesFromBack() const { return false; }
  // `job`, which runs its tiles by itself, calls this between two ranges of
  // them. The executor then moves workers that do not begin to run, and fires
  // timers that are overdue. True if the job should stop, and be submitted
  // again, so that another thread continues it: the calling thread shares its
  // processor with another one although a processor is free, it waits with a
  // deadline that has passed, or it must give its core to another process.
  virtual bool EndRange([[maybe_unused]] const Job& job) { return false; }
  // The traits of jobs that work for `job`. Errors of FindAffinity().
  absl::StatusOr<JobTraits> FindTraits(const JobAttributes& job);

  // Whether work with these traits, which runs on this thread, is to stop and
  // to be submitted again: a more urgent job waits, the thread is to return to
  // its call, or it must give its core to another process.
  virtual bool MustInterrupt([[maybe_unused]] const JobTraits& traits) {
    return false;
  }

  // True while a thread looks for jobs of `lane`. It begins with a new one
  // within about a microsecond, without a wake-up. Only a hint: it may change
  // at any time.
  virtual bool IsSearching(uint32_t lane) const {
    (void)lane;
    return false;
  }
  // Says that jobs of `lane` will follow each other until EndSeries(): threads
  // without work look for the next one for a while, and do not sleep at once.
  // Wakes one if none looks.
  virtual void BeginSeries(uint32_t lane) { (void)lane; }
  virtual void EndSeries() {}
  virtual ExecutorStatistics statistics() const = 0;
  Tracer& tracer() const { return *tracer_; }

  // The Worker of this thread. nullptr on a thread that is neither a worker nor
  // has a HelpingCaller. A thread with a Worker may run small tasks at once.
  virtual Worker* current_worker() = 0;

  // A thread that waits, and runs jobs meanwhile. A synchronous call makes one
  // on its stack; they nest. While one exists on a thread, small jobs that the
  // thread submits are left to it. Only its own thread uses it, but for
  // Notify().
  //
  // It runs jobs of `lane` and above, so that no less urgent job delays the
  // call. In an executor without workers it runs all jobs.
  class HelpingCaller {
   public:
    // `executor` is borrowed.
    explicit HelpingCaller(Executor& executor, uint8_t lane = 0);
    // Flush(); but without workers, after a wait that ended at its deadline, it
    // runs one job or a part of it.
    ~HelpingCaller();
    HelpingCaller(const HelpingCaller&) = delete;
    HelpingCaller& operator=(const HelpingCaller&) = delete;

    // Runs jobs until Notify() has been called, or `deadline_ns` (of NowNs())
    // has passed: false then. It looks at both between jobs, ranges of tiles,
    // and parts of programs. May be called again afterwards.
    bool WaitUntilNotified(int64_t deadline_ns);
    // On any thread. The caller may destroy this object as soon as it has seen
    // the notification.
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
