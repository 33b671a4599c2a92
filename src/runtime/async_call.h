// One call that nobody waits for: what it was given, where it stands, and what
// came of it. An invocation of the C API is one.
//
//   wait fence reached         its turn            program ends
//   kWaiting -----------> kQueued ----> kRunning ---------------> kSubmitted
//       |                                  |  (synchronous)            |
//       | fails, is cancelled              v     signal fence reached  |
//       +------------------------------> kDone <-----------------------+
//
// An asynchronous function begins as kQueued (unless it may be batched); its
// wait fence goes to its program. It reaches kDone here only if somebody must
// be told; else the signal fence says it.
//
// Before its turn an invocation is one block with its arguments in it: the
// program's frames are made when it runs.
//
// Invariants:
//   (1) While in flight the invocation holds a reference to itself: one from
//       Start() to the end, one more while waiter_ may call back.
//   (2) Who leads it from phase to phase is one party at a time (Start(), the
//       waiter, the holder of the strand, the program's fence); Cancel() only
//       takes the waiter back, and then is that party.
//   (3) Nothing is told, and nobody's code called, under mutex_.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is
// a leaf.
#ifndef TAKT_RUNTIME_ASYNC_CALL_H_
#define TAKT_RUNTIME_ASYNC_CALL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/cancellation.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "hal/fence.h"
#include "runtime/call_options.h"
#include "runtime/call_queue.h"
#include "runtime/call_trace.h"
#include "runtime/function.h"
#include "vm/invocation.h"
#include "vm/value.h"

namespace takt::runtime {

class AsyncCall final : public Object, private CallQueue::Turn {
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
      absl::Span<const vm::Value> arguments, Callback on_done = nullptr);

  Function& function() const { return *function_; }
  State state() const;
  // OK with *done, or the error that it ended with.
  absl::Status Query(bool* done) const;
  // DEADLINE_EXCEEDED without a message once `deadline_ns` has passed.
  absl::Status Wait(int64_t deadline_ns);
  // The fence of the end; takt/async.h has the contract.
  Ref<hal::Fence> GetFence();
  // `results` are NONE when called.
  absl::Status TakeResults(absl::Span<vm::Value> results);
  void Cancel();
  // The limit of a call that has one has come; the timer need not tell.
  void Expire();

  // Has result `index` kept for a call that takes it as an argument, until
  // FetchResult(). *end receives a fence that tells when this call has ended.
  // FAILED_PRECONDITION if the results have been taken.
  absl::Status KeepResult(size_t index, Ref<hal::Fence>* end);
  // The call has ended well. Returns the value, which stays kept for others
  // that have asked for it.
  vm::Value FetchResult(size_t index);

  // What a batch does with its members, which are kQueued. Their arguments are
  // in the slots, and a batch that ends well has put the results there.
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
  // The limit of a call. When it passes, the call is given up.
  struct Timeout : TimerService::Timer {
    Timeout(int64_t limit_ns_in, std::shared_ptr<TimerService> timers_in)
        : limit_ns(limit_ns_in), timers(std::move(timers_in)) {
      fire = &AsyncCall::OnTimeout;
    }
    AsyncCall* invocation = nullptr;  // Set before it is armed.
    const int64_t limit_ns;
    const std::shared_ptr<TimerService> timers;
    const Ref<Cancellation> cancellation = MakeRef<Cancellation>();
    std::atomic<bool> has_passed{false};
    // Under mutex_. The one who finds both set gives up the wait for the
    // program's signal.
    bool awaits_signal = false;
    bool gives_up = false;
    // How it ends, once its work has; of who leads it.
    absl::Status ending;
  };
  // An argument that another call's result becomes, until the program begins.
  struct Future {
    size_t index;
    Ref<AsyncCall> producer;
    size_t result_index;
  };
  using Futures = std::vector<Future>;
  // What few calls have; null pointers are the others'.
  struct Extras {
    std::unique_ptr<Timeout> timeout;        // Null: no limit.
    std::unique_ptr<Futures> futures;        // Null: none, or not any more.
    std::unique_ptr<ResultBinding> binding;  // Null: nothing is bound.
  };
  AsyncCall(Function& function, const Function::Job& job,
            Ref<shop::ScheduledJob> shop_job, Extras extras,
            const AsyncCallOptions& options,
            absl::Span<const vm::Value> arguments, Callback on_done);
  ~AsyncCall() override;
  static size_t SlotCount(const Function& function);
  // With room for the slots behind it.
  static void* operator new(size_t bytes, BlockPool& pool, size_t extra) {
    return pool.Allocate(bytes + extra);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }
  static void operator delete(void* block, BlockPool&, size_t) {
    BlockPool::Free(block);
  }

