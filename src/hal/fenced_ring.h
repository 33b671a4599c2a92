// A FencedRing is one piece of memory that short-lived uses share in turn:
// staging bytes of one submission after the other. A range is reserved, used
// by work, and free again once a fence says that the work is done; ranges come
// free in the order in which they were reserved.
//
// Thread-safety: every method may run on any thread. Never blocks: a ring that
// is full says so, and the caller takes memory elsewhere.
#ifndef TAKT_HAL_FENCED_RING_H_
#define TAKT_HAL_FENCED_RING_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "hal/buffer.h"
#include "hal/fence.h"

namespace takt::hal {

class FencedRing {
 public:
  // A ring over all of `buffer`, which has memory that the host may write.
  explicit FencedRing(Ref<Buffer> buffer);
  FencedRing(const FencedRing&) = delete;
  FencedRing& operator=(const FencedRing&) = delete;

  struct Range {
    uint64_t offset = 0;  // In buffer(), a multiple of kBufferAlignment.
    absl::Span<uint8_t> bytes;
  };

  // A range of `byte_length` bytes that is in use until `fence` is reached or
  // has failed. False, and nothing reserved, if there is no room now. A null
  // fence frees the range at once: for bytes that nobody reads later.
  [[nodiscard]] bool Reserve(uint64_t byte_length, Ref<Fence> fence,
                             Range* range) ABSL_LOCKS_EXCLUDED(mutex_);

  Buffer* buffer() const { return buffer_.get(); }
  uint64_t capacity() const { return buffer_->byte_length(); }
  // Bytes in use, with the padding between them.
  uint64_t used_bytes() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Use {
    uint64_t length;  // With padding, and what was skipped at the ring's end.
    Ref<Fence> fence;
  };
  void Reclaim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Ref<Buffer> buffer_;
  Mutex mutex_;
  std::deque<Use> uses_ ABSL_GUARDED_BY(mutex_);  // The oldest first.
  uint64_t head_ ABSL_GUARDED_BY(mutex_) = 0;     // Where the next one starts.
  uint64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace takt::hal

#endif  // TAKT_HAL_FENCED_RING_H_
