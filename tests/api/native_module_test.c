#include "takt/native_module.h"

#include "tests/api/fixture.h"

/* The module "robot" that api/counter.mlir imports read() from. */
typedef struct robot_t {
  int state_count;
  int live_state_count;
  int release_count;
  bool refuse_state;
  takt_status_code_t read_error;
  takt_value_kind_t result_kind;
} robot_t;

typedef struct robot_state_t {
  robot_t* robot;
  int32_t call_count;
} robot_state_t;

static takt_status_t create_state(void* user_data, void** out_state) {
  robot_t* robot = user_data;
  if (robot->refuse_state) {
    return takt_status_create(TAKT_STATUS_UNAVAILABLE, "no robot");
  }
  robot_state_t* state = calloc(1, sizeof(*state));
  state->robot = robot;
  ++robot->state_count;
  ++robot->live_state_count;
  *out_state = state;
  return NULL;
}

static void destroy_state(void* user_data, void* state) {
  --((robot_t*)user_data)->live_state_count;
  free(state);
}

static void release_robot(void* user_data) {
  ++((robot_t*)user_data)->release_count;
}

static takt_status_t read_robot(void* state_pointer, size_t argument_count,
                                const takt_value_t* arguments,
                                size_t result_count,
                                takt_value_t* out_results) {
  robot_state_t* state = state_pointer;
  EXPECT(argument_count == 4 && result_count == 1);
  EXPECT(arguments[0].kind == TAKT_VALUE_I32);
  EXPECT(arguments[1].kind == TAKT_VALUE_I64);
  EXPECT(arguments[2].kind == TAKT_VALUE_F32);
  EXPECT(arguments[3].kind == TAKT_VALUE_F64);
  EXPECT(out_results[0].kind == TAKT_VALUE_NONE);
  if (state->robot->read_error != TAKT_STATUS_OK) {
    return takt_status_create(state->robot->read_error, "the robot fell");
  }
  ++state->call_count;
  out_results[0] = takt_value_i32(arguments[0].i32 + (int32_t)arguments[1].i64 +
                                  (int32_t)(arguments[2].f32 * 10) +
                                  (int32_t)(arguments[3].f64 * 100) +
                                  1000 * state->call_count);
  if (state->robot->result_kind != TAKT_VALUE_NONE) {
    out_results[0].kind = state->robot->result_kind;
  }
  return NULL;
}

static takt_module_t* create_robot(takt_instance_t* instance, robot_t* robot) {
  static const takt_native_export_t kExports[] = {
      {"read", "0iIfF_i", read_robot}};
  takt_native_module_options_t options;
  takt_native_module_options_init(&options);
  options.name = "robot";
  options.exports = kExports;
  options.export_count = 1;
  options.user_data = robot;
  options.release = release_robot;
  options.create_state = create_state;
  options.destroy_state = destroy_state;
  takt_module_t* module = NULL;
  REQUIRE_OK(takt_native_module_create(instance, &options, &module));
  return module;
}

static takt_status_t link_counter(takt_instance_t* instance,
                                  takt_module_t* robot,
                                  takt_context_t** out_context) {
  takt_module_t* counter = load_module(instance, TESTDATA("api/counter.vmfb"));
  takt_module_t* const modules[2] = {robot, counter};
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = modules;
  options.module_count = 2;
  takt_status_t status = takt_context_create(instance, &options, out_context);
  takt_module_release(counter);
  return status;
}

static takt_status_t read_once(takt_context_t* context, int32_t* out_result) {
  takt_function_t* function = find_function(context, "counter.read");
  const takt_value_t arguments[4] = {takt_value_i32(1), takt_value_i64(20),
                                     takt_value_f32(0.5f),
                                     takt_value_f64(0.25)};
  takt_value_t result;
  takt_status_t status =
      takt_function_invoke(function, NULL, 4, arguments, 1, &result);
  *out_result = result.i32;
  takt_function_release(function);
  return status;
}

