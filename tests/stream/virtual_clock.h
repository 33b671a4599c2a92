// A clock that moves only when a test says so, with timers that fire as it
// moves. One thread.
#ifndef TAKT_TESTS_STREAM_VIRTUAL_CLOCK_H_
#define TAKT_TESTS_STREAM_VIRTUAL_CLOCK_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/timer_service.h"

namespace takt::stream {

class VirtualClock final : public TimerService {
 public:
  VirtualClock() { now_ns_ = 0; }

  static int64_t NowNs() { return now_ns_; }
  // The clock jumps, as if this thread had slept: timers that become due fire
  // late, at the next AdvanceTo().
  static void JumpTo(int64_t time_ns) { now_ns_ = time_ns; }
  // The clock moves on to `time_ns`; each timer fires at its time.
  void AdvanceTo(int64_t time_ns) {
    while (!armed_.empty()) {
      const auto first = std::min_element(
          armed_.begin(), armed_.end(), [](const Timer* a, const Timer* b) {
            return a->deadline_ns < b->deadline_ns;
          });
      Timer* const timer = *first;
      if (timer->deadline_ns > time_ns) break;
      armed_.erase(first);
      now_ns_ = std::max(now_ns_, timer->deadline_ns);
      timer->fire(timer);
    }
    now_ns_ = std::max(now_ns_, time_ns);
  }

  void Arm(Timer* timer, int64_t deadline_ns) override {
    timer->deadline_ns = deadline_ns;
    armed_.push_back(timer);
  }
  bool Cancel(Timer* timer) override {
    const auto found = std::find(armed_.begin(), armed_.end(), timer);
    if (found == armed_.end()) return false;
    armed_.erase(found);
    return true;
  }

 private:
  static inline int64_t now_ns_ = 0;
  std::vector<Timer*> armed_;
};

}  // namespace takt::stream

#endif  // TAKT_TESTS_STREAM_VIRTUAL_CLOCK_H_
