// An Invocation is one call of one exported function: its frames and its state.
// It runs on the thread that calls Run(). At a native call that must wait it
// parks: Run() returns and every frame stays. A parked invocation holds no
// thread.
//
//           Run()            native call parks
//   kReady ------> kRunning -------------------> kParked
//     ^               |  ^ (woken before Run() was left: continues)  |
//     |               v                                              |
//     |             kDone                                            |
//     +---------------- Wake(), RequestCancel() ---------------------+
//
// Thread-safety: Wake() and RequestCancel() may run on any thread, the other
// methods on one thread at a time.
#ifndef TAKT_VM_INVOCATION_H_
#define TAKT_VM_INVOCATION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/job_attributes.h"
#include "base/object.h"
#include "vm/context.h"
#include "vm/instance.h"
#include "vm/linkage.h"
#include "vm/run_guard.h"
#include "vm/value.h"

namespace takt::vm {

// Aligned as its stack must be: the inline stack follows the object.
class alignas(16) Invocation final : public Object {
 public:
  static constexpr ObjectType kType{"vm.invocation"};
  enum class State : uint8_t { kReady, kRunning, kParked, kDone };
  enum class ArgumentRefs {
    kRetain,  // The invocation makes references of its own.
    kTake,    // On success the arguments' refs are moved in, leaving nulls, so
              // that the program may reuse objects that have no other owner.
  };

  // Checks and converts `arguments` by the function's calling convention
  // (INVALID_ARGUMENT: count or kind; integers and floats each convert among
  // themselves). Null refs are allowed, and kNone stands for one.
  // UNIMPLEMENTED for a function that takes spans.
  static absl::StatusOr<Ref<Invocation>> Create(
      Context& context, FunctionRef function, absl::Span<Value> arguments,
      ArgumentRefs refs = ArgumentRefs::kRetain);

  // Runs until done or parked, and says which. kReady: it was interrupted, and
  // Run() is to be called again.
  State Run();
  // Runs to the end, waiting with the context's Waiter whenever parked.
  // Returns status().
  absl::Status RunToEnd();

  State state() const;
  // Valid once done: how it ended; messages name module and function.
  const absl::Status& status() const { return status_; }
  // Valid once done and OK: to be moved from, in the order of the convention.
  // This is how a caller takes results without an allocation.
  absl::Span<Value> results();
  // The same as a vector. Once.
  std::vector<Value> TakeResults();

  // Ends the wait of the parked native call: Run() may be called again. If the
  // invocation had left Run(), `on_woken` is called. There is exactly one
  // Wake() for each Park(), on any thread; after a cancellation it is ignored.
  void Wake();
  // Called by a Wake() that found the invocation parked. Default: the context's
  // Waiter. Set before Run().
  using OnWoken = void (*)(void* argument, Invocation& invocation);
  void SetOnWoken(OnWoken on_woken, void* argument);

  // Lets Run() return between two instructions. `interrupter` is asked on the
  // running thread, once in some thousand backward branches and calls, whether
  // it should. Set before Run(); RunToEnd() does not expect it.
  void SetInterrupter(RunGuard::Interrupter interrupter, void* argument) {
    guard_.SetInterrupter(interrupter, argument);
  }

  // Ends the invocation with CANCELLED after the native call that it is in, or
  // after some thousand branches. A parked invocation is woken: its native call
  // is not resumed, and its ParkedState is destroyed.
  void RequestCancel();
  // Fails the invocation with RESOURCE_EXHAUSTED after that many backward
  // branches and calls (0: unlimited); then every 64 bytes that one
  // instruction allocates or goes through count as one more. For fuzzing and
  // untrusted code. Set before Run().
  void SetStepLimit(uint64_t steps);

  // Counts the work of a native call like that of an instruction which touches
  // so many bytes. Fails if the invocation must stop: CANCELLED,
  // RESOURCE_EXHAUSTED. For native calls, before and between pieces of work
  // whose size the program chooses.
  absl::Status Charge(uint64_t bytes);

  // For native modules that submit work on its behalf. Set before Run().
  void SetJob(const JobAttributes& job) {
    job_ = job;
    if (job.memory_limit != 0) guard_.SetMemoryLimit(job.memory_limit);
  }
  const JobAttributes& job() const { return job_; }

  Context& context() const { return context_; }
  const Callee& callee() const { return callee_.callee; }
  // What the memory that it allocates is charged to: buffers and lists of its
  // bytecode, and memory of devices. nullptr: no limit.
  MemoryAccount* memory_account() { return guard_.memory(); }
  // The pool of memory that lives as long as one invocation.
  BlockPool& pool() const { return context_.pool(); }

