#include "takt/element_type.h"

#include "tests/api/test.h"

static void names_go_both_ways(void) {
  static const struct {
    takt_element_type_t type;
    const char* name;
    size_t bits;
  } kTypes[] = {
      {TAKT_ELEMENT_I4, "i4", 4},
      {TAKT_ELEMENT_I8, "i8", 8},
      {TAKT_ELEMENT_SI16, "si16", 16},
      {TAKT_ELEMENT_UI64, "ui64", 64},
      {TAKT_ELEMENT_BOOL, "i1", 8},
      {TAKT_ELEMENT_F16, "f16", 16},
      {TAKT_ELEMENT_F32, "f32", 32},
      {TAKT_ELEMENT_F64, "f64", 64},
      {TAKT_ELEMENT_BF16, "bf16", 16},
      {TAKT_ELEMENT_CF64, "cf64", 64},
      {TAKT_ELEMENT_CF128, "cf128", 128},
      {TAKT_ELEMENT_F8E5M2, "f8E5M2", 8},
      {TAKT_ELEMENT_F8E4M3FN, "f8E4M3FN", 8},
      {TAKT_ELEMENT_F8E5M2FNUZ, "f8E5M2FNUZ", 8},
      {TAKT_ELEMENT_F8E4M3FNUZ, "f8E4M3FNUZ", 8},
      {TAKT_ELEMENT_F8E8M0FNU, "f8E8M0FNU", 8},
      {TAKT_ELEMENT_OPAQUE_32, "*32", 32},
  };
  for (size_t i = 0; i < sizeof(kTypes) / sizeof(kTypes[0]); ++i) {
    char text[TAKT_ELEMENT_TYPE_TEXT_MAX];
    EXPECT_TEXT(takt_element_type_format(kTypes[i].type, text), kTypes[i].name);
    takt_element_type_t type = 0;
    EXPECT_OK(takt_element_type_parse(kTypes[i].name, &type));
    EXPECT(type == kTypes[i].type);
    EXPECT(takt_element_type_bit_count(type) == kTypes[i].bits);
  }
  EXPECT(takt_element_type_kind(TAKT_ELEMENT_BF16) == TAKT_NUMERICAL_BFLOAT);
}

static void integers_of_one_width_fit_each_other(void) {
  EXPECT(takt_element_type_fits(TAKT_ELEMENT_SI32, TAKT_ELEMENT_I32));
  EXPECT(takt_element_type_fits(TAKT_ELEMENT_UI32, TAKT_ELEMENT_SI32));
  EXPECT(takt_element_type_fits(TAKT_ELEMENT_I8, TAKT_ELEMENT_BOOL));
  EXPECT(takt_element_type_fits(TAKT_ELEMENT_OPAQUE_32, TAKT_ELEMENT_F32));
  EXPECT(!takt_element_type_fits(TAKT_ELEMENT_F32, TAKT_ELEMENT_OPAQUE_32));
  EXPECT(!takt_element_type_fits(TAKT_ELEMENT_I32, TAKT_ELEMENT_I64));
  EXPECT(!takt_element_type_fits(TAKT_ELEMENT_I32, TAKT_ELEMENT_F32));
}

static void refuses_what_is_no_name(void) {
  static const char* const kNames[] = {"", "f", "f31", "x8", "i", "f32 ", "I8"};
  for (size_t i = 0; i < sizeof(kNames) / sizeof(kNames[0]); ++i) {
    takt_element_type_t type = 1;
    EXPECT_ERROR(takt_element_type_parse(kNames[i], &type),
                 TAKT_STATUS_INVALID_ARGUMENT, kNames[i]);
    EXPECT(type == 0);
  }
  takt_element_type_t type = 1;
  EXPECT_ERROR(takt_element_type_parse(NULL, &type),
               TAKT_STATUS_INVALID_ARGUMENT, "NULL");
}

static void any_number_fits_the_text(void) {
  char text[TAKT_ELEMENT_TYPE_TEXT_MAX];
  EXPECT(strlen(takt_element_type_format(UINT32_MAX, text)) <
         TAKT_ELEMENT_TYPE_TEXT_MAX);
}

static void dense_length_rounds_up_to_bytes(void) {
  const int64_t shape[2] = {3, 5};
  size_t length = 0;
  EXPECT_OK(
      takt_element_type_dense_byte_length(TAKT_ELEMENT_F32, 2, shape, &length));
  EXPECT(length == 60);
  EXPECT_OK(
      takt_element_type_dense_byte_length(TAKT_ELEMENT_I4, 2, shape, &length));
  EXPECT(length == 8);
  EXPECT_OK(
      takt_element_type_dense_byte_length(TAKT_ELEMENT_F64, 0, NULL, &length));
  EXPECT(length == 8);
}

static void dense_length_refuses_absurd_shapes(void) {
  const int64_t negative[1] = {-1};
  size_t length = 7;
  EXPECT_ERROR(takt_element_type_dense_byte_length(TAKT_ELEMENT_F32, 1,
                                                   negative, &length),
               TAKT_STATUS_INVALID_ARGUMENT, "");
  EXPECT(length == 0);
  const int64_t huge[2] = {INT64_MAX, INT64_MAX};
  EXPECT_ERROR(
      takt_element_type_dense_byte_length(TAKT_ELEMENT_F32, 2, huge, &length),
      TAKT_STATUS_OUT_OF_RANGE, "");
}

int main(void) {
  RUN(names_go_both_ways);
  RUN(integers_of_one_width_fit_each_other);
  RUN(refuses_what_is_no_name);
  RUN(any_number_fits_the_text);
  RUN(dense_length_rounds_up_to_bytes);
  RUN(dense_length_refuses_absurd_shapes);
  return test_result();
}
