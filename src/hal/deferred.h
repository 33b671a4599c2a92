// A Deferred is something to run soon on this thread. What is run may bring
// about more: a signal that makes an operation ready, which ends and signals
// again. Each thread keeps a list of what is due and runs it from one loop, so
// that a chain of any length needs the C stack of one.
//
// Thread-safety: each thread sees only its own list.
#ifndef TAKT_HAL_DEFERRED_H_
#define TAKT_HAL_DEFERRED_H_

namespace takt::hal {

// Owned by whoever defers it, and kept alive until `run` is called.
struct Deferred {
  void (*run)(Deferred* deferred) = nullptr;  // May destroy it.
  Deferred* next = nullptr;                   // Used by the list.
};

// Runs `first` and what follows it by `next`, in order, then whatever they
// deferred in turn; or, if this thread is running such a list already, puts
// them at its end and returns.
void RunOrDefer(Deferred* first);

// While it lives, what comes up on this thread is deferred: several signals can
// be given before any of their consequences runs. Then all of it runs, unless
// the thread is running such a list already.
class DeferScope {
 public:
  DeferScope();
  DeferScope(const DeferScope&) = delete;
  DeferScope& operator=(const DeferScope&) = delete;
  ~DeferScope();

 private:
  const bool is_outermost_;
};

// Runs what this thread has deferred so far. For a thread that is about to
// wait, perhaps from inside a deferred call, for what may depend on it.
void RunDeferred();

// True if this thread runs deferred calls and has more of them to run after
// the one that it is in.
bool HasDeferred();

}  // namespace takt::hal

#endif  // TAKT_HAL_DEFERRED_H_
