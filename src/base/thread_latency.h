// Low latency for threads that do little work but must run soon after they wake
// up.
#ifndef TAKT_BASE_THREAD_LATENCY_H_
#define TAKT_BASE_THREAD_LATENCY_H_

#include <cstdint>

namespace takt {

// The time slice that such a thread requests. The kernel prefers threads with
// short slices; 100 us is the shortest that it grants, and enough for a timer
// or a callback.
inline constexpr int64_t kLowLatencySliceNs = 100'000;
// Added to its nice value.
inline constexpr int kLowLatencyNice = -15;

// Asks the system to run the calling thread soon after it wakes up, also while
// other threads keep the processors busy. It asks for short slices (Linux 6.12
// and later), for exact timers, and for a lower nice value, which takes a right
// (RLIMIT_NICE, CAP_SYS_NICE). A refusal changes nothing else. A thread with a
// real-time policy stays as it is. True if the thread has a real-time policy or
// short slices now.
bool RequestLowLatency();

}  // namespace takt

#endif  // TAKT_BASE_THREAD_LATENCY_H_
