// A SharedLease is the lease of an NPU among processes. A process asks with the
// urgency of its most urgent request. The process that gives the lease back
// passes it on, in the order of lease_order.h. A process that dies loses it at
// once, one that keeps it longer than it said loses it then.
//
// Others can delay this process, by any contents and locks of the file, but do
// no more: each wait looks at the file again and has an end.
//
// Thread-safety: every method may run on any thread. One at a time acquires.
// Lock order: mutex_ is a leaf.
#ifndef TAKT_NPU_SHARED_LEASE_H_
#define TAKT_NPU_SHARED_LEASE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "npu/lease_file.h"
#include "npu/lease_order.h"

namespace takt::npu {

class SharedLease {
 public:
  // The longest turn that any process may announce.
  static constexpr int64_t kTurnMaxNs = 60'000'000'000;

  struct Statistics {
    uint64_t grant_count = 0;
    uint64_t wait_count = 0;        // Grants that had to wait.
    uint64_t taken_back_count = 0;  // From processes that died or hung.
    uint64_t lost_count = 0;        // Turns that this process lost that way.
    // Turns without a grant, since the file's lock could not be had.
    uint64_t unarbitrated_count = 0;
  };

  // Joins the processes of a file; LeaseFile::Join() has the errors.
  //
  //   turn_max_ns  the longest that this process keeps the lease without a call
  //                of Acquire(), Release() or Beat().
  //   now_ns       the clock by which holders are gone. On any thread.
  static absl::StatusOr<std::unique_ptr<SharedLease>> Join(
      const std::string& path, int64_t turn_max_ns,
      int64_t (*now_ns)() = &NowNs);
  ~SharedLease();

  // Waits for the turn of this process; `urgency` is asked again after each
  // change of the file, and every kCheckNs. Always returns with the right to
  // use the NPU: after LeaseFile::kLockLimitNs without the file's lock, without
  // the lease.
  void Acquire(absl::FunctionRef<Urgency()> urgency);
  // Tells a wait of this process that its urgency may have risen.
  void Raise(const Urgency& urgency);
  // Whether another process should have the next turn, rather than a request of
  // this one.
  bool ShouldYieldTo(const Urgency& own);
  // While the holder works, more often than every turn_max_ns.
  void Beat();
  // `next`: the urgency of the request of this process that waits, which will
  // call Acquire(); it stands in the queue from now on. Null: there is none.
  void Release(const Urgency* next = nullptr);

  Statistics statistics() const;

 private:
  // The interval at which a process that waits looks for holders that died.
  static constexpr int64_t kCheckNs = 2'000'000;
  using Contents = LeaseFile::Contents;

  SharedLease(LeaseFile file, int64_t turn_max_ns, int64_t (*now_ns)());

  // The requests of others, and of this process if `with_own`, in order.
  NextTurn<uint32_t> FindNext(const Contents& contents, bool with_own) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Passes the lease to the next one, and counts those that were passed over.
  void PassOn(Contents* contents, bool with_own)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Puts the request of this process into the queue, or changes its urgency.
  void Ask(const Urgency& urgency, Contents* contents)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One look at the file, under its lock. True if this process has the lease.
  bool Look(const Urgency& urgency) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // One step of Acquire(): true if that is over.
  bool TryAcquire(const Urgency& urgency, bool has_waited)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Without the lock, so that another thread may call Beat(): the wait uses
  // only what does not change.
  void WaitForChange() ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Whether the holder has died, or has kept the lease for too long.
  bool IsHolderGone(const Contents& contents)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t turn_max_ns_;
  int64_t (*const now_)();
  mutable Mutex mutex_;
  LeaseFile file_ ABSL_GUARDED_BY(mutex_);
  bool is_waiting_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_lease_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t turn_ ABSL_GUARDED_BY(mutex_) = 0;  // Of the last grant.
  // The turn of another process that is watched, and since when.
  uint64_t watched_turn_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t watched_beat_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t watched_since_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  Statistics statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::npu

#endif  // TAKT_NPU_SHARED_LEASE_H_
