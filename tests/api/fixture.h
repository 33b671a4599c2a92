/* What most tests start from: an instance, a device, and a context of one
 * module. */
#ifndef TAKT_TESTS_API_FIXTURE_H_
#define TAKT_TESTS_API_FIXTURE_H_

#include "takt/native_module.h"
#include "takt/plan_run.h"
#include "takt/scheduler.h"
#include "tests/api/lead_time.h"
#include "tests/api/test.h"

typedef struct fixture_t {
  takt_instance_t* instance;
  takt_device_t* device;
  takt_module_t* module;
  takt_context_t* context;
} fixture_t;

static inline takt_instance_t* create_instance(int32_t worker_count) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = worker_count;
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  return instance;
}

/* The same with that scheduler, borrowed. */
static inline takt_instance_t* create_scheduled_instance(
    int32_t worker_count, const takt_scheduler_options_t* scheduler) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = worker_count;
  options.scheduler = scheduler;
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  return instance;
}

/* The same with that policy. */
static inline takt_instance_t* create_instance_with_policy(int32_t worker_count,
                                                           const char* policy) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = policy;
  return create_scheduled_instance(worker_count, &scheduler);
}

static inline takt_device_t* create_device(takt_instance_t* instance,
                                           const char* name) {
  takt_device_t* device = NULL;
  REQUIRE_OK(takt_device_create(instance, name, NULL, &device));
  return device;
}

static inline takt_module_t* load_module(takt_instance_t* instance,
                                         const char* path) {
  takt_module_t* module = NULL;
  REQUIRE_OK(takt_module_load_file(instance, path, NULL, &module));
  return module;
}

/* Of several modules. `device` NULL: without one. */
static inline takt_context_t* create_context_of(takt_instance_t* instance,
                                                takt_device_t* device,
                                                takt_module_t* const* modules,
                                                size_t module_count) {
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = modules;
  options.module_count = module_count;
  options.devices = &device;
  options.device_count = device != NULL ? 1 : 0;
  takt_context_t* context = NULL;
  REQUIRE_OK(takt_context_create(instance, &options, &context));
  return context;
}

static inline takt_context_t* create_context(takt_instance_t* instance,
                                             takt_device_t* device,
                                             takt_module_t* module) {
  return create_context_of(instance, device, &module, 1);
}

/* `device_name` NULL: without a device. */
static inline fixture_t fixture_create_with(int32_t worker_count,
                                            const char* device_name,
                                            const char* module_path) {
  fixture_t fixture;
  fixture.instance = create_instance(worker_count);
  fixture.device =
      device_name != NULL ? create_device(fixture.instance, device_name) : NULL;
  fixture.module = load_module(fixture.instance, module_path);
  fixture.context =
      create_context(fixture.instance, fixture.device, fixture.module);
  return fixture;
}

/* The same with two workers. */
static inline fixture_t fixture_create(const char* device_name,
                                       const char* module_path) {
  return fixture_create_with(2, device_name, module_path);
}

/* With that scheduler, and a device that learns no costs, so that nothing is
 * too small to be scheduled. */
static inline fixture_t fixture_create_scheduled(
    int32_t worker_count, const takt_scheduler_options_t* scheduler,
    const char* module_path) {
  fixture_t fixture;
  fixture.instance = create_scheduled_instance(worker_count, scheduler);
  takt_device_options_t device_options;
  takt_device_options_init(&device_options);
  device_options.learn_costs = false;
  REQUIRE_OK(takt_device_create(fixture.instance, "local-task", &device_options,
                                &fixture.device));
  fixture.module = load_module(fixture.instance, module_path);
  fixture.context =
      create_context(fixture.instance, fixture.device, fixture.module);
  return fixture;
}

/* The same with that policy. */
static inline fixture_t fixture_create_with_policy(const char* policy,
                                                   int32_t worker_count,
                                                   const char* module_path) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = policy;
  return fixture_create_scheduled(worker_count, &scheduler, module_path);
}

static inline void fixture_destroy(fixture_t* fixture) {
  takt_context_release(fixture->context);
  takt_module_release(fixture->module);
  takt_device_release(fixture->device);
  takt_instance_release(fixture->instance);
}

/* A native module of one function. `create_state` NULL: without a state. */
static inline takt_module_t* create_native_module(
    takt_instance_t* instance, const char* name,
    const takt_native_export_t* function, void* user_data,
    takt_status_t (*create_state)(void* user_data, void** out_state)) {
  takt_native_module_options_t options;
  takt_native_module_options_init(&options);
  options.name = name;
  options.exports = function;
  options.export_count = 1;
  options.user_data = user_data;
  options.create_state = create_state;
  takt_module_t* module = NULL;
  REQUIRE_OK(takt_native_module_create(instance, &options, &module));
  return module;
}

/* A native function that fails. */
static inline takt_status_t fail_without_robot(void* state,
                                               size_t argument_count,
                                               const takt_value_t* arguments,
                                               size_t result_count,
                                               takt_value_t* out_results) {
  (void)state, (void)argument_count, (void)arguments;
  (void)result_count, (void)out_results;
  return takt_status_create(TAKT_STATUS_UNIMPLEMENTED, "no robot here");
}

/* A module "robot" whose read() has `convention`. */
static inline takt_module_t* create_robot_module(takt_instance_t* instance,
                                                 const char* convention,
                                                 takt_native_callback_t read) {
  const takt_native_export_t export_read = {"read", convention, read};
  return create_native_module(instance, "robot", &export_read, NULL, NULL);
}

/* api/counter.vmfb, with a robot that reads by `read`. `device` NULL: without
 * one. */
static inline takt_context_t* create_counter(takt_instance_t* instance,
                                             takt_device_t* device,
                                             takt_native_callback_t read) {
  takt_module_t* modules[2] = {
      create_robot_module(instance, "0iIfF_i", read),
      load_module(instance, TESTDATA("api/counter.vmfb"))};
  takt_context_t* context = create_context_of(instance, device, modules, 2);
  takt_module_release(modules[0]);
  takt_module_release(modules[1]);
  return context;
}

/* Options with which a run follows all of a plan. By default it leaves out
 * kernels as small as those of tests. */
static inline takt_plan_run_options_t plan_run_options(void) {
  takt_plan_run_options_t options;
  takt_plan_run_options_init(&options);
  options.timing.small_ns = 0;
  return options;
}

static inline takt_function_t* find_function(takt_context_t* context,
                                             const char* name) {
  takt_function_t* function = NULL;
  REQUIRE_OK(takt_context_find_function(context, name, &function));
  return function;
}

/* A view of `count` floats. */
static inline takt_buffer_view_t* float_view(takt_device_t* device,
                                             int64_t count,
                                             const float* values) {
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(
      device, TAKT_ELEMENT_F32, 1, &count, values,
      (size_t)count * sizeof(float), &view));
  return view;
}

static inline void expect_view(const takt_buffer_view_t* view, const char* text,
                               const char* file, int line) {
  char* actual = NULL;
  REQUIRE_OK(takt_buffer_view_format(view, 100, &actual));
  test_expect_text(actual, text, true, file, line);
  takt_string_free(actual);
}
#define EXPECT_VIEW(view, text) expect_view((view), (text), __FILE__, __LINE__)

#endif /* TAKT_TESTS_API_FIXTURE_H_ */
