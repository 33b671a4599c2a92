// Three places between one writer and one reader, who never wait for each
// other: the writer has one, the reader has one, and the two exchange the
// third. This is the exchange of the places' indices; the owner has the places.
//
// Thread-safety: back() and Publish() on the writer's thread, Take() on the
// reader's.
#ifndef TAKT_STREAM_TRIPLE_BUFFER_H_
#define TAKT_STREAM_TRIPLE_BUFFER_H_

#include <atomic>
#include <cstdint>

#include "base/check.h"

namespace takt::stream {

// Tests replace `Atomic` to run it under a model of memory.
template <template <typename> class Atomic = std::atomic>
class TripleBuffer {
 public:
  static constexpr uint32_t kPlaceCount = 3;

  // The place that the writer fills. Publish() hands it to the reader.
  uint32_t back() const { return back_; }
  void Publish() {
    // Release: the reader sees the content of the place. Acquire: the writer
    // may reuse the place that the reader has given back.
    back_ =
        middle_.exchange(back_ | kNew, std::memory_order_acq_rel) & kIndexMask;
    TAKT_CHECK(back_ < kPlaceCount);
  }

  // The place published last, which belongs to the reader until the next call;
  // kPlaceCount if there is none. *is_new: the reader has not taken it before.
  uint32_t Take(bool* is_new) {
    *is_new = (middle_.load(std::memory_order_relaxed) & kNew) != 0;
    if (*is_new) {
      front_ = middle_.exchange(front_, std::memory_order_acq_rel) & kIndexMask;
      TAKT_CHECK(front_ < kPlaceCount);
      has_front_ = true;
    }
    return has_front_ ? front_ : kPlaceCount;
  }

 private:
  static constexpr uint32_t kIndexMask = 3;
  static constexpr uint32_t kNew = 4;

  uint32_t back_ = 0;           // The writer's.
  Atomic<uint32_t> middle_{1};  // An index, and kNew.
  uint32_t front_ = 2;          // The reader's.
  bool has_front_ = false;      // The reader's.
};

}  // namespace takt::stream

#endif  // TAKT_STREAM_TRIPLE_BUFFER_H_
