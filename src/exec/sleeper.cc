#include "exec/sleeper.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

namespace takt::exec {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// `deadline_ns` is absolute, on CLOCK_MONOTONIC.
void FutexWait(std::atomic<uint32_t>* word, uint32_t expected,
               int64_t deadline_ns) {
  timespec deadline;
  deadline.tv_sec = deadline_ns / 1'000'000'000;
  deadline.tv_nsec = deadline_ns % 1'000'000'000;
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word),
          FUTEX_WAIT_BITSET_PRIVATE, expected,
          deadline_ns == kInfiniteFuture ? nullptr : &deadline, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

void Sleeper::Raise(uint32_t flag) {
  const uint32_t old = word_.fetch_or(flag, std::memory_order_acq_rel);
  // By address alone: if the object is gone by now, whatever sleeps there
  // looks at its own word and sleeps on.
  if ((old & kAsleep) != 0) {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word_), FUTEX_WAKE_PRIVATE,
            1, nullptr, nullptr, 0);
  }
}

uint32_t Sleeper::Sleep(int64_t deadline_ns) {
  uint32_t word = word_.fetch_or(kAsleep, std::memory_order_acq_rel) | kAsleep;
  while (word == kAsleep) {
    if (deadline_ns != kInfiniteFuture && NowNs() >= deadline_ns) break;
    FutexWait(&word_, kAsleep, deadline_ns);
    word = word_.load(std::memory_order_acquire);
  }
  return word_.fetch_and(~kAsleep, std::memory_order_acq_rel) & ~kAsleep;
}

}  // namespace takt::exec
