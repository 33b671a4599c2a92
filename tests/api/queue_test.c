/* Every queue operation, on two devices of one instance: what it does, what
 * its fences do, and what it refuses. */
#define _GNU_SOURCE
#include "takt/queue.h"

#include "tests/api/fixture.h"
#include "tests/support/fault_injection.h"

#define NO_FENCE ((takt_fence_t*)NULL)

static takt_instance_t* instance;
static takt_device_t* device; /* The one that a test is run for. */
static takt_device_t* other;

static takt_fence_t* make_fence(void) {
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  return fence;
}

static takt_status_t wait_for(const takt_fence_t* fence) {
  return takt_fence_wait(fence, instance, TAKT_INFINITE_FUTURE);
}

static bool is_reached(const takt_fence_t* fence) {
  bool reached = false;
  takt_status_free(takt_fence_query(fence, &reached));
  return reached;
}

static takt_buffer_t* allocate(size_t byte_length) {
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, byte_length, NULL, &buffer));
  takt_mapping_t mapping;
  REQUIRE_OK(
      takt_buffer_map(buffer, 0, byte_length, TAKT_ACCESS_WRITE, &mapping));
  memset(mapping.data, 0, byte_length);
  takt_buffer_unmap(&mapping);
  return buffer;
}

static void expect_bytes(takt_buffer_t* buffer, const void* bytes,
                         size_t byte_length, int line) {
  uint8_t actual[64] = {0};
  REQUIRE_OK(takt_buffer_read(buffer, 0, actual, byte_length));
  test_expect(memcmp(actual, bytes, byte_length) == 0, "other bytes", __FILE__,
              line);
}
#define EXPECT_BYTES(buffer, bytes, byte_length) \
  expect_bytes((buffer), (bytes), (byte_length), __LINE__)

static void fills_updates_and_copies_in_order(void) {
  takt_buffer_t* source = allocate(16);
  takt_buffer_t* target = allocate(16);
  takt_fence_t* start = make_fence();
  takt_fence_t* filled = make_fence();
  takt_fence_t* updated = make_fence();
  takt_fence_t* copied = make_fence();
  char text[] = "abcd";
  /* Queued backwards: fences order them. */
  EXPECT_OK(takt_queue_copy(other, updated, copied, source, 0, target, 4,
                            TAKT_WHOLE_BUFFER));
  char* explanation = NULL;
  EXPECT_OK(takt_fence_explain(copied, &explanation));
  EXPECT_CONTAINS(explanation, "to be signaled by an operation queued on ");
  takt_string_free(explanation);
  EXPECT_OK(takt_queue_update(device, filled, updated, text, 4, source, 2));
  memset(text, 'x', 4); /* It has been captured. */
  EXPECT_OK(
      takt_queue_fill(device, start, filled, source, 0, 16, "\x01\x02", 2));
  EXPECT(!is_reached(filled) && !is_reached(copied));
  EXPECT_OK(takt_fence_signal(start));
  EXPECT_OK(wait_for(copied));
  EXPECT(is_reached(filled) && is_reached(updated));
  EXPECT_BYTES(target,
               "\0\0\0\0\x01\x02"
               "abcd\x01\x02\x01\x02\x01\x02",
               16);
  takt_fence_release(start);
  takt_fence_release(filled);
  takt_fence_release(updated);
  takt_fence_release(copied);
  takt_buffer_release(source);
  takt_buffer_release(target);
}

static void handles_may_be_released_in_flight(void) {
  takt_buffer_t* source = allocate(16);
  takt_buffer_t* target = allocate(16);
  takt_buffer_t* kept = NULL;
  REQUIRE_OK(takt_buffer_subspan(target, 0, 16, &kept));
  takt_fence_t* start = make_fence();
  takt_fence_t* filled = make_fence();
  takt_fence_t* copied = make_fence();
  EXPECT_OK(takt_queue_fill(device, start, filled, source, 0, TAKT_WHOLE_BUFFER,
                            "z", 1));
  EXPECT_OK(takt_queue_copy(device, filled, copied, source, 0, target, 0, 16));
  takt_buffer_release(source);
  takt_buffer_release(target);
  takt_fence_release(filled);
  EXPECT_OK(takt_fence_signal(start));
  EXPECT_OK(wait_for(copied));
  EXPECT_BYTES(kept, "zzzzzzzzzzzzzzzz", 16);
  takt_buffer_release(kept);
  takt_fence_release(start);
  takt_fence_release(copied);
}

