// Threads that do little, but at once.
#ifndef TAKT_BASE_THREAD_LATENCY_H_
#define TAKT_BASE_THREAD_LATENCY_H_

#include <cstdint>

namespace takt {

// What a prompt thread asks for: the time that it may run before others.
inline constexpr int64_t kLowLatencySliceNs = 100'000;
// Added to its nice value.
inline constexpr int kLowLatencyNice = -15;

// Has the system let the calling thread run soon after it wakes up, though
// other threads keep the processors busy: it asks for short slices (Linux 6.12
// and later), for timers that are not gathered, and for less niceness, if the
// process has the right to (RLIMIT_NICE, CAP_SYS_NICE). What is refused is
// left. A thread with a real-time policy stays as it is. True if it has a
// real-time policy or short slices now.
bool RequestLowLatency();

}  // namespace takt

#endif  // TAKT_BASE_THREAD_LATENCY_H_
