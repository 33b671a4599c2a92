// A FairClock divides the time of a pool among streams by their weights. An
// operation that becomes ready gets a tag: the virtual time at which it would
// start if each stream that waits ran at the speed of its weight. The lowest
// tag goes first. A stream whose pause is shorter than 10 ms counts as waiting,
// so that streams of one job at a time have their weights, too.
//
// Invariant: let two streams wait for the same core all the time, and let each
// operation take as long as expected. In any time their work, divided by their
// weights, differs by at most the longest operation of each, divided by its
// weight. What an operation takes beyond that counts for the next ones of its
// stream.
//
// Thread-safety: none.
// Source: start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996), with a
// virtual time for each pool.
#ifndef TAKT_SCHED_FAIR_CLOCK_H_
#define TAKT_SCHED_FAIR_CLOCK_H_

#include <algorithm>
#include <cstdint>
#include <limits>

namespace takt::sched {

// Of a pool.
class FairClock {
 public:
  int64_t now() const { return now_; }
  // An operation with that tag starts in the pool.
  void OnStart(int64_t tag) { now_ = std::max(now_, tag); }

 private:
  int64_t now_ = 0;
};

// Of a stream: the tag of its next operation.
class FairQueue {
 public:
  explicit FairQueue(uint32_t weight = 1) : weight_(std::max(weight, 1u)) {}

  // The tag of an operation that is ready at a pool's time `now`, and will take
  // that many nanoseconds of all its resources together.
  int64_t Add(int64_t now, int64_t expected_ns) {
    const int64_t tag = std::min(std::max(next_, now), kMax);
    next_ = tag + std::min(expected_ns / weight_, kMax - tag);
    return tag;
  }
  // It took so much, or was given up after that.
  void Correct(int64_t expected_ns, int64_t used_ns) {
    const int64_t more = used_ns / weight_ - expected_ns / weight_;
    next_ = more < kMax - next_ ? std::max(next_ + more, int64_t{0}) : kMax;
  }

 private:
  // Reached after 146 years of work of all cores together, at a weight of 1;
  // streams are then served in order.
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 2;

  int64_t weight_;
  int64_t next_ = 0;
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_FAIR_CLOCK_H_
