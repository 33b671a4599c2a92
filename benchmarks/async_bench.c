// Measures the cost of asynchronous calls:
//
//   async_bench chain MODULE COUNT ROUNDS [WORKERS]
//       COUNT calls of MODULE's simple_mul; each waits for the one before and
//       multiplies its result. Prints a line for each round: nanoseconds, and
//       the contents of the last result.
//   async_bench sync MODULE COUNT ROUNDS [WORKERS]
//       the same with synchronous calls.
//   async_bench parked MODULE COUNT [WORKERS]
//       COUNT calls that wait for one fence, and then COUNT calls that each
//       wait for and signal a fence of their own. Prints the bytes of memory
//       of one call, and the nanoseconds per call to issue and to run them.
//
// Uses the C API only. async_peer.py runs the chain beside the peer's.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <takt/takt.h>
#include <unistd.h>

static void check(takt_status_t status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", takt_status_message(status));
  exit(1);
}

typedef struct bench_t {
  takt_instance_t* instance;
  takt_device_t* device;
  takt_module_t* module;
  takt_context_t* context;
  takt_function_t* mul;
  takt_buffer_view_t* one;  // 4xf32 of ones.
} bench_t;

static bench_t create_bench(const char* path, int worker_count) {
  bench_t bench = {0};
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = worker_count;
  check(takt_instance_create(&options, &bench.instance));
  check(takt_device_create(bench.instance, "local-task", NULL, &bench.device));
  check(takt_module_load_file(bench.instance, path, NULL, &bench.module));
  takt_context_options_t context_options;
  takt_context_options_init(&context_options);
  context_options.modules = &bench.module;
  context_options.module_count = 1;
  context_options.devices = &bench.device;
  context_options.device_count = 1;
  check(takt_context_create(bench.instance, &context_options, &bench.context));
  check(takt_context_find_function(bench.context, "simple_mul", &bench.mul));
  const int64_t shape[1] = {4};
  const float ones[4] = {1, 1, 1, 1};
  check(takt_buffer_view_copy_from_host(bench.device, TAKT_ELEMENT_F32, 1,
                                        shape, ones, sizeof(ones), &bench.one));
  return bench;
}

static void destroy_bench(bench_t* bench) {
  takt_buffer_view_release(bench->one);
  takt_function_release(bench->mul);
  takt_context_release(bench->context);
  takt_module_release(bench->module);
  takt_device_release(bench->device);
  takt_instance_release(bench->instance);
}

static takt_value_t first_value(const bench_t* bench) {
  takt_value_t value = takt_value_ref(bench->one);
  takt_object_retain(value.ref);
  return value;
}

static void print_round(int64_t ns, takt_value_t* value) {
  char* text = NULL;
  check(takt_buffer_view_format(takt_value_as_buffer_view(value), 4, &text));
  printf("%lld %s\n", (long long)ns, text);
  takt_string_free(text);
  takt_values_release(1, value);
}

static void run_chain(bench_t* bench, int count) {
  takt_timeline_t* timeline = NULL;
  const int64_t start_ns = takt_clock_now_ns();
  check(takt_timeline_create(0, &timeline));
  takt_value_t value = first_value(bench);
  takt_fence_t* wait = NULL;
  for (int i = 0; i < count; ++i) {
    const takt_timeline_point_t point = {timeline, (uint64_t)i + 1};
    takt_fence_t* signal = NULL;
    check(takt_fence_create_from_points(1, &point, &signal));
    const takt_value_t arguments[2] = {value, takt_value_ref(bench->one)};
    takt_invocation_t* call = NULL;
    check(
        takt_async_invoke(bench->mul, NULL, 2, arguments, wait, signal, &call));
    takt_values_release(1, &value);
    check(takt_invocation_take_results(call, 1, &value));
    takt_invocation_release(call);
    takt_fence_release(wait);
    wait = signal;
  }
  check(takt_fence_wait(wait, bench->instance, TAKT_INFINITE_FUTURE));
  const int64_t end_ns = takt_clock_now_ns();
  takt_fence_release(wait);
  takt_timeline_release(timeline);
  print_round(end_ns - start_ns, &value);
}

