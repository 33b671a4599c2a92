#include "base/memory_lock.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace takt {
namespace {

// Of a stack that is touched, this much is left for the functions that do it.
constexpr uint64_t kStackReserveBytes = 64 * 1024;

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

// The part of this thread's stack that is not in use; 0 if that is not known.
uint64_t StackRoom() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  size_t bytes = 0;
  const int error = pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  if (error != 0) return 0;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto start = reinterpret_cast<uintptr_t>(lowest);
  return here > start ? here - start : 0;
}

__attribute__((noinline)) void TouchBelow(uint64_t bytes, uint64_t page_bytes) {
  auto* const block =
      static_cast<volatile char*>(__builtin_alloca(static_cast<size_t>(bytes)));
  // From the top: the kernel lets a stack grow downwards.
  for (uint64_t at = bytes; at > 0; at -= std::min<uint64_t>(at, page_bytes)) {
    block[at - 1] = 0;
  }
}

}  // namespace

int LockMemory(bool on_fault) {
  const int flags = MCL_CURRENT | MCL_FUTURE | (on_fault ? MCL_ONFAULT : 0);
  return mlockall(flags) == 0 ? 0 : errno;
}

uint64_t MemoryLockLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return 0;
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

uint64_t LockedBytes() {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(
      std::fopen("/proc/self/status", "re"), &std::fclose);
  if (file == nullptr) return 0;
  char line[256];
  while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
    unsigned long long kilobytes = 0;
    if (std::sscanf(line, "VmLck: %llu kB", &kilobytes) == 1) {
      return uint64_t{kilobytes} * 1024;
    }
  }
  return 0;
}

void KeepHeap() {
  (void)mallopt(M_TRIM_THRESHOLD, -1);
  (void)mallopt(M_MMAP_MAX, 0);
}

uint64_t TouchStack(uint64_t bytes) {
  const uint64_t room = StackRoom();
  const uint64_t touched = std::min(
      bytes, room > kStackReserveBytes ? room - kStackReserveBytes : 0);
  if (touched > 0) TouchBelow(touched, PageBytes());
  return touched;
}

int TouchHeap(uint64_t bytes) {
  auto* const block =
      static_cast<volatile char*>(std::malloc(static_cast<size_t>(bytes)));
  if (block == nullptr) return ENOMEM;
  const uint64_t page_bytes = PageBytes();
  for (uint64_t at = 0; at < bytes; at += page_bytes) block[at] = 0;
  std::free(const_cast<char*>(block));
  return 0;
}

int MaxFifoPriority() {
  const int highest = sched_get_priority_max(SCHED_FIFO);
  int policy = SCHED_OTHER;
  sched_param before{};
  if (pthread_getschedparam(pthread_self(), &policy, &before) != 0) return 0;
  // What the kernel accepts, it is asked for: rights have many sources.
  sched_param wanted{};
  wanted.sched_priority = highest;
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted) == 0) {
    (void)pthread_setschedparam(pthread_self(), policy, &before);
    return highest;
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_RTPRIO, &limit) != 0) return 0;
  return static_cast<int>(
      std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(highest)));
}

}  // namespace takt
