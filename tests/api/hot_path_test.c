/* Goal: warm invocations of static shapes take no memory from the system, no
 * lock of pthreads or Abseil, and make no system call but to park or wake a
 * thread, or to yield while it waits.
 * Method: functions of this program stand in for libc's, count, and pass on;
 * the dynamic linker has libtakt.so and Abseil's libraries use them too.
 * Counted, on every thread of the process:
 *   - the malloc family, and so operator new;
 *   - pthread_mutex_lock, pthread_cond_*, pthread_rwlock_*, absl::Mutex::Lock;
 *   - syscall(), by which the library reaches the kernel: SYS_futex, which is
 *     parks and wakes, and others; sched_yield;
 *   - mmap, munmap, mprotect, madvise, read, write, poll, nanosleep,
 *     clock_nanosleep, usleep.
 * Not seen: calls that libc makes within itself. Sanitizers bring functions of
 * their own, so there is nothing to see under them.
 *
 * TAKT_HOT_PATH_COUNT is the number of invocations; default: 20,000. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "takt/async.h"
#include "tests/api/fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

enum {
  ALLOCATIONS,
  LOCKS,
  PARKS_AND_WAKES,
  YIELDS,
  SYSTEM_CALLS,
  COUNTER_COUNT,
};
static const char* const kCounterNames[COUNTER_COUNT] = {
    "allocations", "locks", "parks and wakes", "yields", "other system calls"};
static atomic_long counters[COUNTER_COUNT];
static const char* _Atomic last_seen[COUNTER_COUNT];

#if !defined(HAS_SANITIZER) && defined(__GLIBC__) && defined(__x86_64__)
#define CAN_COUNT 1
static void count(int counter, const char* name) {
  atomic_fetch_add_explicit(&counters[counter], 1, memory_order_relaxed);
  atomic_store_explicit(&last_seen[counter], name, memory_order_relaxed);
}

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
/* Seen by the libraries: the build hides what does not say so. */
#define SEEN __attribute__((visibility("default")))
SEEN void* malloc(size_t bytes) {
  count(ALLOCATIONS, "malloc");
  return __libc_malloc(bytes);
}
SEEN void* calloc(size_t number, size_t bytes) {
  count(ALLOCATIONS, "calloc");
  return __libc_calloc(number, bytes);
}
SEEN void* realloc(void* block, size_t bytes) {
  count(ALLOCATIONS, "realloc");
  return __libc_realloc(block, bytes);
}
SEEN void* aligned_alloc(size_t alignment, size_t bytes) {
  count(ALLOCATIONS, "aligned_alloc");
  return __libc_memalign(alignment, bytes);
}
SEEN int posix_memalign(void** out_block, size_t alignment, size_t bytes) {
  count(ALLOCATIONS, "posix_memalign");
  *out_block = __libc_memalign(alignment, bytes);
  return *out_block != NULL ? 0 : 12;
}

/* The function that this program's stands in for. */
#define NEXT(type, name)                     \
  static _Atomic(type) next;                 \
  type real = atomic_load(&next);            \
  if (real == NULL) {                        \
    *(void**)&real = dlsym(RTLD_NEXT, name); \
    atomic_store(&next, real);               \
  }
#define FORWARD(counter, name, parameters, arguments) \
  SEEN int name parameters;                           \
  SEEN int name parameters {                          \
    typedef int(*function_t) parameters;              \
    NEXT(function_t, #name)                           \
    count(counter, #name);                            \
    return real arguments;                            \
  }
FORWARD(LOCKS, pthread_mutex_lock, (pthread_mutex_t * m), (m))
FORWARD(LOCKS, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t* m),
        (c, m))
FORWARD(LOCKS, pthread_cond_timedwait,
        (pthread_cond_t * c, pthread_mutex_t* m, const struct timespec* t),
        (c, m, t))
FORWARD(LOCKS, pthread_cond_signal, (pthread_cond_t * c), (c))
FORWARD(LOCKS, pthread_cond_broadcast, (pthread_cond_t * c), (c))
FORWARD(LOCKS, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))
FORWARD(LOCKS, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))
FORWARD(SYSTEM_CALLS, munmap, (void* address, size_t bytes), (address, bytes))
FORWARD(SYSTEM_CALLS, mprotect, (void* address, size_t bytes, int protection),
        (address, bytes, protection))
FORWARD(SYSTEM_CALLS, madvise, (void* address, size_t bytes, int advice),
        (address, bytes, advice))
FORWARD(SYSTEM_CALLS, poll, (struct pollfd * fds, nfds_t n, int timeout),
        (fds, n, timeout))
FORWARD(SYSTEM_CALLS, nanosleep,
        (const struct timespec* duration, struct timespec* left),
        (duration, left))
FORWARD(SYSTEM_CALLS, clock_nanosleep,
        (clockid_t clock, int flags, const struct timespec* until,
         struct timespec* left),
        (clock, flags, until, left))