static void run_sync(bench_t* bench, int count) {
  const int64_t start_ns = takt_clock_now_ns();
  takt_value_t value = first_value(bench);
  for (int i = 0; i < count; ++i) {
    const takt_value_t arguments[2] = {value, takt_value_ref(bench->one)};
    takt_value_t result;
    check(takt_function_invoke(bench->mul, NULL, 2, arguments, 1, &result));
    takt_values_release(1, &value);
    value = result;
  }
  print_round(takt_clock_now_ns() - start_ns, &value);
}

static size_t resident_bytes(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1) exit(1);
  fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

// Counts down; signals the fence with the last one.
typedef struct countdown_t {
  atomic_int left;
  takt_fence_t* done;
} countdown_t;

static void count_down(void* user_data, takt_invocation_t* invocation,
                       takt_status_t status) {
  (void)invocation;
  check(status);
  countdown_t* countdown = user_data;
  if (atomic_fetch_sub(&countdown->left, 1) != 1) return;
  check(takt_fence_signal(countdown->done));
}

static void run_parked(bench_t* bench, int count, bool own_fences) {
  takt_fence_t** waits = calloc((size_t)count, sizeof(*waits));
  takt_fence_t** signals = calloc((size_t)count, sizeof(*signals));
  if (waits == NULL || signals == NULL) exit(1);
  memset(waits, 1, (size_t)count * sizeof(*waits));  // Faults them in.
  memset(signals, 1, (size_t)count * sizeof(*signals));
  const takt_value_t arguments[2] = {takt_value_ref(bench->one),
                                     takt_value_ref(bench->one)};
  takt_instance_trim(bench->instance);  // What earlier calls left.
  const size_t heap_before = mallinfo2().uordblks;
  const size_t resident_before = resident_bytes();
  const int64_t start_ns = takt_clock_now_ns();
  takt_fence_t* shared = NULL;
  check(takt_fence_create(&shared));
  countdown_t countdown = {count, NULL};
  check(takt_fence_create(&countdown.done));
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.on_done = count_down;
  options.user_data = &countdown;
  for (int i = 0; i < count; ++i) {
    waits[i] = shared;
    signals[i] = NULL;
    if (own_fences) {
      check(takt_fence_create(&waits[i]));
      check(takt_fence_create(&signals[i]));
    }
    check(takt_async_invoke(bench->mul, &options, 2, arguments, waits[i],
                            signals[i], NULL));
  }
  const int64_t issued_ns = takt_clock_now_ns();
  const double heap = (double)(mallinfo2().uordblks - heap_before);
  const double resident = (double)(resident_bytes() - resident_before);
  for (int i = 0; own_fences && i < count; ++i) {
    check(takt_fence_signal(waits[i]));
  }
  check(takt_fence_signal(shared));
  check(takt_fence_wait(countdown.done, bench->instance, TAKT_INFINITE_FUTURE));
  const int64_t end_ns = takt_clock_now_ns();
  printf(
      "%s: %d parked, %.0f bytes each (heap), %.0f (resident); issued in %.0f "
      "ns each, run in %.0f ns each\n",
      own_fences ? "a wait and a signal fence each" : "one wait fence", count,
      heap / count, resident / count, (double)(issued_ns - start_ns) / count,
      (double)(end_ns - issued_ns) / count);
  for (int i = 0; own_fences && i < count; ++i) {
    takt_fence_release(waits[i]);
    takt_fence_release(signals[i]);
  }
  takt_fence_release(shared);
  takt_fence_release(countdown.done);
  free(waits);
  free(signals);
}

int main(int argc, char** argv) {
  const bool parked = argc > 1 && strcmp(argv[1], "parked") == 0;
  const int fixed = parked ? 4 : 5;
  if (argc < fixed) {
    fprintf(stderr, "usage: see %s\n", __FILE__);
    return 1;
  }
  bench_t bench = create_bench(argv[2], argc > fixed ? atoi(argv[fixed]) : 2);
  const int count = atoi(argv[3]);
  if (parked) {
    run_parked(&bench, count, false);
    run_parked(&bench, count, true);
  } else {
    for (int i = 0; i < atoi(argv[4]); ++i) {
      if (strcmp(argv[1], "chain") == 0) {
        run_chain(&bench, count);
      } else {
        run_sync(&bench, count);
      }
    }
  }
  destroy_bench(&bench);
  return 0;
}
