/* A plugin that uses Takt, such as a node of a robot is: unload_test.c loads
 * and unloads it, and libtakt with it. */
#define _GNU_SOURCE
#include "tests/api/unload_plugin.h"

#include "takt/trace.h"
#include "tests/api/npu_fixture.h"

static void call_mul(takt_device_t* device, takt_context_t* context) {
  const float values[4] = {1, 2, 3, 4};
  float products[4] = {0};
  takt_function_t* function = find_function(context, "mul");
  takt_value_t arguments[2];
  takt_value_t result;
  memset(&result, 0, sizeof(result));
  arguments[0] = takt_value_ref(float_view(device, 4, values));
  arguments[1] = takt_value_ref(float_view(device, 4, values));
  EXPECT_OK(takt_function_invoke(function, NULL, 2, arguments, 1, &result));
  EXPECT_OK(takt_buffer_view_copy_to_host(takt_value_as_buffer_view(&result),
                                          products, sizeof(products)));
  EXPECT(products[3] == 16);
  takt_values_release(1, &result);
  takt_values_release(2, arguments);
  takt_function_release(function);
}

static void calls(const char* device) {
  fixture_t fixture = fixture_create(device, TESTDATA("api/simple_mul.vmfb"));
  call_mul(fixture.device, fixture.context);
  fixture_destroy(&fixture);
}
static void calls_on_workers(void) { calls("local-task"); }
static void calls_here(void) { calls("local-sync"); }

/* Kernels in bytecode, whose products take memory of the thread. */
static void calls_bytecode(void) {
  fixture_t fixture =
      fixture_create("local-sync", TESTDATA("models/add.vmvx.vmfb"));
  const float values[4] = {1, 2, 3, 4};
  takt_function_t* function = find_function(fixture.context, "add");
  takt_value_t arguments[2];
  takt_value_t result;
  memset(&result, 0, sizeof(result));
  for (int i = 0; i < 2; ++i) {
    arguments[i] = takt_value_ref(float_view(fixture.device, 4, values));
  }
  EXPECT_OK(takt_function_invoke(function, NULL, 2, arguments, 1, &result));
  takt_values_release(1, &result);
  takt_values_release(2, arguments);
  takt_function_release(function);
  fixture_destroy(&fixture);
}

/* Periods, the scheduler with its windows, and a trace. */
static void streams(void) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = "job-shop";
  scheduler.window_ns = 1000000;
  fixture_t fixture =
      fixture_create_scheduled(2, &scheduler, TESTDATA("api/simple_mul.vmfb"));
  takt_tracing_options_t tracing;
  takt_tracing_options_init(&tracing);
  EXPECT_OK(takt_tracing_start(fixture.instance, &tracing));
  takt_function_t* function = find_function(fixture.context, "mul");
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.period_ns = 500000;
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(function, &options, &stream));
  const float values[4] = {1, 2, 3, 4};
  takt_value_t arguments[2];
  for (int i = 0; i < 2; ++i) {
    arguments[i] = takt_value_ref(float_view(fixture.device, 4, values));
  }
  takt_value_t result;
  memset(&result, 0, sizeof(result));
  takt_stream_job_t job;
  EXPECT_OK(takt_stream_set_input(stream, 2, arguments));
  EXPECT_OK(takt_stream_start(stream, 0));
  AWAIT(takt_stream_take_output(stream, 1, &result, &job));
  takt_stream_stop(stream);
  EXPECT_OK(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
  takt_tracing_stop(fixture.instance);
  takt_trace_t* trace = NULL;
  EXPECT_OK(takt_tracing_collect(fixture.instance, &trace));
  takt_trace_release(trace);
  takt_values_release(1, &result);
  takt_values_release(2, arguments);
  takt_stream_release(stream);
  takt_function_release(function);
  fixture_destroy(&fixture);
}