FORWARD(YIELDS, sched_yield, (void), ())
FORWARD(SYSTEM_CALLS, usleep, (useconds_t duration), (duration))
SEEN void* mmap(void* address, size_t bytes, int protection, int flags, int fd,
                off_t offset) {
  typedef void* (*function_t)(void*, size_t, int, int, int, off_t);
  NEXT(function_t, "mmap")
  count(SYSTEM_CALLS, "mmap");
  return real(address, bytes, protection, flags, fd, offset);
}
SEEN ssize_t read(int fd, void* bytes, size_t length) {
  typedef ssize_t (*function_t)(int, void*, size_t);
  NEXT(function_t, "read")
  count(SYSTEM_CALLS, "read");
  return real(fd, bytes, length);
}
SEEN ssize_t write(int fd, const void* bytes, size_t length) {
  typedef ssize_t (*function_t)(int, const void*, size_t);
  NEXT(function_t, "write")
  count(SYSTEM_CALLS, "write");
  return real(fd, bytes, length);
}
SEEN long syscall(long number, ...) {
  typedef long (*function_t)(long, long, long, long, long, long, long);
  NEXT(function_t, "syscall")
  count(number == SYS_futex ? PARKS_AND_WAKES : SYSTEM_CALLS, "syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
/* absl::debian3::Mutex::Lock(), as Debian's Abseil 20220623 calls it. */
SEEN void _ZN4absl7debian35Mutex4LockEv(void* mutex);
SEEN void _ZN4absl7debian35Mutex4LockEv(void* mutex) {
  typedef void (*function_t)(void*);
  NEXT(function_t, "_ZN4absl7debian35Mutex4LockEv")
  count(LOCKS, "absl::Mutex::Lock");
  real(mutex);
}
#endif

typedef struct reading_t {
  long counts[COUNTER_COUNT];
} reading_t;

static reading_t read_counters(void) {
  reading_t reading;
  for (int i = 0; i < COUNTER_COUNT; ++i) {
    reading.counts[i] = atomic_load(&counters[i]);
  }
  return reading;
}

static long invocation_count(void) {
  const char* text = getenv("TAKT_HOT_PATH_COUNT");
  return text != NULL ? atol(text) : 20 * 1000;
}

typedef void (*call_t)(takt_function_t* function, const takt_value_t* argument);

static void invoke(takt_function_t* function, const takt_value_t* argument) {
  takt_value_t result;
  const takt_value_t arguments[2] = {*argument, *argument};
  REQUIRE_OK(takt_function_invoke(function, NULL, 2, arguments, 1, &result));
  takt_values_release(1, &result);
}

static void invoke_urgently(takt_function_t* function,
                            const takt_value_t* argument) {
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.priority = 255;
  options.deadline_ns = takt_clock_now_ns() + 1000000;
  takt_value_t result;
  const takt_value_t arguments[2] = {*argument, *argument};
  REQUIRE_OK(
      takt_function_invoke(function, &options, 2, arguments, 1, &result));
  takt_values_release(1, &result);
}

static void wait_for_result(takt_invocation_t* invocation) {
  REQUIRE_OK(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
  takt_value_t result;
  REQUIRE_OK(takt_invocation_take_results(invocation, 1, &result));
  takt_values_release(1, &result);
  takt_invocation_release(invocation);
}

static void invoke_and_wait(takt_function_t* function,
                            const takt_value_t* argument) {
  takt_invocation_t* invocation = NULL;
  const takt_value_t arguments[2] = {*argument, *argument};
  REQUIRE_OK(
      takt_async_invoke(function, NULL, 2, arguments, NULL, NULL, &invocation));
  wait_for_result(invocation);
}

/* Whether every worker runs, and every backup thread has parked once. */
static bool all_threads_run(takt_instance_t* instance, uint32_t worker_count) {
  takt_executor_t* const executor = takt_instance_executor(instance);
  for (uint32_t i = 0; i < worker_count; ++i) {
    takt_worker_statistics_t worker;
    worker.struct_size = sizeof(worker);
    if (!takt_executor_query_worker_statistics(executor, i, &worker) ||
        !worker.is_running) {
      return false;
    }
  }
  takt_executor_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  takt_executor_query_statistics(executor, &statistics);
  return statistics.backup_threads.park_count >= statistics.worker_count;
}

/* A function of arguments of one shape. */
typedef struct program_t {
  const char* module_path;
  const char* function;
  int64_t shape[2];
  /* It has several regions. A thread that waits for the end of one spins, and
   * offers its processor to others if that takes long. */
  bool may_yield;
} program_t;

static void expect_a_clean_path(const char* what, const program_t* program,
                                const char* device_name, int32_t worker_count,
                                call_t call) {
  fixture_t f =
      fixture_create_with(worker_count, device_name, program->module_path);
  takt_function_t* function = find_function(f.context, program->function);
  static const float kData[64] = {1, 2, 3, 4};
  const size_t rank = program->shape[1] != 0 ? 2 : 1;
  const int64_t count = program->shape[0] * (rank == 2 ? program->shape[1] : 1);
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(
      f.device, TAKT_ELEMENT_F32, rank, program->shape, kData,
      (size_t)count * sizeof(float), &view));
  const takt_value_t argument = takt_value_ref(view);

  /* Threads take a while to come up, and memory for that. */
  if (strcmp(device_name, "local-task") == 0) {
    AWAIT(all_threads_run(f.instance, (uint32_t)worker_count));
  }
  const long number = invocation_count();
  for (long i = 0; i < 2000; ++i) call(function, &argument);
  /* A pool grows when more blocks are in use at a time than ever before, as
   * when the system stops a worker in the middle of a call. That ends. */
  enum { kRoundMax = 5 };
  bool is_clean = false;
  for (int round = 0; round < kRoundMax && !is_clean; ++round) {
    const reading_t before = read_counters();
    for (long i = 0; i < number; ++i) call(function, &argument);
    const reading_t after = read_counters();
    is_clean = true;
    printf("%s, %s, %d workers, %ld invocations:", what, device_name,
           worker_count, number);
    for (int i = 0; i < COUNTER_COUNT; ++i) {
      const long seen = after.counts[i] - before.counts[i];
      printf(" %ld %s%s", seen, kCounterNames[i],
             i + 1 < COUNTER_COUNT ? "," : "\n");
      if (i == PARKS_AND_WAKES || seen == 0) continue;
      if (i == YIELDS && program->may_yield) continue;
      printf("\n  the last: %s\n", atomic_load(&last_seen[i]));
      is_clean = false;
    }
  }
  EXPECT(is_clean);
  takt_function_release(function);
  takt_buffer_view_release(view);
  fixture_destroy(&f);
}

static void expect_clean_on_devices(const char* what, const program_t* program,
                                    call_t call) {
  expect_a_clean_path(what, program, "local-sync", 0, call);
  expect_a_clean_path(what, program, "local-task", 0, call);
  expect_a_clean_path(what, program, "local-task", 2, call);
}

static void expect_clean_paths(const char* what, call_t call) {
  static const program_t kPrograms[2] = {
      {TESTDATA("api/simple_mul.vmfb"), "mul", {4, 0}, false},
      {TESTDATA("api/simple_mul_async.vmfb"), "mul", {4, 0}, false}};
  for (int i = 0; i < 2; ++i)
    expect_clean_on_devices(what, &kPrograms[i], call);
}

static void synchronous_calls(void) {
  expect_clean_paths("synchronous", invoke);
}
static void urgent_calls(void) {
  expect_clean_paths("urgent", invoke_urgently);
}
static void asynchronous_calls(void) {
  expect_clean_paths("asynchronous", invoke_and_wait);
}

/* A network: it allocates transients beside its results, and joins the fences
 * of both. */
static const program_t kPolicy = {
    TESTDATA("workload/policy.cpu.vmfb"), "act", {1, 64}, true};

static void act(takt_function_t* function, const takt_value_t* argument) {
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, 1, argument, 1, &result));
  takt_values_release(1, &result);
}

