// A MetWindow says which jobs of a stream may miss their deadlines, if of each
// `length` jobs in a row at least `min` must be in time.
//
// Invariant: if no job that must be in time misses, each `length` jobs in a row
// have at least `min` that are in time.
//
// Thread-safety: none.
// Source: Hamdaoui and Ramanathan, "A Dynamic Priority Assignment Technique for
// Streams with (m, k)-Firm Deadlines", IEEE Transactions on Computers, 1995.
#ifndef TAKT_SCHED_MET_WINDOW_H_
#define TAKT_SCHED_MET_WINDOW_H_

#include <bit>
#include <cstdint>
#include <string>

namespace takt::sched {

class MetWindow {
 public:
  static constexpr uint32_t kLengthMax = 64;

  // All jobs must be in time.
  MetWindow() = default;
  // CheckMetWindow() has accepted them.
  MetWindow(uint32_t min, uint32_t length) : min_(min), length_(length) {}

  bool is_set() const { return length_ != 0; }

  // Whether the next job may miss: enough of the jobs before it in the window
  // were in time. Jobs that have not ended count as missed.
  bool NextMayMiss() const { return is_set() && CountMet(length_ - 1) >= min_; }
  // Adds the next job, and returns its number.
  uint64_t Add() {
    met_ <<= 1;
    return count_++;
  }
  // Job `number` was in time.
  void SetMet(uint64_t number) {
    const uint64_t age = count_ - 1 - number;
    if (age < kLengthMax) met_ |= uint64_t{1} << age;
  }
  // Whether the last `length` jobs have too few that were in time.
  bool IsBroken() const {
    return is_set() && count_ >= length_ && CountMet(length_) < min_;
  }

 private:
  uint32_t CountMet(uint32_t last) const {
    const uint64_t mask = ~uint64_t{0} >> (kLengthMax - last);
    return static_cast<uint32_t>(std::popcount(met_ & mask));
  }

  uint32_t min_ = 0;
  uint32_t length_ = 0;  // 0, or from 2 on.
  uint64_t met_ = 0;     // Bit i: of the job that has i jobs after it.
  uint64_t count_ = 0;
};

// What is wrong with `min` of `length` jobs of a stream that has a deadline or
// none; empty: nothing. Two zeros are no window.
std::string CheckMetWindow(uint32_t min, uint32_t length, bool has_deadline);

}  // namespace takt::sched

#endif  // TAKT_SCHED_MET_WINDOW_H_
