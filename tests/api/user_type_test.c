/* Types and objects of native modules: takt_object_type_t. */
#include "tests/api/fixture.h"

/* A module whose functions take and give objects of a type of its own. */
static int destroyed_count = 0;
static void destroy_payload(void* payload) {
  ++destroyed_count;
  free(payload);
}

static takt_status_t open_camera(void* state, size_t argument_count,
                                 const takt_value_t* arguments,
                                 size_t result_count,
                                 takt_value_t* out_results) {
  (void)argument_count, (void)result_count;
  int32_t* payload = malloc(sizeof(*payload));
  *payload = arguments[0].i32;
  out_results[0] = takt_value_ref(takt_object_create(state, payload));
  return NULL;
}

static takt_status_t read_camera(void* state, size_t argument_count,
                                 const takt_value_t* arguments,
                                 size_t result_count,
                                 takt_value_t* out_results) {
  (void)argument_count, (void)result_count;
  const int32_t* payload = takt_object_payload(arguments[0].ref, state);
  if (payload == NULL) {
    return takt_status_create(TAKT_STATUS_INVALID_ARGUMENT, "no camera");
  }
  out_results[0] = takt_value_i32(*payload);
  return NULL;
}

static void objects_of_its_types_come_and_go(void) {
  takt_instance_t* instance = create_instance(0);
  takt_object_type_t* type = NULL;
  REQUIRE_OK(takt_object_type_register(instance, "camera.handle",
                                       destroy_payload, &type));
  takt_object_type_t* again = NULL;
  EXPECT_ERROR(
      takt_object_type_register(instance, "camera.handle", NULL, &again),
      TAKT_STATUS_ALREADY_EXISTS, "camera.handle");
  EXPECT(again == NULL);
  static const takt_native_export_t kExports[] = {
      {"open", "0i_r", open_camera}, {"read", "0r_i", read_camera}};
  takt_native_module_options_t options;
  takt_native_module_options_init(&options);
  options.name = "camera";
  options.exports = kExports;
  options.export_count = 2;
  options.user_data = type;
  takt_module_t* module = NULL;
  REQUIRE_OK(takt_native_module_create(instance, &options, &module));
  takt_context_t* context = create_context(instance, NULL, module);
  takt_function_t* open = find_function(context, "camera.open");
  takt_function_t* read = find_function(context, "camera.read");

  takt_value_t argument = takt_value_i32(42);
  takt_value_t camera;
  REQUIRE_OK(takt_function_invoke(open, NULL, 1, &argument, 1, &camera));
  EXPECT_TEXT(takt_object_type_name(camera.ref), "camera.handle");
  takt_value_t result;
  EXPECT_OK(takt_function_invoke(read, NULL, 1, &camera, 1, &result));
  EXPECT(result.kind == TAKT_VALUE_I32 && result.i32 == 42);
  argument = takt_value_ref(NULL);
  EXPECT_ERROR(takt_function_invoke(read, NULL, 1, &argument, 1, &result),
               TAKT_STATUS_INVALID_ARGUMENT, "no camera");

  takt_function_release(open);
  takt_function_release(read);
  takt_context_release(context);
  takt_module_release(module);
  takt_object_type_release(type);
  takt_instance_release(instance);
  /* The object outlives them all, and keeps what it needs. */
  EXPECT(destroyed_count == 0);
  EXPECT_TEXT(takt_object_type_name(camera.ref), "camera.handle");
  takt_values_release(1, &camera);
  EXPECT(destroyed_count == 1);
}

static void payloads_are_for_their_own_type(void) {
  takt_instance_t* instance = create_instance(0);
  takt_object_type_t* types[2] = {NULL, NULL};
  REQUIRE_OK(takt_object_type_register(instance, "a.a", NULL, &types[0]));
  REQUIRE_OK(takt_object_type_register(instance, "a.b", NULL, &types[1]));
  int payload = 0;
  takt_object_t* object = takt_object_create(types[0], &payload);
  EXPECT(takt_object_payload(object, types[0]) == &payload);
  EXPECT(takt_object_payload(object, types[1]) == NULL);
  EXPECT(takt_object_payload(NULL, types[0]) == NULL);
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  EXPECT(takt_object_payload((takt_object_t*)fence, types[0]) == NULL);
  takt_fence_release(fence);
  takt_object_release(object);
  takt_object_type_release(types[0]);
  takt_object_type_release(types[1]);
  takt_instance_release(instance);
}

static void refuses_types_without_a_name(void) {
  takt_instance_t* instance = create_instance(0);
  takt_object_type_t* type = NULL;
  EXPECT_ERROR(takt_object_type_register(instance, "", NULL, &type),
               TAKT_STATUS_INVALID_ARGUMENT, "name is empty");
  EXPECT_ERROR(takt_object_type_register(instance, NULL, NULL, &type),
               TAKT_STATUS_INVALID_ARGUMENT, "name is NULL");
  EXPECT_ERROR(takt_object_type_register(instance, "hal.buffer", NULL, &type),
               TAKT_STATUS_ALREADY_EXISTS, "hal.buffer");
  EXPECT(type == NULL);
  takt_instance_release(instance);
}

int main(void) {
  RUN(objects_of_its_types_come_and_go);
  RUN(payloads_are_for_their_own_type);
  RUN(refuses_types_without_a_name);
  return test_result();
}
