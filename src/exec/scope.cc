#include "exec/scope.h"

#include "base/check.h"
#include "exec/executor.h"

namespace takt::exec {

struct Scope::Waiter {
  Executor::HelpingCaller* helper;
  Waiter* next;
};

Scope::~Scope() {
  // The last End() may still hold the lock.
  MutexLock lock(&mutex_);
  TAKT_CHECK(in_flight_.load(std::memory_order_acquire) == 0);
}

void Scope::Fail(const absl::Status& error) {
  TAKT_CHECK(!error.ok());
  MutexLock lock(&mutex_);
  if (error_.ok()) error_ = error;
  failed_.store(true, std::memory_order_release);
}

absl::Status Scope::status() const {
  MutexLock lock(&mutex_);
  return error_;
}

void Scope::End() {
  uint64_t count = in_flight_.load(std::memory_order_relaxed);
  while (count > 1) {
    // Release: a thread that sees the last job end sees what all jobs did.
    if (in_flight_.compare_exchange_weak(count, count - 1,
                                         std::memory_order_acq_rel,
                                         std::memory_order_relaxed)) {
      return;
    }
  }
  MutexLock lock(&mutex_);
  count = in_flight_.fetch_sub(1, std::memory_order_acq_rel);
  TAKT_CHECK(count > 0);
  if (count != 1) return;
  for (Waiter* waiter = waiters_; waiter != nullptr;) {
    Waiter* const next = waiter->next;
    waiter->helper->Notify();
    waiter = next;
  }
  waiters_ = nullptr;
}

bool Scope::WaitIdle(Executor& executor, int64_t deadline_ns) {
  Executor::HelpingCaller helper(executor);
  Waiter self{&helper, nullptr};
  {
    MutexLock lock(&mutex_);
    if (in_flight_.load(std::memory_order_acquire) == 0) return true;
    self.next = waiters_;
    waiters_ = &self;
  }
  if (helper.WaitUntilNotified(deadline_ns)) return true;
  {
    MutexLock lock(&mutex_);
    for (Waiter** place = &waiters_; *place != nullptr;
         place = &(*place)->next) {
      if (*place == &self) {
        *place = self.next;
        return false;
      }
    }
  }
  // The scope has notified this caller in the meantime.
  return helper.WaitUntilNotified(kInfiniteFuture);
}

Scope::Statistics Scope::statistics() const {
  Statistics result;
  result.submitted_count = submitted_.load(std::memory_order_relaxed);
  const uint64_t in_flight = in_flight_.load(std::memory_order_relaxed);
  result.finished_count = result.submitted_count > in_flight
                              ? result.submitted_count - in_flight
                              : 0;
  result.skipped_count = skipped_.load(std::memory_order_relaxed);
  result.tile_count = tiles_.load(std::memory_order_relaxed);
  return result;
}

}  // namespace takt::exec
