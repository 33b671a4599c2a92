#include "hal/fenced_ring.h"

#include <utility>

#include "base/math.h"

namespace takt::hal {

FencedRing::FencedRing(Ref<Buffer> buffer) : buffer_(std::move(buffer)) {}

bool FencedRing::Reserve(uint64_t byte_length, Ref<Fence> fence, Range* range) {
  uint64_t length = 0;
  if (!CheckedAlignUp(byte_length, kBufferAlignment, &length)) return false;
  MutexLock lock(&mutex_);
  Reclaim();
  // A range does not wrap: what is left at the end is skipped, and counted as
  // part of the range that skipped it.
  const bool wraps = !RangeFits(head_, length, capacity());
  const uint64_t skipped = wraps ? capacity() - head_ : 0;
  uint64_t total = 0;
  if (!CheckedAdd(length, skipped, &total)) return false;
  if (!RangeFits(used_, total, capacity())) return false;
  const uint64_t offset = wraps ? 0 : head_;
  uint8_t* data = buffer_->data();
  if (data == nullptr) return false;
  *range = Range{offset, absl::MakeSpan(data + offset, byte_length)};
  head_ = offset + length;
  used_ += total;
  uses_.push_back({total, std::move(fence)});
  return true;
}

uint64_t FencedRing::used_bytes() {
  MutexLock lock(&mutex_);
  Reclaim();
  return used_;
}

void FencedRing::Reclaim() {
  while (!uses_.empty()) {
    const Use& oldest = uses_.front();
    if (oldest.fence) {
      bool reached = false;
      if (oldest.fence->Query(&reached).ok() && !reached) return;
    }
    used_ -= oldest.length;
    uses_.pop_front();
  }
  head_ = 0;
}

}  // namespace takt::hal
