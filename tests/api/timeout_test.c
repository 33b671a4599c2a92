/* Calls that are given up: what they wait for never comes, or they run for
 * ever. Nothing here depends on how long anything takes: a call that could end
 * by itself has an hour. */
#include <sched.h>

#include "takt/takt.h"
#include "tests/api/fixture.h"

static const int64_t kSoon = 1000000;
static const int64_t kHour = 3600000000000;
static const char* const kDevices[] = {"local-sync", "local-task"};

/* Native module "probe" gives out one fence. */
typedef struct probe_t {
  takt_fence_t* fence;
  takt_function_t* nested; /* Called with a timeout meanwhile; may be NULL. */
  takt_status_code_t nested_code;
} probe_t;

static takt_status_t give_fence(void* state, size_t argument_count,
                                const takt_value_t* arguments,
                                size_t result_count,
                                takt_value_t* out_results) {
  (void)argument_count, (void)arguments, (void)result_count;
  probe_t* probe = state;
  if (probe->nested != NULL) {
    takt_invoke_options_t options;
    takt_invoke_options_init(&options);
    options.timeout_ns = kHour;
    const takt_value_t id = takt_value_i32(1);
    takt_value_t result;
    takt_status_t status =
        takt_function_invoke(probe->nested, &options, 1, &id, 1, &result);
    probe->nested_code = takt_status_code(status);
    takt_status_free(status);
  }
  takt_fence_retain(probe->fence);
  out_results[0] = takt_value_ref(probe->fence);
  return NULL;
}

typedef struct await_t {
  fixture_t f;
  probe_t probe;
} await_t;

static void await_create_in(await_t* await, takt_instance_t* instance,
                            const char* device) {
  await->f.instance = instance;
  await->f.device = create_device(await->f.instance, device);
  REQUIRE_OK(takt_fence_create(&await->probe.fence));
  await->probe.nested = NULL;
  await->probe.nested_code = TAKT_STATUS_OK;
  const takt_native_export_t fence = {"fence", "0v_r", give_fence};
  takt_native_module_options_t native;
  takt_native_module_options_init(&native);
  native.name = "probe";
  native.exports = &fence;
  native.export_count = 1;
  native.user_data = &await->probe;
  takt_module_t* modules[2] = {NULL, NULL};
  REQUIRE_OK(
      takt_native_module_create(await->f.instance, &native, &modules[0]));
  modules[1] = load_module(await->f.instance, TESTDATA("async/await.vmfb"));
  await->f.context =
      create_context_of(await->f.instance, await->f.device, modules, 2);
  takt_module_release(modules[0]);
  await->f.module = modules[1];
}

static void await_create(await_t* await, int32_t worker_count,
                         const char* device) {
  await_create_in(await, create_instance(worker_count), device);
}

static void await_destroy(await_t* await) {
  fixture_destroy(&await->f);
  takt_fence_release(await->probe.fence);
}

static takt_status_t call(takt_context_t* context, const char* name,
                          int64_t timeout_ns, int32_t id,
                          takt_value_t* result) {
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.timeout_ns = timeout_ns;
  takt_function_t* function = find_function(context, name);
  const takt_value_t argument = takt_value_i32(id);
  takt_status_t status =
      takt_function_invoke(function, &options, 1, &argument, 1, result);
  takt_function_release(function);
  return status;
}

/* wait() is synchronous and parks; pass() is asynchronous and leaves a queue
 * operation that waits. */
static void ends_a_call_that_waits_for_ever(void) {
  const char* const names[] = {"wait", "pass"};
  const char* const messages[] = {"await.wait: not done within 1 ms",
                                  "await.pass: not done within 1 ms"};
  for (int i = 0; i < 8; ++i) {
    await_t await;
    await_create(&await, i & 4 ? 2 : 0, kDevices[i >> 1 & 1]);
    takt_value_t result;
    EXPECT_ERROR(call(await.f.context, names[i & 1], kSoon, 5, &result),
                 TAKT_STATUS_DEADLINE_EXCEEDED, messages[i & 1]);
    EXPECT(result.kind == TAKT_VALUE_NONE);
    /* The context stays usable, and a fence that is reached ends the wait. */
    REQUIRE_OK(takt_fence_signal(await.probe.fence));
    REQUIRE_OK(call(await.f.context, names[i & 1], kHour, 6, &result));
    EXPECT(result.i32 == 6);
    await_destroy(&await);
  }
}

