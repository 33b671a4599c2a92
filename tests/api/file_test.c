/* Files as the queue sees them: mapped, made, or memory. */
#define _GNU_SOURCE /* mkdtemp */
#include "takt/file.h"

#include <unistd.h>

#include "tests/api/fixture.h"

static char folder[] = "/tmp/takt_file_test_XXXXXX";

static const char* path_of(const char* name) {
  static char path[128];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  return path;
}

static void make_file(const char* name, const char* text) {
  FILE* file = fopen(path_of(name), "wb");
  EXPECT(file != NULL);
  EXPECT(fwrite(text, 1, strlen(text), file) == strlen(text));
  EXPECT(fclose(file) == 0);
}

static void is_read_where_it_is(void) {
  make_file("read", "0123456789");
  takt_file_t* file = NULL;
  REQUIRE_OK(takt_file_open(path_of("read"), NULL, &file));
  EXPECT(takt_file_byte_length(file) == 10);
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 4, NULL, &buffer));
  EXPECT_OK(takt_queue_read(device, NULL, NULL, file, 6, buffer, 0, 4));
  char text[5] = {0};
  EXPECT_OK(takt_buffer_read(buffer, 0, text, 4));
  EXPECT_TEXT(text, "6789");
  EXPECT_ERROR(takt_queue_read(device, NULL, NULL, file, 7, buffer, 0, 4),
               TAKT_STATUS_OUT_OF_RANGE, "file of 10");
  EXPECT_ERROR(takt_queue_write(device, NULL, NULL, buffer, 0, file, 0, 4),
               TAKT_STATUS_PERMISSION_DENIED, "written");
  takt_file_retain(file);
  takt_file_release(file);
  takt_file_release(file);
  takt_buffer_release(buffer);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void is_created_and_written(void) {
  takt_file_options_t options;
  takt_file_options_init(&options);
  options.access = TAKT_ACCESS_ALL;
  options.create_byte_length = 6;
  takt_file_t* file = NULL;
  REQUIRE_OK(takt_file_open(path_of("written"), &options, &file));
  EXPECT(takt_file_byte_length(file) == 6);
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 4, NULL, &buffer));
  REQUIRE_OK(takt_buffer_write(buffer, 0, "abcd", 4));
  EXPECT_OK(takt_queue_write(device, NULL, NULL, buffer, 0, file, 2, 4));
  takt_file_release(file);
  options.create_byte_length = 0; /* As it is. */
  REQUIRE_OK(takt_file_open(path_of("written"), &options, &file));
  EXPECT(takt_file_byte_length(file) == 6);
  EXPECT_OK(takt_queue_read(device, NULL, NULL, file, 0, buffer, 0, 4));
  char text[5] = {0};
  EXPECT_OK(takt_buffer_read(buffer, 0, text, 4));
  EXPECT(memcmp(text, "\0\0ab", 4) == 0);
  takt_file_release(file);
  takt_buffer_release(buffer);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void an_empty_one_is_fine(void) {
  make_file("empty", "");
  takt_file_t* file = NULL;
  REQUIRE_OK(takt_file_open(path_of("empty"), NULL, &file));
  EXPECT(takt_file_byte_length(file) == 0);
  takt_file_release(file);
}

static void refuses_what_is_no_file(void) {
  takt_file_t* file = NULL;
  EXPECT_ERROR(takt_file_open(path_of("missing"), NULL, &file),
               TAKT_STATUS_NOT_FOUND, "missing");
  EXPECT_ERROR(takt_file_open(folder, NULL, &file),
               TAKT_STATUS_INVALID_ARGUMENT, "not a regular file");
  EXPECT_ERROR(takt_file_open(NULL, NULL, &file), TAKT_STATUS_INVALID_ARGUMENT,
               "path is NULL");
  takt_file_options_t options;
  takt_file_options_init(&options);
  options.create_byte_length = 5;
  EXPECT_ERROR(takt_file_open(path_of("new"), &options, &file),
               TAKT_STATUS_INVALID_ARGUMENT, "without TAKT_ACCESS_WRITE");
  options.access = 4;
  EXPECT_ERROR(takt_file_open(path_of("new"), &options, &file),
               TAKT_STATUS_INVALID_ARGUMENT, "access 4");
  options.access = TAKT_ACCESS_ALL;
  options.create_byte_length = UINT64_MAX;
  EXPECT_ERROR(takt_file_open(path_of("new"), &options, &file),
               TAKT_STATUS_INVALID_ARGUMENT, "no file has");
  EXPECT(file == NULL);
}

static void count_release(void* user_data) { ++*(int*)user_data; }

static void memory_is_released_once(void) {
  static uint8_t bytes[4];
  int release_count = 0;
  takt_file_t* file = NULL;
  EXPECT_ERROR(takt_file_wrap(NULL, 4, TAKT_ACCESS_ALL, count_release,
                              &release_count, &file),
               TAKT_STATUS_INVALID_ARGUMENT, "data is NULL");
  EXPECT_ERROR(
      takt_file_wrap(bytes, 4, 0, count_release, &release_count, &file),
      TAKT_STATUS_INVALID_ARGUMENT, "access 0");
  EXPECT(release_count == 0);
  REQUIRE_OK(takt_file_wrap(bytes, 4, TAKT_ACCESS_ALL, count_release,
                            &release_count, &file));
  takt_file_release(file);
  EXPECT(release_count == 1);
}

int main(void) {
  EXPECT(mkdtemp(folder) != NULL);
  RUN(is_read_where_it_is);
  RUN(is_created_and_written);
  RUN(an_empty_one_is_fine);
  RUN(refuses_what_is_no_file);
  RUN(memory_is_released_once);
  remove(path_of("read"));
  remove(path_of("written"));
  remove(path_of("empty"));
  remove(path_of("new"));
  rmdir(folder);
  return test_result();
}
