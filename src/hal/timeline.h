// A Timeline is a 64-bit value that only grows. Work waits until it reaches a
// value, and raises it when done. So callers, queues and devices order their
// work without knowing each other.
//
// Invariants:
//   (1) value() never falls, and no waiter gets OK before its value.
//   (2) A timeline that failed stays failed, with its first error. Its value
//       does not change, and values reached before stay reached.
//   (3) No waiter is notified while mutex_ is held. Notifications on one thread
//       run one after the other, never one inside another.
//   (4) A registered waiter is notified exactly once, unless Cancel() removed
//       it.
//   (5) The waiters are sorted by value; waiters of one value stand in the
//   order
//       in which they came.
//   (6) A reference is the right to signal; a waiter holds none. When the last
//       reference is dropped, no signal can come, and the remaining waiters are
//       notified with ABORTED. So no waiter waits for ever.
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
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/borrower.h"
#include "base/mutex.h"
#include "base/object.h"
#include "hal/deferred.h"

namespace takt::hal {

// One wait for one value. The object that waits owns the node and keeps it
// alive until it has been notified or cancelled; the wait allocates nothing. An
// object that may call Cancel() keeps a Timeline::Anchor as long.
struct TimelineWaiter : Deferred {
  uint64_t value = 0;
  // Called once, on the thread that reached the value or failed the timeline,
  // with no lock held. May destroy the waiter.
  void (*notify)(TimelineWaiter* waiter, const absl::Status& status) = nullptr;
  // The loan of the work that waits to the work that will signal the value. It
  // has begun before AddWaiter(), and lasts until the waiter is in no list.
  struct Loan : Borrower::Wait {
    TimelineWaiter* waiter = nullptr;
  };
  Loan loan;

  // Used by the timeline.
  TimelineWaiter* next_waiter = nullptr;
  TimelineWaiter* previous_waiter = nullptr;
  absl::Status outcome;
};

// The text by which diagnoses name the object that will signal a timeline, such
// as "a call of pipeline.run".
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
  // The greatest value that a wait can name: the compiler's ABI marks failure
  // with greater ones.
  static constexpr uint64_t kMaxValue = 2147483646;

  // Keeps the storage of a timeline, so that Cancel() may be called. It gives
  // no right to signal.
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
  // value first, on this thread: before it returns or, if called from a
  // notification, after that has returned. FAILED_PRECONDITION if `value` is
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

  // Removes a registered waiter. False if it has been or is being notified.
  bool Cancel(TimelineWaiter* waiter) ABSL_LOCKS_EXCLUDED(mutex_);

  // The timeline's name in messages; "" unless set.
  void set_name(absl::string_view name) ABSL_LOCKS_EXCLUDED(mutex_);
  std::string name() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets the object that will signal `value`, for diagnoses; null removes it.
  // The timeline remembers the signaller of one value, that of the last
  // SetSignaller(). A second signaller for the same value does not replace the
  // first: a call is named rather than its last operation. `holder` is the work
  // that signals the value; waiters lend to it. May be null. The first holder
  // of a value stays. Does not throw: without memory, nothing is lent to it.
  void SetSignaller(uint64_t value, const Ref<const Signaller>& signaller,
                    Borrower* holder = nullptr) ABSL_LOCKS_EXCLUDED(mutex_);
  // The work that is known to raise the timeline to `value` or beyond; null if
  // none is.
  Ref<Borrower> FindHolder(uint64_t value) const ABSL_LOCKS_EXCLUDED(mutex_);
  Ref<const Signaller> FindSignaller(uint64_t value) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // `delete` of the last reference notifies the waiters. The storage is freed
  // with the last anchor.
  static void operator delete(Timeline* timeline, std::destroying_delete_t);
  using Object::operator delete;

 private:
  explicit Timeline(uint64_t initial_value)
      : Object(&kType), value_(initial_value) {}
  ~Timeline() override;

  void RetainStorage() { anchors_.fetch_add(1, std::memory_order_relaxed); }
  void ReleaseStorage();
  // For the thread that has the timeline to itself.
  bool is_awaited() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return first_ != nullptr;
  }
  // Notifies the remaining waiters that no signal will come.
  void Abandon() ABSL_LOCKS_EXCLUDED(mutex_);

  void Insert(TimelineWaiter* waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  using Borrowers = absl::InlinedVector<Ref<Borrower>, 2>;
  // Appends the work that lends to the holder, if the value had none.
  void AddHolder(uint64_t value, Borrower* holder, Borrowers* lenders)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Detaches the waiters of up to `value` and returns the first of them, ready
  // to be run with `outcome`; nullptr if there is none.
  Deferred* TakeDue(uint64_t value, const absl::Status& outcome)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Stored (release) only under mutex_; the load (acquire) in value() pairs
  // with it, so a reader that sees N sees all that was written before N.
  std::atomic<uint64_t> value_;
  std::atomic<bool> failed_{false};
  mutable Mutex mutex_;
  // The number of anchors, and one for all references together.
  std::atomic<int32_t> anchors_{1};
  Ref<const Signaller> signaller_ ABSL_GUARDED_BY(mutex_);
  uint64_t signaller_value_ ABSL_GUARDED_BY(mutex_) = 0;
  struct Holder {
    uint64_t value;
    Ref<Borrower> work;
  };
  // The holders of values that were not reached when the last holder was added.
  absl::InlinedVector<Holder, 1> holders_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<const std::string> name_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  TimelineWaiter* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  TimelineWaiter* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace takt::hal

#endif  // TAKT_HAL_TIMELINE_H_
