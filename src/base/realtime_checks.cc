// Looks at what real-time sections do: the functions of the malloc family and
// pthread_mutex_lock() of this file stand in for libc's in the whole process,
// note their calls, and pass on. Part of builds with TAKT_REALTIME_CHECKS only.
//
// Not seen: calls that libc makes within itself.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "base/realtime_section.h"

#define TAKT_SEEN __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);
}

namespace takt {
namespace {

void NoteMemory() { RealtimeSection::Note(RealtimeViolation::kMemory); }

void Print(const char* section, RealtimeViolation violation, uint64_t count) {
  char text[256];
  const char* what = "takes or frees memory";
  if (violation == RealtimeViolation::kLock) what = "waits for a lock";
  int length = 0;
  if (violation == RealtimeViolation::kPageFault) {
    length = std::snprintf(text, sizeof(text),
                           "takt: real-time section \"%s\": %llu page faults\n",
                           section, static_cast<unsigned long long>(count));
  } else {
    length =
        std::snprintf(text, sizeof(text), "takt: real-time section \"%s\" %s\n",
                      section, what);
  }
  if (length > 0) {
    (void)!write(STDERR_FILENO, text,
                 std::min(static_cast<size_t>(length), sizeof(text) - 1));
  }
  void* frames[32];
  backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
}

void PrintAndAbort(const char* section, RealtimeViolation violation,
                   uint64_t count) {
  Print(section, violation, count);
  abort();
}

// Before main().
const bool is_installed = [] {
  void* frame = nullptr;
  backtrace(&frame, 1);  // The first call loads a library.
  const char* const mode = getenv("TAKT_REALTIME_CHECKS");
  const bool reports = mode != nullptr && strcmp(mode, "report") == 0;
  RealtimeSection::SetHandler(reports ? &Print : &PrintAndAbort);
  return true;
}();

}  // namespace

// Has a program that links an archive take this file from it.
bool HasRealtimeChecks() { return is_installed; }

}  // namespace takt

extern "C" {

TAKT_SEEN void* malloc(size_t bytes) {
  takt::NoteMemory();
  return __libc_malloc(bytes);
}
TAKT_SEEN void* calloc(size_t count, size_t bytes) {
  takt::NoteMemory();
  return __libc_calloc(count, bytes);
}
TAKT_SEEN void* realloc(void* block, size_t bytes) {
  takt::NoteMemory();
  return __libc_realloc(block, bytes);
}
TAKT_SEEN void* aligned_alloc(size_t alignment, size_t bytes) {
  takt::NoteMemory();
  return __libc_memalign(alignment, bytes);
}
TAKT_SEEN int posix_memalign(void** out_block, size_t alignment, size_t bytes) {
  takt::NoteMemory();
  *out_block = __libc_memalign(alignment, bytes);
  return *out_block != nullptr ? 0 : ENOMEM;
}
TAKT_SEEN void free(void* block) {
  if (block != nullptr) takt::NoteMemory();
  __libc_free(block);
}

// A lock that is free is no wait.
TAKT_SEEN int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (takt::RealtimeSection::IsOpen()) {
    const int error = pthread_mutex_trylock(mutex);
    if (error != EBUSY) return error;
    takt::RealtimeSection::Note(takt::RealtimeViolation::kLock);
  }
  using Function = int (*)(pthread_mutex_t*);
  static std::atomic<Function> next{nullptr};
  Function lock = next.load(std::memory_order_relaxed);
  if (lock == nullptr) {
    lock = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
    next.store(lock, std::memory_order_relaxed);
  }
  return lock(mutex);
}

}  // extern "C"
