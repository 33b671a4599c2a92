// A compiled module that calls a function of the program: "robot.read" is a C
// function below, and each context has a robot of its own.
//
//   native_module counter.vmfb
#include <stdio.h>
#include <stdlib.h>
#include <takt/takt.h>

static void check(takt_status_t status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", takt_status_message(status));
  exit(1);
}

// The state that each context holds for the module.
typedef struct robot_t {
  int32_t read_count;
} robot_t;

static takt_status_t create_robot(void* user_data, void** out_state) {
  (void)user_data;
  *out_state = calloc(1, sizeof(robot_t));
  return *out_state != NULL
             ? NULL
             : takt_status_create(TAKT_STATUS_RESOURCE_EXHAUSTED, "no memory");
}

static void destroy_robot(void* user_data, void* state) {
  (void)user_data;
  free(state);
}

// read(i32, i64, f32, f64) -> i32
static takt_status_t read_robot(void* state, size_t argument_count,
                                const takt_value_t* arguments,
                                size_t result_count,
                                takt_value_t* out_results) {
  (void)argument_count;  // As the convention says: 4 and 1.
  (void)result_count;
  robot_t* robot = state;
  if (arguments[0].i32 < 0) {
    return takt_status_create(TAKT_STATUS_OUT_OF_RANGE, "no such joint");
  }
  out_results[0] = takt_value_i32(arguments[0].i32 * 100 + ++robot->read_count);
  return NULL;
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "counter.vmfb";
  takt_instance_t* instance = NULL;
  check(takt_instance_create(NULL, &instance));

  const takt_native_export_t exports[] = {{"read", "0iIfF_i", read_robot}};
  takt_native_module_options_t native;
  takt_native_module_options_init(&native);
  native.name = "robot";
  native.exports = exports;
  native.export_count = 1;
  native.create_state = create_robot;
  native.destroy_state = destroy_robot;
  takt_module_t* modules[2] = {NULL, NULL};
  check(takt_native_module_create(instance, &native, &modules[0]));
  check(takt_module_load_file(instance, path, NULL, &modules[1]));

  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = modules;
  options.module_count = 2;
  takt_context_t* context = NULL;
  check(takt_context_create(instance, &options, &context));
  takt_function_t* read = NULL;
  check(takt_context_find_function(context, "counter.read", &read));

  takt_value_t arguments[4] = {takt_value_i32(7), takt_value_i64(0),
                               takt_value_f32(0), takt_value_f64(0)};
  takt_value_t result;
  for (int i = 0; i < 2; ++i) {
    check(takt_function_invoke(read, NULL, 4, arguments, 1, &result));
    printf("joint 7: %d\n", result.i32);  // 701, then 702
  }
  arguments[0].i32 = -1;
  takt_status_t status =
      takt_function_invoke(read, NULL, 4, arguments, 1, &result);
  printf("joint -1: %s\n", takt_status_code_name(takt_status_code(status)));
  takt_status_free(status);

  takt_function_release(read);
  takt_context_release(context);
  takt_module_release(modules[0]);
  takt_module_release(modules[1]);
  takt_instance_release(instance);
  return 0;
}
