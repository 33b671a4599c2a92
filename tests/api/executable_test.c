#include "takt/executable.h"

#include "tests/analysis/contents.h"
#include "tests/api/fixture.h"
#include "tests/support/elf_format.h"

static void is_loaded_and_described(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_module_t* module =
      load_module(instance, TESTDATA("models/simple_mul.cpu.vmfb"));
  const takt_rodata_info_t code = find_executable(module);
  takt_executable_t* executable = NULL;
  REQUIRE_OK(takt_executable_load(device, code.executable_format, code.data,
                                  code.byte_length, 0, NULL, &executable));
  EXPECT(takt_executable_function_count(executable) == 1);
  takt_executable_function_t function = takt_executable_function(executable, 0);
  EXPECT(function.binding_count == 3 && function.constant_count == 0);
  function = takt_executable_function(executable, 1);
  EXPECT(function.binding_count == 0);
  takt_executable_t* again = NULL;
  REQUIRE_OK(takt_executable_load(device, code.executable_format, code.data,
                                  code.byte_length, 0, NULL, &again));
  takt_executable_release(again);
  takt_executable_retain(executable);
  takt_executable_release(executable);
  takt_executable_release(executable);
  takt_module_release(module);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void refuses_other_bytes(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_executable_t* executable = NULL;
  EXPECT_ERROR(
      takt_executable_load(device, "npu-fb", "abcd", 4, 0, NULL, &executable),
      TAKT_STATUS_NOT_FOUND, "npu-fb");
  takt_status_t status = takt_executable_load(device, TAKT_ELF_FORMAT, "abcd",
                                              4, 0, NULL, &executable);
  EXPECT(status != NULL && executable == NULL);
  takt_status_free(status);
  EXPECT_ERROR(
      takt_executable_load(NULL, "npu-fb", "abcd", 4, 0, NULL, &executable),
      TAKT_STATUS_INVALID_ARGUMENT, "device is NULL");
  EXPECT_ERROR(
      takt_executable_load(device, NULL, "abcd", 4, 0, NULL, &executable),
      TAKT_STATUS_INVALID_ARGUMENT, "format is NULL");
  EXPECT_ERROR(
      takt_executable_load(device, "npu-fb", NULL, 4, 0, NULL, &executable),
      TAKT_STATUS_INVALID_ARGUMENT, "data is NULL");
  EXPECT_ERROR(
      takt_executable_load(device, "npu-fb", "abcd", 4, 1, NULL, &executable),
      TAKT_STATUS_INVALID_ARGUMENT, "constants is NULL");
  takt_device_release(device);
  takt_instance_release(instance);
}

int main(void) {
  RUN(is_loaded_and_described);
  RUN(refuses_other_bytes);
  return test_result();
}
