#include "stream/release_queue.h"

#include "base/check.h"

namespace takt::stream {

ReleaseQueue::ReleaseQueue(size_t capacity, bool keeps_latest_only)
    : ring_(keeps_latest_only ? 1 : capacity) {
  TAKT_CHECK(capacity > 0);
}

PendingRelease ReleaseQueue::RemoveFirst() {
  TAKT_CHECK(size_ > 0 && first_ < ring_.size());
  const PendingRelease first = ring_[first_];
  first_ = (first_ + 1) % ring_.size();
  --size_;
  return first;
}

absl::optional<PendingRelease> ReleaseQueue::Add(
    const PendingRelease& release) {
  absl::optional<PendingRelease> replaced;
  if (size_ == ring_.size()) replaced = RemoveFirst();
  TAKT_DCHECK(size_ == 0 ||
              ring_[(first_ + size_ - 1) % ring_.size()].sequence <
                  release.sequence);
  ring_[(first_ + size_) % ring_.size()] = release;
  ++size_;
  TAKT_CHECK(size_ <= ring_.size());
  return replaced;
}

absl::optional<PendingRelease> ReleaseQueue::Take() {
  if (size_ == 0) return absl::nullopt;
  return RemoveFirst();
}

}  // namespace takt::stream
