#include "takt/byte_buffer.h"

#include "tests/api/test.h"

static void copies_what_it_is_made_of(void) {
  char text[] = "hello";
  takt_byte_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_byte_buffer_create(text, 5, &buffer));
  text[0] = 'j';
  EXPECT(takt_byte_buffer_byte_length(buffer) == 5);
  EXPECT(memcmp(takt_byte_buffer_data(buffer), "hello", 5) == 0);
  EXPECT(takt_byte_buffer_is_mutable(buffer));
  EXPECT((uintptr_t)takt_byte_buffer_data(buffer) % 16 == 0);
  EXPECT_TEXT(takt_object_type_name((takt_object_t*)buffer), "vm.buffer");
  takt_byte_buffer_release(buffer);
}

static void is_zeros_without_data(void) {
  takt_byte_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_byte_buffer_create(NULL, 3, &buffer));
  EXPECT(memcmp(takt_byte_buffer_data(buffer), "\0\0\0", 3) == 0);
  takt_byte_buffer_retain(buffer);
  takt_byte_buffer_release(buffer);
  takt_byte_buffer_release(buffer);
}

static void refuses_more_memory_than_the_system_has(void) {
  takt_byte_buffer_t* buffer = NULL;
  EXPECT_ERROR(takt_byte_buffer_create(NULL, SIZE_MAX / 2, &buffer),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "");
  EXPECT(buffer == NULL);
}

int main(void) {
  RUN(copies_what_it_is_made_of);
  RUN(is_zeros_without_data);
  RUN(refuses_more_memory_than_the_system_has);
  return test_result();
}