static void act_and_wait(takt_function_t* function,
                         const takt_value_t* argument) {
  takt_invocation_t* invocation = NULL;
  REQUIRE_OK(
      takt_async_invoke(function, NULL, 1, argument, NULL, NULL, &invocation));
  wait_for_result(invocation);
}

static void calls_of_a_network(void) {
  expect_clean_on_devices("network", &kPolicy, act);
  expect_clean_on_devices("network, asynchronous", &kPolicy, act_and_wait);
}

/* What is not counted proves nothing. */
static void the_counters_count(void) {
#if defined(CAN_COUNT)
  const reading_t before = read_counters();
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-task");
  takt_device_release(device);
  takt_instance_release(instance);
  uint32_t nobody_sleeps_here = 0;
  syscall(SYS_futex, &nobody_sleeps_here, 1 /* FUTEX_WAKE */, 1, NULL, NULL, 0);
  sched_yield();
  usleep(0);
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  const reading_t after = read_counters();
  EXPECT(after.counts[ALLOCATIONS] > before.counts[ALLOCATIONS]);
  EXPECT(after.counts[LOCKS] > before.counts[LOCKS]);
  EXPECT(after.counts[PARKS_AND_WAKES] > before.counts[PARKS_AND_WAKES]);
  EXPECT(after.counts[YIELDS] > before.counts[YIELDS]);
  EXPECT(after.counts[SYSTEM_CALLS] > before.counts[SYSTEM_CALLS]);
#else
  printf("sanitizers: nothing is counted\n");
#endif
}

int main(void) {
  RUN(the_counters_count);
  RUN(synchronous_calls);
  RUN(urgent_calls);
  RUN(asynchronous_calls);
  RUN(calls_of_a_network);
  return test_result();
}
