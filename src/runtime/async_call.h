// An AsyncCall is a call that its caller does not wait for, from its start to
// its end. An invocation of the C API is one.
//
//   wait fence reached         its turn            program ends
//   kWaiting -----------> kQueued ----> kRunning ---------------> kSubmitted
//       |                                  |  (synchronous)            |
//       | fails, is cancelled              v     signal fence reached  |
//       +------------------------------> kDone <-----------------------+
//
// The call of an asynchronous function begins as kQueued, unless it may be
// batched: its program receives the wait fence. When the program has ended, the
// call waits for the program's signal fence.
//
// Before its turn a call is one block of memory that includes its arguments.
// The program's frames are made when it runs.
//
// Invariants:
//   (1) While in flight the call holds a reference to itself: one from Start()
//       to the end, one more while waiter_ may call back.
//   (2) One party at a time moves the call from phase to phase: Start(), the
//       waiter, the holder of the call queue, or the program's fence. Cancel()
//       cancels the waiter, and then acts in its place.
//   (3) No callback runs, and no fence is signaled, under mutex_.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is
// a leaf.
#ifndef TAKT_RUNTIME_ASYNC_CALL_H_
#define TAKT_RUNTIME_ASYNC_CALL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/borrower.h"
#include "base/cancellation.h"
#include "base/exceptions.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "hal/fence.h"
#include "runtime/argument_futures.h"
#include "runtime/call_options.h"
#include "runtime/call_queue.h"
#include "runtime/call_trace.h"
#include "runtime/function.h"
#include "runtime/kept_results.h"
#include "vm/invocation.h"
#include "vm/value.h"

