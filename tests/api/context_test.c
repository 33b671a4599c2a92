#include "takt/context.h"

#include <pthread.h>

#include "tests/api/fixture.h"

static int32_t next(takt_context_t* context, int32_t by) {
  takt_function_t* function = find_function(context, "counter.next");
  const takt_value_t argument = takt_value_i32(by);
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, 1, &argument, 1, &result));
  takt_function_release(function);
  return result.i32;
}

static takt_status_t link_modules(takt_instance_t* instance, size_t count,
                                  takt_module_t* const* modules,
                                  takt_context_t** out_context) {
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = modules;
  options.module_count = count;
  return takt_context_create(instance, &options, out_context);
}

static void each_context_has_state_of_its_own(void) {
  takt_instance_t* instance = create_instance(0);
  takt_module_t* modules[2] = {
      create_robot_module(instance, "0iIfF_i", fail_without_robot),
      load_module(instance, TESTDATA("api/counter.vmfb"))};
  takt_context_t* one = NULL;
  takt_context_t* other = NULL;
  REQUIRE_OK(link_modules(instance, 2, modules, &one));
  REQUIRE_OK(link_modules(instance, 2, modules, &other));
  EXPECT(next(one, 5) == 5);
  EXPECT(next(one, 2) == 7);
  EXPECT(next(other, 1) == 1);
  /* The state of a context made later is fresh too. */
  takt_context_release(other);
  REQUIRE_OK(link_modules(instance, 2, modules, &other));
  EXPECT(next(other, 1) == 1);
  takt_context_release(one);
  takt_context_release(other);
  takt_module_release(modules[0]);
  takt_module_release(modules[1]);
  takt_instance_release(instance);
}

static void names_all_missing_imports(void) {
  takt_instance_t* instance = create_instance(0);
  takt_module_t* module = load_module(instance, TESTDATA("api/counter.vmfb"));
  takt_context_t* context = NULL;
  EXPECT_ERROR(link_modules(instance, 1, &module, &context),
               TAKT_STATUS_NOT_FOUND, "robot.read");
  EXPECT(context == NULL);
  takt_module_release(module);
  takt_instance_release(instance);
}

static void refuses_imports_of_another_signature(void) {
  takt_instance_t* instance = create_instance(0);
  takt_module_t* modules[2] = {
      create_robot_module(instance, "0i_i", fail_without_robot),
      load_module(instance, TESTDATA("api/counter.vmfb"))};
  takt_context_t* context = NULL;
  takt_status_t status = link_modules(instance, 2, modules, &context);
  EXPECT(takt_status_code(status) == TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT(context == NULL);
  EXPECT_CONTAINS(takt_status_message(status),
                  "counter wants robot.read to be (i32, i64, f32, f64) -> "
                  "(i32) [0iIfF_i], but robot declares it as (i32) -> (i32) "
                  "[0i_i]");
  takt_status_free(status);
  takt_module_release(modules[0]);
  takt_module_release(modules[1]);
  takt_instance_release(instance);
}

static void the_error_names_code_that_no_device_takes(void) {
  takt_instance_t* instance = create_instance(0);
  takt_module_t* module =
      load_module(instance, TESTDATA("api/simple_mul.vmfb"));
  takt_context_t* context = NULL;
  EXPECT_ERROR(link_modules(instance, 1, &module, &context),
               TAKT_STATUS_INCOMPATIBLE, "the context has no device");
  EXPECT(context == NULL);
  takt_module_release(module);
  takt_instance_release(instance);
}

static void names_the_devices_that_do_not_fit(void) {
  /* Its kernels are for an NPU. */
  takt_instance_t* instance = create_instance(0);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_module_t* module = load_module(instance, TESTDATA("npu/route_a.vmfb"));
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &module;
  options.module_count = 1;
  options.devices = &device;
  options.device_count = 1;
  takt_context_t* context = NULL;
  takt_status_t status = takt_context_create(instance, &options, &context);
  EXPECT(takt_status_code(status) == TAKT_STATUS_INCOMPATIBLE);
  EXPECT_CONTAINS(takt_status_message(status),
                  "the context's devices are local-sync (takes embedded-elf-");
  EXPECT(strlen(takt_status_message(status)) < 600);
  takt_status_free(status);
  takt_module_release(module);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void refuses_bad_options(void) {
  takt_instance_t* instance = create_instance(0);
  takt_context_t* context = NULL;
  EXPECT_ERROR(takt_context_create(instance, NULL, &context),
               TAKT_STATUS_INVALID_ARGUMENT, "options is NULL");
  EXPECT_ERROR(link_modules(instance, 0, NULL, &context),
               TAKT_STATUS_INVALID_ARGUMENT, "no modules");
  EXPECT_ERROR(link_modules(instance, 1, NULL, &context),
               TAKT_STATUS_INVALID_ARGUMENT, "modules is NULL");
  takt_module_t* none = NULL;
  EXPECT_ERROR(link_modules(instance, 1, &none, &context),
               TAKT_STATUS_INVALID_ARGUMENT, "modules[0] is NULL");
  EXPECT(context == NULL);
  takt_instance_release(instance);
}

static void finds_functions_by_name(void) {
  fixture_t fixture =
      fixture_create("local-sync", TESTDATA("api/simple_mul.vmfb"));
  takt_function_t* function = find_function(fixture.context, "simple.mul");
  EXPECT_TEXT(takt_function_name(function), "simple.mul");
  takt_function_release(function);
  function = find_function(fixture.context, "double"); /* Of the last module. */
  EXPECT_TEXT(takt_function_name(function), "simple.double");
  takt_function_release(function);
  EXPECT_ERROR(
      takt_context_find_function(fixture.context, "simple.add", &function),
      TAKT_STATUS_NOT_FOUND, "add");
  EXPECT_ERROR(
      takt_context_find_function(fixture.context, "complex.mul", &function),
      TAKT_STATUS_NOT_FOUND, "complex");
  EXPECT_ERROR(takt_context_find_function(fixture.context, "", &function),
               TAKT_STATUS_NOT_FOUND, "");
  EXPECT_ERROR(takt_context_find_function(fixture.context, NULL, &function),
               TAKT_STATUS_INVALID_ARGUMENT, "name is NULL");
  EXPECT(function == NULL);
  fixture_destroy(&fixture);
}

static void passes_signals_on(void) {
  fixture_t fixture =
      fixture_create("local-sync", TESTDATA("api/simple_mul.vmfb"));
  EXPECT_OK(takt_context_notify(fixture.context, TAKT_CONTEXT_SIGNAL_SUSPEND));
  EXPECT_OK(takt_context_notify(fixture.context, TAKT_CONTEXT_SIGNAL_RESUME));
  EXPECT_ERROR(takt_context_notify(fixture.context, (takt_context_signal_t)4),
               TAKT_STATUS_INVALID_ARGUMENT, "signal 4");
  fixture_destroy(&fixture);
}

static void functions_keep_their_context(void) {
  fixture_t fixture =
      fixture_create("local-task", TESTDATA("api/simple_mul.vmfb"));
  takt_function_t* function = find_function(fixture.context, "mul");
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(fixture.device, 4, values);
  fixture_destroy(&fixture);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, 2, arguments, 1, &result));
  takt_function_release(function);
  takt_buffer_view_release(view);
  EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=1 4 9 16");
  takt_values_release(1, &result);
}

