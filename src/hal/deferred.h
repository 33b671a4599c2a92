// A Deferred is a call that this thread makes soon. A call may lead to further
// ones: a signal makes an operation ready, which ends and signals again. Each
// thread keeps a list of the calls that are due and makes them from one loop,
// so a chain of any length takes the C stack of one call.
//
// Thread-safety: each thread has a list of its own.
#ifndef TAKT_HAL_DEFERRED_H_
#define TAKT_HAL_DEFERRED_H_

namespace takt::hal {

// The object that defers it owns it, and keeps it alive until `run` is called.
struct Deferred {
  void (*run)(Deferred* deferred) = nullptr;  // May destroy it.
  Deferred* next = nullptr;                   // Used by the list.
};

// Runs `first` and those linked to it by `next`, in order, then all that these
// deferred. If this thread is running such a list already, appends them to that
// list and returns.
void RunOrDefer(Deferred* first);

// While it lives, calls on this thread are deferred, so that several signals
// can be given before any of their consequences runs. The destructor runs them,
// unless the thread is running such a list already.
class DeferScope {
 public:
  DeferScope();
  DeferScope(const DeferScope&) = delete;
  DeferScope& operator=(const DeferScope&) = delete;
  ~DeferScope();

 private:
  const bool is_outermost_;
};

// While it lives, calls on this thread run at once, even inside a deferred
// call. A thread that runs jobs while it waits needs that, because it may wait
// for a consequence of one of them. The constructor runs what was deferred
// before.
class DeferredWaitScope {
 public:
  DeferredWaitScope();
  DeferredWaitScope(const DeferredWaitScope&) = delete;
  DeferredWaitScope& operator=(const DeferredWaitScope&) = delete;
  ~DeferredWaitScope();

 private:
  const bool was_running_;
};

// Runs the calls that this thread has deferred so far. A thread calls it before
// it waits, perhaps inside a deferred call, for something that may depend on
// them.
void RunDeferred();

// True if this thread is running deferred calls and the current one is not the
// last of them.
bool HasDeferred();

}  // namespace takt::hal

#endif  // TAKT_HAL_DEFERRED_H_