static void refuses_ranges_and_patterns(void) {
  takt_buffer_t* buffer = allocate(16);
  takt_fence_t* signal = make_fence();
  EXPECT_ERROR(takt_queue_fill(device, NULL, signal, buffer, 12, 8, "x", 1),
               TAKT_STATUS_OUT_OF_RANGE, "16");
  EXPECT_ERROR(takt_queue_fill(device, NULL, signal, buffer, 0, 16, "xyz", 3),
               TAKT_STATUS_INVALID_ARGUMENT, "pattern_length");
  EXPECT_ERROR(takt_queue_fill(device, NULL, signal, buffer, 2, 8, "wxyz", 4),
               TAKT_STATUS_INVALID_ARGUMENT, "multiple");
  EXPECT_ERROR(takt_queue_fill(device, NULL, signal, buffer, 0, 16, NULL, 1),
               TAKT_STATUS_INVALID_ARGUMENT, "pattern is NULL");
  EXPECT_ERROR(takt_queue_fill(device, NULL, signal, NULL, 0, 16, "x", 1),
               TAKT_STATUS_INVALID_ARGUMENT, "target is NULL");
  EXPECT_ERROR(takt_queue_fill(NULL, NULL, signal, buffer, 0, 16, "x", 1),
               TAKT_STATUS_INVALID_ARGUMENT, "device is NULL");
  EXPECT_ERROR(takt_queue_update(device, NULL, signal, "abcd", 4, buffer, 13),
               TAKT_STATUS_OUT_OF_RANGE, "");
  EXPECT_ERROR(takt_queue_update(device, NULL, signal, NULL, 4, buffer, 0),
               TAKT_STATUS_INVALID_ARGUMENT, "source is NULL");
  EXPECT_ERROR(takt_queue_copy(device, NULL, signal, buffer, 0, buffer, 4, 8),
               TAKT_STATUS_INVALID_ARGUMENT, "overlaps");
  EXPECT_ERROR(
      takt_queue_copy(device, NULL, signal, buffer, SIZE_MAX, buffer, 0, 8),
      TAKT_STATUS_OUT_OF_RANGE, "");
  EXPECT(!is_reached(signal));
  takt_fence_release(signal);
  takt_buffer_release(buffer);
}

static void respects_access(void) {
  takt_buffer_options_t options;
  takt_buffer_options_init(&options);
  options.access = TAKT_ACCESS_READ;
  takt_buffer_t* constant = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 16, &options, &constant));
  EXPECT_ERROR(takt_queue_fill(device, NULL, NULL, constant, 0, 16, "x", 1),
               TAKT_STATUS_PERMISSION_DENIED, "written");
  takt_buffer_t* buffer = allocate(16);
  EXPECT_OK(takt_queue_copy(device, NULL, NULL, constant, 0, buffer, 0, 16));
  takt_buffer_release(buffer);
  takt_buffer_release(constant);
}

