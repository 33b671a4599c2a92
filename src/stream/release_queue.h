// A ReleaseQueue holds the releases of a stream that have no call yet, oldest
// first. Its capacity is fixed: it allocates when it is made, and never again.
//
// Thread-safety: none.
#ifndef TAKT_STREAM_RELEASE_QUEUE_H_
#define TAKT_STREAM_RELEASE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "base/clock.h"

namespace takt::stream {

struct PendingRelease {
  uint64_t sequence;
  int64_t origin_ns;   // When the job was due.
  int64_t release_ns;  // When it was released.
  // When the job was expected to end at the latest (99 %), as of its release;
  // kInfiniteFuture: not known.
  int64_t predicted_end_ns = kInfiniteFuture;
};

class ReleaseQueue {
 public:
  // A queue with `keeps_latest_only` holds one release: a later one replaces
  // it.
  ReleaseQueue(size_t capacity, bool keeps_latest_only);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return ring_.size(); }

  // Adds the newest release. Returns the oldest one if it had to leave.
  absl::optional<PendingRelease> Add(const PendingRelease& release);
  // Removes the oldest release and returns it; none if the queue is empty.
  absl::optional<PendingRelease> Take();

 private:
  PendingRelease RemoveFirst();

  std::vector<PendingRelease> ring_;
  size_t first_ = 0;
  size_t size_ = 0;
};

}  // namespace takt::stream

#endif  // TAKT_STREAM_RELEASE_QUEUE_H_
