// A Quarantine decides whether an NPU may be used. An NPU that keeps failing
// gets no work for some time, and is then probed:
//
//            too many failures, too hot, or lost
//   in use ---------------------------------------> in quarantine --+
//      ^                                              |     ^       | not yet
//      |            the probe succeeded               |     +-------+ due
//      +----------------------------------------------+
//
// Each quarantine that follows a failed probe is twice as long as the one
// before.
//
// Thread-safety: the holder of the NPU's lease calls all methods that are not
// const; the others may run on any thread. Lock order: mutex_ is a leaf.
#ifndef TAKT_NPU_QUARANTINE_H_
#define TAKT_NPU_QUARANTINE_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "npu/fault_policy.h"

namespace takt::npu {

class Quarantine {
 public:
  // A quarantine is at most this many times as long as the first one: with the
  // default policy, an NPU that was repaired works again after 6.4 s.
  static constexpr int64_t kGrowthMax = 64;

  explicit Quarantine(const NpuFaultPolicy& policy) : policy_(policy) {}

  // Reports success: earlier failures no longer count.
  void NoteSuccess();
  // Counts one more failure in a row. Returns true if the quarantine must
  // begin.
  bool NoteFailure();

  // Begins the quarantine at `now_ns`, and returns its length.
  int64_t Begin(int64_t now_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the quarantine after a successful probe.
  void End() ABSL_LOCKS_EXCLUDED(mutex_);

  // Reports that the NPU is lost, or that a reset has brought it back.
  void SetLost(bool is_lost) ABSL_LOCKS_EXCLUDED(mutex_);
  bool is_lost() const ABSL_LOCKS_EXCLUDED(mutex_);

  bool is_on() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the NPU is in quarantine and the time is over at `now_ns`.
  bool IsProbeDue(int64_t now_ns) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether the NPU is in quarantine and the time is not over at `now_ns`.
  bool IsClosed(int64_t now_ns) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  const NpuFaultPolicy policy_;

  // Used by the holder of the lease only:
  uint32_t failures_in_a_row_ = 0;
  int64_t duration_ns_ = 0;  // Of the last one; 0: none since work succeeded.

  mutable Mutex mutex_;
  bool is_lost_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_on_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t end_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_QUARANTINE_H_
