// A Timeline is a 64-bit value that only grows. Work waits for it to reach a
// value and raises it when done; that is how callers, queues and devices order
// work without knowing each other.
//
// Invariants:
//   (1) value() never falls, and no waiter gets OK before its value.
//   (2) A timeline that failed stays failed, with its first error; its value
//       stays what it was, and values reached before stay reached.
//   (3) No waiter is notified while mutex_ is held, nor from within another
//       notification on the same thread: those come one after the other.
//   (4) A registered waiter is notified exactly once, unless Cancel() took it
//       back.
//   (5) the waiters are sorted by value; of equal values, the first come is
//   first.
//   (6) A reference is the right to signal; a waiter holds none. When the last
//   one goes, nobody can signal any more, and who still waits is notified with
//   ABORTED: a forgotten timeline leaves nobody waiting for ever.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf; nothing else is locked under it.
#ifndef TAKT_HAL_TIMELINE_H_
#define TAKT_HAL_TIMELINE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/mutex.h"
#include "base/object.h"
#include "hal/deferred.h"

namespace takt::hal {

// One wait for one value: a node that the waiting party owns and keeps alive
// until it has been notified or cancelled. Waiting allocates nothing.
// Whoever may call Cancel() on a node keeps a Timeline::Anchor meanwhile.
struct TimelineWaiter : Deferred {
  uint64_t value = 0;
  // Called once, on the thread that reached the value or failed the timeline,
  // with no lock held. May destroy the waiter.
  void (*notify)(TimelineWaiter* waiter, const absl::Status& status) = nullptr;

  // Used by the timeline.
  TimelineWaiter* next_waiter = nullptr;
  TimelineWaiter* previous_waiter = nullptr;
  absl::Status outcome;
};

// Who is going to signal a timeline, as explanations put it: "a call of
// pipeline.run".
class Signaller final : public Object {
 public:
  static constexpr ObjectType kType{"hal.signaller"};
  static Ref<const Signaller> Create(std::string text) {
    return Ref<const Signaller>::Adopt(new Signaller(std::move(text)));
  }
  const std::string& text() const { return text_; }

 private:
  explicit Signaller(std::string text)
      : Object(&kType), text_(std::move(text)) {}
  const std::string text_;
};

class Timeline final : public Object {
 public:
  static constexpr ObjectType kType{"hal.semaphore"};
  // Beyond this a value cannot be waited for: the compiler's ABI marks failure
  // with what lies above.
  static constexpr uint64_t kMaxValue = 2147483646;

  // Keeps the storage of a timeline, so that Cancel() may be called, but not
  // the right to signal it.
  class Anchor {
   public:
    Anchor() = default;
    explicit Anchor(Timeline& timeline) : timeline_(&timeline) {
      timeline.RetainStorage();
    }
    Anchor(Anchor&& other) noexcept
        : timeline_(std::exchange(other.timeline_, nullptr)) {}
    Anchor& operator=(Anchor other) noexcept {
      std::swap(timeline_, other.timeline_);
      return *this;
    }
    ~Anchor() {
      if (timeline_ != nullptr) timeline_->ReleaseStorage();
    }
    Timeline* operator->() const { return timeline_; }

   private:
    Timeline* timeline_ = nullptr;
  };

  static Ref<Timeline> Create(uint64_t initial_value);
  static Ref<Timeline> Create(uint64_t initial_value, BlockPool& pool);

  uint64_t value() const { return value_.load(std::memory_order_acquire); }
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // OK unless the timeline has failed.
  absl::Status error() const ABSL_LOCKS_EXCLUDED(mutex_);

  // OK with *reached saying whether `value` is reached; the timeline's error
  // if it failed before.
  absl::Status Query(uint64_t value, bool* reached) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Raises the timeline to `value`, then notifies the waiters due, lowest
  // value first, on this thread: before it returns, or, from within a
  // notification, when that has returned. FAILED_PRECONDITION if `value` is
  // not above value(), INVALID_ARGUMENT if it is beyond kMaxValue; the
  // timeline's own error if it has failed.
  absl::Status Signal(uint64_t value) ABSL_LOCKS_EXCLUDED(mutex_);

  // Fails the timeline with `error` (not OK), then notifies every waiter. A
  // timeline that has failed already keeps its first error.
  void Fail(absl::Status error) ABSL_LOCKS_EXCLUDED(mutex_);

  // Registers `waiter` and returns true; or, if its value is reached or the
  // timeline has failed, returns false with the outcome in *status and leaves
  // the waiter alone.
  [[nodiscard]] bool AddWaiter(TimelineWaiter* waiter, absl::Status* status)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes a registered waiter back. False if it has been or is being notified.
  bool Cancel(TimelineWaiter* waiter) ABSL_LOCKS_EXCLUDED(mutex_);

  // What a person calls the timeline; "" unless set.
  void set_name(absl::string_view name) ABSL_LOCKS_EXCLUDED(mutex_);
  std::string name() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Who is known to signal `value`, for explanations; null if nobody is. Only
  // one value's is remembered, that of the last SetSignaller(); of two for the
  // same value the first stays: a call, say, rather than its last operation.
  void SetSignaller(uint64_t value, const Ref<const Signaller>& signaller)
      ABSL_LOCKS_EXCLUDED(mutex_);
  Ref<const Signaller> FindSignaller(uint64_t value) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // `delete` of the last reference: lets the waiters go, and the storage with
  // the last anchor.
  static void operator delete(Timeline* timeline, std::destroying_delete_t);
  using Object::operator delete;

 private:
  explicit Timeline(uint64_t initial_value)
      : Object(&kType), value_(initial_value) {}
  ~Timeline() override;

  void RetainStorage() { anchors_.fetch_add(1, std::memory_order_relaxed); }
  void ReleaseStorage();
  // Notifies whoever still waits that nobody will signal.
  void Abandon() ABSL_LOCKS_EXCLUDED(mutex_);

  void Insert(TimelineWaiter* waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Detaches the waiters of up to `value` and returns the first of them, ready
  // to be run with `outcome`; nullptr if there is none.
  Deferred* TakeDue(uint64_t value, const absl::Status& outcome)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Stored (release) only under mutex_; the load (acquire) in value() pairs
  // with it, so a reader that sees N sees all that was written before N.
  std::atomic<uint64_t> value_;
  std::atomic<bool> failed_{false};
  mutable Mutex mutex_;
  // Anchors, and one for all references together.
  std::atomic<int32_t> anchors_{1};
  Ref<const Signaller> signaller_ ABSL_GUARDED_BY(mutex_);
  uint64_t signaller_value_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<const std::string> name_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  TimelineWaiter* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  TimelineWaiter* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace takt::hal

#endif  // TAKT_HAL_TIMELINE_H_
