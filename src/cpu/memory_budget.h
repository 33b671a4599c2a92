// A MemoryBudget orders the memory requests of a device with limited memory. It
// counts bytes; the memory itself belongs to the pool.
//
// The policy keeps requests from waiting for each other in a circle:
//   - Requests are served in the order in which the timeline reached them, and
//     none overtakes: small requests do not starve a large one.
//   - A group (the requests of an invocation) is admitted as a whole: when what
//     it still has to get fits beside the memory in use and what the groups
//     admitted before it still have to get. So a group that holds memory gets
//     the rest without waiting for a group that waits. It runs, and gives all
//     of its memory back.
//   - An open group will ask for as much as its claim says. A group without a
//     claim is admitted when no other is about to get memory, and no group is
//     admitted after it until it is closed.
//   - A request without a group is a group of its own.
//   - When no work of the device runs, parked groups count with what they have
//     queued only: what they wait for may be behind them.
//
// A stall: requests wait, no work of the device runs, and for `stall_ns` no
// memory has come back. Then what they wait for may never come (a buffer that
// is never released, a fence that is never signalled, an invocation that needs
// more than the whole budget), and the first of them fails.
//
// Requests wait without a thread. Callbacks of granted requests run on the
// thread that made room, from its list of deferred calls, with no lock held.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf.
#ifndef TAKT_CPU_MEMORY_BUDGET_H_
#define TAKT_CPU_MEMORY_BUDGET_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "hal/deferred.h"
#include "hal/memory_group.h"

namespace takt::cpu {

class MemoryBudget {
 public:
  // The total of the group's requests is unknown.
  static constexpr uint64_t kUnknownClaim = ~uint64_t{0};

  class Group final : public hal::MemoryGroup {
   public:
    // `owner` keeps `budget` alive.
    Group(MemoryBudget& budget, Ref<Object> owner, uint64_t claim)
        : budget_(budget), owner_(std::move(owner)), claim_(claim) {}

    void SetParked(bool is_parked) override;
    void Close() override;

   private:
    friend class MemoryBudget;

    MemoryBudget& budget_;
    const Ref<Object> owner_;
    const uint64_t claim_;
    // Guarded by the budget's mutex.
    bool is_open_ = true;
    bool is_parked_ = false;
    bool is_admitted_ = false;
    Group* previous_admitted_ = nullptr;
    Group* next_admitted_ = nullptr;
    uint64_t granted_bytes_ = 0;  // Ever.
    uint64_t pending_bytes_ = 0;  // Queued, whether or not reached yet.
  };

  // Owned by the caller until it is granted or withdrawn.
  struct Request {
    uint64_t bytes = 0;
    Ref<Group> group;  // May be null.
    // Called once if Await() queued the request: OK, the bytes are its own
    // now; or RESOURCE_EXHAUSTED, after a stall.
    void (*settled)(Request* request, const absl::Status& status) = nullptr;

    // Used by the budget.
    struct Grant : hal::Deferred {
      Request* request = nullptr;
      absl::Status status;
    } grant;
    Request* next = nullptr;
  };

  // Requests that wait, and that have waited.
  struct Statistics {
    uint64_t bytes_in_use = 0;
    uint64_t bytes_waiting = 0;  // Requests that the timeline has reached.
    uint64_t waiting_count = 0;
    uint64_t wait_count = 0;  // Requests that have had to wait so far.
    uint64_t step_count = 0;  // Looks at a request or a group so far.
  };

  // `bytes` is not 0. `timers` may be null if stall_ns is kInfiniteFuture.
  MemoryBudget(uint64_t bytes, int64_t stall_ns,
               std::shared_ptr<TimerService> timers);
  // A budget without stalls.
  explicit MemoryBudget(uint64_t bytes)
      : MemoryBudget(bytes, kInfiniteFuture, nullptr) {}
  // The object that an armed timer retains, since it owns the budget. Set
  // before the first use.
  void SetOwner(Object* owner) { owner_ = owner; }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  uint64_t bytes() const { return bytes_; }

