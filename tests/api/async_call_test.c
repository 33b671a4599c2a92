#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "takt/async.h"
#include "tests/api/fixture.h"

static const float kOneToFour[4] = {1, 2, 3, 4};

static takt_fence_t* create_fence(void) {
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  return fence;
}

/* A call of `name` with one tensor, often. */
static takt_status_t invoke(fixture_t* fixture, const char* name,
                            const takt_async_options_t* options,
                            takt_buffer_view_t* lhs, takt_buffer_view_t* rhs,
                            takt_fence_t* wait, takt_fence_t* signal,
                            takt_invocation_t** out_invocation) {
  takt_function_t* function = find_function(fixture->context, name);
  const takt_value_t arguments[2] = {takt_value_ref(lhs), takt_value_ref(rhs)};
  takt_status_t status =
      takt_async_invoke(function, options, rhs != NULL ? 2 : 1, arguments, wait,
                        signal, out_invocation);
  takt_function_release(function);
  return status;
}

static void expect_result(takt_invocation_t* invocation, const char* text) {
  takt_value_t result;
  REQUIRE_OK(takt_invocation_take_results(invocation, 1, &result));
  EXPECT_VIEW(takt_value_as_buffer_view(&result), text);
  takt_values_release(1, &result);
}

static const char* const kMul[2] = {TESTDATA("api/simple_mul.vmfb"),
                                    TESTDATA("api/simple_mul_async.vmfb")};

