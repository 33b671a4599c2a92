#include "takt/list.h"

#include "takt/byte_buffer.h"
#include "tests/api/test.h"

static takt_list_t* create_list(takt_value_kind_t kind) {
  takt_list_t* list = NULL;
  REQUIRE_OK(takt_list_create(kind, 4, &list));
  return list;
}

static void holds_any_values(void) {
  takt_list_t* list = create_list(TAKT_VALUE_NONE);
  takt_list_t* inner = create_list(TAKT_VALUE_I32);
  takt_value_t value = takt_value_f32(1.5f);
  EXPECT_OK(takt_list_append(list, &value));
  value = takt_value_ref(inner);
  EXPECT_OK(takt_list_append(list, &value));
  takt_list_release(inner); /* The list has a reference of its own. */
  EXPECT(takt_list_size(list) == 2);
  EXPECT_OK(takt_list_get(list, 0, &value));
  EXPECT(value.kind == TAKT_VALUE_F32 && value.f32 == 1.5f);
  EXPECT_OK(takt_list_get(list, 1, &value));
  EXPECT(takt_value_as_list(&value) == inner);
  EXPECT(takt_value_as_buffer_view(&value) == NULL);
  takt_values_release(1, &value);
  EXPECT(value.kind == TAKT_VALUE_NONE);
  takt_list_release(list);
}

static void converts_to_its_kind(void) {
  takt_list_t* list = create_list(TAKT_VALUE_I32);
  EXPECT_OK(takt_list_resize(list, 1));
  takt_value_t value = takt_value_i64((INT64_C(1) << 40) | 7);
  EXPECT_OK(takt_list_set(list, 0, &value));
  EXPECT_OK(takt_list_get(list, 0, &value));
  EXPECT(value.kind == TAKT_VALUE_I32 && value.i32 == 7);
  takt_list_release(list);
}

static void refuses_bad_indices_and_kinds(void) {
  takt_list_t* list = create_list(TAKT_VALUE_I32);
  takt_value_t value = takt_value_i32(1);
  EXPECT_ERROR(takt_list_set(list, 0, &value), TAKT_STATUS_OUT_OF_RANGE, "");
  EXPECT_ERROR(takt_list_get(list, 0, &value), TAKT_STATUS_OUT_OF_RANGE, "");
  EXPECT(value.kind == TAKT_VALUE_NONE);
  EXPECT_OK(takt_list_resize(list, 1));
  value = takt_value_ref(list);
  takt_status_t status = takt_list_set(list, 0, &value);
  EXPECT(status != NULL);
  takt_status_free(status);
  value.kind = (takt_value_kind_t)99;
  EXPECT_ERROR(takt_list_append(list, &value), TAKT_STATUS_INVALID_ARGUMENT,
               "99");
  EXPECT_ERROR(takt_list_resize(list, SIZE_MAX), TAKT_STATUS_RESOURCE_EXHAUSTED,
               "");
  takt_list_release(list);
  EXPECT_ERROR(takt_list_create((takt_value_kind_t)9, 0, &list),
               TAKT_STATUS_INVALID_ARGUMENT, "element_kind 9");
  EXPECT(list == NULL);
}

int main(void) {
  RUN(holds_any_values);
  RUN(converts_to_its_kind);
  RUN(refuses_bad_indices_and_kinds);
  return test_result();
}
