// Lanes order jobs by urgency. A LaneMask is a set of lanes; an AtomicLaneMask
// is a set that threads share.
//
// A LaneMask has room for one element that is no lane: LeaveRequest(). It
// stands above all lanes, so a job that stops for what is more urgent stops for
// it too, and a running job needs one test for both.
//
// Thread-safety: a LaneMask is a value. Every method of AtomicLaneMask may run
// on any thread, unless said otherwise.
#ifndef TAKT_EXEC_LANE_MASK_H_
#define TAKT_EXEC_LANE_MASK_H_

#include <atomic>
#include <cstdint>

#include "base/check.h"

namespace takt::exec {

// Jobs of one lane are equally urgent; those of a higher lane go first. A lane
// is 32 of the 256 priorities.
inline constexpr uint32_t kLaneCount = 8;
inline constexpr uint8_t kNormalLane = 4;
inline constexpr uint8_t LaneOf(uint8_t priority) { return priority >> 5; }

class LaneMask {
 public:
  constexpr LaneMask() = default;
  static constexpr LaneMask All() { return AtLeast(0); }
  static constexpr LaneMask Only(uint32_t lane) { return LaneMask(1u << lane); }
  // `lane` and those above it; none for kLaneCount.
  static constexpr LaneMask AtLeast(uint32_t lane) {
    return LaneMask(((1u << kLaneCount) - 1) & ~0u << lane);
  }
  static constexpr LaneMask Above(uint32_t lane) { return AtLeast(lane + 1); }
  static constexpr LaneMask Below(uint32_t lane) {
    return LaneMask((1u << lane) - 1);
  }
  static constexpr LaneMask LeaveRequest() {
    return LaneMask(1u << kLaneCount);
  }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool Contains(uint32_t lane) const {
    return (bits_ >> lane & 1) != 0;
  }
  constexpr bool Intersects(LaneMask other) const {
    return (bits_ & other.bits_) != 0;
  }
  // Whether it has an element that is as urgent as `lane`, or more so. Like
  // HasAbove(), true for a request to leave.
  constexpr bool HasAtLeast(uint32_t lane) const { return bits_ >> lane != 0; }
  constexpr bool HasAbove(uint32_t lane) const {
    return bits_ >> lane >> 1 != 0;
  }
  // The most urgent lane. The mask is not empty.
  uint32_t Highest() const {
    TAKT_DCHECK(bits_ != 0);
    return 31 - static_cast<uint32_t>(__builtin_clz(bits_));
  }

  constexpr LaneMask With(uint32_t lane) const { return *this | Only(lane); }
  constexpr LaneMask Without(uint32_t lane) const {
    return Without(Only(lane));
  }
  constexpr LaneMask Without(LaneMask other) const {
    return LaneMask(bits_ & ~other.bits_);
  }
  friend constexpr LaneMask operator|(LaneMask a, LaneMask b) {
    return LaneMask(a.bits_ | b.bits_);
  }
  friend constexpr LaneMask operator&(LaneMask a, LaneMask b) {
    return LaneMask(a.bits_ & b.bits_);
  }
  friend constexpr bool operator==(LaneMask a, LaneMask b) {
    return a.bits_ == b.bits_;
  }

 private:
  friend class AtomicLaneMask;
  explicit constexpr LaneMask(uint32_t bits) : bits_(bits) {}

  uint32_t bits_ = 0;
};

class AtomicLaneMask {
 public:
  LaneMask Read(std::memory_order order) const {
    return LaneMask(bits_.load(order));
  }
  // Adds `lane`. It is mostly there already; then nothing is written, and the
  // cache line stays shared between the threads that read it.
  void Add(uint32_t lane, std::memory_order order = std::memory_order_seq_cst) {
    if (!Read(order).Contains(lane)) AddAll(LaneMask::Only(lane), order);
  }
  void AddAll(LaneMask lanes,
              std::memory_order order = std::memory_order_seq_cst) {
    bits_.fetch_or(lanes.bits_, order);
  }
  void RemoveAll(LaneMask lanes,
                 std::memory_order order = std::memory_order_seq_cst) {
    bits_.fetch_and(~lanes.bits_, order);
  }
  // For a set that one thread at a time changes: on that thread.
  void Write(LaneMask lanes) {
    bits_.store(lanes.bits_, std::memory_order_seq_cst);
  }

 private:
  std::atomic<uint32_t> bits_{0};
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_LANE_MASK_H_