/* Both ABIs, both devices, workers or none: the same result. */
static void runs_after_its_wait_fence(void) {
  static const char* const kDevices[2] = {"local-sync", "local-task"};
  static const int32_t kWorkerCounts[4] = {0, 1, 2, 16};
  for (int i = 0; i < 16; ++i) {
    fixture_t f = fixture_create_with(kWorkerCounts[i / 4], kDevices[i % 2],
                                      kMul[i / 2 % 2]);
    takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
    takt_fence_t* wait = create_fence();
    takt_fence_t* signal = create_fence();
    takt_invocation_t* invocation = NULL;
    REQUIRE_OK(invoke(&f, "mul", NULL, view, view, wait, signal, &invocation));
    bool done = true;
    EXPECT_OK(takt_invocation_query(invocation, &done));
    EXPECT(!done);
    EXPECT_OK(takt_fence_query(signal, &done));
    EXPECT(!done);
    EXPECT_ERROR(takt_invocation_wait(invocation, 0),
                 TAKT_STATUS_DEADLINE_EXCEEDED, "");
    REQUIRE_OK(takt_fence_signal(wait));
    EXPECT_OK(takt_fence_wait(signal, f.instance, TAKT_INFINITE_FUTURE));
    EXPECT_OK(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
    EXPECT_OK(takt_invocation_query(invocation, &done));
    EXPECT(done);
    EXPECT(takt_invocation_state(invocation) == TAKT_INVOCATION_DONE);
    EXPECT_TEXT(takt_function_name(takt_invocation_function(invocation)),
                i / 2 % 2 ? "simple_async.mul" : "simple.mul");
    expect_result(invocation, "4xf32=1 4 9 16");
    takt_invocation_release(invocation);
    takt_fence_release(wait);
    takt_fence_release(signal);
    takt_buffer_view_release(view);
    fixture_destroy(&f);
  }
}

/* Of an asynchronous function they are there at once, and can be passed on. */
static void results_are_there_before_the_device_work_ends(void) {
  fixture_t f = fixture_create("local-task", kMul[1]);
  takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
  takt_fence_t* start = create_fence();
  takt_fence_t* waits = start;
  takt_value_t value = takt_value_ref(view);
  takt_object_retain(value.ref);
  takt_fence_retain(waits);
  takt_invocation_t* invocation = NULL;
  for (int i = 0; i < 3; ++i) {
    takt_fence_t* signal = create_fence();
    REQUIRE_OK(invoke(&f, "mul", NULL, takt_value_as_buffer_view(&value), view,
                      waits, signal, &invocation));
    EXPECT(takt_invocation_state(invocation) == TAKT_INVOCATION_SUBMITTED);
    takt_values_release(1, &value);
    EXPECT_OK(takt_invocation_take_results(invocation, 1, &value));
    takt_value_t again;
    EXPECT_ERROR(takt_invocation_take_results(invocation, 1, &again),
                 TAKT_STATUS_FAILED_PRECONDITION, "taken");
    takt_invocation_release(invocation);
    takt_fence_release(waits);
    waits = signal;
  }
  REQUIRE_OK(takt_fence_signal(start));
  EXPECT_OK(takt_fence_wait(waits, f.instance, TAKT_INFINITE_FUTURE));
  EXPECT_VIEW(takt_value_as_buffer_view(&value), "4xf32=1 16 81 256");
  takt_values_release(1, &value);
  takt_fence_release(waits);
  takt_fence_release(start);

  /* Of a synchronous one they are not. */
  fixture_t sync = fixture_create("local-task", kMul[0]);
  start = create_fence();
  takt_buffer_view_t* other = float_view(sync.device, 4, kOneToFour);
  REQUIRE_OK(
      invoke(&sync, "mul", NULL, other, other, start, NULL, &invocation));
  EXPECT(takt_invocation_state(invocation) == TAKT_INVOCATION_WAITING);
  EXPECT_ERROR(takt_invocation_take_results(invocation, 1, &value),
               TAKT_STATUS_FAILED_PRECONDITION,
               "simple.mul: the results are not there yet");
  EXPECT(value.kind == TAKT_VALUE_NONE);
  EXPECT_ERROR(takt_invocation_take_results(invocation, 0, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "expected room for 1 results");
  REQUIRE_OK(takt_fence_signal(start));
  EXPECT_OK(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
  expect_result(invocation, "4xf32=1 4 9 16");
  takt_invocation_release(invocation);
  takt_fence_release(start);
  takt_buffer_view_release(other);
  takt_buffer_view_release(view);
  fixture_destroy(&sync);
  fixture_destroy(&f);
}

typedef struct done_t {
  int count;
  takt_status_code_t code;
  takt_value_t result;
  takt_fence_t* signal; /* Not reached while the callback runs. */
  bool reached;
} done_t;

static void on_done(void* user_data, takt_invocation_t* invocation,
                    takt_status_t status) {
  done_t* done = user_data;
  ++done->count;
  done->code = takt_status_code(status);
  takt_status_free(status);
  takt_status_free(takt_fence_query(done->signal, &done->reached));
  if (done->code != TAKT_STATUS_OK) return;
  REQUIRE_OK(takt_invocation_take_results(invocation, 1, &done->result));
}

static void the_callback_comes_before_the_fence(void) {
  for (int i = 0; i < 2; ++i) {
    fixture_t f = fixture_create("local-task", kMul[i]);
    takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
    takt_fence_t* wait = create_fence();
    done_t done = {.signal = create_fence(), .reached = true};
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.on_done = on_done;
    options.user_data = &done;
    REQUIRE_OK(
        invoke(&f, "mul", &options, view, view, wait, done.signal, NULL));
    EXPECT(done.count == 0);
    REQUIRE_OK(takt_fence_signal(wait));
    EXPECT_OK(takt_fence_wait(done.signal, f.instance, TAKT_INFINITE_FUTURE));
    EXPECT(done.count == 1 && done.code == TAKT_STATUS_OK && !done.reached);
    EXPECT_VIEW(takt_value_as_buffer_view(&done.result), "4xf32=1 4 9 16");
    takt_values_release(1, &done.result);
    takt_fence_release(done.signal);
    takt_fence_release(wait);

    /* It is told of failures too. */
    wait = create_fence();
    done = (done_t){.signal = create_fence()};
    REQUIRE_OK(
        invoke(&f, "mul", &options, view, view, wait, done.signal, NULL));
    takt_fence_fail(wait, takt_status_create(TAKT_STATUS_DATA_LOSS, "torn"));
    EXPECT_ERROR(takt_fence_wait(done.signal, f.instance, TAKT_INFINITE_FUTURE),
                 TAKT_STATUS_DATA_LOSS, "torn");
    EXPECT(done.count == 1 && done.code == TAKT_STATUS_DATA_LOSS);
    takt_fence_release(done.signal);
    takt_fence_release(wait);
    takt_buffer_view_release(view);
    fixture_destroy(&f);
  }
}

static const char* const kDag[4] = {
    TESTDATA("async/dag.cpu.vmfb"), TESTDATA("async/dag.cpu.async.vmfb"),
    TESTDATA("async/dag.vmvx.vmfb"), TESTDATA("async/dag.vmvx.async.vmfb")};

static takt_status_t step(takt_context_t* context, int32_t fails,
                          takt_buffer_view_t* view, takt_buffer_view_t* out,
                          takt_fence_t* wait, takt_fence_t* signal,
                          takt_invocation_t** out_invocation) {
  takt_function_t* function = find_function(context, "step");
  const takt_value_t arguments[4] = {takt_value_i32(fails),
                                     takt_value_ref(view), takt_value_ref(view),
                                     takt_value_ref(out)};
  takt_status_t status = takt_async_invoke(function, NULL, 4, arguments, wait,
                                           signal, out_invocation);
  takt_function_release(function);
  return status;
}

/* The first cause goes along the fences, with the name of who failed. */
static void failures_follow_the_fences(void) {
  for (int i = 0; i < 4; ++i) {
    fixture_t f = fixture_create("local-task", kDag[i]);
    takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
    takt_buffer_view_t* out = float_view(f.device, 4, kOneToFour);
    takt_fence_t* fences[4];
    takt_invocation_t* calls[3];
    for (int j = 0; j < 4; ++j) fences[j] = create_fence();
    for (int j = 2; j >= 0; --j) { /* The second one fails. */
      REQUIRE_OK(step(f.context, j == 1, view, out, fences[j], fences[j + 1],
                      &calls[j]));
    }
    REQUIRE_OK(takt_fence_signal(fences[0]));
    EXPECT_OK(takt_fence_wait(fences[1], f.instance, TAKT_INFINITE_FUTURE));
    EXPECT_OK(takt_invocation_wait(calls[0], TAKT_INFINITE_FUTURE));
    for (int j = 1; j < 3; ++j) {
      EXPECT_ERROR(
          takt_fence_wait(fences[j + 1], f.instance, TAKT_INFINITE_FUTURE),
          TAKT_STATUS_FAILED_PRECONDITION, "dag.step");
      EXPECT_ERROR(takt_invocation_wait(calls[j], TAKT_INFINITE_FUTURE),
                   TAKT_STATUS_FAILED_PRECONDITION, "asked to fail");
    }
    takt_value_t result;
    EXPECT_ERROR(takt_invocation_take_results(calls[1], 1, &result),
                 TAKT_STATUS_FAILED_PRECONDITION, "asked to fail");
    /* The context stays usable. */
    takt_invocation_t* good = NULL;
    REQUIRE_OK(step(f.context, 0, view, out, NULL, NULL, &good));
    EXPECT_OK(takt_invocation_wait(good, TAKT_INFINITE_FUTURE));
    expect_result(good, "4xf32=3 6 9 12");
    takt_invocation_release(good);
    for (int j = 0; j < 3; ++j) takt_invocation_release(calls[j]);
    for (int j = 0; j < 4; ++j) takt_fence_release(fences[j]);
    takt_buffer_view_release(view);
    takt_buffer_view_release(out);
    fixture_destroy(&f);
  }
}

/* Before, twice, and after. */
static void cancel_ends_a_waiting_call(void) {
  for (int i = 0; i < 4; ++i) {
    fixture_t f = fixture_create("local-task", kDag[i]);
    takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
    takt_buffer_view_t* out = float_view(f.device, 4, kOneToFour);
    takt_fence_t* never = create_fence();
    takt_fence_t* signal = create_fence();
    takt_invocation_t* call = NULL;
    REQUIRE_OK(step(f.context, 0, view, out, never, signal, &call));
    takt_invocation_cancel(call);
    takt_invocation_cancel(call);
    EXPECT_ERROR(takt_fence_wait(signal, f.instance, TAKT_INFINITE_FUTURE),
                 TAKT_STATUS_CANCELLED, "dag.step: cancelled");
    EXPECT_ERROR(takt_invocation_wait(call, TAKT_INFINITE_FUTURE),
                 TAKT_STATUS_CANCELLED, "");
    EXPECT(takt_invocation_state(call) == TAKT_INVOCATION_DONE);
    EXPECT_OK(takt_fence_signal(never)); /* Nobody waits for it any more. */
    EXPECT_VIEW(out, "4xf32=1 2 3 4");
    takt_invocation_release(call);

    REQUIRE_OK(step(f.context, 0, view, out, NULL, NULL, &call));
    EXPECT_OK(takt_invocation_wait(call, TAKT_INFINITE_FUTURE));
    takt_invocation_cancel(call);
    EXPECT_OK(takt_invocation_wait(call, TAKT_INFINITE_FUTURE));
    expect_result(call, "4xf32=3 6 9 12");
    takt_invocation_release(call);
    takt_fence_release(never);
    takt_fence_release(signal);
    takt_buffer_view_release(view);
    takt_buffer_view_release(out);
    fixture_destroy(&f);
  }
}

static void cancel_and_step_limit_end_a_running_program(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-task");
  takt_context_t* context =
      create_counter(instance, device, fail_without_robot);
  takt_function_t* spin = find_function(context, "spin");
  const takt_value_t forever = takt_value_i32(-1);
  takt_invocation_t* first = NULL;
  takt_invocation_t* second = NULL;
  REQUIRE_OK(takt_async_invoke(spin, NULL, 1, &forever, NULL, NULL, &first));
  REQUIRE_OK(takt_async_invoke(spin, NULL, 1, &forever, NULL, NULL, &second));
  takt_invocation_cancel(second); /* It waits for its turn, if `first` runs. */
  takt_invocation_cancel(first);  /* It runs, if the worker has come already. */
  EXPECT_ERROR(takt_invocation_wait(first, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_CANCELLED, "counter.spin");
  EXPECT_ERROR(takt_invocation_wait(second, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_CANCELLED, "counter.spin");
  takt_invocation_release(first);
  takt_invocation_release(second);

  takt_async_options_t options;
  takt_async_options_init(&options);
  options.step_limit = 1000;
  REQUIRE_OK(
      takt_async_invoke(spin, &options, 1, &forever, NULL, NULL, &first));
  EXPECT_ERROR(takt_invocation_wait(first, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "counter.spin");
  takt_invocation_release(first);
  takt_function_release(spin);
  takt_context_release(context);
  takt_device_release(device);
  takt_instance_release(instance);
}

/* A wait with a deadline runs the program itself, and yet ends in time. */
static void a_wait_ends_at_its_deadline_though_its_thread_runs_the_program(
    void) {
  takt_instance_t* instance = create_instance(0);
  takt_device_t* device = create_device(instance, "local-task");
  takt_context_t* context =
      create_counter(instance, device, fail_without_robot);
  takt_function_t* spin = find_function(context, "spin");
  const takt_value_t forever = takt_value_i32(-1);
  takt_invocation_t* call = NULL;
  REQUIRE_OK(takt_async_invoke(spin, NULL, 1, &forever, NULL, NULL, &call));
  for (int i = 0; i < 3; ++i) {
    EXPECT_ERROR(takt_invocation_wait(call, takt_clock_now_ns() + 1000000),
                 TAKT_STATUS_DEADLINE_EXCEEDED, "");
  }
  takt_invocation_cancel(call);
  EXPECT_ERROR(takt_invocation_wait(call, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_CANCELLED, "counter.spin");
  takt_invocation_release(call);

  /* A program that is interrupted between two waits loses nothing. */
  const takt_value_t many = takt_value_i32(300000);
  REQUIRE_OK(takt_async_invoke(spin, NULL, 1, &many, NULL, NULL, &call));
  takt_status_t status = NULL;
  do {
    takt_status_free(status);
    status = takt_invocation_wait(call, takt_clock_now_ns() + 1000);
  } while (takt_status_code(status) == TAKT_STATUS_DEADLINE_EXCEEDED);
  EXPECT_OK(status);
  takt_value_t result;
  REQUIRE_OK(takt_invocation_take_results(call, 1, &result));
  EXPECT(result.i32 == 300000);
  takt_invocation_release(call);
  takt_function_release(spin);
  takt_context_release(context);
  takt_device_release(device);
  takt_instance_release(instance);
}

/* One worker, a program that never ends, and a more urgent call. */
static void a_program_gives_its_worker_to_a_more_urgent_call(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-task");
  takt_context_t* low = create_counter(instance, device, fail_without_robot);
  takt_context_t* high = create_counter(instance, device, fail_without_robot);
  takt_function_t* spin = find_function(low, "spin");
  takt_function_t* next = find_function(high, "next");
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.priority = 10;
  const takt_value_t forever = takt_value_i32(-1);
  takt_invocation_t* endless = NULL;
  REQUIRE_OK(
      takt_async_invoke(spin, &options, 1, &forever, NULL, NULL, &endless));
  options.priority = 200;
  for (int32_t i = 1; i <= 20; ++i) {
    takt_fence_t* ready = create_fence();
    const takt_value_t by = takt_value_i32(1);
    takt_invocation_t* call = NULL;
    REQUIRE_OK(takt_async_invoke(next, &options, 1, &by, ready, NULL, &call));
    REQUIRE_OK(takt_fence_signal(ready));
    bool done = false;
    /* This thread does not help. */
    AWAIT((EXPECT_OK(takt_invocation_query(call, &done)), done));
    takt_value_t result;
    REQUIRE_OK(takt_invocation_take_results(call, 1, &result));
    EXPECT(result.i32 == i);
    takt_invocation_release(call);
    takt_fence_release(ready);
  }
  takt_invocation_cancel(endless);
  EXPECT_ERROR(takt_invocation_wait(endless, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_CANCELLED, "counter.spin");
  takt_invocation_release(endless);
  takt_function_release(next);
  takt_function_release(spin);
  takt_context_release(high);
  takt_context_release(low);
  takt_device_release(device);
  takt_instance_release(instance);
}

/* Native functions that see who else is in one. */
static atomic_int arrived;
static atomic_int inside;
static atomic_int overlaps;

static takt_status_t meet(void* state, size_t argument_count,
                          const takt_value_t* arguments, size_t result_count,
                          takt_value_t* out_results) {
  (void)state, (void)argument_count, (void)arguments, (void)result_count;
  atomic_fetch_add(&arrived, 1);
  AWAIT(atomic_load(&arrived) >= 2);
  out_results[0] = takt_value_i32(1);
  return NULL;
}

static takt_status_t be_alone(void* state, size_t argument_count,
                              const takt_value_t* arguments,
                              size_t result_count, takt_value_t* out_results) {
  (void)state, (void)argument_count, (void)arguments, (void)result_count;
  if (atomic_fetch_add(&inside, 1) != 0) atomic_fetch_add(&overlaps, 1);
  for (int i = 0; i < 10; ++i) sched_yield();
  atomic_fetch_sub(&inside, 1);
  out_results[0] = takt_value_i32(1);
  return NULL;
}

typedef struct reader_t {
  takt_context_t* context;
  int count;
  pthread_t thread;
} reader_t;

/* Without workers a program runs on the thread that issues it. */
static void* read_often(void* argument) {
  reader_t* reader = argument;
  takt_function_t* read = find_function(reader->context, "read");
  const takt_value_t arguments[4] = {takt_value_i32(1), takt_value_i64(2),
                                     takt_value_f32(3), takt_value_f64(4)};
  for (int i = 0; i < reader->count; ++i) {
    takt_invocation_t* call = NULL;
    REQUIRE_OK(takt_async_invoke(read, NULL, 4, arguments, NULL, NULL, &call));
    takt_value_t result;
    REQUIRE_OK(takt_function_invoke(read, NULL, 4, arguments, 1, &result));
    REQUIRE_OK(takt_invocation_wait(call, TAKT_INFINITE_FUTURE));
    takt_invocation_release(call);
  }
  takt_function_release(read);
  return NULL;
}

static void read_on_two_threads(takt_context_t* first, takt_context_t* second,
                                int count) {
  reader_t readers[2] = {{first, count, 0}, {second, count, 0}};
  for (int i = 0; i < 2; ++i) {
    if (pthread_create(&readers[i].thread, NULL, read_often, &readers[i])) {
      exit(1);
    }
  }
  for (int i = 0; i < 2; ++i) pthread_join(readers[i].thread, NULL);
}

static void programs_take_turns_in_a_context_only(void) {
  takt_instance_t* instance = create_instance(0);
  takt_device_t* device = create_device(instance, "local-sync");
  /* In two contexts: neither would return if the other did not run. */
  takt_context_t* first = create_counter(instance, device, meet);
  takt_context_t* second = create_counter(instance, device, meet);
  read_on_two_threads(first, second, 1);
  EXPECT(atomic_load(&arrived) == 4);
  takt_context_release(first);
  takt_context_release(second);
  /* In one: they never meet. */
  first = create_counter(instance, device, be_alone);
  read_on_two_threads(first, first, 100);
  EXPECT(atomic_load(&overlaps) == 0);
  takt_context_release(first);
  takt_device_release(device);
  takt_instance_release(instance);
}

/* A synchronous call takes its turn among the others. */
static void synchronous_calls_may_overlap_with_asynchronous_ones(void) {
  fixture_t f = fixture_create("local-task", kDag[0]);
  takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
  takt_buffer_view_t* outs[32];
  takt_invocation_t* calls[32];
  for (int i = 0; i < 32; ++i) {
    outs[i] = float_view(f.device, 4, kOneToFour);
    REQUIRE_OK(step(f.context, 0, view, outs[i], NULL, NULL, &calls[i]));
    takt_function_t* function = find_function(f.context, "step");
    const takt_value_t arguments[4] = {takt_value_i32(0), takt_value_ref(view),
                                       takt_value_ref(view),
                                       takt_value_ref(outs[0])};
    takt_value_t result;
    EXPECT_OK(takt_function_invoke(function, NULL, 4, arguments, 1, &result));
    EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=3 6 9 12");
    takt_values_release(1, &result);
    takt_function_release(function);
  }
  for (int i = 0; i < 32; ++i) {
    EXPECT_OK(takt_invocation_wait(calls[i], TAKT_INFINITE_FUTURE));
    expect_result(calls[i], "4xf32=3 6 9 12");
    takt_invocation_release(calls[i]);
    takt_buffer_view_release(outs[i]);
  }
  takt_buffer_view_release(view);
  fixture_destroy(&f);
}

/* Whatever order things are released in, what is in flight ends well. */
static void a_call_in_flight_keeps_its_function_and_context(void) {
  for (int i = 0; i < 4; ++i) {
    fixture_t f = fixture_create("local-task", kDag[i]);
    takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
    takt_buffer_view_t* out = float_view(f.device, 4, kOneToFour);
    takt_fence_t* wait = create_fence();
    takt_fence_t* signal = create_fence();
    takt_invocation_t* call = NULL;
    REQUIRE_OK(step(f.context, 0, view, out, wait, signal, &call));
    takt_invocation_release(call);
    takt_buffer_view_release(view);
    fixture_destroy(&f);
    REQUIRE_OK(takt_fence_signal(wait));
    EXPECT_OK(takt_fence_wait(signal, NULL, TAKT_INFINITE_FUTURE));
    EXPECT_VIEW(out, "4xf32=3 6 9 12");
    takt_buffer_view_release(out);
    takt_fence_release(wait);
    takt_fence_release(signal);

    /* And what is never signaled goes when its last fence does. */
    f = fixture_create("local-task", kDag[i]);
    view = float_view(f.device, 4, kOneToFour);
    wait = create_fence();
    REQUIRE_OK(step(f.context, 0, view, view, wait, NULL, NULL));
    takt_buffer_view_release(view);
    fixture_destroy(&f);
    takt_fence_fail(wait, takt_status_create(TAKT_STATUS_ABORTED, "the end"));
    takt_fence_release(wait);
  }
}

static void takes_moved_arguments(void) {
  for (int i = 0; i < 2; ++i) {
    fixture_t f = fixture_create("local-task", kMul[i]);
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.moved_arguments = TAKT_MOVE_ALL;
    takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
    takt_buffer_view_t* other = float_view(f.device, 4, kOneToFour);
    takt_fence_t* wait = create_fence();
    takt_invocation_t* call = NULL;
    /* On an error nothing is moved. */
    takt_buffer_view_t* wrong = float_view(f.device, 3, kOneToFour);
    EXPECT_ERROR(invoke(&f, "mul", &options, view, wrong, wait, NULL, &call),
                 TAKT_STATUS_INVALID_ARGUMENT,
                 "input 1: expected 4xf32, got 3xf32");
    EXPECT(call == NULL);
    takt_buffer_view_release(wrong);
    /* Now both belong to the call. */
    REQUIRE_OK(invoke(&f, "mul", &options, view, other, wait, NULL, &call));
    REQUIRE_OK(takt_fence_signal(wait));
    EXPECT_OK(takt_invocation_wait(call, TAKT_INFINITE_FUTURE));
    expect_result(call, "4xf32=1 4 9 16");
    takt_invocation_release(call);
    takt_fence_release(wait);
    fixture_destroy(&f);
  }
}

static void count_release(void* user_data) {
  atomic_fetch_add((atomic_int*)user_data, 1);
}

/* Storage of the test's own, whose release it sees. */
static takt_buffer_view_t* wrapped_view(const fixture_t* f, void* data,
                                        atomic_int* released) {
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_wrap(f->device, data, 4 * sizeof(float), NULL,
                              count_release, released, &buffer));
  const int64_t shape[1] = {4};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(
      takt_buffer_view_create(buffer, TAKT_ELEMENT_F32, 1, shape, &view));
  takt_buffer_release(buffer);
  return view;
}

/* Moved, it is given back by the call; lent, it is the caller's until then. */
static void moved_storage_is_free_once_it_has_been_read(void) {
  _Alignas(64) float data[16] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) {
    fixture_t f = fixture_create("local-task", kMul[i % 2]);
    const bool moves = i / 2 == 1;
    atomic_int released = 0;
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.moved_arguments = moves ? 1 : 0;
    takt_buffer_view_t* view = wrapped_view(&f, data, &released);
    takt_buffer_view_t* other = float_view(f.device, 4, kOneToFour);
    takt_fence_t* wait = create_fence();
    takt_invocation_t* call = NULL;
    REQUIRE_OK(invoke(&f, "mul", &options, view, other, wait, NULL, &call));
    EXPECT(atomic_load(&released) == 0);
    REQUIRE_OK(takt_fence_signal(wait));
    REQUIRE_OK(takt_invocation_wait(call, TAKT_INFINITE_FUTURE));
    expect_result(call, "4xf32=1 4 9 16");
    /* The invocation, which is still there, does not hold it. */
    EXPECT(atomic_load(&released) == (moves ? 1 : 0));
    if (!moves) takt_buffer_view_release(view);
    EXPECT(atomic_load(&released) == 1);
    takt_invocation_release(call);
    takt_fence_release(wait);
    takt_buffer_view_release(other);
    fixture_destroy(&f);
  }
}

static void an_explanation_names_the_call_that_will_signal(void) {
  for (int i = 0; i < 2; ++i) {
    fixture_t f = fixture_create("local-task", kMul[i]);
    takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
    takt_fence_t* wait = create_fence();
    takt_fence_t* signal = create_fence();
    REQUIRE_OK(invoke(&f, "mul", NULL, view, view, wait, signal, NULL));
    char* text = NULL;
    REQUIRE_OK(takt_fence_explain(signal, &text));
    EXPECT_CONTAINS(text, i == 0 ? "to be signaled by a call of simple.mul"
                                 : "to be signaled by a call of simple_async");
    takt_string_free(text);
    REQUIRE_OK(takt_fence_signal(wait));
    EXPECT_OK(takt_fence_wait(signal, f.instance, TAKT_INFINITE_FUTURE));
    takt_fence_release(wait);
    takt_fence_release(signal);
    takt_buffer_view_release(view);
    fixture_destroy(&f);
  }
}

static void fences_of_another_instance_are_fences(void) {
  fixture_t f = fixture_create("local-task", kMul[1]);
  fixture_t g = fixture_create("local-task", kMul[0]);
  takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
  takt_buffer_view_t* other = float_view(g.device, 4, kOneToFour);
  takt_invocation_t* first = NULL;
  takt_invocation_t* second = NULL;
  takt_fence_t* fence = NULL;
  REQUIRE_OK(invoke(&f, "mul", NULL, view, view, NULL, NULL, &first));
  REQUIRE_OK(takt_invocation_fence(first, &fence));
  REQUIRE_OK(invoke(&g, "mul", NULL, other, other, fence, NULL, &second));
  takt_fence_release(fence);
  REQUIRE_OK(takt_invocation_fence(second, &fence));
  EXPECT_OK(takt_fence_wait(fence, f.instance, TAKT_INFINITE_FUTURE));
  takt_fence_release(fence);
  /* Also once it is done. */
  REQUIRE_OK(takt_invocation_fence(second, &fence));
  bool reached = false;
  EXPECT_OK(takt_fence_query(fence, &reached));
  EXPECT(reached);
  takt_fence_release(fence);
  expect_result(second, "4xf32=1 4 9 16");
  takt_invocation_release(first);
  takt_invocation_release(second);
  takt_buffer_view_release(view);
  takt_buffer_view_release(other);
  fixture_destroy(&f);
  fixture_destroy(&g);
}

static void bad_input_is_refused(void) {
  for (int i = 0; i < 2; ++i) {
    fixture_t f = fixture_create("local-task", kMul[i]);
    takt_function_t* mul = find_function(f.context, "mul");
    takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
    takt_fence_t* fence = create_fence();
    const takt_value_t arguments[4] = {
        takt_value_ref(view), takt_value_ref(view), takt_value_ref(fence),
        takt_value_ref(fence)};
    takt_invocation_t* call = NULL;
    EXPECT_ERROR(takt_async_invoke(mul, NULL, 1, arguments, NULL, NULL, &call),
                 TAKT_STATUS_INVALID_ARGUMENT, "expected 2 inputs, got 1");
    /* Fences are not passed as arguments here. */
    EXPECT_ERROR(takt_async_invoke(mul, NULL, 4, arguments, NULL, NULL, &call),
                 TAKT_STATUS_INVALID_ARGUMENT, "expected 2 inputs, got 4");
    EXPECT_ERROR(
        takt_async_invoke(mul, NULL, 2, arguments + 1, NULL, NULL, &call),
        TAKT_STATUS_INVALID_ARGUMENT, "input 1: expected 4xf32, got hal.fence");
    EXPECT_ERROR(takt_async_invoke(mul, NULL, 2, NULL, NULL, NULL, &call),
                 TAKT_STATUS_INVALID_ARGUMENT, "arguments is NULL");
    EXPECT_ERROR(takt_async_invoke(NULL, NULL, 2, arguments, NULL, NULL, &call),
                 TAKT_STATUS_INVALID_ARGUMENT, "function is NULL");
    takt_async_options_t options;
    takt_async_options_init(&options);
    takt_indexed_fence_t indexed = {2, fence};
    options.argument_fence_count = 1;
    EXPECT_ERROR(
        takt_async_invoke(mul, &options, 2, arguments, NULL, NULL, &call),
        TAKT_STATUS_INVALID_ARGUMENT, "argument_fences is NULL");
    options.argument_fences = &indexed;
    EXPECT_ERROR(
        takt_async_invoke(mul, &options, 2, arguments, NULL, NULL, &call),
        TAKT_STATUS_INVALID_ARGUMENT, "fence of argument 2, but there are 2");
    takt_async_options_init(&options);
    options.result_fence_count = 1;
    options.result_fences = &indexed;
    EXPECT_ERROR(
        takt_async_invoke(mul, &options, 2, arguments, NULL, NULL, &call),
        TAKT_STATUS_INVALID_ARGUMENT, "fence of result 2, but there are 1");
    options.struct_size = 3;
    EXPECT_ERROR(
        takt_async_invoke(mul, &options, 2, arguments, NULL, NULL, &call),
        TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
    /* A barrier has no more shares than signallers. */
    takt_fence_t* barrier = NULL;
    REQUIRE_OK(takt_fence_create_barrier(1, &barrier));
    REQUIRE_OK(
        takt_async_invoke(mul, NULL, 2, arguments, NULL, barrier, &call));
    takt_invocation_t* none = NULL;
    EXPECT_ERROR(
        takt_async_invoke(mul, NULL, 2, arguments, NULL, barrier, &none),
        TAKT_STATUS_FAILED_PRECONDITION, "");
    EXPECT(none == NULL);
    EXPECT_OK(takt_fence_wait(barrier, f.instance, TAKT_INFINITE_FUTURE));
    takt_invocation_release(call);
    takt_fence_release(barrier);
    bool reached = true;
    EXPECT_OK(takt_fence_query(fence, &reached));
    EXPECT(!reached); /* No error has touched it. */
    takt_fence_release(fence);
    takt_buffer_view_release(view);
    takt_function_release(mul);
    fixture_destroy(&f);
  }
}

/* A call that a thread makes, and where its program stands. */
typedef struct early_t {
  takt_function_t* run;
  takt_fence_t* signal;
  takt_invocation_t* call;
  sem_t has_signaled;
  sem_t may_return;
} early_t;

static takt_status_t hold(void* state, size_t argument_count,
                          const takt_value_t* arguments, size_t result_count,
                          takt_value_t* out_results) {
  (void)argument_count, (void)arguments, (void)result_count, (void)out_results;
  early_t* early = state;
  sem_post(&early->has_signaled);
  sem_wait(&early->may_return);
  return NULL;
}

static takt_status_t give_state(void* user_data, void** out_state) {
  *out_state = user_data;
  return NULL;
}

static void* call_early(void* argument) {
  early_t* early = argument;
  const takt_value_t id = takt_value_i32(7);
  REQUIRE_OK(takt_async_invoke(early->run, NULL, 1, &id, NULL, early->signal,
                               &early->call));
  return NULL;
}

/* A device can be done before the program has returned. */
static void the_results_come_before_the_fence(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-task");
  early_t early;
  memset(&early, 0, sizeof(early));
  sem_init(&early.has_signaled, 0, 0);
  sem_init(&early.may_return, 0, 0);
  const takt_native_export_t mark = {"mark", "0i_v", hold};
  takt_module_t* modules[2] = {
      create_native_module(instance, "probe", &mark, &early, give_state),
      load_module(instance, TESTDATA("async/early.vmfb"))};
  takt_context_t* context = create_context_of(instance, device, modules, 2);
  early.run = find_function(context, "run");
  REQUIRE_OK(takt_fence_create(&early.signal));

  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, call_early, &early) == 0);
  sem_wait(&early.has_signaled);
  bool reached = true;
  EXPECT_OK(takt_fence_query(early.signal, &reached));
  EXPECT(!reached);
  sem_post(&early.may_return);
  EXPECT_OK(takt_fence_wait(early.signal, instance, TAKT_INFINITE_FUTURE));
  pthread_join(thread, NULL); /* Not for the results: for the handle. */
  takt_value_t result;
  EXPECT_OK(takt_invocation_take_results(early.call, 1, &result));
  EXPECT(result.i32 == 7);

  takt_invocation_release(early.call);
  takt_fence_release(early.signal);
  takt_function_release(early.run);
  takt_context_release(context);
  takt_module_release(modules[0]);
  takt_module_release(modules[1]);
  takt_device_release(device);
  takt_instance_release(instance);
  sem_destroy(&early.has_signaled);
  sem_destroy(&early.may_return);
}

int main(void) {
  RUN(runs_after_its_wait_fence);
  RUN(results_are_there_before_the_device_work_ends);
  RUN(the_callback_comes_before_the_fence);
  RUN(failures_follow_the_fences);
  RUN(cancel_ends_a_waiting_call);
  RUN(cancel_and_step_limit_end_a_running_program);
  RUN(a_wait_ends_at_its_deadline_though_its_thread_runs_the_program);
  RUN(a_program_gives_its_worker_to_a_more_urgent_call);
  RUN(programs_take_turns_in_a_context_only);
  RUN(synchronous_calls_may_overlap_with_asynchronous_ones);
  RUN(a_call_in_flight_keeps_its_function_and_context);
  RUN(takes_moved_arguments);
  RUN(moved_storage_is_free_once_it_has_been_read);
  RUN(an_explanation_names_the_call_that_will_signal);
  RUN(fences_of_another_instance_are_fences);
  RUN(the_results_come_before_the_fence);
  RUN(bad_input_is_refused);
  return test_result();
}
