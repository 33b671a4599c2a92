// A Fence is an immutable set of (timeline, value) pairs. It is reached when
// all pairs are reached, and has failed as soon as one has failed. As a wait, a
// null Fence* means "already reached"; as a signal, it means "no signal".
//
// A barrier is a fence with one point for each of its signallers, so a wait for
// it waits for all of them. Each signaller gets a share: an ordinary fence over
// the next point. Signal() and Fail() on the barrier itself count as one
// signaller. Shares of one barrier may be signaled in any order.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_HAL_FENCE_H_
#define TAKT_HAL_FENCE_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "hal/timeline.h"

namespace takt::hal {

struct TimelinePoint {
  Ref<Timeline> timeline;
  uint64_t value = 0;
};

class Fence final : public Object {
 public:
  // The fence itself if it is reached, since it cannot change then; else none.
  static Object* Clone(Object& object, CloneMap& clones);
  static constexpr ObjectType kType{"hal.fence", &Fence::Clone};

  // A new timeline at 0, and a fence that is reached at 1.
  static Ref<Fence> Create();
  static Ref<Fence> Create(BlockPool& pool);
  // INVALID_ARGUMENT for a value beyond Timeline::kMaxValue. The same timeline
  // twice counts once, with the greater value.
  static absl::StatusOr<Ref<Fence>> FromPoints(
      absl::Span<const TimelinePoint> points);
  // A fence that is reached when `signaller_count` signallers are done, and at
  // once if that is 0. INVALID_ARGUMENT beyond kSignallersMax.
  static constexpr uint32_t kSignallersMax = 1 << 20;
  static absl::StatusOr<Ref<Fence>> CreateBarrier(uint32_t signaller_count);
  // All points of all fences; null fences are skipped. Null if none is left.
  // The new fence's memory is the pool's, or the system's without one.
  static Ref<Fence> Join(absl::Span<Fence* const> fences,
                         BlockPool* pool = nullptr);

  absl::Span<const TimelinePoint> points() const { return points_; }

  // The fence that one signaller signals or fails: this fence itself or, for a
  // barrier, a fence over its next point. FAILED_PRECONDITION if all signallers
  // of the barrier have their share.
  absl::StatusOr<Ref<Fence>> TakeShare();
  bool is_barrier() const { return is_barrier_; }
  // The number of shares of a barrier that are taken. 0 for an ordinary fence.
  uint32_t shares_taken() const;

  // Names the object that will signal every point, for diagnoses.
  // `holder`: as for Timeline::SetSignaller().
  void SetSignaller(const Ref<const Signaller>& signaller,
                    Borrower* holder = nullptr) const;

  // OK with *reached; the first error found if a timeline failed.
  absl::Status Query(bool* reached) const;

  // Raises every timeline to its value, even if one of them fails, and returns
  // the first error. On a barrier it takes a share and signals that;
  // FAILED_PRECONDITION if no share is left.
  absl::Status Signal() const;
  // Fails every timeline. On a barrier it takes a share and fails that, which
  // fails the barrier. If no share is left, it fails the points that are not
  // reached yet.
  void Fail(const absl::Status& error) const;
  // Signals the fence if `outcome` is OK, else fails it. Another party may have
  // done so before.
  void Settle(const absl::Status& outcome) const;

  // Blocks the thread until the fence is reached or has failed, or until
  // `deadline_ns` (of NowNs()): then DEADLINE_EXCEEDED. Workers must not call
  // it.
  absl::Status Wait(int64_t deadline_ns) const;

  // Runs `callback` exactly once: on this thread before it returns, if the
  // outcome is known, else on the thread that reaches or fails the fence. On a
  // thread that is inside a notification the callback runs after that.
  void OnReached(
      absl::AnyInvocable<void(const absl::Status&) &&> callback) const;

