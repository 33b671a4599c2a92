// An Executor runs tiles of work on worker threads, and on the threads of
// callers that wait (donors). It knows nothing of devices or modules.
//
// A Job is a number of tiles that may run in any order and at once; the last
// one to end, ends the job. What was submitted is run by whoever is first:
// workers, or a donor. Small jobs that a donor submits are left to it for as
// long as it keeps coming (no thread is woken for them); everything else wakes
// as many workers as there are tiles for, but never more threads than the
// process has processors: a donor that works takes the place of a worker.
//
// Thread-safety: every method may run on any thread, unless said otherwise.
#ifndef TAKT_EXEC_EXECUTOR_H_
#define TAKT_EXEC_EXECUTOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "base/object.h"

namespace takt::exec {

// What a tile may use while it runs on a thread. Belongs to one thread.
struct Worker {
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Makes local memory of at least `bytes`. False if the system has none.
  bool ReserveLocalMemory(size_t bytes) {
    return bytes <= local_bytes || GrowLocalMemory(bytes);
  }

  // Workers have 0 to worker_count() - 1; every donor, and a thread outside
  // an executor, has worker_count(). So it is not an identity.
  uint32_t index = 0;
  // Scratch, 64-aligned; contents undefined.
  uint8_t* local_memory = nullptr;
  size_t local_bytes = 0;

 private:
  bool GrowLocalMemory(size_t bytes);
};

class Executor;

// Work handed to the executor. Its owner keeps it alive until Finish() has
// been called; Finish() may destroy it.
class Job {
 public:
  // Runs tiles [begin, end). Several threads at once, disjoint ranges.
  virtual void RunTiles(uint32_t begin, uint32_t end, Worker& worker) = 0;
  // After every tile has run, on the thread that ran the last one. May submit
  // other jobs.
  virtual void Finish(Worker& worker) = 0;

  uint32_t tile_count = 1;       // Set before Submit(); at least 1.
  uint32_t local_bytes = 0;      // Scratch that each running thread needs.
  int64_t expected_tile_ns = 0;  // What a tile costs; 0: not known.
  bool sequential = false;       // Tiles in order, one at a time.

 protected:
  ~Job() = default;

 private:
  friend class PoolExecutor;
  Job* next_ = nullptr;
  Job* previous_ = nullptr;
  bool listed_ = false;
  uint32_t entrants_ = 0;  // Threads that are in it.
  uint32_t grain_ = 1;     // The fewest tiles worth claiming at once.
  std::atomic<uint64_t> claimed_{0};  // May run past tile_count.
};

class Executor : public Object {
 public:
  static constexpr ObjectType kType{"exec.executor"};

  struct Options {
    // Threads that the executor starts. 0: only donors work.
    uint32_t worker_count = 0;
    size_t stack_bytes = 256 * 1024;
    const char* name = "takt";  // Of the threads: "takt-0".
    // How long a thread without work looks for some before it sleeps, while
    // other tiles are still running: what follows them is near.
    int64_t spin_ns = 50'000;
    // Threads that may run at once. 0: the processors of this process.
    uint32_t concurrency_max = 0;
  };

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
  // Threads that can run tiles at once: workers and donors.
  virtual uint32_t max_concurrency() const = 0;

  // `expected_tile_ns` and `tile_count` decide how many threads it is worth.
  virtual void Submit(Job* job) = 0;
  // Starts what has been left to a donor that does something else now.
  virtual void Flush() = 0;

  // This thread's part of the executor: not nullptr on a worker, and on a
  // thread with a Donor. Such a thread may run small things itself, at once.
  virtual Worker* current_worker() = 0;

  // A thread that waits, and works meanwhile. Make one on the stack of a
  // synchronous call; they nest. While one exists on a thread, small jobs
  // submitted from that thread are left to it. Used by its own thread but for
  // Notify().
  class Donor {
   public:
    // `executor` is borrowed.
    explicit Donor(Executor& executor);
    ~Donor();  // Flushes what is left.
    Donor(const Donor&) = delete;
    Donor& operator=(const Donor&) = delete;

    // Works until Notify() has been called, or `deadline_ns` (of NowNs()) has
    // passed: false then. Ready for another wait afterwards.
    bool WaitUntilNotified(int64_t deadline_ns);
    // From any thread. The donor may be gone as soon as it has seen it.
    void Notify();

   private:
    friend class PoolExecutor;
    struct Impl;
    Impl* impl() { return reinterpret_cast<Impl*>(storage_); }
    alignas(64) unsigned char storage_[128];
  };

 protected:
  Executor() : Object(&kType) {}
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_EXECUTOR_H_