namespace takt::runtime {

class AsyncCall final : public Object,
                        private CallQueue::Turn,
                        private Borrower::Observer {
 public:
  static constexpr ObjectType kType{"takt.invocation"};

  // Receives the call when it is done, before its fences are signaled, and how
  // it ended. Runs without a lock, on the thread that ends the call.
  using Callback =
      absl::AnyInvocable<void(AsyncCall& call, const absl::Status& status) &&>;
  enum class State : uint8_t {
    kWaiting,    // For its fences, or for its turn.
    kRunning,    // Its program runs, or is parked.
    kSubmitted,  // Its program has ended; the device works.
    kDone,
  };

  // takt/async.h has the contract. `arguments` are borrowed; a reference that
  // is moved is released. On an error `on_done` is not called.
  static absl::StatusOr<Ref<AsyncCall>> Start(
      Function& function, const AsyncCallOptions& options,
      absl::Span<const vm::Value> arguments, Callback on_done = nullptr) {
    TAKT_TRY {
      return TryStart(function, options, arguments, std::move(on_done));
    }
    TAKT_CATCH(const std::bad_alloc&) { return OutOfMemory(); }
  }

  Function& function() const { return *function_; }
  State state() const;
  // OK and *done, or the error that the call ended with.
  absl::Status Query(bool* done) const;
  // DEADLINE_EXCEEDED without a message once `deadline_ns` has passed.
  absl::Status Wait(int64_t deadline_ns);
  // Signaled, or failed, at the end; takt/async.h has the contract.
  Ref<hal::Fence> GetFence();
  // `results` are NONE when called.
  absl::Status TakeResults(absl::Span<vm::Value> results);
  void Cancel();
  // Ends a call whose time limit has passed, if the timer has not done it yet.
  void Expire();

  // Keeps result `index` for a call that takes it as an argument, until
  // FetchResult(). *end receives a fence that the end of this call signals.
  // FAILED_PRECONDITION if the results have been taken.
  absl::Status KeepResult(size_t index, Ref<hal::Fence>* end);
  // Returns the value, which stays kept for other calls that asked for it. NONE
  // if the call has failed.
  vm::Value FetchResult(size_t index);

  // For batches, whose members are kQueued. The slots hold the arguments; a
  // batch that succeeds replaces them by the results.
  absl::Span<vm::Value> slots() {
    return {reinterpret_cast<vm::Value*>(this + 1), slot_count_};
  }
  bool is_cancelled() const { return cancelled_.load(); }
  int64_t batch_row_count() const { return batch_row_count_; }
  Function::Job job() const { return {job_, traits}; }
  void RunAlone();
  void EndInBatch(const absl::Status& status);

 private:
  enum class Phase : uint8_t {
    kWaiting,
    kQueued,
    kRunning,
    kSubmitted,
    kDone,
  };
  // The time limit of a call. When it passes, the call is cancelled.
  struct Timeout : TimerService::Timer {
    Timeout(int64_t limit_ns_in, std::shared_ptr<TimerService> timers_in)
        : limit_ns(limit_ns_in), timers(std::move(timers_in)) {
      fire = &AsyncCall::OnTimeout;
    }
    AsyncCall* call = nullptr;  // Set before it is armed.
    const int64_t limit_ns;
    const std::shared_ptr<TimerService> timers;
    std::atomic<bool> has_passed{false};
    // Under mutex_. The thread that finds both set cancels the wait for the
    // program's signal.
    bool awaits_signal = false;
    bool gives_up = false;
    // The end of the call, once its device work has ended. For the party that
    // moves the call.
    absl::Status ending;
  };
  // The parts of a call besides its function. Null pointers: it has none.
  struct Extras {
    Ref<Cancellation> cancellation;            // Not null.
    std::unique_ptr<Timeout> timeout;          // Null: no limit.
    std::unique_ptr<ArgumentFutures> futures;  // Null: none, or fetched.
    std::unique_ptr<ResultBinding> binding;    // Null: no result is bound.
  };
  AsyncCall(Function& function, const Function::Job& job,
            Ref<Borrower> borrower, Ref<shop::ScheduledJob> shop_job,
            Extras extras, const AsyncCallOptions& options,
            absl::Span<const vm::Value> arguments, Callback on_done);
  ~AsyncCall() override;
  static size_t SlotCount(const Function& function);
  // `extra` bytes behind the object are for the slots.
  static void* operator new(size_t bytes, BlockPool& pool, size_t extra) {
    return pool.Allocate(bytes + extra);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }
  static void operator delete(void* block, BlockPool&, size_t) {
    BlockPool::Free(block);
  }

  static absl::StatusOr<Extras> ReadExtras(
      const Function& function, const AsyncCallOptions& options,
      absl::Span<const vm::Value> arguments,
      std::vector<Ref<hal::Fence>>* producer_ends);
  static absl::StatusOr<std::unique_ptr<Timeout>> ReadTimeout(
      const Function& function, const AsyncCallOptions& options);
  void ArmTimeout();
  static void OnTimeout(TimerService::Timer* timer);
  // If the call waits in the call queue, ends it without its turn.
  void LeaveQueue();
  bool is_late() const {
    return extras_.timeout != nullptr && extras_.timeout->has_passed.load();
  }
  absl::Status LateError() const;
  // These act when the devices have ended their work for the call.
  void CompleteWhenIdle(absl::Status status);
  void GiveUpSignalWhenIdle();

  absl::Span<vm::Value> result_slots() {
    return slots().subspan(0, function_->signature().results().size());
  }
  // The slots hold the results if `has_results`, which others may want.
  void SetHasResults(bool has_results) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Ref<hal::Fence> GetEndFence(Ref<hal::Fence> AsyncCall::*fence);

  // Puts the call in flight. `producer_ends`: the ends of the calls whose
  // results it takes.
  void Submit(const AsyncCallOptions& options,
              absl::Span<const Ref<hal::Fence>> producer_ends);
  // The fences that the call waits for.
  using Fences = absl::InlinedVector<hal::Fence*, 4>;
  // Takes shares of the fences that the end of the call signals.
  static absl::StatusOr<Ref<AsyncCall>> TryStart(
      Function& function, const AsyncCallOptions& options,
      absl::Span<const vm::Value> arguments, Callback on_done);
  // The shares of fences that the call's end signals or fails.
  using Shares = absl::InlinedVector<Ref<hal::Fence>, 2>;
  absl::Status TakeShares(const AsyncCallOptions& options);
  absl::Status TryTakeShares(const AsyncCallOptions& options, Shares* shares);
  // Makes the fences of an asynchronous function's program.
  void SetProgramFences(const Fences& waits, bool cancellable);
  // Lets the program run next, in the phase kQueued.
  void QueueProgram();
  void StartWaiting(const Fences& waits);

  static void OnWaited(hal::FenceWaiter* waiter, const absl::Status& status);
  static void OnSignal(hal::FenceWaiter* waiter, const absl::Status& status);
  static void OnWoken(void* self, vm::Invocation& invocation);
  Progress Take() override;  // Its turn: runs the program.
  // Asked while the program runs.
  static bool IsInterrupted(void* self);
  int32_t LoanLane() const override;
  void OnUrgency(const JobUrgency& urgency, Borrower::Calls* after) override;

  absl::StatusOr<Ref<vm::Invocation>> CreateProgram();
  // Moves bound results into the memory of the caller.
  absl::Status SettleBinding();
  // The program has ended. This may destroy the call.
  void EndProgram();
  void AwaitSignal();
  // Ends the invocation and drops the reference of being in flight.
  void Complete(absl::Status status);

  Phase phase() const { return phase_.load(std::memory_order_acquire); }

  struct Waiter : hal::FenceWaiter {
    Waiter(Notify notify, AsyncCall* call_in)
        : FenceWaiter(notify), call(call_in) {}
    AsyncCall* const call;
  };

  const Ref<Function> function_;
  const JobAttributes job_;
  const Ref<Borrower> borrower_;  // Null: without an executor.
  CallTrace trace_{*function_};
  Ref<shop::ScheduledJob> shop_job_;  // Until the program has ended.
  Extras extras_;
  Callback on_done_;  // Until the call is done.
  const uint64_t step_limit_;
  const uint32_t slot_count_;
  const bool is_async_;
  // The rows of each argument if the call may be batched; else 0.
  uint32_t batch_row_count_ = 0;

  // Written under mutex_, except for changes to kQueued; read without it.
  std::atomic<Phase> phase_{Phase::kWaiting};
  std::atomic<bool> cancelled_{false};

  Waiter waiter_;
  // For an asynchronous function: the fence that its program waits for. It is
  // a join of the caller's fences, until the program has ended, or one that
  // waiter_ signals (is_relayed_).
  Ref<hal::Fence> program_wait_;
  bool is_relayed_ = false;
  // The fence that its program signals, until the program has ended. It is
  // never the caller's fence, since a device may end before the program has
  // returned its results.
  Ref<hal::Fence> program_signal_;
  Waiter signal_waiter_;  // Waits for that fence afterwards.

  mutable Mutex mutex_;
  // Signaled at the end. Made on demand if the caller gave none.
  Ref<hal::Fence> signal_ ABSL_GUARDED_BY(mutex_);
  Ref<vm::Invocation> program_ ABSL_GUARDED_BY(mutex_);  // While kRunning.
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;  // And its callback.
  // The slots behind this object hold the arguments until the program runs,
  // and after a success the results until they are taken.
  bool has_results_ ABSL_GUARDED_BY(mutex_) = false;
  // For calls that take results as arguments, and wait for the fence.
  KeptResults kept_ ABSL_GUARDED_BY(mutex_);
  Ref<hal::Fence> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_ASYNC_CALL_H_