  // The state that a parked native call keeps until it is resumed, such as a
  // fence waiter or a timer. An invocation has at most one, since one call at a
  // time can be parked. It is destroyed when the call returns or the invocation
  // is destroyed; a Wake() that comes later must hold a reference.
  class ParkedState {
   public:
    virtual ~ParkedState() = default;
  };
  void SetParkedState(std::unique_ptr<ParkedState> parked_state);
  ParkedState* parked_state() const { return parked_state_.get(); }

  // An object that a native module keeps until the invocation is done, or null.
  void SetAttachment(Ref<Object> attachment) {
    attachment_ = std::move(attachment);
  }
  Object* attachment() const { return attachment_.get(); }

  // Bytes this invocation holds now (frames, tables).
  size_t memory_bytes() const;

 private:
  friend class Interpreter;
  friend class Context;
  friend class DirectCaller;

  // The states, and kWoken: woken before Run() was left.
  enum Phase : uint8_t { kReady, kRunning, kWoken, kParked, kDone };

  Invocation(Context& context, const Linkage::Export& callee,
             const std::vector<Unit>& code, size_t inline_stack_bytes);
  ~Invocation() override;
  // Makes one whose code is the entry's `code` and whose arguments are unset.
  // `hold`: it keeps the context alive.
  static Ref<Invocation> Make(Context& context, FunctionRef function,
                              bool keep_arguments, bool hold);
  static void* operator new(size_t bytes, BlockPool& pool, size_t extra) {
    return pool.Allocate(bytes + extra);
  }
  static void operator delete(void* block, BlockPool&, size_t) {
    BlockPool::Free(block);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }

  absl::Status SetArguments(absl::Span<Value> arguments, ArgumentRefs refs);
  // Puts the machine at the start of the entry's code, in a fresh frame.
  void EnterFirstFrame();
  uint32_t* first_frame() const;
  State Finish(absl::Status status);
  void CollectResults();
  std::byte* inline_stack() {
    return reinterpret_cast<std::byte*>(this) + sizeof(Invocation);
  }

  Context& context_;
  Ref<Context> hold_;  // Keeps context_ alive, except for its own __deinit.
  const Linkage::Export& callee_;
  const HostEntry* const entry_;
  Instance entry_instance_;  // Of the first frame; its only import: callee_.

  // Written by Run() (kReady to kRunning to kParked or kDone) and by Wake()
  // (kRunning to kWoken, kParked to kReady). Every change is a release and
  // every read an acquire: a thread that finds it parked, woken or done sees
  // what the other thread wrote before.
  std::atomic<uint8_t> phase_{kReady};
  RunGuard guard_;

  JobAttributes job_;

  // The rest belongs to the running thread.
  bool resumed_ = false;  // The next native call is a parked one, woken.
  OnWoken on_woken_ = nullptr;
  void* on_woken_argument_ = nullptr;
  absl::Status status_;
  std::unique_ptr<ParkedState> parked_state_;
  Ref<Object> attachment_;
  const std::vector<Unit>& code_;  // Of the first frame.
  const Unit* pc_ = nullptr;       // Where it stands while not running.
  uint32_t* base_ = nullptr;       // Of the innermost frame.
  std::byte* stack_ = nullptr;
  std::byte* stack_end_ = nullptr;
  // Once done and OK: behind the first frame, in the stack's memory.
  Value* results_ = nullptr;
};

// Creates, runs to the end, and returns the results.
absl::StatusOr<std::vector<Value>> Invoke(Context& context,
                                          FunctionRef function,
                                          absl::Span<Value> arguments);

// A DirectCaller calls one function repeatedly, such as once for each workgroup
// of a grid, at little more than the cost of a call inside the VM. The function
// must not park.
//
// Thread-safety: none. Does not keep the context alive.
class DirectCaller {
 public:
  // `function` takes no spans. `cancellation`: of the call that the function
  // runs for as a kernel; it outlives the caller. Null: none.
  DirectCaller(Context& context, FunctionRef function,
               Cancellation* cancellation = nullptr);
  ~DirectCaller();
  DirectCaller(const DirectCaller&) = delete;
  DirectCaller& operator=(const DirectCaller&) = delete;

  // Arguments keep their values from call to call; a ref is retained until it
  // is replaced. Types are not checked: `value` is what the calling
  // convention's letter says.
  void SetArgument(size_t index, Slot value);
  // INTERNAL if the function parks; else its own error.
  absl::Status Call();
  // Valid after a successful Call(); a ref is handed over.
  Slot TakeResult(size_t index);

 private:
  Ref<Invocation> invocation_;
};

}  // namespace takt::vm

#endif  // TAKT_VM_INVOCATION_H_
