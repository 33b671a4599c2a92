// The system call behind all sleeps: a thread waits on a word of memory.
#ifndef TAKT_BASE_FUTEX_H_
#define TAKT_BASE_FUTEX_H_

#include <atomic>
#include <cstdint>

namespace takt {

// Sleeps while `*word` is `expected`, until it is woken or `deadline_ns` (of
// NowNs(); kInfiniteFuture for none) has passed. May return before.
void FutexWait(std::atomic<uint32_t>* word, uint32_t expected,
               int64_t deadline_ns);

// Wakes up to `count` threads that sleep on `word`. Uses the address only, so
// the word may be gone.
void FutexWake(std::atomic<uint32_t>* word, int count);

}  // namespace takt

#endif  // TAKT_BASE_FUTEX_H_