/* The simulated NPU, in real time: it has threads. */
static void uses_npu(void) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  npu_t npu = npu_create_in(create_instance(2), "local-task",
                            takt_npu_sim_driver(), &options);
  takt_module_t* module =
      load_module(npu.instance, TESTDATA("npu/route_a.vmfb"));
  takt_context_options_t context_options;
  takt_context_options_init(&context_options);
  context_options.modules = &module;
  context_options.module_count = 1;
  context_options.devices = npu.devices;
  context_options.device_count = 2;
  takt_context_t* context = NULL;
  REQUIRE_OK(takt_context_create(npu.instance, &context_options, &context));
  takt_function_t* function = find_function(context, "run");
  static const int64_t kShapes[3][2] = {{32, 64}, {64, 48}, {32, 48}};
  static const int32_t kZeros[64 * 64];
  takt_value_t arguments[3];
  takt_value_t result;
  memset(&result, 0, sizeof(result));
  for (int i = 0; i < 3; ++i) {
    const size_t bytes = i < 2 ? 1 : 4;
    takt_buffer_view_t* view = NULL;
    REQUIRE_OK(takt_buffer_view_copy_from_host(
        npu.devices[0], i < 2 ? TAKT_ELEMENT_I8 : TAKT_ELEMENT_I32, 2,
        kShapes[i], kZeros, (size_t)(kShapes[i][0] * kShapes[i][1]) * bytes,
        &view));
    arguments[i] = takt_value_ref(view);
  }
  EXPECT_OK(takt_function_invoke(function, NULL, 3, arguments, 1, &result));
  takt_values_release(1, &result);
  takt_values_release(3, arguments);
  takt_function_release(function);
  takt_context_release(context);
  takt_module_release(module);
  npu_destroy(&npu);
}

/* A callback on a worker releases the last reference to its instance. */
typedef struct last_reference_t {
  unload_callback_t callback;
  takt_device_t* device;
  takt_invocation_t* invocation;
  takt_instance_t* instance;
} last_reference_t;

static void let_go(unload_callback_t* callback, takt_status_t status) {
  last_reference_t* last = (last_reference_t*)callback;
  EXPECT_OK(status);
  takt_invocation_release(last->invocation);
  takt_device_release(last->device);
  takt_instance_release(last->instance);
  free(last);
}

static void (*reached_callback)(void* user_data, takt_status_t status);

static void worker_lets_go(void) {
  fixture_t fixture =
      fixture_create("local-task", TESTDATA("api/simple_mul_async.vmfb"));
  takt_function_t* function = find_function(fixture.context, "mul");
  const float values[4] = {1, 2, 3, 4};
  takt_value_t arguments[2];
  for (int i = 0; i < 2; ++i) {
    arguments[i] = takt_value_ref(float_view(fixture.device, 4, values));
  }
  takt_fence_t* begin = NULL;
  takt_fence_t* end = NULL;
  REQUIRE_OK(takt_fence_create(&begin));
  REQUIRE_OK(takt_fence_create(&end));
  last_reference_t* last = (last_reference_t*)malloc(sizeof(*last));
  last->callback.let_go = &let_go;
  last->device = fixture.device;
  last->instance = fixture.instance;
  REQUIRE_OK(takt_async_invoke(function, NULL, 2, arguments, begin, end,
                               &last->invocation));
  takt_values_release(2, arguments);
  takt_function_release(function);
  takt_context_release(fixture.context);
  takt_module_release(fixture.module);
  takt_fence_on_reached(end, reached_callback, last);
  EXPECT_OK(takt_fence_signal(begin));
  takt_fence_release(begin);
  takt_fence_release(end);
}

typedef struct use_t {
  const char* name;
  void (*run)(void);
} use_t;

static const use_t kUses[] = {
    {"calls_on_workers", &calls_on_workers},
    {"calls_here", &calls_here},
    {"calls_bytecode", &calls_bytecode},
    {"streams", &streams},
    {"uses_npu", &uses_npu},
    {"worker_lets_go", &worker_lets_go},
};

__attribute__((visibility("default"))) int unload_plugin_run(
    const char* name, void (*reached)(void* user_data, takt_status_t status)) {
  reached_callback = reached;
  test_failure_count = 0;
  for (size_t i = 0; i < sizeof(kUses) / sizeof(kUses[0]); ++i) {
    if (strcmp(kUses[i].name, name) != 0) continue;
    kUses[i].run();
    return test_failure_count;
  }
  return -1;
}