static void memory_exists_between_alloca_and_dealloca(void) {
  takt_fence_t* start = make_fence();
  takt_fence_t* allocated = make_fence();
  takt_fence_t* filled = make_fence();
  takt_fence_t* freed = make_fence();
  takt_buffer_t* buffer = NULL;
  EXPECT_OK(takt_queue_alloca(device, start, allocated, 1000, NULL, &buffer));
  EXPECT(takt_buffer_byte_length(buffer) == 1000);
  EXPECT_OK(
      takt_queue_fill(device, allocated, filled, buffer, 0, 1000, "a", 1));
  char text[4] = {0};
  EXPECT_ERROR(takt_buffer_read(buffer, 0, text, 1),
               TAKT_STATUS_FAILED_PRECONDITION, "pending");
  takt_device_statistics_t before, after;
  before.struct_size = after.struct_size = sizeof(before);
  takt_device_query_statistics(device, &before);
  EXPECT_OK(takt_fence_signal(start));
  EXPECT_OK(wait_for(filled));
  EXPECT_OK(takt_buffer_read(buffer, 999, text, 1));
  EXPECT_TEXT(text, "a");
  takt_device_query_statistics(device, &after);
  EXPECT(after.bytes_reserved == before.bytes_reserved + 1000);
  EXPECT_OK(takt_queue_dealloca(device, filled, freed, buffer));
  EXPECT_OK(wait_for(freed));
  takt_device_query_statistics(device, &after);
  EXPECT(after.bytes_reserved == before.bytes_reserved);
  EXPECT_ERROR(takt_buffer_read(buffer, 0, text, 1),
               TAKT_STATUS_FAILED_PRECONDITION, "deallocated");
  takt_fence_release(start);
  takt_fence_release(allocated);
  takt_fence_release(filled);
  takt_fence_release(freed);
  takt_buffer_release(buffer);
}

