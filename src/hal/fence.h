// A Fence is a set of (timeline, value) pairs: reached when all of them are,
// failed as soon as one of them fails. It never changes once made. A null
// Fence* means "already reached" as a wait and "tell nobody" as a signal.
//
// A barrier is a fence with a point for each of its signallers, so whoever
// waits for it waits for all of them. Each signaller gets a share: an ordinary
// fence over the next of the points. Signal() and Fail() on the barrier itself
// count as one signaller. Shares of one barrier may be signaled in any order.
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
  // The same one if it is reached, so that it stays what it is; else none.
  static Object* Clone(Object& object, CloneMap& clones);
  static constexpr ObjectType kType{"hal.fence", &Fence::Clone};
  using Points = absl::InlinedVector<TimelinePoint, 1>;

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
  static Ref<Fence> Join(absl::Span<Fence* const> fences);

  absl::Span<const TimelinePoint> points() const { return points_; }

  // The fence that one signaller signals or fails: this one itself, or, of a
  // barrier, one over its next point. FAILED_PRECONDITION if all signallers of
  // the barrier have theirs.
  absl::StatusOr<Ref<Fence>> TakeShare();
  bool is_barrier() const { return is_barrier_; }
  // Signallers of a barrier that have their share. 0 of an ordinary fence.
  uint32_t shares_taken() const;

  // Names who is going to signal every point, for explanations.
  void SetSignaller(const Ref<const Signaller>& signaller) const;

  // OK with *reached; the first error found if a timeline failed.
  absl::Status Query(bool* reached) const;

  // Raises every timeline to its value. An error of one does not keep the
  // others from being raised; the first is returned. Of a barrier: takes a
  // share and signals that; FAILED_PRECONDITION if none is left.
  absl::Status Signal() const;
  // Fails every timeline. Of a barrier: takes a share and fails that, which
  // fails the barrier; with none left, fails what is not reached yet.
  void Fail(const absl::Status& error) const;

  // Blocks the thread until reached, failed or past `deadline_ns` (of NowNs()):
  // DEADLINE_EXCEEDED then. For callers outside the workers only.
  absl::Status Wait(int64_t deadline_ns) const;

  // Runs `callback` exactly once: at once, on this thread, if the outcome is
  // known; else on the thread that brings it about. As with any notification,
  // that is after the one that this thread is in.
  void OnReached(
      absl::AnyInvocable<void(const absl::Status&) &&> callback) const;

 private:
  explicit Fence(Points points, bool is_barrier = false)
      : Object(&kType), points_(std::move(points)), is_barrier_(is_barrier) {}

  // The next point of a barrier; nullptr if there is none.
  const TimelinePoint* TakePoint() const;

  const Points points_;
  const bool is_barrier_;
  // Points of a barrier that signallers have. Relaxed: it only counts.
  mutable std::atomic<uint32_t> taken_{0};
};

// A wait for a fence that its owner embeds: no allocation for a fence of one
// timeline. The owner keeps it alive until it has been notified, or Cancel()
// has returned true. It keeps neither the fences nor their timelines: if nobody
// else does, nobody can signal, and the wait ends with ABORTED. So an owner
// that only waits lets go of the fence once Start() has returned.
class FenceWaiter {
 public:
  // Called once when the fence is reached (OK) or has failed (first error),
  // with no lock held, on the thread that brought it about. May destroy the
  // waiter and its owner.
  using Notify = void (*)(FenceWaiter* waiter, const absl::Status& status);

  explicit FenceWaiter(Notify notify) : notify_(notify) {}
  FenceWaiter(const FenceWaiter&) = delete;
  FenceWaiter& operator=(const FenceWaiter&) = delete;
  ~FenceWaiter();

  // Waits for every fence of the list (null ones skipped). Returns true if
  // registered: Notify comes, perhaps before Start() returns. False if the
  // outcome is known already: it is in *status and Notify does not come. One
  // wait at a time.
  [[nodiscard]] bool Start(absl::Span<const Fence* const> fences,
                           absl::Status* status);

  // True if Notify will not come any more; false if it has, or will because
  // part of the wait is just ending: then with `reason` (not OK) if any of it
  // was taken back, since that is not reached.
  bool Cancel(
      absl::Status reason = absl::CancelledError("no longer waited for"));

 private:
  struct Node : TimelineWaiter {
    FenceWaiter* owner = nullptr;
    Timeline::Anchor timeline;
  };
  static void OnTimeline(TimelineWaiter* waiter, const absl::Status& status);
  // Takes back what is registered, and returns how many nodes that were.
  int32_t CancelNodes();
  // Keeps the first error.
  void SetError(const absl::Status& status);
  // Drops `count` from pending_. True if nothing is pending any more.
  bool Drop(int32_t count);

  const Notify notify_;
  // Fixed while a wait lasts: nodes are linked into timelines.
  absl::InlinedVector<Node, 1> nodes_;
  // Registered nodes not yet notified, and Start() itself while it runs. Who
  // takes it to zero decides: nobody else touches the waiter any more.
  std::atomic<int32_t> pending_{0};
  std::atomic<bool> failed_{false};
  absl::Status status_;  // Written by whoever sets failed_ first.
};

}  // namespace takt::hal

#endif  // TAKT_HAL_FENCE_H_
