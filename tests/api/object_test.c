#include "takt/object.h"

#include "takt/list.h"
#include "tests/api/test.h"

static void objects_know_their_type(void) {
  takt_list_t* list = NULL;
  REQUIRE_OK(takt_list_create(TAKT_VALUE_NONE, 0, &list));
  takt_object_t* object = (takt_object_t*)list;
  takt_object_retain(object);
  EXPECT_TEXT(takt_object_type_name(object), "vm.list");
  takt_object_release(object);
  takt_object_release(object);
  takt_object_retain(NULL);
  takt_object_release(NULL);
}

static void every_handle_is_an_object(void) {
  takt_fence_t* fence = NULL;
  takt_timeline_t* timeline = NULL;
  takt_byte_buffer_t* bytes = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  REQUIRE_OK(takt_timeline_create(0, &timeline));
  REQUIRE_OK(takt_byte_buffer_create("a", 1, &bytes));
  EXPECT_TEXT(takt_object_type_name((takt_object_t*)fence), "hal.fence");
  EXPECT_TEXT(takt_object_type_name((takt_object_t*)timeline), "hal.semaphore");
  EXPECT_TEXT(takt_object_type_name((takt_object_t*)bytes), "vm.buffer");
  takt_object_release((takt_object_t*)fence);
  takt_object_release((takt_object_t*)timeline);
  takt_object_release((takt_object_t*)bytes);
}

int main(void) {
  RUN(objects_know_their_type);
  RUN(every_handle_is_an_object);
  return test_result();
}
