/* Fails the Nth call of one kind of resource in the whole process: memory,
 * threads, mappings, file descriptors. Included by one source of a program; the
 * dynamic linker has libtakt.so and all other libraries use these functions.
 * Sanitizers bring a malloc of their own, so CAN_INJECT is 0 under them. */
#ifndef TAKT_TESTS_SUPPORT_FAULT_INJECTION_H_
#define TAKT_TESTS_SUPPORT_FAULT_INJECTION_H_

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CAN_INJECT 1
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    !defined(__GLIBC__)
#undef CAN_INJECT
#define CAN_INJECT 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef CAN_INJECT
#define CAN_INJECT 0
#endif
#endif

typedef enum fault_kind_t {
  FAULT_MEMORY,  /* malloc and what is like it. */
  FAULT_THREAD,  /* pthread_create */
  FAULT_MAPPING, /* mmap, mprotect, memfd_create */
  FAULT_FILE,    /* open, eventfd, timerfd_create, epoll_create1 */
  FAULT_KIND_COUNT,
} fault_kind_t;

static const char* const kFaultNames[FAULT_KIND_COUNT] = {"memory", "thread",
                                                          "mapping", "file"};

/* Calls since fault_arm(). */
static atomic_long fault_call_counts[FAULT_KIND_COUNT];
/* The first call that fails, from 0 on; -1: none. */
static atomic_long fault_first[FAULT_KIND_COUNT] = {-1, -1, -1, -1};
static atomic_bool fault_goes_on; /* All calls after it fail as well. */
__attribute__((unused)) static atomic_long fault_live_blocks;

static inline void fault_disarm(void) {
  for (int kind = 0; kind < FAULT_KIND_COUNT; ++kind) fault_first[kind] = -1;
}

/* Call number `first` of `kind` will fail, or all from it on; -1: none. */
static inline void fault_arm(fault_kind_t kind, long first, bool goes_on) {
  fault_disarm();
  for (int i = 0; i < FAULT_KIND_COUNT; ++i) fault_call_counts[i] = 0;
  fault_goes_on = goes_on;
  fault_first[kind] = first;
}

/* Counts a call. True if it is to fail. */
static inline bool fault_hits(fault_kind_t kind) {
  const long call = atomic_fetch_add(&fault_call_counts[kind], 1);
  const long first = fault_first[kind];
  return first >= 0 && (call == first || (fault_goes_on && call > first));
}

#if CAN_INJECT
/* Seen by libraries: the build hides what does not say so. */
#define FAULT_SEEN __attribute__((visibility("default")))

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* block);

static inline void* fault_count_block(void* block) {
  if (block != NULL) atomic_fetch_add(&fault_live_blocks, 1);
  return block;
}
static inline void* fault_no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

FAULT_SEEN void* malloc(size_t bytes) {
  if (fault_hits(FAULT_MEMORY)) return fault_no_memory();
  return fault_count_block(__libc_malloc(bytes));
}
FAULT_SEEN void* calloc(size_t count, size_t bytes) {
  if (fault_hits(FAULT_MEMORY)) return fault_no_memory();
  return fault_count_block(__libc_calloc(count, bytes));
}
FAULT_SEEN void* realloc(void* block, size_t bytes) {
  if (fault_hits(FAULT_MEMORY)) return fault_no_memory();
  void* const result = __libc_realloc(block, bytes);
  return block == NULL ? fault_count_block(result) : result;
}
FAULT_SEEN void* aligned_alloc(size_t alignment, size_t bytes) {
  if (fault_hits(FAULT_MEMORY)) return fault_no_memory();
  return fault_count_block(__libc_memalign(alignment, bytes));
}
FAULT_SEEN int posix_memalign(void** out, size_t alignment, size_t bytes) {
  if (fault_hits(FAULT_MEMORY)) return ENOMEM;
  *out = fault_count_block(__libc_memalign(alignment, bytes));
  return *out != NULL ? 0 : ENOMEM;
}
FAULT_SEEN void free(void* block) {
  if (block != NULL) atomic_fetch_sub(&fault_live_blocks, 1);
  __libc_free(block);
}

/* The function of the next library that has this name. */
#define FAULT_REAL(result, name, ...)          \
  static result (*real)(__VA_ARGS__);          \
  if (real == NULL) {                          \
    *(void**)(&real) = dlsym(RTLD_NEXT, name); \
  }

FAULT_SEEN int pthread_create(pthread_t* thread,
                              const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) {
  FAULT_REAL(int, "pthread_create", pthread_t*, const pthread_attr_t*,
             void* (*)(void*), void*)
  if (fault_hits(FAULT_THREAD)) return EAGAIN;
  return real(thread, attributes, run, argument);
}
FAULT_SEEN void* mmap(void* address, size_t bytes, int protection, int flags,
                      int fd, off_t offset) {
  FAULT_REAL(void*, "mmap", void*, size_t, int, int, int, off_t)
  if (fault_hits(FAULT_MAPPING)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return real(address, bytes, protection, flags, fd, offset);
}
FAULT_SEEN int mprotect(void* address, size_t bytes, int protection) {
  FAULT_REAL(int, "mprotect", void*, size_t, int)
  if (fault_hits(FAULT_MAPPING)) {
    errno = ENOMEM;
    return -1;
  }
  return real(address, bytes, protection);
}
FAULT_SEEN int memfd_create(const char* name, unsigned flags) {
  FAULT_REAL(int, "memfd_create", const char*, unsigned)
  if (fault_hits(FAULT_MAPPING)) {
    errno = EMFILE;
    return -1;
  }
  return real(name, flags);
}
FAULT_SEEN int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  FAULT_REAL(int, "open", const char*, int, ...)
  if (fault_hits(FAULT_FILE)) {
    errno = EMFILE;
    return -1;
  }
  return real(path, flags, mode);
}
FAULT_SEEN int eventfd(unsigned value, int flags) {
  FAULT_REAL(int, "eventfd", unsigned, int)
  if (fault_hits(FAULT_FILE)) {
    errno = EMFILE;
    return -1;
  }
  return real(value, flags);
}
FAULT_SEEN int timerfd_create(int clock, int flags) {
  FAULT_REAL(int, "timerfd_create", int, int)
  if (fault_hits(FAULT_FILE)) {
    errno = EMFILE;
    return -1;
  }
  return real(clock, flags);
}
FAULT_SEEN int epoll_create1(int flags) {
  FAULT_REAL(int, "epoll_create1", int)
  if (fault_hits(FAULT_FILE)) {
    errno = EMFILE;
    return -1;
  }
  return real(flags);
}
#endif /* CAN_INJECT */

#endif /* TAKT_TESTS_SUPPORT_FAULT_INJECTION_H_ */
