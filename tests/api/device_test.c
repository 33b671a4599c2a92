#include "takt/device.h"

#include "tests/api/fixture.h"

static void makes_a_device_of_each_name(void) {
  static const char* const names[] = {"local-sync", "local-task"};
  takt_instance_t* instance = create_instance(1);
  for (size_t i = 0; i < 2; ++i) {
    takt_device_t* device = create_device(instance, names[i]);
    EXPECT_TEXT(takt_device_name(device), names[i]);
    takt_device_retain(device);
    takt_device_release(device);
    takt_device_release(device);
  }
  takt_instance_release(instance);
}

static void refuses_unknown_names(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = NULL;
  EXPECT_ERROR(takt_device_create(instance, "vulkan", NULL, &device),
               TAKT_STATUS_NOT_FOUND, "\"vulkan\"; there are local-sync");
  EXPECT_ERROR(takt_device_create(instance, NULL, NULL, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "name is NULL");
  EXPECT_ERROR(takt_device_create(NULL, "local-sync", NULL, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "instance is NULL");
  EXPECT(device == NULL);
  takt_instance_release(instance);
}

static void answers_what_compiled_code_asks(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  int64_t value = 0;
  EXPECT(takt_device_query_i64(device, "hal.device.id", "local*", &value));
  EXPECT(value == 1);
  EXPECT(takt_device_query_i64(device, "hal.executable.format",
                               "vmvx-bytecode-fb", &value));
  EXPECT(value == 1);
  EXPECT(takt_device_query_i64(device, "hal.executable.format", "cuda-nvptx-fb",
                               &value));
  EXPECT(value == 0);
  value = 5;
  EXPECT(!takt_device_query_i64(device, "no.such", "key", &value));
  EXPECT(value == 0);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void outlives_the_callers_reference_to_its_instance(void) {
  takt_instance_t* instance = create_instance(2);
  takt_device_t* device = create_device(instance, "local-task");
  takt_instance_release(instance);
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 64, NULL, &buffer));
  takt_device_release(device);
  takt_buffer_release(buffer);
}

int main(void) {
  RUN(makes_a_device_of_each_name);
  RUN(refuses_unknown_names);
  RUN(answers_what_compiled_code_asks);
  RUN(outlives_the_callers_reference_to_its_instance);
  return test_result();
}
