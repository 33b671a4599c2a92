#include "takt/status.h"

#include "tests/api/test.h"

static void null_is_success(void) {
  EXPECT(takt_status_code(NULL) == TAKT_STATUS_OK);
  EXPECT_TEXT(takt_status_message(NULL), "");
  EXPECT_TEXT(takt_status_source(NULL), "");
  EXPECT(takt_status_clone(NULL) == NULL);
  takt_status_free(NULL);
  EXPECT(takt_status_create(TAKT_STATUS_OK, "ignored") == NULL);
}

static void carries_code_and_message(void) {
  takt_status_t status =
      takt_status_create(TAKT_STATUS_NOT_FOUND, "no such thing");
  EXPECT(takt_status_code(status) == TAKT_STATUS_NOT_FOUND);
  EXPECT_TEXT(takt_status_message(status), "no such thing");
  EXPECT_TEXT(takt_status_source(status), "");
  takt_status_t copy = takt_status_clone(status);
  takt_status_free(status);
  EXPECT(takt_status_code(copy) == TAKT_STATUS_NOT_FOUND);
  EXPECT_TEXT(takt_status_message(copy), "no such thing");
  takt_status_free(copy);
}

static void without_a_message_it_is_a_constant(void) {
  takt_status_t one = takt_status_create(TAKT_STATUS_DEADLINE_EXCEEDED, NULL);
  takt_status_t other = takt_status_create(TAKT_STATUS_DEADLINE_EXCEEDED, "");
  EXPECT(one == other);
  EXPECT(takt_status_code(one) == TAKT_STATUS_DEADLINE_EXCEEDED);
  EXPECT_TEXT(takt_status_message(one), "");
  takt_status_free(one);
  takt_status_free(other);
  EXPECT(takt_status_code(one) == TAKT_STATUS_DEADLINE_EXCEEDED);
}

static void an_unknown_code_is_unknown(void) {
  EXPECT_ERROR(takt_status_create((takt_status_code_t)77, "what"),
               TAKT_STATUS_UNKNOWN, "what");
}

static void source_names_the_function(void) {
  takt_element_type_t type = 0;
  takt_status_t status = takt_element_type_parse("f31", &type);
  EXPECT_TEXT(takt_status_source(status), "takt_element_type_parse");
  EXPECT(takt_status_code(status) == TAKT_STATUS_INVALID_ARGUMENT);
  takt_status_free(status);
}

static void codes_have_names(void) {
  EXPECT_TEXT(takt_status_code_name(TAKT_STATUS_OK), "OK");
  EXPECT_TEXT(takt_status_code_name(TAKT_STATUS_DATA_LOSS), "DATA_LOSS");
  EXPECT_TEXT(takt_status_code_name(TAKT_STATUS_INCOMPATIBLE), "INCOMPATIBLE");
  EXPECT_TEXT(takt_status_code_name((takt_status_code_t)19), "?");
  EXPECT_TEXT(takt_status_code_name((takt_status_code_t)-1), "?");
}

int main(void) {
  RUN(null_is_success);
  RUN(carries_code_and_message);
  RUN(without_a_message_it_is_a_constant);
  RUN(an_unknown_code_is_unknown);
  RUN(source_names_the_function);
  RUN(codes_have_names);
  return test_result();
}
