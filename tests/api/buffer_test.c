#include "takt/buffer.h"

#include "tests/api/fixture.h"

static takt_instance_t* instance;
static takt_device_t* device;

static takt_buffer_t* allocate(size_t byte_length) {
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, byte_length, NULL, &buffer));
  return buffer;
}

static void copies_in_and_out(void) {
  takt_buffer_t* buffer = allocate(8);
  EXPECT(takt_buffer_byte_length(buffer) == 8);
  EXPECT_OK(takt_buffer_write(buffer, 0, "abcdefgh", 8));
  EXPECT_OK(takt_buffer_write(buffer, 2, "XY", 2));
  char text[9] = {0};
  EXPECT_OK(takt_buffer_read(buffer, 0, text, 8));
  EXPECT_TEXT(text, "abXYefgh");
  EXPECT_OK(takt_buffer_read(buffer, 8, text, 0));
  takt_buffer_release(buffer);
}

static void refuses_ranges_that_do_not_fit(void) {
  takt_buffer_t* buffer = allocate(8);
  char text[16] = {0};
  EXPECT_ERROR(takt_buffer_read(buffer, 0, text, 9), TAKT_STATUS_OUT_OF_RANGE,
               "");
  EXPECT_ERROR(takt_buffer_read(buffer, 9, text, 0), TAKT_STATUS_OUT_OF_RANGE,
               "");
  EXPECT_ERROR(takt_buffer_write(buffer, SIZE_MAX, text, 2),
               TAKT_STATUS_OUT_OF_RANGE, "");
  takt_buffer_t* part = NULL;
  EXPECT_ERROR(takt_buffer_subspan(buffer, 4, 5, &part),
               TAKT_STATUS_OUT_OF_RANGE, "");
  EXPECT(part == NULL);
  takt_mapping_t mapping;
  EXPECT_ERROR(takt_buffer_map(buffer, 4, 5, TAKT_ACCESS_READ, &mapping),
               TAKT_STATUS_OUT_OF_RANGE, "");
  EXPECT(mapping.data == NULL && mapping.buffer == NULL);
  takt_buffer_release(buffer);
}

static void empty_buffers_work(void) {
  takt_buffer_t* buffer = allocate(0);
  EXPECT(takt_buffer_byte_length(buffer) == 0);
  takt_mapping_t mapping;
  EXPECT_OK(
      takt_buffer_map(buffer, 0, TAKT_WHOLE_BUFFER, TAKT_ACCESS_ALL, &mapping));
  EXPECT(mapping.byte_length == 0);
  takt_buffer_unmap(&mapping);
  takt_buffer_release(buffer);
}

static void a_mapping_keeps_its_buffer(void) {
  takt_buffer_t* buffer = allocate(64);
  takt_mapping_t mapping;
  REQUIRE_OK(takt_buffer_map(buffer, 16, TAKT_WHOLE_BUFFER, TAKT_ACCESS_ALL,
                             &mapping));
  takt_buffer_release(buffer);
  EXPECT(mapping.byte_length == 48);
  memset(mapping.data, 1, mapping.byte_length);
  takt_buffer_unmap(&mapping);
  EXPECT(mapping.data == NULL && mapping.byte_length == 0);
  takt_buffer_unmap(&mapping);
}

static void subspans_share_their_bytes(void) {
  takt_buffer_t* buffer = allocate(16);
  takt_buffer_t* half = NULL;
  takt_buffer_t* quarter = NULL;
  REQUIRE_OK(takt_buffer_subspan(buffer, 8, TAKT_WHOLE_BUFFER, &half));
  REQUIRE_OK(takt_buffer_subspan(half, 4, 4, &quarter));
  EXPECT(takt_buffer_byte_length(half) == 8);
  EXPECT_OK(takt_buffer_write(quarter, 0, "abcd", 4));
  char text[5] = {0};
  EXPECT_OK(takt_buffer_read(buffer, 12, text, 4));
  EXPECT_TEXT(text, "abcd");
  takt_buffer_release(buffer);
  takt_buffer_release(half);
  takt_buffer_release(quarter);
}

static int release_count = 0;
static void count_release(void* user_data) {
  release_count += *(int*)user_data;
}

static _Alignas(64) uint8_t host_memory[128];

static void wrapped_memory_is_not_copied(void) {
  int one = 1;
  release_count = 0;
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_wrap(device, host_memory, sizeof(host_memory), NULL,
                              count_release, &one, &buffer));
  EXPECT_OK(takt_buffer_write(buffer, 3, "abc", 3));
  EXPECT(memcmp(host_memory + 3, "abc", 3) == 0);
  takt_buffer_t* part = NULL;
  REQUIRE_OK(takt_buffer_subspan(buffer, 64, 8, &part));
  takt_buffer_release(buffer);
  EXPECT(release_count == 0);
  takt_buffer_release(part);
  EXPECT(release_count == 1);
}

static void wrapping_names_an_address_that_is_not_aligned(void) {
  int one = 1;
  release_count = 0;
  char address[32];
  snprintf(address, sizeof(address), "%lx",
           (unsigned long)(uintptr_t)(host_memory + 4));
  takt_buffer_t* buffer = NULL;
  EXPECT_ERROR(takt_buffer_wrap(device, host_memory + 4, 64, NULL,
                                count_release, &one, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, address);
  EXPECT(buffer == NULL && release_count == 0);
  EXPECT_ERROR(takt_buffer_wrap(device, NULL, 64, NULL, NULL, NULL, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "data is NULL");
  REQUIRE_OK(takt_buffer_wrap(device, NULL, 0, NULL, NULL, NULL, &buffer));
  takt_buffer_release(buffer);
}

static void access_is_what_the_options_allow(void) {
  takt_buffer_options_t options;
  takt_buffer_options_init(&options);
  options.access = TAKT_ACCESS_READ;
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(
      takt_buffer_wrap(device, host_memory, 64, &options, NULL, NULL, &buffer));
  char byte = 0;
  EXPECT_OK(takt_buffer_read(buffer, 0, &byte, 1));
  EXPECT_ERROR(takt_buffer_write(buffer, 0, &byte, 1),
               TAKT_STATUS_PERMISSION_DENIED, "");
  takt_mapping_t mapping;
  EXPECT_ERROR(takt_buffer_map(buffer, 0, 1, 8, &mapping),
               TAKT_STATUS_INVALID_ARGUMENT, "access 8");
  takt_buffer_release(buffer);
  options.access = 0;
  EXPECT_ERROR(takt_buffer_allocate(device, 1, &options, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "access 0");
}

static void refuses_more_memory_than_the_system_has(void) {
  takt_buffer_t* buffer = NULL;
  EXPECT_ERROR(takt_buffer_allocate(device, SIZE_MAX / 4, NULL, &buffer),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "");
  EXPECT_ERROR(takt_buffer_allocate(NULL, 1, NULL, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "device is NULL");
  EXPECT(buffer == NULL);
}

int main(void) {
  instance = create_instance(0);
  device = create_device(instance, "local-sync");
  RUN(copies_in_and_out);
  RUN(refuses_ranges_that_do_not_fit);
  RUN(empty_buffers_work);
  RUN(a_mapping_keeps_its_buffer);
  RUN(subspans_share_their_bytes);
  RUN(wrapped_memory_is_not_copied);
  RUN(wrapping_names_an_address_that_is_not_aligned);
  RUN(access_is_what_the_options_allow);
  RUN(refuses_more_memory_than_the_system_has);
  takt_device_release(device);
  takt_instance_release(instance);
  return test_result();
}
