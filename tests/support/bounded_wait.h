// Waits of tests. They end after a while, so that a test fails rather than
// hangs if what it waits for never comes.
#ifndef TAKT_TESTS_SUPPORT_BOUNDED_WAIT_H_
#define TAKT_TESTS_SUPPORT_BOUNDED_WAIT_H_

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/clock.h"

namespace takt {

// Far above what any of these waits takes on a busy machine with a sanitizer,
// and far below the ten minutes that ctest gives a test.
inline constexpr int64_t kBoundedWaitNs = 60'000'000'000;

// Waits until `condition()` holds. False if it does not within kBoundedWaitNs.
template <typename Condition>
[[nodiscard]] bool BecomesTrue(Condition condition) {
  const int64_t deadline_ns = NowNs() + kBoundedWaitNs;
  while (!condition()) {
    if (NowNs() > deadline_ns) return false;
    std::this_thread::yield();
  }
  return true;
}

// A flag that one thread sets and others wait for.
class Flag {
 public:
  void Set() { is_set_.store(true); }
  bool is_set() const { return is_set_.load(); }
  [[nodiscard]] bool Wait() const {
    return BecomesTrue([this] { return is_set(); });
  }

 private:
  std::atomic<bool> is_set_{false};
};

}  // namespace takt

#endif  // TAKT_TESTS_SUPPORT_BOUNDED_WAIT_H_
