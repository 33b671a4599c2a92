#include "takt/value.h"

#include "takt/list.h"
#include "tests/api/test.h"

static void scalars_keep_their_kind(void) {
  EXPECT(takt_value_i32(-3).kind == TAKT_VALUE_I32);
  EXPECT(takt_value_i32(-3).i32 == -3);
  EXPECT(takt_value_i64(INT64_MIN).i64 == INT64_MIN);
  EXPECT(takt_value_f32(0.5f).f32 == 0.5f);
  EXPECT(takt_value_f64(1e300).f64 == 1e300);
  EXPECT(takt_value_ref(NULL).kind == TAKT_VALUE_REF);
}

static void scalars_are_no_objects(void) {
  takt_value_t value = takt_value_i64(-1);
  EXPECT(takt_value_as_buffer(&value) == NULL);
  EXPECT(takt_value_as_buffer_view(&value) == NULL);
  EXPECT(takt_value_as_byte_buffer(&value) == NULL);
  EXPECT(takt_value_as_fence(&value) == NULL);
  EXPECT(takt_value_as_list(&value) == NULL);
  value = takt_value_ref(NULL);
  EXPECT(takt_value_as_list(&value) == NULL);
}

static void release_makes_values_none(void) {
  takt_list_t* list = NULL;
  REQUIRE_OK(takt_list_create(TAKT_VALUE_NONE, 0, &list));
  takt_value_t values[3] = {takt_value_ref(list), takt_value_i32(1),
                            takt_value_ref(NULL)};
  takt_values_release(3, values);
  for (int i = 0; i < 3; ++i) EXPECT(values[i].kind == TAKT_VALUE_NONE);
  takt_values_release(3, values);
  takt_values_release(0, NULL);
}

static void kinds_have_names(void) {
  EXPECT_TEXT(takt_value_kind_name(TAKT_VALUE_I32), "i32");
  EXPECT_TEXT(takt_value_kind_name(TAKT_VALUE_F64), "f64");
  EXPECT_TEXT(takt_value_kind_name(TAKT_VALUE_REF), "ref");
  EXPECT_TEXT(takt_value_kind_name((takt_value_kind_t)8), "?");
}

int main(void) {
  RUN(scalars_keep_their_kind);
  RUN(scalars_are_no_objects);
  RUN(release_makes_values_none);
  RUN(kinds_have_names);
  return test_result();
}