/* No thread of the instance's fires timers. */
static void ends_without_a_thread_for_timers(void) {
  for (int i = 0; i < 4; ++i) {
    takt_instance_options_t options;
    takt_instance_options_init(&options);
    options.worker_count = 0;
    options.host_loop = true;
    takt_instance_t* instance = NULL;
    REQUIRE_OK(takt_instance_create(&options, &instance));
    await_t await;
    await_create_in(&await, instance, kDevices[i & 1]);
    takt_value_t result;
    EXPECT_ERROR(
        call(await.f.context, i & 2 ? "wait" : "pass", kSoon, 5, &result),
        TAKT_STATUS_DEADLINE_EXCEEDED, "not done within 1 ms");
    await_destroy(&await);
  }
}

/* With a limit or without. */
static void ends_when_the_last_reference_to_its_fence_goes(void) {
  for (int i = 0; i < 4; ++i) {
    await_t await;
    await_create(&await, i & 2 ? 2 : 0, kDevices[i & 1]);
    takt_value_t result;
    EXPECT_ERROR(call(await.f.context, "forget", 0, 5, &result),
                 TAKT_STATUS_ABORTED, "await.forget: ");
    EXPECT(result.kind == TAKT_VALUE_NONE);
    EXPECT_ERROR(call(await.f.context, "forget", kHour, 5, &result),
                 TAKT_STATUS_ABORTED, "await.forget: ");
    await_destroy(&await);
  }
}

static takt_context_t* create_counter_on_workers(takt_instance_t* instance) {
  takt_device_t* device = create_device(instance, "local-task");
  takt_context_t* context =
      create_counter(instance, device, fail_without_robot);
  takt_device_release(device);
  return context;
}

static void ends_a_program_that_runs_for_ever(void) {
  for (int32_t worker_count = 0; worker_count < 3; ++worker_count) {
    takt_instance_t* instance = create_instance(worker_count);
    takt_context_t* context = create_counter_on_workers(instance);
    takt_value_t result;
    EXPECT_ERROR(call(context, "spin", kSoon, -1, &result),
                 TAKT_STATUS_DEADLINE_EXCEEDED,
                 "counter.spin: not done within 1 ms");
    REQUIRE_OK(call(context, "spin", kHour, 10, &result));
    EXPECT(result.i32 == 10);
    takt_context_release(context);
    takt_instance_release(instance);
  }
}