  // Takes `bytes` now, beside what admitted groups have queued. False if there
  // is no room.
  [[nodiscard]] bool TryTake(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Announces a request whose wait fence may not have been reached yet. Its
  // bytes are at most bytes().
  void Announce(Request& request) ABSL_LOCKS_EXCLUDED(mutex_);
  // The timeline has reached an announced request. True: granted. False: it
  // waits, and settled() comes, perhaps before this returns.
  [[nodiscard]] bool Await(Request& request) ABSL_LOCKS_EXCLUDED(mutex_);
  // Withdraws an announced request, instead of Await().
  void Withdraw(Request& request) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns bytes that were taken or granted.
  void GiveBack(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Called around every piece of the device's work that runs or is about to
  // run.
  void BeginWork() ABSL_LOCKS_EXCLUDED(mutex_);
  void EndWork() ABSL_LOCKS_EXCLUDED(mutex_);
  // Stops the check for stalls.
  void Retire() ABSL_LOCKS_EXCLUDED(mutex_);

  Statistics statistics() const ABSL_LOCKS_EXCLUDED(mutex_);
  // One line: which requests wait for how much, and which groups have the rest.
  // Empty if none waits.
  std::string Explain() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Sum = unsigned __int128;  // Of the bytes of many groups.

  struct StallTimer : TimerService::Timer {
    MemoryBudget* budget = nullptr;
  };

  void OnTimer() ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the timer must be armed because a stall is possible. True: call
  // ArmTimer() once unlocked.
  bool ShouldWatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ArmTimer() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends a method that has changed something: unlocks, then runs what is due.
  void Settle(hal::Deferred* grants, bool watch) ABSL_LOCKS_EXCLUDED(mutex_);
  // The part of Explain() about the memory in use.
  std::string DescribeUse() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Removes a request that has waited from the statistics.
  void NoteWaitEnd(const Request& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The bytes that `group` may still ask for, at most bytes_.
  uint64_t RemainingOf(const Group& group) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The bytes that are kept for `group`; 0 for null and for one that is not
  // admitted.
  uint64_t ReservedFor(const Group* group) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return group != nullptr && group->is_admitted_ ? RemainingOf(*group) : 0;
  }
  // The sum of it over the admitted groups.
  Sum Reserved() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t AtMostAll(Sum bytes) const {
    return bytes < bytes_ ? static_cast<uint64_t>(bytes) : bytes_;
  }
  // Whether in_use_ + `bytes` + `reserved` are within the budget.
  bool Fits(uint64_t bytes, uint64_t reserved) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the request, the first to wait of its group, may be granted.
  // `reserved` is Reserved().
  bool IsAdmissible(const Request& request, Sum reserved) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Grant(Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the requests that can be granted from the list. The caller runs the
  // result after it has unlocked. Its steps grow with the sum of the requests
  // and the groups, not with their product.
  hal::Deferred* TakeGrantable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Forgets an admitted group that will get nothing more.
  void DropIfDone(Group& group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool is_quiet() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return work_count_ == 0;
  }

  const uint64_t bytes_;
  const int64_t stall_ns_;
  const std::shared_ptr<TimerService> timers_;
  Object* owner_ = nullptr;
  mutable Mutex mutex_;
  StallTimer timer_;
  bool is_watching_ ABSL_GUARDED_BY(mutex_) = false;  // The timer is armed.
  uint64_t progress_ ABSL_GUARDED_BY(mutex_) = 0;     // Grows as work goes on.
  uint64_t progress_seen_ ABSL_GUARDED_BY(mutex_) = 0;  // By the timer.
  uint64_t in_use_ ABSL_GUARDED_BY(mutex_) = 0;
  Request* first_ ABSL_GUARDED_BY(mutex_) = nullptr;  // Waiting, in order.
  Request* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Group* admitted_ ABSL_GUARDED_BY(mutex_) = nullptr;  // Each is retained.
  size_t admitted_count_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t work_count_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable Statistics statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_MEMORY_BUDGET_H_
