#include "takt/buffer_view.h"

#include "tests/api/fixture.h"

static takt_instance_t* instance;
static takt_device_t* device;

static void copies_a_tensor_in_and_out(void) {
  const float values[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[2] = {2, 3};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(device, TAKT_ELEMENT_F32, 2, shape,
                                             values, sizeof(values), &view));
  EXPECT(takt_buffer_view_element_type(view) == TAKT_ELEMENT_F32);
  EXPECT(takt_buffer_view_rank(view) == 2);
  EXPECT(takt_buffer_view_shape(view)[0] == 2);
  EXPECT(takt_buffer_view_shape(view)[1] == 3);
  EXPECT(takt_buffer_view_byte_length(view) == 24);
  EXPECT_VIEW(view, "2x3xf32=[1 2 3][4 5 6]");
  float back[6] = {0};
  EXPECT_OK(takt_buffer_view_copy_to_host(view, back, sizeof(back)));
  EXPECT(memcmp(back, values, sizeof(values)) == 0);
  EXPECT_ERROR(takt_buffer_view_copy_to_host(view, back, 20),
               TAKT_STATUS_INVALID_ARGUMENT, "2x3xf32 has 24 bytes, got 20");
  EXPECT_TEXT(takt_object_type_name((takt_object_t*)view), "hal.buffer_view");
  takt_buffer_view_release(view);
}

/* Every element type, as the tools print it: values from the formats' own
 * definitions. */
static void prints_every_element_type(void) {
  static const struct {
    takt_element_type_t type;
    uint8_t bytes[16];
    size_t byte_length;
    const char* text;
  } kCases[] = {
      {TAKT_ELEMENT_I8, {0xff}, 1, "1xi8=-1"},
      {TAKT_ELEMENT_UI8, {0xff}, 1, "1xui8=255"},
      {TAKT_ELEMENT_SI16, {0x00, 0x80}, 2, "1xsi16=-32768"},
      {TAKT_ELEMENT_I32, {1, 0, 0, 0}, 4, "1xi32=1"},
      {TAKT_ELEMENT_UI32, {0xff, 0xff, 0xff, 0xff}, 4, "1xui32=4294967295"},
      {TAKT_ELEMENT_I64, {2, 0, 0, 0, 0, 0, 0, 0}, 8, "1xi64=2"},
      {TAKT_ELEMENT_BOOL, {1}, 1, "1xi1=01"},
      {TAKT_ELEMENT_F16, {0x00, 0x3e}, 2, "1xf16=1.5"},
      {TAKT_ELEMENT_BF16, {0xc0, 0x3f}, 2, "1xbf16=1.5"},
      {TAKT_ELEMENT_F32, {0, 0, 0xc0, 0x3f}, 4, "1xf32=1.5"},
      {TAKT_ELEMENT_F64, {0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, 8, "1xf64=1.5"},
      {TAKT_ELEMENT_F8E5M2, {0x3e}, 1, "1xf8E5M2=1.5"},
      {TAKT_ELEMENT_F8E4M3FN, {0x3c}, 1, "1xf8E4M3FN=1.5"},
      {TAKT_ELEMENT_OPAQUE_16, {0xab, 0xcd}, 2, "1x*16=ABCD"},
  };
  const int64_t one = 1;
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    takt_buffer_view_t* view = NULL;
    REQUIRE_OK(takt_buffer_view_copy_from_host(device, kCases[i].type, 1, &one,
                                               kCases[i].bytes,
                                               kCases[i].byte_length, &view));
    EXPECT_VIEW(view, kCases[i].text);
    takt_buffer_view_release(view);
  }
}

static void is_zeros_without_data(void) {
  const int64_t shape[1] = {2};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(device, TAKT_ELEMENT_I32, 1, shape,
                                             NULL, 8, &view));
  EXPECT_VIEW(view, "2xi32=0 0");
  takt_buffer_view_release(view);
}

static void rank_0_is_one_element(void) {
  const float value = 2.5f;
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(device, TAKT_ELEMENT_F32, 0, NULL,
                                             &value, 4, &view));
  EXPECT(takt_buffer_view_byte_length(view) == 4);
  EXPECT_VIEW(view, "f32=2.5");
  takt_buffer_view_release(view);
}

static void keeps_its_buffer(void) {
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 100, NULL, &buffer));
  const int64_t shape[1] = {3};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_create(buffer, TAKT_ELEMENT_I8, 1, shape, &view));
  EXPECT(takt_buffer_view_buffer(view) == buffer);
  EXPECT(takt_buffer_view_byte_length(view) == 3);
  EXPECT_OK(takt_buffer_write(buffer, 0, "\1\2\3", 3));
  takt_buffer_release(buffer);
  EXPECT_VIEW(view, "3xi8=1 2 3");
  takt_buffer_view_retain(view);
  takt_buffer_view_release(view);
  takt_buffer_view_release(view);
}

static void refuses_tensors_that_do_not_fit(void) {
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 8, NULL, &buffer));
  takt_buffer_view_t* view = NULL;
  int64_t shape[129] = {3};
  EXPECT_ERROR(
      takt_buffer_view_create(buffer, TAKT_ELEMENT_F32, 1, shape, &view),
      TAKT_STATUS_OUT_OF_RANGE, "");
  shape[0] = -1;
  EXPECT_ERROR(
      takt_buffer_view_create(buffer, TAKT_ELEMENT_F32, 1, shape, &view),
      TAKT_STATUS_INVALID_ARGUMENT, "");
  for (int i = 0; i < 129; ++i) shape[i] = 1;
  EXPECT_ERROR(
      takt_buffer_view_create(buffer, TAKT_ELEMENT_I8, 129, shape, &view),
      TAKT_STATUS_INVALID_ARGUMENT, "");
  EXPECT_ERROR(takt_buffer_view_create(buffer, TAKT_ELEMENT_I8, 1, NULL, &view),
               TAKT_STATUS_INVALID_ARGUMENT, "shape is NULL");
  EXPECT_ERROR(takt_buffer_view_create(NULL, TAKT_ELEMENT_I8, 0, NULL, &view),
               TAKT_STATUS_INVALID_ARGUMENT, "buffer is NULL");
  EXPECT(view == NULL);
  takt_buffer_release(buffer);
}

static void refuses_another_byte_length(void) {
  const float values[4] = {0};
  const int64_t shape[2] = {2, 2};
  takt_buffer_view_t* view = NULL;
  EXPECT_ERROR(takt_buffer_view_copy_from_host(device, TAKT_ELEMENT_F32, 2,
                                               shape, values, 12, &view),
               TAKT_STATUS_INVALID_ARGUMENT,
               "a tensor of 2x2xf32 has 16 bytes, got 12");
  EXPECT(view == NULL);
}

int main(void) {
  instance = create_instance(0);
  device = create_device(instance, "local-sync");
  RUN(copies_a_tensor_in_and_out);
  RUN(prints_every_element_type);
  RUN(is_zeros_without_data);
  RUN(rank_0_is_one_element);
  RUN(keeps_its_buffer);
  RUN(refuses_tensors_that_do_not_fit);
  RUN(refuses_another_byte_length);
  takt_device_release(device);
  takt_instance_release(instance);
  return test_result();
}
