// An Executor runs tiles of work on worker threads, and on the threads of
// callers that wait (donors). It knows nothing of devices or modules.
//
// A Job is a number of tiles that may run in any order and at once; the last
// one to end, ends the job. What was submitted is run by whoever is first:
// workers, or a donor. Small jobs that a donor submits are left to it for as
// long as it keeps coming (no thread is woken for them); everything else wakes
// as many workers as there are tiles for.
//
// Thread-safety: every method may run on any thread, unless said otherwise.
#ifndef TAKT_EXEC_EXECUTOR_H_
#define TAKT_EXEC_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace takt::exec {

// What a tile may use while it runs on a thread.
struct Worker {
  uint32_t index = 0;  // 0 <= index < Executor::max_concurrency().
  // Scratch of at least Job::local_bytes, 64-aligned; contents undefined.
  uint8_t* local_memory = nullptr;
  size_t local_bytes = 0;
};

// Work handed to the executor. Its owner keeps it alive until Finish() has
// been called; Finish() may destroy it.
class Job {
 public:
  virtual ~Job() = default;
  // Runs tiles [begin, end). Several threads at once, disjoint ranges.
  virtual void RunTiles(uint32_t begin, uint32_t end, Worker& worker) = 0;
  // After every tile has run, on the thread that ran the last one. May submit
  // other jobs.
  virtual void Finish(Worker& worker) = 0;

  uint32_t tile_count = 1;       // Set before Submit(); at least 1.
  uint32_t local_bytes = 0;      // Scratch that each running thread needs.
  int64_t expected_tile_ns = 0;  // What a tile costs; 0: not known.
  bool sequential = false;       // Tiles in order, one at a time.
};

class Executor {
 public:
  struct Options {
    // Threads that the executor starts. 0: only donors work.
    uint32_t worker_count = 0;
    size_t stack_bytes = 256 * 1024;
    const char* name = "takt";
  };
  virtual ~Executor() = default;  // Waits for running tiles; joins workers.

  // RESOURCE_EXHAUSTED if no thread at all could be started though some were
  // asked for.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(
      const Options& options);

  virtual uint32_t worker_count() const = 0;
  // Threads that can run tiles at once: workers and donors.
  virtual uint32_t max_concurrency() const = 0;

  virtual void Submit(Job* job) = 0;
  // Starts what has been left to a donor that does something else now.
  virtual void Flush() = 0;

  // A thread that waits, and works meanwhile. Make one on the stack of a
  // synchronous call; they nest. While one exists on a thread, small jobs
  // submitted from that thread are left to it.
  class Donor {
   public:
    explicit Donor(Executor& executor);
    ~Donor();  // Flushes what is left.
    Donor(const Donor&) = delete;
    Donor& operator=(const Donor&) = delete;

    // Works until Notify() has been called, or `deadline_ns` (of NowNs()) has
    // passed: false then. Ready for another wait afterwards.
    bool WaitUntilNotified(int64_t deadline_ns);
    // From any thread.
    void Notify();

   private:
    friend class Executor;
    struct Impl;
    alignas(64) unsigned char storage_[256];
  };
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_EXECUTOR_H_
