// Locks the memory of the process, and brings stack and heap in before they are
// needed.
#ifndef TAKT_BASE_MEMORY_LOCK_H_
#define TAKT_BASE_MEMORY_LOCK_H_

#include <cstdint>

namespace takt {

// 0, or the errno of the refusal. `on_fault`: each page when it is touched.
int LockMemory(bool on_fault);
// RLIMIT_MEMLOCK; UINT64_MAX: no limit, or a process that none holds for.
uint64_t MemoryLockLimit();
uint64_t LockedBytes();  // Of the process.

// Has malloc() keep what is freed, and take nothing by mmap().
void KeepHeap();
// Touches the calling thread's stack; returns how much of it had room.
uint64_t TouchStack(uint64_t bytes);
// Touches memory of malloc(), and frees it. 0 or an errno.
int TouchHeap(uint64_t bytes);

// The highest priority of SCHED_FIFO that this thread may ask for; 0: none.
int MaxFifoPriority();

}  // namespace takt

#endif  // TAKT_BASE_MEMORY_LOCK_H_
