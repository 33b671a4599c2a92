// A CallQueue lets the programs of one context run one at a time, in the order
// in which they come. It has no thread of its own. A thread that finds the
// queue free holds it, runs its turn, and then hands it to the next turn. A
// program that parks leaves the queue and enters it again when it is woken.
//
// There are two kinds of turn. The turn of an asynchronous call runs on the
// thread that hands the queue over, or on a worker. The turn of a synchronous
// caller notifies the caller's thread, which then runs its program itself.
//
// Invariants:
//   (1) The thread that changes state_ from 0 to kHeld holds the queue. While
//       turns wait, state_ is kHeld | kQueued, and the queue is handed over
//       without becoming free.
//   (2) Only the holder submits the job, and the job runs the turn that it was
//       submitted with. So one job is enough.
//   (3) No turn runs while mutex_ is held.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_, then
// the locks of the executor.
#ifndef TAKT_RUNTIME_CALL_QUEUE_H_
#define TAKT_RUNTIME_CALL_QUEUE_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "base/mutex.h"
#include "base/object.h"
#include "exec/executor.h"
#include "runtime/blocking_wait.h"

namespace takt::runtime {

class CallQueue final : private exec::Closure {
 public:
  // A place in the queue. Its owner keeps it alive until Take() has returned
  // kDone.
  class Turn {
   public:
    enum class Progress { kDone, kInterrupted };
    // Runs the program on this thread, which holds the queue until this
    // returns. kDone may destroy the turn. After kInterrupted the program goes
    // on where it stopped, as soon as a worker takes the same turn again; no
    // other turn comes before that.
    virtual Progress Take() = 0;
    // The lane of what is lent to it now; exec::Job::kNotRaised: none is.
    // Called under a lock of the queue.
    virtual int32_t LoanLane() const { return exec::Job::kNotRaised; }

   protected:
    Turn() = default;
    ~Turn() = default;

    // Its place among the jobs of the executor. Set before Post().
    exec::JobTraits traits;
    // It waits in this lane, if that is higher, until it is interrupted.
    uint8_t first_lane = 0;

   private:
    friend class CallQueue;
    bool is_thread_ = false;  // Take() hands the queue to a thread.
    Turn* next_ = nullptr;
  };
  enum class Where {
    kHere,    // On this thread if the queue is free.
    kWorker,  // On this thread only if it is a worker or works for one.
  };

  // `owner` has the queue as a member and is kept alive while turns run.
  // `executor` outlives the queue; nullptr: a turn runs on the thread that
  // posts it or hands the queue over.
  CallQueue(Object* owner, exec::Executor* executor)
      : Closure(&CallQueue::OnRun), owner_(owner), executor_(executor) {
    can_be_raised = true;
  }

  // Calls turn->Take(), now or later, until it is done.
  void Post(Turn* turn, Where where) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until this thread holds the queue, which Leave() ends. False if it
  // holds it already, because a program calls a native function that calls the
  // same context; then there is no Leave().
  bool Enter(BlockingWait& thread) ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave() ABSL_LOCKS_EXCLUDED(mutex_);

  // To be called when a loan to a turn that is queued, or may be, begins or
  // ends: the work before that turn takes over its urgency.
  void ReviewLoans() ABSL_LOCKS_EXCLUDED(mutex_);

  // True if this thread runs a program of the queue.
  bool RunsHere() const;

  // Removes the queued turns for which `wanted` returns true, in order. They
  // are not taken. Need not be called by the holder.
  void TakeQueued(absl::FunctionRef<bool(Turn*)> wanted)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kQueued = 2;
  // Turns that a worker runs before it looks at other jobs: enough to hide the
  // cost of a job, few enough for other jobs of its lane.
  static constexpr int kTurnsAtOnce = 64;

  class ThreadTurn;

  static void OnRun(exec::Closure* closure, exec::Worker&) {
    static_cast<CallQueue*>(closure)->RunSubmitted();
  }
  // The executor does not use the job any longer; it may be submitted again.
  void RunSubmitted();

  // True if the caller holds the queue now; else `turn` is queued.
  bool HoldOrQueue(Turn* turn) ABSL_LOCKS_EXCLUDED(mutex_);
  // Frees the queue and returns nullptr, or returns the next turn; then the
  // caller still holds the queue.
  Turn* ReleaseOrNext() ABSL_LOCKS_EXCLUDED(mutex_);
  // For the holder. Runs `turn` and the next ones, up to `turn_count` in all,
  // and submits the rest to a worker.
  void RunTurns(Turn* turn, int turn_count);
  void SubmitTurn(Turn* turn, bool is_interrupted = false);
  // The highest lane that is lent to the submitted turn or a queued one.
  int32_t LoanLane() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Object* const owner_;
  exec::Executor* const executor_;

  // Acquired by the thread that takes the queue, released by the thread that
  // leaves it: a program sees what the one before it wrote. kQueued changes
  // under mutex_ only.
  std::atomic<uint32_t> state_{0};
  // A token of the thread that runs a program, stored by that thread. Other
  // threads only compare it with their own, so relaxed order is enough.
  std::atomic<const void*> runner_{nullptr};

  Mutex mutex_;
  // From the holder to the job.
  Turn* submitted_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Turn* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Turn* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_CALL_QUEUE_H_
