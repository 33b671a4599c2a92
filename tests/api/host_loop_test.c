/* A host with a loop of its own: takt_instance_run_ready() does all the work,
 * and Takt has no thread; and a host that supplies all threads. What threads
 * the process has is read from /proc. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "tests/api/fixture.h"

static int thread_count(void) {
  DIR* folder = opendir("/proc/self/task");
  EXPECT(folder != NULL);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(folder);
  return count;
}

typedef struct seen_t {
  pthread_t loop;
  atomic_int done_count;
  int message_count;
} seen_t;

static void on_done(void* user_data, const takt_stream_job_t* job,
                    takt_status_t status, size_t result_count,
                    const takt_value_t* results) {
  (void)result_count, (void)results;
  seen_t* seen = user_data;
  EXPECT(job->outcome == TAKT_STREAM_OUTCOME_MET);
  EXPECT(pthread_equal(seen->loop, pthread_self()));
  takt_status_free(status);
  atomic_fetch_add(&seen->done_count, 1);
}

static void count_message(void* user_data, takt_log_severity_t severity,
                          const char* message) {
  (void)severity;
  seen_t* seen = user_data;
  ++seen->message_count;
  EXPECT_CONTAINS(message, "");
}

static takt_stream_t* start_stream(takt_context_t* context,
                                   takt_device_t* device, seen_t* seen) {
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.period_ns = 1000000;
  options.on_done = on_done;
  options.user_data = seen;
  takt_function_t* function = find_function(context, "mul");
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(function, &options, &stream));
  takt_function_release(function);
  static const float kValues[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(device, 4, kValues);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  REQUIRE_OK(takt_stream_set_input(stream, 2, arguments));
  takt_buffer_view_release(view);
  REQUIRE_OK(takt_stream_start(stream, takt_clock_now_ns()));
  return stream;
}

static void pass(int64_t duration_ns) {
  const struct timespec duration = {duration_ns / 1000000000,
                                    duration_ns % 1000000000};
  nanosleep(&duration, NULL);
}

/* Turns of the loop, until the stream has done so many jobs. */
static void run_until(takt_instance_t* instance, seen_t* seen, int count) {
  size_t ran_sum = 0;
  const int64_t end_ns = takt_clock_now_ns() + kAwaitNs;
  while (atomic_load(&seen->done_count) < count && !test_is_passed(end_ns)) {
    size_t ran = 0;
    int64_t next_ns = 0;
    REQUIRE_OK(takt_instance_run_ready(instance, 100000, &ran, &next_ns));
    ran_sum += ran;
    /* There is always the next release. */
    EXPECT(next_ns != TAKT_INFINITE_FUTURE);
    const int64_t left_ns = next_ns - takt_clock_now_ns();
    if (left_ns > 0) pass(left_ns);
  }
  EXPECT(ran_sum >= (size_t)count);
}

static void a_stream_runs_from_the_loop_only(const char* device_name,
                                             const char* policy) {
  const int before = thread_count();
  seen_t seen = {.loop = pthread_self()};
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 0;
  options.host_loop = true;
  options.log_sink.user_data = &seen;
  options.log_sink.write = count_message;
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = policy;
  options.scheduler = &scheduler;
  fixture_t f;
  f.instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &f.instance));
  f.device = create_device(f.instance, device_name);
  f.module = load_module(f.instance, TESTDATA("api/simple_mul.vmfb"));
  f.context = create_context(f.instance, f.device, f.module);
  takt_stream_t* stream = start_stream(f.context, f.device, &seen);
  /* Nothing happens by itself. */
  pass(20000000);
  EXPECT(atomic_load(&seen.done_count) == 0);
  run_until(f.instance, &seen, 5);
  EXPECT(thread_count() == before);
  takt_stream_stop(stream);
  EXPECT_OK(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
  takt_stream_release(stream);
  fixture_destroy(&f);
  EXPECT(thread_count() == before);
  EXPECT(seen.message_count == 0);
}

static void streams_run_from_the_loop_only(void) {
  a_stream_runs_from_the_loop_only("local-task", "off");
  a_stream_runs_from_the_loop_only("local-task", "job-shop");
  a_stream_runs_from_the_loop_only("local-sync", "off");
}