static void compiled_code_calls_it_with_state_of_its_own(void) {
  robot_t robot = {0};
  takt_instance_t* instance = create_instance(0);
  takt_module_t* module = create_robot(instance, &robot);
  takt_context_t* contexts[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i) {
    REQUIRE_OK(link_counter(instance, module, &contexts[i]));
  }
  EXPECT(robot.state_count == 2);
  int32_t result = 0;
  EXPECT_OK(read_once(contexts[0], &result));
  EXPECT(result == 1051);
  EXPECT_OK(read_once(contexts[0], &result));
  EXPECT(result == 2051);
  EXPECT_OK(read_once(contexts[1], &result));
  EXPECT(result == 1051);
  for (int i = 0; i < 2; ++i) takt_context_release(contexts[i]);
  EXPECT(robot.live_state_count == 0 && robot.release_count == 0);
  takt_module_release(module);
  takt_instance_release(instance);
  EXPECT(robot.release_count == 1);
}

static void its_errors_reach_the_caller(void) {
  robot_t robot = {0};
  takt_instance_t* instance = create_instance(0);
  takt_module_t* module = create_robot(instance, &robot);
  takt_context_t* context = NULL;
  REQUIRE_OK(link_counter(instance, module, &context));
  int32_t result = 0;
  robot.read_error = TAKT_STATUS_DATA_LOSS;
  EXPECT_ERROR(read_once(context, &result), TAKT_STATUS_DATA_LOSS,
               "the robot fell");
  robot.read_error = TAKT_STATUS_OK;
  robot.result_kind = TAKT_VALUE_F32;
  EXPECT_ERROR(read_once(context, &result), TAKT_STATUS_INVALID_ARGUMENT,
               "robot.read: result 0: expected i32, got f32");
  robot.result_kind = TAKT_VALUE_NONE;
  EXPECT_OK(read_once(context, &result)); /* The context stays usable. */
  takt_context_release(context);
  robot.refuse_state = true;
  EXPECT_ERROR(link_counter(instance, module, &context),
               TAKT_STATUS_UNAVAILABLE, "no robot");
  EXPECT(context == NULL);
  EXPECT(robot.live_state_count == 0);
  takt_module_release(module);
  takt_instance_release(instance);
}

static void refuses_malformed_modules(void) {
  takt_instance_t* instance = create_instance(0);
  takt_native_module_options_t options;
  takt_module_t* module = NULL;
  robot_t robot = {0};
  takt_native_module_options_init(&options);
  options.user_data = &robot;
  options.release = release_robot;
  EXPECT_ERROR(takt_native_module_create(instance, &options, &module),
               TAKT_STATUS_INVALID_ARGUMENT, "name is NULL");
  options.name = "robot";
  takt_native_export_t exports[2] = {{"read", "0i_i", read_robot},
                                     {"read", "0i_i", read_robot}};
  options.exports = exports;
  options.export_count = 2;
  EXPECT_ERROR(takt_native_module_create(instance, &options, &module),
               TAKT_STATUS_INVALID_ARGUMENT, "read");
  options.export_count = 1;
  exports[0].convention = "0x";
  EXPECT_ERROR(takt_native_module_create(instance, &options, &module),
               TAKT_STATUS_INVALID_ARGUMENT, "robot.read");
  exports[0].callback = NULL;
  EXPECT_ERROR(takt_native_module_create(instance, &options, &module),
               TAKT_STATUS_INVALID_ARGUMENT, "export 0");
  options.exports = NULL;
  EXPECT_ERROR(takt_native_module_create(instance, &options, &module),
               TAKT_STATUS_INVALID_ARGUMENT, "exports is NULL");
  EXPECT_ERROR(takt_native_module_create(instance, NULL, &module),
               TAKT_STATUS_INVALID_ARGUMENT, "options is NULL");
  EXPECT(module == NULL);
  EXPECT(robot.release_count == 0);
  takt_instance_release(instance);
}

int main(void) {
  RUN(compiled_code_calls_it_with_state_of_its_own);
  RUN(its_errors_reach_the_caller);
  RUN(refuses_malformed_modules);
  return test_result();
}