/* Programs of one context take turns, and another has it. */
static void ends_a_call_that_waits_for_its_turn(void) {
  takt_instance_t* instance = create_instance(1);
  takt_context_t* context = create_counter_on_workers(instance);
  takt_function_t* spin = find_function(context, "spin");
  const takt_value_t forever = takt_value_i32(-1);
  takt_invocation_t* first = NULL;
  REQUIRE_OK(takt_async_invoke(spin, NULL, 1, &forever, NULL, NULL, &first));
  AWAIT(takt_invocation_state(first) == TAKT_INVOCATION_RUNNING);
  takt_value_t result;
  EXPECT_ERROR(call(context, "spin", kSoon, 1, &result),
               TAKT_STATUS_DEADLINE_EXCEEDED, "counter.spin: not done within");
  EXPECT(takt_invocation_state(first) == TAKT_INVOCATION_RUNNING);
  takt_invocation_cancel(first);
  EXPECT_ERROR(takt_invocation_wait(first, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_CANCELLED, "counter.spin");
  REQUIRE_OK(call(context, "spin", kHour, 3, &result));
  EXPECT(result.i32 == 3);
  takt_invocation_release(first);
  takt_function_release(spin);
  takt_context_release(context);
  takt_instance_release(instance);
}

/* An asynchronous call, of either kind, whose wait fence does not come. */
static void fails_the_signal_fence_of_an_asynchronous_call(void) {
  const char* const modules[] = {TESTDATA("async/dag.cpu.vmfb"),
                                 TESTDATA("async/dag.cpu.async.vmfb")};
  const float values[4] = {1, 2, 3, 4};
  for (int i = 0; i < 2; ++i) {
    fixture_t f = fixture_create("local-task", modules[i]);
    takt_function_t* fn0 = find_function(f.context, "fn0");
    takt_buffer_view_t* in = float_view(f.device, 4, values);
    takt_buffer_view_t* out = float_view(f.device, 4, values);
    takt_value_t arguments[2] = {takt_value_ref(in), takt_value_ref(out)};
    takt_fence_t* fences[2] = {NULL, NULL};
    for (int j = 0; j < 2; ++j) REQUIRE_OK(takt_fence_create(&fences[j]));
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.timeout_ns = kSoon;
    options.cancellable = false;
    takt_invocation_t* invocation = NULL;
    REQUIRE_OK(takt_async_invoke(fn0, &options, 2, arguments, fences[0],
                                 fences[1], &invocation));
    EXPECT_ERROR(takt_fence_wait(fences[1], f.instance, TAKT_INFINITE_FUTURE),
                 TAKT_STATUS_DEADLINE_EXCEEDED,
                 "dag.fn0: not done within 1 ms");
    EXPECT_ERROR(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE),
                 TAKT_STATUS_DEADLINE_EXCEEDED, "dag.fn0");
    EXPECT_VIEW(out, "4xf32=1 2 3 4");
    EXPECT_OK(takt_fence_signal(fences[0])); /* Too late: nothing comes. */
    takt_invocation_release(invocation);

    options.timeout_ns = kHour;
    REQUIRE_OK(takt_async_invoke(fn0, &options, 2, arguments, fences[0], NULL,
                                 &invocation));
    EXPECT_OK(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
    EXPECT_VIEW(out, "4xf32=2 4 6 8");
    takt_invocation_release(invocation);
    for (int j = 0; j < 2; ++j) takt_fence_release(fences[j]);
    takt_buffer_view_release(in);
    takt_buffer_view_release(out);
    takt_function_release(fn0);
    fixture_destroy(&f);
  }
}

static void gives_the_results_of_a_call_that_is_done_in_time(void) {
  const char* const modules[] = {TESTDATA("api/simple_mul.vmfb"),
                                 TESTDATA("api/simple_mul_async.vmfb")};
  const float values[4] = {1, 2, 3, 4};
  for (int i = 0; i < 8; ++i) {
    fixture_t f = fixture_create_with(i & 4 ? 2 : 0, kDevices[i >> 1 & 1],
                                      modules[i & 1]);
    takt_function_t* mul = find_function(f.context, "mul");
    takt_buffer_view_t* view = float_view(f.device, 4, values);
    takt_value_t arguments[2] = {takt_value_ref(view), takt_value_ref(view)};
    takt_value_t result;
    takt_invoke_options_t options;
    takt_invoke_options_init(&options);
    options.timeout_ns = kHour;
    REQUIRE_OK(takt_function_invoke(mul, &options, 2, arguments, 1, &result));
    EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=1 4 9 16");
    takt_values_release(1, &result);
    takt_buffer_view_release(view);
    takt_function_release(mul);
    fixture_destroy(&f);
  }
}

static void refuses_negative_limits(void) {
  await_t await;
  await_create(&await, 1, "local-task");
  takt_value_t result;
  EXPECT_ERROR(call(await.f.context, "wait", -1, 5, &result),
               TAKT_STATUS_INVALID_ARGUMENT,
               "await.wait: options: timeout_ns: expected 0 or more, got -1");
  /* Given fences, a synchronous call does not wait. */
  takt_function_t* pass = find_function(await.f.context, "pass");
  takt_value_t arguments[3] = {takt_value_i32(1), takt_value_ref(NULL),
                               takt_value_ref(await.probe.fence)};
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.timeout_ns = kHour;
  EXPECT_ERROR(takt_function_invoke(pass, &options, 3, arguments, 1, &result),
               TAKT_STATUS_INVALID_ARGUMENT, "await.pass: options: timeout_ns");
  takt_function_release(pass);
  await_destroy(&await);
}

/* It could only wait for itself. */
static void refuses_a_limit_in_a_call_of_the_calling_context(void) {
  await_t await;
  await_create(&await, 0, "local-sync");
  REQUIRE_OK(takt_fence_signal(await.probe.fence));
  await.probe.nested = find_function(await.f.context, "wait");
  takt_value_t result;
  EXPECT_OK(call(await.f.context, "wait", 0, 5, &result));
  EXPECT(await.probe.nested_code == TAKT_STATUS_FAILED_PRECONDITION);
  takt_function_release(await.probe.nested);
  await_destroy(&await);
}

/* simple_mul as bytecode, the loop of whose kernel never ends: its step is 0.
 */
static fixture_t endless_kernel(int32_t worker_count, const char* device) {
  enum { kStep = 5703 }; /* Of models/simple_mul.vmvx.vmfb. */
  static unsigned char bytes[8192];
  fixture_t f = {0};
  f.instance = create_instance(worker_count);
  f.device = create_device(f.instance, device);
  FILE* file = fopen(TESTDATA("models/simple_mul.vmvx.vmfb"), "rb");
  EXPECT(file != NULL);
  const size_t length = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
  if (file != NULL) fclose(file);
  EXPECT(length > kStep && length < sizeof(bytes) && bytes[kStep] == 1);
  bytes[kStep] = 0;
  REQUIRE_OK(
      takt_module_load_memory(f.instance, bytes, length, NULL, &f.module));
  f.context = create_context(f.instance, f.device, f.module);
  return f;
}

static void an_endless_kernel_ends_with_its_call(void) {
  const float values[4] = {1, 2, 3, 4};
  for (int i = 0; i < 2; ++i) {
    fixture_t f = endless_kernel(1, kDevices[i]);
    takt_function_t* mul = find_function(f.context, "simple_mul");
    takt_buffer_view_t* view = float_view(f.device, 4, values);
    const takt_value_t arguments[2] = {takt_value_ref(view),
                                       takt_value_ref(view)};
    takt_value_t result;
    takt_invoke_options_t limited;
    takt_invoke_options_init(&limited);
    limited.step_limit = 100000;
    EXPECT_ERROR(takt_function_invoke(mul, &limited, 2, arguments, 1, &result),
                 TAKT_STATUS_RESOURCE_EXHAUSTED, "the step limit is reached");
    takt_invoke_options_init(&limited);
    limited.timeout_ns = kSoon;
    EXPECT_ERROR(takt_function_invoke(mul, &limited, 2, arguments, 1, &result),
                 TAKT_STATUS_DEADLINE_EXCEEDED, "simple_mul");
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.step_limit = 100000;
    takt_invocation_t* invocation = NULL;
    REQUIRE_OK(takt_async_invoke(mul, &options, 2, arguments, NULL, NULL,
                                 &invocation));
    EXPECT_ERROR(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE),
                 TAKT_STATUS_RESOURCE_EXHAUSTED, "the step limit is reached");
    takt_invocation_release(invocation);
    if (i == 1) { /* On local-sync this thread may run the kernel. */
      REQUIRE_OK(
          takt_async_invoke(mul, NULL, 2, arguments, NULL, NULL, &invocation));
      takt_invocation_cancel(invocation);
      EXPECT_ERROR(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE),
                   TAKT_STATUS_CANCELLED, "");
      takt_invocation_release(invocation);
    }
    takt_buffer_view_release(view);
    takt_function_release(mul);
    fixture_destroy(&f); /* Returns: no kernel runs any more. */
  }
}

int main(void) {
  RUN(ends_a_call_that_waits_for_ever);
  RUN(ends_without_a_thread_for_timers);
  RUN(ends_when_the_last_reference_to_its_fence_goes);
  RUN(ends_a_program_that_runs_for_ever);
  RUN(an_endless_kernel_ends_with_its_call);
  RUN(ends_a_call_that_waits_for_its_turn);
  RUN(fails_the_signal_fence_of_an_asynchronous_call);
  RUN(gives_the_results_of_a_call_that_is_done_in_time);
  RUN(refuses_negative_limits);
  RUN(refuses_a_limit_in_a_call_of_the_calling_context);
  return test_result();
}