/* A client: makes contexts of its own, and calls. */
static void* run_client(void* argument) {
  const fixture_t* shared = argument;
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(shared->device, 4, values);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  intptr_t failure_count = 0;
  for (int i = 0; i < 20; ++i) {
    takt_context_t* context =
        create_context(shared->instance, shared->device, shared->module);
    takt_function_t* function = find_function(context, "mul");
    for (int call = 0; call < 10; ++call) {
      takt_value_t result;
      REQUIRE_OK(
          takt_function_invoke(function, NULL, 2, arguments, 1, &result));
      float out[4] = {0};
      REQUIRE_OK(takt_buffer_view_copy_to_host(
          takt_value_as_buffer_view(&result), out, sizeof(out)));
      failure_count += out[0] != 1 || out[3] != 16;
      takt_values_release(1, &result);
    }
    takt_function_release(function);
    takt_context_release(context);
  }
  takt_buffer_view_release(view);
  return (void*)failure_count;
}

static void contexts_run_side_by_side(void) {
  static const char* const kDevices[2] = {"local-sync", "local-task"};
  for (int i = 0; i < 2; ++i) {
    fixture_t fixture =
        fixture_create(kDevices[i], TESTDATA("api/simple_mul.vmfb"));
    pthread_t clients[4];
    for (int c = 0; c < 4; ++c) {
      if (pthread_create(&clients[c], NULL, run_client, &fixture) != 0) {
        exit(1);
      }
    }
    for (int c = 0; c < 4; ++c) {
      void* failure_count = NULL;
      pthread_join(clients[c], &failure_count);
      EXPECT(failure_count == NULL);
    }
    fixture_destroy(&fixture);
  }
}

int main(void) {
  RUN(each_context_has_state_of_its_own);
  RUN(names_all_missing_imports);
  RUN(refuses_imports_of_another_signature);
  RUN(the_error_names_code_that_no_device_takes);
  RUN(names_the_devices_that_do_not_fit);
  RUN(refuses_bad_options);
  RUN(finds_functions_by_name);
  RUN(passes_signals_on);
  RUN(functions_keep_their_context);
  RUN(contexts_run_side_by_side);
  return test_result();
}
