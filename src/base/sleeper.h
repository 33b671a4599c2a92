// One thread sleeps on a Sleeper until other threads raise one of its flags.
//
// Thread-safety: Sleep() and Take() belong to one thread; Raise() to any.
#ifndef TAKT_BASE_SLEEPER_H_
#define TAKT_BASE_SLEEPER_H_

#include <atomic>
#include <cstdint>

namespace takt {

class Sleeper {
 public:
  // The flags that are raised and not yet taken.
  uint32_t raised() const {
    return word_.load(std::memory_order_acquire) & ~kAsleep;
  }

  // Raises `flag`, one bit below kAsleep, and wakes the thread if it sleeps.
  // Accesses the object only once: a thread that has seen the flag may destroy
  // it.
  void Raise(uint32_t flag);

  // Lowers `flag`.
  void Take(uint32_t flag) {
    word_.fetch_and(~flag, std::memory_order_acq_rel);
  }

  // Sleeps until a flag is raised or `deadline_ns` (of NowNs()) has passed.
  // Returns raised().
  uint32_t Sleep(int64_t deadline_ns);

 private:
  static constexpr uint32_t kAsleep = 1u << 31;
  std::atomic<uint32_t> word_{0};
};

}  // namespace takt

#endif  // TAKT_BASE_SLEEPER_H_
