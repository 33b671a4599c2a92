// A RunGuard is the part of an invocation that an instruction uses: it takes
// the instruction's error, says whether the invocation should stop, and
// provides memory.
//
// Thread-safety: Cancel() from any thread, the rest by the running one.
#ifndef TAKT_VM_RUN_GUARD_H_
#define TAKT_VM_RUN_GUARD_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "base/block_pool.h"
#include "base/cancellation.h"
#include "base/memory_account.h"

namespace takt::vm {

class RunGuard {
 public:
  explicit RunGuard(BlockPool& pool) : pool_(pool) {}

  BlockPool& pool() const { return pool_; }

  // Keeps the error of the instruction that fails; false, to be returned.
  bool Fail(absl::Status error) {
    error_ = std::move(error);
    return false;
  }
  absl::Status& error() { return error_; }

  // Polled at calls and backward branches: true if Poll() should be asked.
  bool wants_attention() const {
    return attention_.load(std::memory_order_relaxed) != 0;
  }
  // Counts one step; false, with the error set, if the invocation should stop.
  bool Poll();
  // Counts a step for every 64 bytes that one instruction touches.
  bool Charge(uint64_t bytes) {
    return (attention_.load(std::memory_order_relaxed) & kLimited) == 0 ||
           CountSteps(bytes / 64);
  }

  // Asked at every kPollsPerQuestion-th poll of a branch or call, on the
  // running thread: true if the invocation is to be interrupted there. Not
  // while running.
  using Interrupter = bool (*)(void* argument);
  static constexpr uint32_t kPollsPerQuestion = 1024;
  void SetInterrupter(Interrupter interrupter, void* argument);
  // Counts a poll, and is true if that is all there is to do.
  bool OnlyCounts() {
    return attention_.load(std::memory_order_relaxed) == kInterruptible &&
           --polls_left_ != 0;
  }
  // After a poll for which OnlyCounts() is false: whether the invocation is to
  // be interrupted here.
  bool IsInterrupted() {
    return interrupter_ != nullptr &&
           (polls_left_ == 0 || --polls_left_ == 0) && AskInterrupter();
  }

  // seq_cst, as RequestCancel() and parking need (invocation.cc).
  void Cancel() { attention_.fetch_or(kCancelled); }
  bool is_cancelled() const { return (attention_.load() & kCancelled) != 0; }
  // 0: unlimited. Not while running.
  void SetStepLimit(uint64_t steps);
  // The invocation runs as a kernel of a call with this cancellation: it takes
  // its steps from there, and stops when it is requested. Borrowed until
  // ReleaseCancellation(). Not while running.
  void SetCancellation(Cancellation& cancellation);
  // Gives back the steps that were not run.
  void ReleaseCancellation();

  // What the memory of the invocation is charged to; nullptr: no limit.
  MemoryAccount* memory() {
    if (memory_ == nullptr && memory_limit_ != MemoryAccount::kUnlimited) {
      memory_ = MemoryAccount::Create(pool_, memory_limit_);
    }
    return memory_.get();
  }
  // Before the first memory().
  void SetMemoryLimit(uint64_t bytes) { memory_limit_ = bytes; }

 private:
  static constexpr uint8_t kCancelled = 1;
  static constexpr uint8_t kLimited = 2;
  static constexpr uint8_t kInterruptible = 4;

  bool AskInterrupter();
  bool CountSteps(uint64_t steps);
  // Takes at least `missing` steps from cancellation_.
  bool TakeSteps(uint64_t missing);

  // kCancelled is written by any thread, the others before the invocation runs.
  // Polled with relaxed order: it orders nothing else.
  std::atomic<uint8_t> attention_{0};
  uint64_t steps_left_ = 0;               // If limited.
  Cancellation* cancellation_ = nullptr;  // Null: it is not a kernel.
  Interrupter interrupter_ = nullptr;
  void* interrupter_argument_ = nullptr;
  uint32_t polls_left_ = kPollsPerQuestion;
  uint64_t memory_limit_ = MemoryAccount::kUnlimited;
  Ref<MemoryAccount> memory_;  // Made when memory is first asked for.
  absl::Status error_;
  BlockPool& pool_;
};

}  // namespace takt::vm

#endif  // TAKT_VM_RUN_GUARD_H_