static void a_second_dealloca_fails_its_fence(void) {
  takt_buffer_t* buffer = allocate(64);
  takt_fence_t* once = make_fence();
  takt_fence_t* twice = make_fence();
  EXPECT_OK(takt_queue_dealloca(device, NULL, once, buffer));
  EXPECT_OK(takt_queue_dealloca(device, once, twice, buffer));
  EXPECT_OK(wait_for(once));
  EXPECT_ERROR(wait_for(twice), TAKT_STATUS_FAILED_PRECONDITION,
               "given back already");
  EXPECT_ERROR(takt_queue_dealloca(device, NULL, NULL, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "buffer is NULL");
  takt_fence_release(once);
  takt_fence_release(twice);
  takt_buffer_release(buffer);
}

static void a_dealloca_belongs_to_the_device_of_the_alloca(void) {
  takt_buffer_t* buffer = allocate(64);
  EXPECT_ERROR(takt_queue_dealloca(other, NULL, NULL, buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "another device");
  EXPECT_OK(takt_buffer_write(buffer, 0, "still", 5));
  takt_buffer_release(buffer);
}

static void host_memory_stays_after_a_dealloca(void) {
  static uint8_t memory[128 + TAKT_BUFFER_ALIGNMENT];
  uint8_t* aligned = memory + (TAKT_BUFFER_ALIGNMENT -
                               (uintptr_t)memory % TAKT_BUFFER_ALIGNMENT) %
                                  TAKT_BUFFER_ALIGNMENT;
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_wrap(device, aligned, 64, NULL, NULL, NULL, &buffer));
  EXPECT_OK(takt_queue_dealloca(device, NULL, NULL, buffer));
  EXPECT_OK(takt_buffer_write(buffer, 0, "still", 5));
  EXPECT(memcmp(aligned, "still", 5) == 0);
  takt_buffer_release(buffer);
}

static void use_before_the_alloca_fails(void) {
  takt_fence_t* start = make_fence();
  takt_fence_t* filled = make_fence();
  takt_buffer_t* buffer = NULL;
  EXPECT_OK(takt_queue_alloca(device, start, NULL, 64, NULL, &buffer));
  EXPECT_OK(takt_queue_fill(device, NULL, filled, buffer, 0, 64, "a", 1));
  EXPECT_ERROR(wait_for(filled), TAKT_STATUS_FAILED_PRECONDITION, "pending");
  EXPECT_OK(takt_fence_signal(start));
  takt_fence_release(start);
  takt_fence_release(filled);
  takt_buffer_release(buffer);
}

static void absurd_allocas_are_refused(void) {
  takt_fence_t* signal = make_fence();
  takt_buffer_t* buffer = (takt_buffer_t*)signal;
  EXPECT_ERROR(
      takt_queue_alloca(device, NULL, signal, SIZE_MAX - 5, NULL, &buffer),
      TAKT_STATUS_RESOURCE_EXHAUSTED, "");
  EXPECT(buffer == NULL && !is_reached(signal));
  takt_buffer_options_t options;
  takt_buffer_options_init(&options);
  options.access = 8;
  EXPECT_ERROR(takt_queue_alloca(device, NULL, signal, 64, &options, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "access");
  takt_fence_release(signal);
}

static void files_are_read_and_written(void) {
  uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  takt_file_t* file = NULL;
  REQUIRE_OK(takt_file_wrap(bytes, 8, TAKT_ACCESS_ALL, NULL, NULL, &file));
  EXPECT(takt_file_byte_length(file) == 8);
  takt_buffer_t* buffer = allocate(8);
  takt_fence_t* read = make_fence();
  takt_fence_t* written = make_fence();
  EXPECT_OK(takt_queue_read(device, NULL, read, file, 2, buffer, 1, 4));
  EXPECT_OK(takt_queue_write(device, read, written, buffer, 0, file, 0,
                             TAKT_WHOLE_BUFFER));
  EXPECT_OK(wait_for(written));
  EXPECT_BYTES(buffer, "\0\3\4\5\6\0\0\0", 8);
  EXPECT(memcmp(bytes, "\0\3\4\5\6\0\0\0", 8) == 0);
  EXPECT_ERROR(takt_queue_read(device, NULL, NULL, file, 5, buffer, 0, 4),
               TAKT_STATUS_OUT_OF_RANGE, "file of 8");
  EXPECT_ERROR(
      takt_queue_read(device, NULL, NULL, file, UINT64_MAX, buffer, 0, 4),
      TAKT_STATUS_OUT_OF_RANGE, "file of 8");
  EXPECT_ERROR(takt_queue_write(device, NULL, NULL, buffer, 0, file, 1, 8),
               TAKT_STATUS_OUT_OF_RANGE, "file of 8");
  EXPECT_ERROR(takt_queue_read(device, NULL, NULL, NULL, 0, buffer, 0, 4),
               TAKT_STATUS_INVALID_ARGUMENT, "source is NULL");
  takt_file_release(file);
  REQUIRE_OK(takt_file_wrap(bytes, 8, TAKT_ACCESS_READ, NULL, NULL, &file));
  EXPECT_ERROR(takt_queue_write(device, NULL, NULL, buffer, 0, file, 0, 8),
               TAKT_STATUS_PERMISSION_DENIED, "file");
  takt_file_release(file);
  takt_buffer_release(buffer);
  takt_fence_release(read);
  takt_fence_release(written);
}

/* A command buffer whose two slots are a source and a target of 8 bytes:
 * fills the first half of the target, copies to the second half. */
static takt_command_buffer_t* record(bool one_shot) {
  takt_command_buffer_options_t options;
  takt_command_buffer_options_init(&options);
  options.binding_capacity = 2;
  options.one_shot = one_shot;
  takt_command_buffer_t* commands = NULL;
  REQUIRE_OK(takt_command_buffer_create(device, &options, &commands));
  const takt_buffer_range_t source = {NULL, 0, 0, 4};
  const takt_buffer_range_t first = {NULL, 1, 0, 4};
  const takt_buffer_range_t second = {NULL, 1, 4, 4};
  EXPECT_OK(takt_command_buffer_fill(commands, &first, "f", 1));
  EXPECT_OK(takt_command_buffer_barrier(commands));
  EXPECT_OK(takt_command_buffer_copy(commands, &source, &second));
  EXPECT_OK(takt_command_buffer_finalize(commands));
  return commands;
}

static void executes_with_a_binding_table(void) {
  takt_command_buffer_t* commands = record(false);
  takt_buffer_t* source = allocate(8);
  takt_buffer_t* targets[2] = {allocate(8), allocate(16)};
  REQUIRE_OK(takt_buffer_write(source, 0, "abcdefgh", 8));
  takt_fence_t* start = make_fence();
  takt_fence_t* done[2] = {make_fence(), make_fence()};
  for (int i = 0; i < 2; ++i) {
    const takt_buffer_range_t table[2] = {{source, 0, 4 * (size_t)i, 4},
                                          {targets[i], 0, 8 * (size_t)i, 8}};
    EXPECT_OK(takt_queue_execute(device, start, done[i], commands, 2, table));
  }
  takt_command_buffer_release(commands);
  EXPECT_OK(takt_fence_signal(start));
  EXPECT_OK(wait_for(done[0]));
  EXPECT_OK(wait_for(done[1]));
  EXPECT_BYTES(targets[0], "ffffabcd", 8);
  EXPECT_BYTES(targets[1], "\0\0\0\0\0\0\0\0ffffefgh", 16);
  takt_fence_release(start);
  for (int i = 0; i < 2; ++i) {
    takt_fence_release(done[i]);
    takt_buffer_release(targets[i]);
  }
  takt_buffer_release(source);
}

static void executes_directly(void) {
  takt_command_buffer_t* commands = NULL;
  REQUIRE_OK(takt_command_buffer_create(device, NULL, &commands));
  takt_buffer_t* buffer = allocate(16);
  const takt_buffer_range_t start = {buffer, 0, 0, 4};
  const takt_buffer_range_t rest = {buffer, 0, 8, TAKT_WHOLE_BUFFER};
  char text[] = "abcd";
  EXPECT_OK(takt_command_buffer_update(commands, text, 4, &start));
  EXPECT_OK(takt_command_buffer_fill(commands, &rest, "xy", 2));
  memset(text, 0, 4); /* It has been captured. */
  EXPECT_ERROR(takt_queue_execute(device, NULL, NULL, commands, 0, NULL),
               TAKT_STATUS_FAILED_PRECONDITION, "still records");
  EXPECT_OK(takt_command_buffer_finalize(commands));
  takt_fence_t* done = make_fence();
  EXPECT_OK(takt_queue_execute(device, NULL, done, commands, 0, NULL));
  EXPECT_OK(wait_for(done));
  EXPECT_BYTES(buffer, "abcd\0\0\0\0xyxyxyxy", 16);
  EXPECT_ERROR(takt_command_buffer_fill(commands, &rest, "xy", 2),
               TAKT_STATUS_FAILED_PRECONDITION, "finalized");
  takt_fence_release(done);
  takt_command_buffer_release(commands);
  takt_buffer_release(buffer);
}

static void refuses_wrong_submissions(void) {
  takt_command_buffer_t* commands = record(true);
  takt_buffer_t* buffer = allocate(8);
  takt_buffer_t* small = allocate(4);
  takt_fence_t* signal = make_fence();
  takt_buffer_range_t table[2] = {{small, 0, 0, TAKT_WHOLE_BUFFER},
                                  {buffer, 0, 0, TAKT_WHOLE_BUFFER}};
  EXPECT_ERROR(takt_queue_execute(device, NULL, signal, NULL, 2, table),
               TAKT_STATUS_INVALID_ARGUMENT, "command_buffer is NULL");
  EXPECT_ERROR(takt_queue_execute(device, NULL, signal, commands, 1, table),
               TAKT_STATUS_OUT_OF_RANGE, "needs 2");
  EXPECT_ERROR(takt_queue_execute(device, NULL, signal, commands, 2, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "bindings is NULL");
  table[1].buffer = small;
  EXPECT_ERROR(takt_queue_execute(device, NULL, signal, commands, 2, table),
               TAKT_STATUS_OUT_OF_RANGE, "binding 1");
  table[1].buffer = NULL;
  EXPECT_ERROR(takt_queue_execute(device, NULL, signal, commands, 2, table),
               TAKT_STATUS_INVALID_ARGUMENT, "binding 1");
  EXPECT(!is_reached(signal));
  table[1].buffer = buffer;
  EXPECT_OK(takt_queue_execute(device, NULL, signal, commands, 2, table));
  EXPECT_OK(wait_for(signal));
  EXPECT_ERROR(takt_queue_execute(device, NULL, NULL, commands, 2, table),
               TAKT_STATUS_FAILED_PRECONDITION, "one-shot");
  takt_fence_release(signal);
  takt_command_buffer_release(commands);
  takt_buffer_release(buffer);
  takt_buffer_release(small);
}

static void barriers_join_fences(void) {
  takt_fence_t* first = make_fence();
  takt_fence_t* second = make_fence();
  takt_fence_t* both[2] = {first, second};
  takt_fence_t* joined = NULL;
  REQUIRE_OK(takt_fence_join(2, both, &joined));
  takt_fence_t* done = make_fence();
  EXPECT_OK(takt_queue_barrier(device, joined, done));
  EXPECT_OK(takt_fence_signal(first));
  EXPECT(!is_reached(done));
  EXPECT_OK(takt_fence_signal(second));
  EXPECT_OK(wait_for(done));
  EXPECT_OK(takt_queue_barrier(device, NULL, NULL));
  takt_fence_release(first);
  takt_fence_release(second);
  takt_fence_release(joined);
  takt_fence_release(done);
}

/* Operations of two devices and a call that is refused, all signallers of one
 * fence. */
static void a_barrier_counts_each_operation(void) {
  takt_buffer_t* buffer = allocate(16);
  takt_fence_t* start = make_fence();
  takt_fence_t* barrier = NULL;
  REQUIRE_OK(takt_fence_create_barrier(3, &barrier));
  EXPECT_OK(takt_queue_fill(device, start, barrier, buffer, 0, 8, "a", 1));
  EXPECT_OK(takt_queue_fill(other, NULL, barrier, buffer, 8, 8, "b", 1));
  EXPECT_OK(takt_queue_barrier(device, NULL, barrier));
  EXPECT(!is_reached(barrier));
  EXPECT_ERROR(takt_queue_barrier(device, NULL, barrier),
               TAKT_STATUS_FAILED_PRECONDITION, "");
  EXPECT_OK(takt_fence_signal(start));
  EXPECT_OK(wait_for(barrier));
  EXPECT_BYTES(buffer, "aaaaaaaabbbbbbbb", 16);
  takt_fence_release(barrier);

  REQUIRE_OK(takt_fence_create_barrier(2, &barrier));
  EXPECT_ERROR(takt_queue_fill(device, NULL, barrier, buffer, 0, 99, "a", 1),
               TAKT_STATUS_OUT_OF_RANGE, "");
  EXPECT_ERROR(wait_for(barrier), TAKT_STATUS_OUT_OF_RANGE, "");
  takt_fence_release(barrier);
  takt_fence_release(start);
  takt_buffer_release(buffer);
}

typedef struct host_call_t {
  int run_count;
  int release_count;
  takt_status_code_t outcome;
  takt_fence_t* signals; /* May be NULL. */
} host_call_t;

static takt_status_t run_host_call(void* user_data) {
  host_call_t* call = user_data;
  ++call->run_count;
  if (call->signals != NULL) REQUIRE_OK(takt_fence_signal(call->signals));
  return call->outcome == TAKT_STATUS_OK
             ? NULL
             : takt_status_create(call->outcome, "as asked");
}

static void release_host_call(void* user_data) {
  ++((host_call_t*)user_data)->release_count;
}

static void host_calls_run_in_order(void) {
  host_call_t call = {0, 0, TAKT_STATUS_OK, make_fence()};
  takt_fence_t* start = make_fence();
  takt_fence_t* done = make_fence();
  EXPECT_OK(takt_queue_host_call(device, start, done, run_host_call,
                                 release_host_call, &call));
  EXPECT(call.run_count == 0);
  EXPECT_OK(takt_fence_signal(start));
  EXPECT_OK(wait_for(done));
  EXPECT(call.run_count == 1 && call.release_count == 1);
  EXPECT(is_reached(call.signals));
  takt_fence_release(call.signals);
  takt_fence_release(start);
  takt_fence_release(done);
}

static void host_calls_fail_and_are_skipped(void) {
  host_call_t failing = {0, 0, TAKT_STATUS_DATA_LOSS, NULL};
  host_call_t skipped = {0, 0, TAKT_STATUS_OK, NULL};
  takt_fence_t* failed = make_fence();
  takt_fence_t* done = make_fence();
  EXPECT_OK(takt_queue_host_call(device, NULL, failed, run_host_call,
                                 release_host_call, &failing));
  EXPECT_OK(takt_queue_host_call(other, failed, done, run_host_call,
                                 release_host_call, &skipped));
  EXPECT_ERROR(wait_for(done), TAKT_STATUS_DATA_LOSS, "as asked");
  EXPECT(failing.run_count == 1 && failing.release_count == 1);
  EXPECT(skipped.run_count == 0 && skipped.release_count == 1);
  host_call_t refused = {0, 0, TAKT_STATUS_OK, NULL};
  EXPECT_ERROR(takt_queue_host_call(device, NULL, NULL, NULL, release_host_call,
                                    &refused),
               TAKT_STATUS_INVALID_ARGUMENT, "call is NULL");
  EXPECT_ERROR(takt_queue_host_call(NULL, NULL, NULL, run_host_call,
                                    release_host_call, &refused),
               TAKT_STATUS_INVALID_ARGUMENT, "device is NULL");
  EXPECT(refused.run_count == 0 && refused.release_count == 0);
  takt_fence_release(failed);
  takt_fence_release(done);
}

static void host_calls_that_find_no_memory_are_not_taken(void) {
  bool is_taken = false;
  for (long fault = 0; !is_taken; ++fault) {
    host_call_t call = {0, 0, TAKT_STATUS_OK, NULL};
    takt_fence_t* start = make_fence();
    takt_fence_t* done = NULL;
    REQUIRE_OK(takt_fence_create_barrier(1, &done));
    fault_arm(FAULT_MEMORY, CAN_INJECT ? fault : -1, true);
    takt_status_t status = takt_queue_host_call(
        device, start, done, run_host_call, release_host_call, &call);
    fault_disarm();
    is_taken = status == NULL;
    if (!is_taken) {
      EXPECT(takt_status_code(status) == TAKT_STATUS_RESOURCE_EXHAUSTED);
      takt_status_free(status);
      EXPECT(call.release_count == 0);
    }
    /* A share that was taken has failed. */
    if (!is_taken) {
      takt_status_t left = takt_fence_signal(done);
      bool reached = false;
      status = takt_fence_query(done, &reached);
      EXPECT(left == NULL
                 ? reached
                 : takt_status_code(status) == TAKT_STATUS_RESOURCE_EXHAUSTED);
      takt_status_free(status);
      takt_status_free(left);
    }
    EXPECT_OK(takt_fence_signal(start));
    takt_fence_release(start);
    if (is_taken) EXPECT_OK(wait_for(done));
    EXPECT(call.run_count == is_taken && call.release_count == is_taken);
    takt_fence_release(done);
  }
}

static void failures_follow_the_fences(void) {
  takt_buffer_t* buffer = allocate(16);
  takt_fence_t* start = make_fence();
  takt_fence_t* filled = make_fence();
  takt_fence_t* copied = make_fence();
  takt_buffer_t* transient = NULL;
  EXPECT_OK(takt_queue_fill(device, start, filled, buffer, 0, 16, "x", 1));
  EXPECT_OK(takt_queue_alloca(other, filled, copied, 64, NULL, &transient));
  takt_fence_fail(start, takt_status_create(TAKT_STATUS_ABORTED, "no frame"));
  EXPECT_ERROR(wait_for(copied), TAKT_STATUS_ABORTED, "no frame");
  EXPECT_BYTES(buffer, "\0\0\0\0", 4); /* Skipped. */
  takt_fence_release(start);
  takt_fence_release(filled);
  takt_fence_release(copied);
  takt_buffer_release(buffer);
  takt_buffer_release(transient);
}

/* x doubled by a module between two queue operations on the same fences, the
 * first of which runs on another device. */
static void mixes_with_invocations(void) {
  fixture_t fixture;
  fixture.module =
      load_module(instance, TESTDATA("models/simple_mul.cpu.async.vmfb"));
  fixture.context = create_context(instance, device, fixture.module);
  takt_function_t* multiply =
      find_function(fixture.context, "module.simple_mul");
  const float values[4] = {1, 2, 3, 4};
  const float factor = 3;
  takt_buffer_view_t* left = float_view(device, 4, values);
  takt_buffer_view_t* right = float_view(device, 4, values);
  takt_fence_t* start = make_fence();
  takt_fence_t* filled = make_fence();
  takt_fence_t* multiplied = make_fence();
  takt_fence_t* copied = make_fence();
  EXPECT_OK(takt_queue_fill(other, start, filled,
                            takt_buffer_view_buffer(right), 0,
                            TAKT_WHOLE_BUFFER, &factor, sizeof(factor)));
  const takt_value_t arguments[4] = {
      takt_value_ref(left), takt_value_ref(right), takt_value_ref(filled),
      takt_value_ref(multiplied)};
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(multiply, NULL, 4, arguments, 1, &result));
  takt_buffer_t* copy = allocate(16);
  takt_buffer_view_t* product = takt_value_as_buffer_view(&result);
  EXPECT_OK(takt_queue_copy(device, multiplied, copied,
                            takt_buffer_view_buffer(product), 0, copy, 0, 16));
  takt_values_release(1, &result);
  EXPECT(!is_reached(copied));
  EXPECT_OK(takt_fence_signal(start));
  EXPECT_OK(wait_for(copied));
  const float expected[4] = {3, 6, 9, 12};
  EXPECT_BYTES(copy, expected, sizeof(expected));
  takt_buffer_release(copy);
  takt_buffer_view_release(left);
  takt_buffer_view_release(right);
  takt_fence_release(start);
  takt_fence_release(filled);
  takt_fence_release(multiplied);
  takt_fence_release(copied);
  takt_function_release(multiply);
  takt_context_release(fixture.context);
  takt_module_release(fixture.module);
}

int main(void) {
  const char* const names[2][2] = {{"local-sync", "local-task"},
                                   {"local-task", "local-sync"}};
  for (int i = 0; i < 2; ++i) {
    printf("[ %s ]\n", names[i][0]);
    instance = create_instance(2);
    device = create_device(instance, names[i][0]);
    other = create_device(instance, names[i][1]);
    RUN(fills_updates_and_copies_in_order);
    RUN(handles_may_be_released_in_flight);
    RUN(refuses_ranges_and_patterns);
    RUN(respects_access);
    RUN(memory_exists_between_alloca_and_dealloca);
    RUN(a_second_dealloca_fails_its_fence);
    RUN(a_dealloca_belongs_to_the_device_of_the_alloca);
    RUN(host_memory_stays_after_a_dealloca);
    RUN(use_before_the_alloca_fails);
    RUN(absurd_allocas_are_refused);
    RUN(files_are_read_and_written);
    RUN(executes_with_a_binding_table);
    RUN(executes_directly);
    RUN(refuses_wrong_submissions);
    RUN(barriers_join_fences);
    RUN(a_barrier_counts_each_operation);
    RUN(host_calls_run_in_order);
    RUN(host_calls_fail_and_are_skipped);
    RUN(host_calls_that_find_no_memory_are_not_taken);
    RUN(failures_follow_the_fences);
    RUN(mixes_with_invocations);
    takt_device_release(other);
    takt_device_release(device);
    takt_instance_release(instance);
  }
  return test_result();
}
