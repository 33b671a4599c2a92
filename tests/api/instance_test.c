#include "takt/instance.h"

#include "tests/api/fixture.h"

static void defaults_to_the_processors_there_are(void) {
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(NULL, &instance));
  EXPECT(takt_instance_worker_count(instance) >= 1);
  takt_instance_trim(instance);
  takt_instance_retain(instance);
  takt_instance_release(instance);
  takt_instance_release(instance);
  takt_instance_release(NULL);
}

static void two_instances_share_nothing(void) {
  takt_instance_t* one = create_instance(0);
  takt_instance_t* other = create_instance(3);
  EXPECT(takt_instance_worker_count(one) == 0);
  EXPECT(takt_instance_worker_count(other) == 3);
  takt_object_type_t* types[2] = {NULL, NULL};
  EXPECT_OK(takt_object_type_register(one, "robot.arm", NULL, &types[0]));
  EXPECT_OK(takt_object_type_register(other, "robot.arm", NULL, &types[1]));
  takt_object_type_release(types[0]);
  takt_object_type_release(types[1]);
  takt_instance_release(one);
  takt_instance_release(other);
}

static void refuses_bad_options(void) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = -2;
  takt_instance_t* instance = NULL;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "worker_count");
  options.worker_count = 1025;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "1025");
  takt_instance_options_init(&options);
  options.struct_size = 0;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  EXPECT(instance == NULL);
}

static void options_of_an_older_header_are_filled_up(void) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 1;
  /* A caller whose struct ended before the allocator: what follows there is
   * not looked at. */
  options.struct_size = offsetof(takt_instance_options_t, allocator);
  memset(&options.allocator, 0xff, sizeof(options.allocator));
  memset(&options.log_sink, 0xff, sizeof(options.log_sink));
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  EXPECT(takt_instance_worker_count(instance) == 1);
  takt_instance_release(instance);
}

/* Counts what is out, and remembers whether a size came back changed. */
typedef struct heap_t {
  size_t live_bytes;
  size_t allocation_count;
  bool is_full;
} heap_t;

static void* heap_allocate(void* user_data, size_t byte_length,
                           size_t alignment) {
  heap_t* heap = user_data;
  if (heap->is_full) return NULL;
  heap->live_bytes += byte_length;
  ++heap->allocation_count;
  return aligned_alloc(alignment,
                       (byte_length + alignment - 1) / alignment * alignment);
}

static void heap_free(void* user_data, void* data, size_t byte_length,
                      size_t alignment) {
  heap_t* heap = user_data;
  (void)alignment;
  heap->live_bytes -= byte_length;
  free(data);
}

static void buffers_come_from_the_callers_allocator(void) {
  heap_t heap = {0, 0, false};
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 0;
  options.allocator.user_data = &heap;
  options.allocator.allocate = heap_allocate;
  takt_instance_t* instance = NULL;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "allocator");
  options.allocator.free = heap_free;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  takt_device_t* device = create_device(instance, "local-sync");
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 1000, NULL, &buffer));
  EXPECT(heap.allocation_count == 1);
  EXPECT(heap.live_bytes >= 1000);
  takt_buffer_release(buffer);
  takt_device_trim(device);
  EXPECT(heap.live_bytes == 0);
  heap.is_full = true;
  EXPECT_ERROR(takt_buffer_allocate(device, 1000, NULL, &buffer),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "1000");
  EXPECT(buffer == NULL);
  takt_device_release(device);
  takt_instance_release(instance);
  EXPECT(heap.live_bytes == 0);
}

int main(void) {
  RUN(defaults_to_the_processors_there_are);
  RUN(two_instances_share_nothing);
  RUN(refuses_bad_options);
  RUN(options_of_an_older_header_are_filled_up);
  RUN(buffers_come_from_the_callers_allocator);
  return test_result();
}
