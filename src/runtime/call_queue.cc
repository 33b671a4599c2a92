#include "runtime/call_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "hal/deferred.h"

namespace takt::runtime {
namespace {

const void* ThisThread() {
  thread_local char token;
  return &token;
}

}  // namespace

// A synchronous caller's turn, on its stack.
class CallQueue::ThreadTurn final : public Turn {
 public:
  explicit ThreadTurn(BlockingWait& thread) : thread_(thread) {
    is_thread_ = true;
  }
  Progress Take() override {
    thread_.Notify();
    return Progress::kDone;
  }

 private:
  BlockingWait& thread_;
};

bool CallQueue::RunsHere() const {
  return runner_.load(std::memory_order_relaxed) == ThisThread();
}

void CallQueue::Post(Turn* turn, Where where) {
  if (!HoldOrQueue(turn)) return;
  if (executor_ == nullptr) {
    RunTurns(turn, std::numeric_limits<int>::max());
  } else if (where == Where::kHere) {
    RunTurns(turn, 1);
  } else if (exec::Worker* worker = executor_->current_worker();
             worker != nullptr && worker->MayRun(turn->traits) &&
             !hal::HasDeferred()) {
    RunTurns(turn, kTurnsAtOnce);
  } else {
    // Deferred work of this thread can run at the same time as the turn.
    SubmitTurn(turn);
  }
}

bool CallQueue::Enter(BlockingWait& thread) {
  if (RunsHere()) return false;
  ThreadTurn turn(thread);
  if (!HoldOrQueue(&turn)) thread.WaitUntilNotified(kInfiniteFuture);
  runner_.store(ThisThread(), std::memory_order_relaxed);
  TAKT_DCHECK((state_.load(std::memory_order_relaxed) & kHeld) != 0);
  return true;
}

void CallQueue::Leave() {
  TAKT_DCHECK(RunsHere());
  runner_.store(nullptr, std::memory_order_relaxed);
  if (Turn* next = ReleaseOrNext()) RunTurns(next, 0);
}

void CallQueue::TakeQueued(absl::FunctionRef<bool(Turn*)> wanted) {
  if ((state_.load(std::memory_order_relaxed) & kQueued) == 0) return;
  MutexLock lock(&mutex_);
  if (first_ == nullptr) return;  // The holder has taken the last turn.
  Turn* before = nullptr;
  for (Turn* turn = first_; turn != nullptr;) {
    Turn* const next = turn->next_;
    if (!turn->is_thread_ && wanted(turn)) {
      (before != nullptr ? before->next_ : first_) = next;
      if (next == nullptr) last_ = before;
      turn->next_ = nullptr;
    } else {
      before = turn;
    }
    turn = next;
  }
  if (first_ == nullptr) state_.store(kHeld, std::memory_order_relaxed);
}

void CallQueue::RunSubmitted() {
  const Ref<Object> hold = Ref<Object>::Adopt(owner_);  // Of SubmitTurn().
  Turn* turn = nullptr;
  {
    MutexLock lock(&mutex_);
    turn = std::exchange(submitted_, nullptr);
  }
  TAKT_CHECK(turn != nullptr);
  RunTurns(turn, kTurnsAtOnce);
}

bool CallQueue::HoldOrQueue(Turn* turn) {
  uint32_t state = 0;
  if (state_.compare_exchange_strong(state, kHeld, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
    return true;
  }
  MutexLock lock(&mutex_);
  while (true) {
    // The holder may have left meanwhile, but only if no turn is queued.
    const uint32_t next = state == 0 ? kHeld : kHeld | kQueued;
    if (!state_.compare_exchange_weak(state, next, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
      continue;
    }
    if (next == kHeld) return true;
    break;
  }
  TAKT_DCHECK((first_ == nullptr) == (last_ == nullptr));
  turn->next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = turn;
  last_ = turn;
  if (executor_ != nullptr && Borrower::AnyHasLoan() &&
      turn->LoanLane() != exec::Job::kNotRaised) {
    executor_->Raise(this, LoanLane());
  }
  return false;
}

CallQueue::Turn* CallQueue::ReleaseOrNext() {
  uint32_t state = kHeld;
  if (state_.compare_exchange_strong(state, 0, std::memory_order_release,
                                     std::memory_order_relaxed)) {
    return nullptr;
  }
  MutexLock lock(&mutex_);
  Turn* const turn = first_;
  if (turn == nullptr) {  // TakeQueued() has removed the last one meanwhile.
    TAKT_CHECK(state_.load(std::memory_order_relaxed) == kHeld);
    state_.store(0, std::memory_order_release);
    return nullptr;
  }
  first_ = turn->next_;
  if (first_ == nullptr) {
    last_ = nullptr;
    state_.store(kHeld, std::memory_order_relaxed);
  }
  return turn;
}

void CallQueue::RunTurns(Turn* turn, int turn_count) {
  // A turn may release the last reference to the owner.
  const Ref<Object> hold = Ref<Object>::Retain(owner_);
  TAKT_DCHECK((state_.load(std::memory_order_relaxed) & kHeld) != 0);
  bool is_first = true;
  while (turn != nullptr) {
    if (turn->is_thread_) {
      turn->Take();  // Now another thread holds the queue.
      return;
    }
    const exec::Worker* const worker = executor_ != nullptr && !is_first
                                           ? executor_->current_worker()
                                           : nullptr;
    if (executor_ != nullptr &&
        (turn_count-- == 0 ||
         (worker != nullptr && !worker->MayRun(turn->traits)))) {
      SubmitTurn(turn);
      return;
    }
    is_first = false;
    runner_.store(ThisThread(), std::memory_order_relaxed);
    const Turn::Progress progress = turn->Take();
    runner_.store(nullptr, std::memory_order_relaxed);
    if (progress == Turn::Progress::kInterrupted) {
      TAKT_CHECK(executor_ != nullptr);
      SubmitTurn(turn, /*is_interrupted=*/true);
      return;
    }
    turn = ReleaseOrNext();
  }
}

void CallQueue::SubmitTurn(Turn* turn, bool is_interrupted) {
  owner_->Retain();
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(submitted_ == nullptr);
    submitted_ = turn;
    static_cast<exec::JobTraits&>(*this) = turn->traits;
    core_lane_max = lane;
    if (!is_interrupted) lane = std::max(lane, turn->first_lane);
    // A loan that comes later finds the turn, and raises the job again.
    SetRaised(LoanLane());
  }
  // The owner of the queue may be gone before Submit() returns.
  const Ref<exec::Executor> executor = Ref<exec::Executor>::Retain(executor_);
  executor->Submit(this);
}

void CallQueue::ReviewLoans() {
  if (executor_ == nullptr) return;
  MutexLock lock(&mutex_);
  executor_->Raise(this, LoanLane());
}

int32_t CallQueue::LoanLane() const {
  if (!Borrower::AnyHasLoan()) return exec::Job::kNotRaised;
  int32_t lent =
      submitted_ != nullptr ? submitted_->LoanLane() : exec::Job::kNotRaised;
  for (const Turn* each = first_; each != nullptr; each = each->next_) {
    lent = std::max(lent, each->LoanLane());
  }
  return lent;
}

}  // namespace takt::runtime