  static absl::StatusOr<std::unique_ptr<Timeout>> ReadTimeout(
      const Function& function, const AsyncCallOptions& options);
  void ArmTimeout();
  static void OnTimeout(TimerService::Timer* timer);
  // If it stands in the strand's line, ends it without its turn.
  void LeaveLine();
  bool is_late() const {
    return extras_.timeout != nullptr && extras_.timeout->has_passed.load();
  }
  absl::Status LateError() const;
  // Once the devices do nothing for it any more.
  void CompleteWhenIdle(absl::Status status);
  void GiveUpSignalWhenIdle();

  // Asks the producers to keep the results. *ends receives a fence of each.
  static absl::StatusOr<std::unique_ptr<Futures>> ReadFutures(
      const Function& function, const AsyncCallOptions& options,
      std::vector<Ref<hal::Fence>>* ends);
  static void DropFutures(Futures& futures);
  // Puts the results into the slots.
  absl::Status TakeFutures();
  void KeepResults() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Ref<hal::Fence> GetEndFence(Ref<hal::Fence> AsyncCall::*fence);

  // The fences that it has to wait for, as Start() was given them.
  using Fences = absl::InlinedVector<hal::Fence*, 4>;
  // Takes its shares of the fences that it will signal.
  absl::Status TakeShares(const AsyncCallOptions& options);
  // Lets an asynchronous function's program have fences of its own.
  void SetProgramFences(const Fences& waits, bool cancellable);
  void StartWaiting(const Fences& waits);

  static void OnWaited(hal::FenceWaiter* waiter, const absl::Status& status);
  static void OnSignal(hal::FenceWaiter* waiter, const absl::Status& status);
  static void OnWoken(void* self, vm::Invocation& invocation);
  void Take() override;  // Its turn: runs the program.

  absl::StatusOr<Ref<vm::Invocation>> CreateProgram();
  // Puts results that have memory of the caller's there.
  absl::Status SettleBinding();
  // The program has ended. Must be the last that the caller does with it.
  void EndProgram();
  void AwaitSignal();
  // Ends the invocation and drops the reference of being in flight.
  void Complete(absl::Status status);

  Phase phase() const { return phase_.load(std::memory_order_acquire); }

  struct Waiter : hal::FenceWaiter {
    Waiter(Notify notify, AsyncCall* invocation_in)
        : FenceWaiter(notify), invocation(invocation_in) {}
    AsyncCall* const invocation;
  };

  const Ref<Function> function_;
  const JobAttributes job_;
  CallTrace trace_{*function_};
  Ref<shop::ScheduledJob> shop_job_;  // Until the program has ended.
  Extras extras_;
  Callback on_done_;  // Until the call is done.
  const uint64_t step_limit_;
  const uint32_t slot_count_;
  const bool is_async_;
  // Of one that may be run in a batch: rows of each argument. Else 0.
  uint32_t batch_row_count_ = 0;

  // Written under mutex_ (but for what leads to kQueued), read without.
  std::atomic<Phase> phase_{Phase::kWaiting};
  std::atomic<bool> cancelled_{false};

  Waiter waiter_;
  // Of an asynchronous function. What its program waits for: the caller's
  // fences, or one that waiter_ passes their outcome on to (is_relayed_).
  Ref<hal::Fence> program_wait_;
  bool is_relayed_ = false;
  // What its program signals, until it has ended. Never the fence that others
  // see: a device may be done before the program has returned its results.
  Ref<hal::Fence> program_signal_;
  Waiter signal_waiter_;  // For that, from then on.

  mutable Mutex mutex_;
  // Told at the end. Made on demand if the caller gave none.
  Ref<hal::Fence> signal_ ABSL_GUARDED_BY(mutex_);
  Ref<vm::Invocation> program_ ABSL_GUARDED_BY(mutex_);  // While kRunning.
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool has_ended_ ABSL_GUARDED_BY(mutex_) = false;  // Callback done too.
  // The slots behind this object hold the arguments until the program runs,
  // then, once it has ended well, its results until they are taken.
  bool has_results_ ABSL_GUARDED_BY(mutex_) = false;
  // For calls that take results as arguments: how many have not fetched theirs,
  // the results for them once they are there, and what they wait for.
  uint32_t keeper_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<vm::Value> kept_ ABSL_GUARDED_BY(mutex_);
  Ref<hal::Fence> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_ASYNC_CALL_H_