 private:
  // Moves the points. The memory is the pool's, or the system's without one.
  static Ref<Fence> Make(absl::Span<TimelinePoint> points, BlockPool* pool,
                         bool is_barrier = false);
  Fence(absl::Span<TimelinePoint> points, bool is_barrier);
  ~Fence() override;
  // `extra` bytes behind the object are for the points.
  static void* operator new(size_t bytes, BlockPool* pool, size_t extra) {
    bytes += extra;
    return pool != nullptr ? pool->Allocate(bytes)
                           : BlockPool::AllocateFromSystem(bytes);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }
  static void operator delete(void* block, BlockPool*, size_t) {
    BlockPool::Free(block);
  }

  // The next point of a barrier; nullptr if there is none.
  const TimelinePoint* TakePoint() const;

  const absl::Span<TimelinePoint> points_;
  const bool is_barrier_;
  // The number of points that are taken. Relaxed: it orders nothing.
  mutable std::atomic<uint32_t> taken_{0};
};

// A wait for a fence, embedded in the object that waits: a wait for one
// timeline, besides those that are reached already, allocates nothing. The
// owner keeps the waiter alive until it has been notified or Cancel() has
// returned true. A waiter holds no reference to the fences and their timelines:
// once the last reference is gone, no signal can come, and the wait ends with
// ABORTED. So an owner that only waits drops the fence after Start() has
// returned.
class FenceWaiter {
 public:
  // Called once when the fence is reached (OK) or has failed (first error),
  // with no lock held, on the thread that reached or failed it. May destroy the
  // waiter and its owner.
  using Notify = void (*)(FenceWaiter* waiter, const absl::Status& status);

  explicit FenceWaiter(Notify notify) : notify_(notify) {}
  FenceWaiter(const FenceWaiter&) = delete;
  FenceWaiter& operator=(const FenceWaiter&) = delete;
  ~FenceWaiter();

  // Waits for every fence of the list (null ones skipped). Returns true if
  // registered: Notify comes, perhaps before Start() returns. False if the
  // outcome is known already: it is in *status and Notify does not come. One
  // wait at a time. RESOURCE_EXHAUSTED: there is no memory to wait with.
  // `borrower`: the work that waits, which lends its urgency to the work that
  // will signal the fences. Retained by the owner for as long as the wait
  // lasts. Null: the wait lends nothing.
  [[nodiscard]] bool Start(absl::Span<const Fence* const> fences,
                           absl::Status* status, Borrower* borrower = nullptr);

  // True if Notify will not be called. False if it has been called, or will be
  // because part of the wait is just ending. In the latter case it gets
  // `reason` (not OK) if any other part was cancelled, since that part is not
  // reached.
  bool Cancel(absl::Status reason = NotWaitedFor());

 private:
  static absl::Status NotWaitedFor();
  struct Node : TimelineWaiter {
    FenceWaiter* owner = nullptr;
    Timeline::Anchor timeline;
  };
  static void OnTimeline(TimelineWaiter* waiter, const absl::Status& status);
  // Makes nodes of the points that are not reached. The error of one that has
  // failed.
  absl::Status CollectNodes(absl::Span<const Fence* const> fences);
  // Returns how many nodes are not registered.
  int32_t RegisterNodes(Borrower* borrower);
  static void BeginLoan(Node& node, Borrower* borrower);
  void Lend(Borrower& borrower);
  // Cancels the registered nodes and returns how many there were.
  int32_t CancelNodes();
  // Keeps the first error.
  void SetError(const absl::Status& status);
  // Drops `count` from pending_. True if pending_ is 0 then.
  bool Drop(int32_t count);

  const Notify notify_;
  // Fixed while a wait lasts: nodes are linked into timelines.
  absl::InlinedVector<Node, 1> nodes_;
  // The number of registered nodes that are not yet notified, and one for
  // Start() while it runs. The thread that takes it to 0 ends the wait; no
  // other thread touches the waiter after its own drop.
  std::atomic<int32_t> pending_{0};
  std::atomic<bool> failed_{false};
  absl::Status status_;  // Written by the thread that sets failed_ first.
};

}  // namespace takt::hal

#endif  // TAKT_HAL_FENCE_H_
