/* Recording; queue_test.c runs what is recorded. */
#include "takt/command_buffer.h"

#include "tests/analysis/contents.h"
#include "tests/api/fixture.h"

static takt_instance_t* instance;
static takt_device_t* device;

static takt_command_buffer_t* create(size_t binding_capacity) {
  takt_command_buffer_options_t options;
  takt_command_buffer_options_init(&options);
  options.binding_capacity = binding_capacity;
  takt_command_buffer_t* commands = NULL;
  REQUIRE_OK(takt_command_buffer_create(device, &options, &commands));
  return commands;
}

/* Four products by the kernel of a module, bound by slot. */
static void dispatches_code_of_a_module(void) {
  takt_module_t* module =
      load_module(instance, TESTDATA("models/simple_mul.cpu.vmfb"));
  const takt_rodata_info_t code = find_executable(module);
  takt_executable_t* executable = NULL;
  REQUIRE_OK(takt_executable_load(device, code.executable_format, code.data,
                                  code.byte_length, 0, NULL, &executable));
  const takt_buffer_range_t bindings[3] = {
      {NULL, 0, 0, 16}, {NULL, 1, 0, 16}, {NULL, 2, 0, 16}};
  takt_dispatch_t dispatch;
  memset(&dispatch, 0, sizeof(dispatch));
  dispatch.executable = executable;
  dispatch.workgroups[0] = dispatch.workgroups[1] = dispatch.workgroups[2] = 1;
  dispatch.binding_count = 3;
  dispatch.bindings = bindings;
  takt_command_buffer_t* commands = create(3);
  EXPECT_OK(takt_command_buffer_dispatch(commands, &dispatch));
  /* The same with the counts in memory. */
  takt_buffer_t* counts = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 12, NULL, &counts));
  const uint32_t one[3] = {1, 1, 1};
  REQUIRE_OK(takt_buffer_write(counts, 0, one, sizeof(one)));
  const takt_buffer_range_t workgroups = {counts, 0, 0, 12};
  dispatch.workgroup_range = &workgroups;
  EXPECT_OK(takt_command_buffer_barrier(commands));
  EXPECT_OK(takt_command_buffer_dispatch(commands, &dispatch));
  dispatch.binding_count = 2;
  EXPECT_ERROR(takt_command_buffer_dispatch(commands, &dispatch),
               TAKT_STATUS_INVALID_ARGUMENT, "binding");
  dispatch.binding_count = 1000;
  EXPECT_ERROR(takt_command_buffer_dispatch(commands, &dispatch),
               TAKT_STATUS_INVALID_ARGUMENT, "1000 bindings");
  dispatch.bindings = NULL;
  EXPECT_ERROR(takt_command_buffer_dispatch(commands, &dispatch),
               TAKT_STATUS_INVALID_ARGUMENT, "bindings is NULL");
  dispatch.executable = NULL;
  EXPECT_ERROR(takt_command_buffer_dispatch(commands, &dispatch),
               TAKT_STATUS_INVALID_ARGUMENT, "executable is NULL");
  EXPECT_OK(takt_command_buffer_finalize(commands));
  takt_executable_release(executable);
  takt_buffer_release(counts);
  takt_module_release(module);

  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  takt_buffer_t* buffers[3];
  takt_buffer_range_t table[3];
  for (int i = 0; i < 3; ++i) {
    REQUIRE_OK(takt_buffer_allocate(device, 16, NULL, &buffers[i]));
    if (i < 2) REQUIRE_OK(takt_buffer_write(buffers[i], 0, values + 4 * i, 16));
    const takt_buffer_range_t range = {buffers[i], 0, 0, TAKT_WHOLE_BUFFER};
    table[i] = range;
  }
  takt_fence_t* done = NULL;
  REQUIRE_OK(takt_fence_create(&done));
  EXPECT_OK(takt_queue_execute(device, NULL, done, commands, 3, table));
  EXPECT_OK(takt_fence_wait(done, instance, TAKT_INFINITE_FUTURE));
  float product[4] = {0};
  EXPECT_OK(takt_buffer_read(buffers[2], 0, product, sizeof(product)));
  EXPECT(product[0] == 5 && product[1] == 12 && product[2] == 21 &&
         product[3] == 32);
  for (int i = 0; i < 3; ++i) takt_buffer_release(buffers[i]);
  takt_fence_release(done);
  takt_command_buffer_release(commands);
}

static void refuses_wrong_records(void) {
  takt_command_buffer_t* commands = create(1);
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 16, NULL, &buffer));
  const takt_buffer_range_t whole = {buffer, 0, 0, TAKT_WHOLE_BUFFER};
  const takt_buffer_range_t beyond = {buffer, 0, 8, 16};
  const takt_buffer_range_t half = {buffer, 0, 0, 8};
  const takt_buffer_range_t no_slot = {NULL, 1, 0, 8};
  EXPECT_ERROR(takt_command_buffer_fill(commands, &beyond, "x", 1),
               TAKT_STATUS_OUT_OF_RANGE, "16");
  EXPECT_ERROR(takt_command_buffer_fill(commands, &no_slot, "x", 1),
               TAKT_STATUS_OUT_OF_RANGE, "slot 1");
  EXPECT_ERROR(takt_command_buffer_fill(commands, &whole, "xyz", 3),
               TAKT_STATUS_INVALID_ARGUMENT, "pattern_length");
  EXPECT_ERROR(takt_command_buffer_fill(commands, NULL, "x", 1),
               TAKT_STATUS_INVALID_ARGUMENT, "target is NULL");
  EXPECT_ERROR(takt_command_buffer_update(commands, "x", 1, &half),
               TAKT_STATUS_INVALID_ARGUMENT, "8 bytes");
  EXPECT_ERROR(takt_command_buffer_update(commands, NULL, 8, &half),
               TAKT_STATUS_INVALID_ARGUMENT, "source is NULL");
  EXPECT_ERROR(takt_command_buffer_copy(commands, &half, &beyond),
               TAKT_STATUS_INVALID_ARGUMENT, "8");
  EXPECT_ERROR(takt_command_buffer_dispatch(commands, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "dispatch is NULL");
  EXPECT_ERROR(takt_command_buffer_finalize(NULL), TAKT_STATUS_INVALID_ARGUMENT,
               "command_buffer is NULL");
  EXPECT_OK(takt_command_buffer_finalize(commands));
  EXPECT_ERROR(takt_command_buffer_barrier(commands),
               TAKT_STATUS_FAILED_PRECONDITION, "finalized");
  takt_command_buffer_retain(commands);
  takt_command_buffer_release(commands);
  takt_command_buffer_release(commands);
  takt_buffer_release(buffer);
}

static void refuses_wrong_options(void) {
  takt_command_buffer_options_t options;
  takt_command_buffer_options_init(&options);
  options.binding_capacity = 65537;
  takt_command_buffer_t* commands = NULL;
  EXPECT_ERROR(takt_command_buffer_create(device, &options, &commands),
               TAKT_STATUS_INVALID_ARGUMENT, "65537");
  EXPECT_ERROR(takt_command_buffer_create(NULL, NULL, &commands),
               TAKT_STATUS_INVALID_ARGUMENT, "device is NULL");
  EXPECT(commands == NULL);
}

int main(void) {
  const char* const names[2] = {"local-sync", "local-task"};
  for (int i = 0; i < 2; ++i) {
    instance = create_instance(2);
    device = create_device(instance, names[i]);
    RUN(dispatches_code_of_a_module);
    RUN(refuses_wrong_records);
    RUN(refuses_wrong_options);
    takt_device_release(device);
    takt_instance_release(instance);
  }
  return test_result();
}
