#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"

namespace takt {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

void FutexWait(std::atomic<uint32_t>* word, uint32_t expected,
               int64_t deadline_ns) {
  TAKT_DCHECK(word != nullptr);
  timespec deadline;
  deadline.tv_sec = deadline_ns / 1'000'000'000;
  deadline.tv_nsec = deadline_ns % 1'000'000'000;
  // The bitset form takes an absolute time, on CLOCK_MONOTONIC.
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word),
          FUTEX_WAIT_BITSET_PRIVATE, expected,
          deadline_ns == kInfiniteFuture ? nullptr : &deadline, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

void FutexWake(std::atomic<uint32_t>* word, int count) {
  TAKT_DCHECK(count > 0);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE,
          count, nullptr, nullptr, 0);
}

}  // namespace takt
