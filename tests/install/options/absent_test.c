/* Goal: a part that the build is without is refused by name of its option, and
 * all else works.
 *
 *   absent_test [PART...]   the parts that are off, such as NPU
 *
 * TAKT_NATIVE_KERNELS, TAKT_AVX512 and TAKT_HWLOC are not seen here: the first
 * needs a module with such imports (tests/cpu/kernel_imports_test.cc), the
 * other two change no answer. */
#include "takt/npu.h"
#include "takt/parameters.h"
#include "takt/scheduler.h"
#include "takt/trace.h"
#include "tests/api/fixture.h"

static int part_count;
static char** parts;

static bool is_absent(const char* part) {
  for (int i = 0; i < part_count; ++i) {
    if (strcmp(parts[i], part) == 0) return true;
  }
  return false;
}

/* Takes the status of a call that needs the part. A part that is there may
 * refuse the argument. */
static void expect_part(const char* part, takt_status_t status) {
  if (is_absent(part)) {
    char text[64];
    snprintf(text, sizeof(text), "TAKT_%s is OFF", part);
    EXPECT_ERROR(status, TAKT_STATUS_UNIMPLEMENTED, text);
  } else {
    EXPECT(takt_status_code(status) != TAKT_STATUS_UNIMPLEMENTED);
    takt_status_free(status);
  }
}

static const char* policy(void) {
  return is_absent("SCHEDULER") ? "off" : "job-shop";
}

/* Handles are NULL of what is absent, and accessors take NULL. */
static void parts_are_refused_by_name(void) {
  takt_instance_t* instance = create_instance_with_policy(1, policy());

  takt_plan_t* plan = (takt_plan_t*)instance;
  expect_part("PLANNER", takt_plan_load("p", "x", 1, &plan));
  EXPECT(plan == NULL);
  takt_plan_release(plan);
  takt_plan_run_t* run = NULL;
  takt_plan_run_stop(run);
  takt_plan_run_release(run);

  takt_device_t* npu = (takt_device_t*)instance;
  const takt_npu_driver_t* driver = takt_npu_host_driver();
  EXPECT((driver == NULL) == is_absent("NPU"));
  expect_part("NPU", takt_npu_device_create(instance, driver, NULL, &npu));
  EXPECT((npu == NULL) == is_absent("NPU"));
  takt_device_release(npu);

  expect_part("TRACING", takt_tracing_start(instance, NULL));
  takt_tracing_stop(instance);
  takt_trace_t* trace = (takt_trace_t*)instance;
  expect_part("TRACING", takt_tracing_collect(instance, &trace));
  EXPECT((trace == NULL) == is_absent("TRACING"));
  takt_trace_release(trace);

  takt_parameters_t* parameters = (takt_parameters_t*)instance;
  expect_part(
      "IO_PARAMETERS",
      takt_parameters_open(instance, TESTDATA("parameters/created.irpa"), NULL,
                           &parameters));
  EXPECT((parameters == NULL) == is_absent("IO_PARAMETERS"));
  takt_parameters_release(parameters);
  takt_instance_release(instance);
}

static void policies_need_the_scheduler(void) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = "job-shop";
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.scheduler = &scheduler;
  takt_instance_t* instance = NULL;
  expect_part("SCHEDULER", takt_instance_create(&options, &instance));
  EXPECT((instance == NULL) == is_absent("SCHEDULER"));
  takt_instance_release(instance);

  /* Options that name no policy ask for the best one that is there. */
  REQUIRE_OK(takt_instance_create(NULL, &instance));
  EXPECT(strcmp(takt_scheduler_policy(instance), policy()) == 0);
  const char* const* names = NULL;
  const size_t name_count = takt_scheduler_policy_names(&names);
  EXPECT((name_count == 1) == is_absent("SCHEDULER"));
  EXPECT(strcmp(names[0], "off") == 0);
  expect_part("SCHEDULER", takt_scheduler_set_hot(instance, false));
  takt_instance_release(instance);
}

static void windows_need_the_planner(void) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.window_ns = 20000000;
  scheduler.window_budget_ns = 1000000;
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 1;
  options.scheduler = &scheduler;
  takt_instance_t* instance = NULL;
  expect_part("PLANNER", takt_instance_create(&options, &instance));
  EXPECT((instance == NULL) == is_absent("PLANNER"));
  takt_instance_release(instance);
}

/* Links a module that imports vmvx, or has executables of that format. */
static takt_status_t link_vmvx(const char* path) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_module_t* module = load_module(instance, path);
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = (takt_module_t* const*)&module;
  options.module_count = 1;
  options.devices = (takt_device_t* const*)&device;
  options.device_count = 1;
  takt_context_t* context = NULL;
  takt_status_t status = takt_context_create(instance, &options, &context);
  takt_context_release(context);
  takt_module_release(module);
  takt_device_release(device);
  takt_instance_release(instance);
  return status;
}

static void vmvx_modules_are_refused(void) {
  expect_part("VMVX", link_vmvx(TESTDATA("vmvx/vmvx_calls.vmfb")));
  takt_status_t status = link_vmvx(TESTDATA("api/simple_mul.vmfb"));
  if (is_absent("VMVX")) {
    EXPECT_CONTAINS(takt_status_message(status), "TAKT_VMVX is OFF");
    takt_status_free(status);
  } else {
    EXPECT_OK(status);
  }
}

/* fat.vmfb has code for three architectures. */
static void compiled_code_runs(const char* device_name) {
  takt_instance_t* instance = create_instance_with_policy(2, policy());
  takt_device_t* device = create_device(instance, device_name);
  takt_module_t* module = load_module(instance, TESTDATA("fat/fat.vmfb"));
  takt_context_t* context = create_context(instance, device, module);
  takt_function_t* function = find_function(context, "add");
  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  takt_buffer_view_t* view = float_view(device, 8, values);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, 2, arguments, 1, &result));
  float sums[8] = {0};
  REQUIRE_OK(takt_buffer_view_copy_to_host(takt_value_as_buffer_view(&result),
                                           sums, sizeof(sums)));
  for (int i = 0; i < 8; ++i) EXPECT(sums[i] == 2 * values[i]);
  takt_values_release(1, &result);
  takt_buffer_view_release(view);
  takt_function_release(function);
  takt_context_release(context);
  takt_module_release(module);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void on_both_devices(void) {
  compiled_code_runs("local-sync");
  compiled_code_runs("local-task");
}

int main(int argc, char** argv) {
  part_count = argc - 1;
  parts = argv + 1;
  RUN(parts_are_refused_by_name);
  RUN(policies_need_the_scheduler);
  RUN(windows_need_the_planner);
  RUN(vmvx_modules_are_refused);
  RUN(on_both_devices);
  return test_result();
}
