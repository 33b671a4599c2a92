// A Strand has the programs of one context run one at a time, first come,
// first served, without a thread of its own: whoever comes to a free strand
// holds it, and passes it on to the next when it has run its part. A program
// that parks leaves the strand and comes back when it is woken.
//
// Two kinds of turn: an asynchronous invocation's is run by whoever passes the
// strand on, or by a worker; a synchronous caller's thread is told, and runs
// its program itself.
//
// Invariants:
//   (1) Who finds state_ 0 and makes it kHeld holds the strand; while turns
//       wait it is kHeld | kQueued, and passed on without becoming free.
//   (2) The job is submitted by the holder only, and only it runs the turn it
//       was submitted with: so one job is enough.
//   (3) No turn is taken while mutex_ is held.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is
// a leaf.
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
  // A place in the line. Kept alive by its owner until Take() is called.
  class Turn {
   public:
    // Runs the part that wanted the strand, on this thread, which holds the
    // strand until this returns. May destroy the turn.
    virtual void Take() = 0;

   protected:
    Turn() = default;
    ~Turn() = default;

    // Among the jobs of the strand's executor. Set before Post().
    exec::JobTraits traits;

   private:
    friend class CallQueue;
    bool is_thread_ = false;  // Take() hands the strand to another thread.
    Turn* next_ = nullptr;
  };
  enum class Where {
    kHere,    // On this thread if the strand is free.
    kWorker,  // On this thread only if it is a worker or works for one.
  };

  // `owner` has the strand as a member; it is kept alive while turns are run.
  // `executor` outlives it; nullptr: turns run on the thread that brings them
  // about.
  CallQueue(Object* owner, exec::Executor* executor)
      : Closure(&CallQueue::OnRun), owner_(owner), executor_(executor) {}

  // Has `turn` taken, now or later, once.
  void Post(Turn* turn, Where where) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until the strand is this thread's, for Leave(). False if it is
  // already: a native function called by a program calls its own context;
  // there is no Leave() then.
  bool Enter(BlockingWait& thread) ABSL_LOCKS_EXCLUDED(mutex_);
  void Leave() ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether this thread runs a program of the strand.
  bool RunsHere() const;

  // Takes queued turns that `wanted` says yes to out of the line, in
  // order; they will not be taken.
  void TakeQueued(absl::FunctionRef<bool(Turn*)> wanted)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kQueued = 2;
  // Turns that a worker takes before it looks at other jobs.
  static constexpr int kTurnsAtOnce = 64;

  class ThreadTurn;

  static void OnRun(exec::Closure* closure, exec::Worker&) {
    static_cast<CallQueue*>(closure)->RunSubmitted();
  }
  // Here the executor has let go of the job, which may be submitted again.
  void RunSubmitted();

  // True if the strand is the caller's now; else `turn` is in the line.
  bool HoldOrQueue(Turn* turn) ABSL_LOCKS_EXCLUDED(mutex_);
  // Frees the strand and returns nullptr, or returns the next turn, for which
  // the caller still holds it.
  Turn* ReleaseOrNext() ABSL_LOCKS_EXCLUDED(mutex_);
  // For the holder. Takes `turn`, and up to `turn_count` in all; a worker goes
  // on with what is left.
  void RunTurns(Turn* turn, int turn_count);
  void SubmitTurn(Turn* turn);

  Object* const owner_;
  exec::Executor* const executor_;

  // Acquire by who gets the strand, release by who leaves it: a program sees
  // what the one before it wrote. kQueued is changed under mutex_ only.
  std::atomic<uint32_t> state_{0};
  // A token of the thread that runs a program, by that thread; others only
  // compare it with their own, so relaxed will do.
  std::atomic<const void*> runner_{nullptr};
  Turn* submitted_ = nullptr;  // The holder's, handed to the job.

  Mutex mutex_;
  Turn* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Turn* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_CALL_QUEUE_H_
