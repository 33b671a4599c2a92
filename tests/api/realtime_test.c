#define _GNU_SOURCE
#include "takt/realtime.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "takt/executor.h"
#include "tests/api/fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

static takt_realtime_result_t prepare(const takt_realtime_options_t* options) {
  takt_realtime_result_t result;
  memset(&result, 0xee, sizeof(result));
  result.struct_size = sizeof(result);
  REQUIRE_OK(takt_realtime_prepare(options, &result));
  return result;
}

static void stack_and_heap_are_touched(void) {
  takt_realtime_options_t options;
  takt_realtime_options_init(&options);
  options.lock_memory = false;
  options.keep_heap = false;
  options.stack_bytes = 128 * 1024;
  options.heap_bytes = 1 << 20;
  const takt_realtime_result_t result = prepare(&options);
  EXPECT(result.lock_error == 0);
  EXPECT(result.stack_bytes == 128 * 1024);
  EXPECT(result.heap_error == 0);
  EXPECT(result.heap_bytes == 1 << 20);
  EXPECT(result.fifo_priority_max >= 0 && result.fifo_priority_max <= 99);
  EXPECT(result.throttle_run_ns >= -1);
}

static void* touch_a_small_stack(void* argument) {
  takt_realtime_options_t options;
  takt_realtime_options_init(&options);
  options.lock_memory = false;
  options.keep_heap = false;
  options.stack_bytes = 32 << 20;
  *(takt_realtime_result_t*)argument = prepare(&options);
  return NULL;
}

static void a_stack_without_room_is_touched_as_far_as_it_goes(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 512 * 1024);
  pthread_t thread;
  takt_realtime_result_t result;
  EXPECT(pthread_create(&thread, &attributes, touch_a_small_stack, &result) ==
         0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
#if !HAS_SANITIZER  /* It uses stack itself. */
  EXPECT(result.stack_bytes > 256 * 1024);
#endif
  EXPECT(result.stack_bytes < 512 * 1024);
}

static void what_the_system_refuses_is_said(void) {
  takt_realtime_options_t options;
  takt_realtime_options_init(&options);
  options.stack_bytes = 65 << 20;
  takt_realtime_result_t result;
  result.struct_size = sizeof(result);
  EXPECT_ERROR(takt_realtime_prepare(&options, &result),
               TAKT_STATUS_INVALID_ARGUMENT, "options: stack_bytes: 68157440");
  options.stack_bytes = 0;
  options.lock_on_fault = true;
  options.keep_heap = false;
  const takt_realtime_result_t locked = prepare(&options);
  struct rlimit limit;
  EXPECT(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  EXPECT(locked.lock_limit_bytes == (limit.rlim_cur == RLIM_INFINITY
                                         ? UINT64_MAX
                                         : (uint64_t)limit.rlim_cur));
  if (locked.lock_error == 0) {
    // Sanitizers answer mlockall() and lock nothing.
    EXPECT(locked.locked_bytes > 0 || HAS_SANITIZER);
    EXPECT(munlockall() == 0);
  } else {
    EXPECT(locked.lock_error == EPERM || locked.lock_error == ENOMEM ||
           locked.lock_error == EAGAIN);
  }
}

static takt_thread_usage_t usage_of(uint64_t thread_id) {
  takt_thread_usage_t usage;
  memset(&usage, 0xee, sizeof(usage));
  usage.struct_size = sizeof(usage);
  EXPECT(takt_thread_query_usage(thread_id, &usage));
  return usage;
}

static atomic_bool must_stop = false;

static void* keep_the_processor(void* argument) {
  (void)argument;
  while (!atomic_load(&must_stop)) {
  }
  return NULL;
}

/* Two threads on one processor: each is ready while the other runs. */
static void a_thread_that_waits_for_a_processor_is_seen(void) {
  cpu_set_t before, one;
  if (sched_getaffinity(0, sizeof(before), &before) != 0) return;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof(one), &one) != 0) return;
  const takt_thread_usage_t first = usage_of(0);
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, keep_the_processor, NULL) == 0);
  takt_thread_usage_t last = first;
  while (last.run_queue_ns == first.run_queue_ns) last = usage_of(0);
  atomic_store(&must_stop, true);
  pthread_join(thread, NULL);
  EXPECT(last.run_queue_ns > first.run_queue_ns);
  EXPECT(last.run_ns >= first.run_ns);
  EXPECT(last.run_count >= first.run_count);
  sched_setaffinity(0, sizeof(before), &before);
}

static void page_faults_are_counted(void) {
  const takt_thread_usage_t first = usage_of(0);
  const size_t bytes = 64 * 4096;
  volatile char* block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(block != MAP_FAILED);
  for (size_t at = 0; at < bytes; at += 4096) block[at] = 1;
  EXPECT(usage_of(0).minor_fault_count > first.minor_fault_count);
  munmap((void*)block, bytes);
}

static void workers_are_found_by_their_numbers(void) {
  fixture_t fixture =
      fixture_create_with(1, "local-task", TESTDATA("api/simple_mul.vmfb"));
  takt_worker_statistics_t worker;
  memset(&worker, 0, sizeof(worker));
  worker.struct_size = sizeof(worker);
  AWAIT(takt_executor_query_worker_statistics(
            takt_instance_executor(fixture.instance), 0, &worker) &&
        worker.is_running);
  EXPECT(usage_of(worker.thread_id).run_count > 0);
  fixture_destroy(&fixture);
  takt_thread_usage_t usage;
  memset(&usage, 0xee, sizeof(usage));
  usage.struct_size = sizeof(usage);
  EXPECT(!takt_thread_query_usage(UINT64_MAX, &usage));
  EXPECT(usage.run_ns == 0);
}

static void sections_cost_nothing_in_a_build_without_checks(void) {
  takt_realtime_begin("loop");
  takt_realtime_begin("inner");
  free(malloc(10));
  takt_realtime_end();
  takt_realtime_end();
  takt_realtime_end(); /* One too many has no effect. */
}

int main(void) {
  RUN(stack_and_heap_are_touched);
  RUN(a_stack_without_room_is_touched_as_far_as_it_goes);
  RUN(what_the_system_refuses_is_said);
  RUN(a_thread_that_waits_for_a_processor_is_seen);
  RUN(page_faults_are_counted);
  RUN(workers_are_found_by_their_numbers);
  RUN(sections_cost_nothing_in_a_build_without_checks);
  return test_result();
}