static void asynchronous_calls_and_descriptors_are_served(void) {
  const int before = thread_count();
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 0;
  options.host_loop = true;
  fixture_t f;
  f.instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &f.instance));
  f.device = create_device(f.instance, "local-task");
  f.module = load_module(f.instance, TESTDATA("api/simple_mul.vmfb"));
  f.context = create_context(f.instance, f.device, f.module);
  /* Nothing is ready. */
  size_t ran = 1;
  int64_t next_ns = 0;
  REQUIRE_OK(takt_instance_run_ready(f.instance, 1000000, &ran, &next_ns));
  EXPECT(ran == 0);
  int pipe_ends[2];
  EXPECT(pipe(pipe_ends) == 0);
  takt_fence_t* wait = NULL;
  REQUIRE_OK(takt_fence_import_fd(f.instance, pipe_ends[0],
                                  TAKT_FENCE_FD_READABLE, &wait));
  static const float kValues[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(f.device, 4, kValues);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_function_t* function = find_function(f.context, "mul");
  takt_async_options_t call_options;
  takt_async_options_init(&call_options);
  takt_invocation_t* call = NULL;
  REQUIRE_OK(takt_async_invoke(function, &call_options, 2, arguments, wait,
                               NULL, &call));
  REQUIRE_OK(takt_instance_run_ready(f.instance, 1000000, NULL, NULL));
  EXPECT(takt_invocation_state(call) != TAKT_INVOCATION_DONE);
  EXPECT(write(pipe_ends[1], "x", 1) == 1);
  REPEAT_UNTIL(
      takt_invocation_state(call) == TAKT_INVOCATION_DONE,
      REQUIRE_OK(takt_instance_run_ready(f.instance, 1000000, &ran, NULL)));
  EXPECT(thread_count() == before);
  takt_invocation_release(call);
  takt_function_release(function);
  takt_buffer_view_release(view);
  takt_fence_release(wait);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  fixture_destroy(&f);
}

static void refuses_invalid_arguments(void) {
  takt_instance_t* instance = create_instance(0);
  EXPECT_ERROR(takt_instance_run_ready(NULL, 0, NULL, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "instance is NULL");
  EXPECT_ERROR(takt_instance_run_ready(instance, -1, NULL, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "max_ns");
  int64_t next_ns = 0;
  EXPECT_OK(takt_instance_run_ready(instance, 0, NULL, &next_ns));
  EXPECT(next_ns == TAKT_INFINITE_FUTURE);
  EXPECT_ERROR(takt_instance_query_statistics(instance, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "out_statistics");
  takt_instance_release(instance);
}

/* Threads of the host's own, by name. */
typedef struct hosts_t {
  atomic_int created;
  atomic_int joined;
  atomic_int others; /* Those that are no workers. */
} hosts_t;
typedef struct host_thread_t {
  pthread_t handle;
  void (*run)(void*);
  void* argument;
} host_thread_t;

static void* host_main(void* argument) {
  host_thread_t* thread = argument;
  thread->run(thread->argument);
  return NULL;
}

static bool host_create(void* user_data, uint32_t worker, const char* name,
                        void (*run)(void*), void* argument, void** out_thread) {
  hosts_t* hosts = user_data;
  EXPECT(strncmp(name, "takt-", 5) == 0);
  atomic_fetch_add(&hosts->created, 1);
  if (worker == TAKT_THREAD_NO_WORKER) atomic_fetch_add(&hosts->others, 1);
  host_thread_t* thread = malloc(sizeof(*thread));
  thread->run = run;
  thread->argument = argument;
  *out_thread = thread;
  return pthread_create(&thread->handle, NULL, &host_main, thread) == 0;
}

static void host_join(void* user_data, void* argument) {
  host_thread_t* thread = argument;
  atomic_fetch_add(&((hosts_t*)user_data)->joined, 1);
  pthread_join(thread->handle, NULL);
  free(thread);
}

static void all_threads_may_be_the_hosts(void) {
  const int before = thread_count();
  hosts_t hosts = {0};
  seen_t seen = {.message_count = 0};
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 2;
  options.worker_threads.user_data = &hosts;
  options.worker_threads.create = host_create;
  options.worker_threads.join = host_join;
  fixture_t f;
  f.instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &f.instance));
  f.device = create_device(f.instance, "local-task");
  f.module = load_module(f.instance, TESTDATA("api/simple_mul.vmfb"));
  f.context = create_context(f.instance, f.device, f.module);
  int pipe_ends[2];
  EXPECT(pipe(pipe_ends) == 0);
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_import_fd(f.instance, pipe_ends[0],
                                  TAKT_FENCE_FD_READABLE, &fence));
  EXPECT(write(pipe_ends[1], "x", 1) == 1);
  EXPECT_OK(takt_fence_wait(fence, f.instance, TAKT_INFINITE_FUTURE));
  takt_fence_release(fence);
  /* Two workers, two timers, the poller. */
  EXPECT(hosts.created == 5);
  EXPECT(hosts.others == 3);
  EXPECT(thread_count() == before + hosts.created);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  fixture_destroy(&f);
  EXPECT(hosts.joined == hosts.created);
  EXPECT(thread_count() == before);
  EXPECT(seen.message_count == 0);
}

static void* first_thread(void* argument) { return argument; }

int main(void) {
  /* A sanitizer starts a thread of its own with the process's first one. */
  pthread_t first;
  if (pthread_create(&first, NULL, first_thread, NULL) != 0) return 1;
  pthread_join(first, NULL);
  RUN(streams_run_from_the_loop_only);
  RUN(asynchronous_calls_and_descriptors_are_served);
  RUN(refuses_invalid_arguments);
  RUN(all_threads_may_be_the_hosts);
  return test_result();
}
