/* What buffer of a device fits an argument. */
#include "takt/compact_signature.h"
#include "tests/api/fixture.h"

static takt_instance_t* instance;
static takt_device_t* device;

/* The answer for the first argument of a compact signature. */
static takt_buffer_description_t* describe(const char* text,
                                           const takt_buffer_query_t* query) {
  takt_signature_t* signature = NULL;
  REQUIRE_OK(takt_signature_parse_compact(text, &signature));
  takt_buffer_description_t* description = NULL;
  REQUIRE_OK(takt_device_describe_buffer(
      device, takt_signature_argument(signature, 0), query, &description));
  takt_signature_release(signature);
  return description;
}

static void makes_a_buffer_of_the_types_shape(void) {
  takt_buffer_description_t* made = describe("I10!B7!t4d2d3R1!", NULL);
  EXPECT(made->advice == TAKT_BUFFER_ADVICE_MAKE);
  EXPECT(made->element_type == TAKT_ELEMENT_SI8);
  EXPECT(made->rank == 2 && made->shape[0] == 2 && made->shape[1] == 3);
  EXPECT(made->byte_strides[0] == 3 && made->byte_strides[1] == 1);
  EXPECT(made->byte_length == 6);
  EXPECT(made->alignment == TAKT_BUFFER_ALIGNMENT);
  EXPECT(made->memory_type != 0 && made->usage != 0);
  EXPECT(made->conversions == 0);
  EXPECT_TEXT(made->reason, "");
  takt_buffer_description_free(made);
}

static void makes_a_buffer_of_the_given_shape(void) {
  const int64_t shape[2] = {5, 3};
  takt_buffer_query_t query;
  takt_buffer_query_init(&query);
  takt_buffer_description_t* none = describe("I9!B6!d-1d3R1!", &query);
  EXPECT(none->advice == TAKT_BUFFER_ADVICE_UNSUPPORTED);
  EXPECT_CONTAINS(none->reason, "dimension 0");
  EXPECT(none->byte_length == 0 && none->shape == NULL);
  takt_buffer_description_free(none);
  query.rank = 2;
  query.shape = shape;
  takt_buffer_description_t* made = describe("I9!B6!d-1d3R1!", &query);
  EXPECT(made->advice == TAKT_BUFFER_ADVICE_MAKE && made->byte_length == 60);
  takt_buffer_description_free(made);
}

static void uses_or_converts_what_there_is(void) {
  static _Alignas(TAKT_BUFFER_ALIGNMENT) float data[16];
  const int64_t shape[2] = {2, 3};
  takt_host_buffer_t host = {TAKT_ELEMENT_F32, 24, 2, shape, NULL, data};
  takt_buffer_query_t query;
  takt_buffer_query_init(&query);
  query.host = &host;
  takt_buffer_description_t* used = describe("I8!B5!d2d3R1!", &query);
  EXPECT(used->advice == TAKT_BUFFER_ADVICE_USE && used->conversions == 0);
  takt_buffer_description_free(used);

  host.data = data + 1;
  takt_buffer_description_t* aligned = describe("I8!B5!d2d3R1!", &query);
  EXPECT(aligned->advice == TAKT_BUFFER_ADVICE_CONVERT);
  EXPECT(aligned->conversions == TAKT_BUFFER_CONVERSION_ALIGNMENT_COPY);
  takt_buffer_description_free(aligned);

  /* Transposed, and upside down. */
  const int64_t strides[2] = {4, -8};
  host.data = data;
  host.byte_strides = strides;
  takt_buffer_description_t* dense = describe("I8!B5!d2d3R1!", &query);
  EXPECT(dense->advice == TAKT_BUFFER_ADVICE_CONVERT);
  EXPECT(dense->conversions == TAKT_BUFFER_CONVERSION_DENSE_COPY);
  EXPECT(dense->byte_strides[0] == 12 && dense->byte_strides[1] == 4);
  takt_buffer_description_free(dense);
}

static void widens_only_when_asked(void) {
  const int64_t shape[1] = {4};
  const takt_host_buffer_t host = {TAKT_ELEMENT_F32, 16, 1, shape, NULL, NULL};
  takt_buffer_query_t query;
  takt_buffer_query_init(&query);
  query.host = &host;
  takt_buffer_description_t* refused = describe("I8!B5!t2d4R1!", &query);
  EXPECT(refused->advice == TAKT_BUFFER_ADVICE_UNSUPPORTED);
  EXPECT_CONTAINS(refused->reason, "expected f64, got f32");
  takt_buffer_description_free(refused);
  query.allow_widening = true;
  takt_buffer_description_t* widened = describe("I8!B5!t2d4R1!", &query);
  EXPECT(widened->advice == TAKT_BUFFER_ADVICE_CONVERT);
  EXPECT(widened->conversions == TAKT_BUFFER_CONVERSION_WIDENING);
  EXPECT(widened->element_type == TAKT_ELEMENT_F64);
  EXPECT(widened->byte_length == 32);
  takt_buffer_description_free(widened);
}

static void says_why_nothing_fits(void) {
  const int64_t shape[1] = {5};
  const takt_host_buffer_t host = {TAKT_ELEMENT_F32, 20, 1, shape, NULL, NULL};
  takt_buffer_query_t query;
  takt_buffer_query_init(&query);
  query.host = &host;
  takt_buffer_description_t* other = describe("I6!B3!d4R1!", &query);
  EXPECT_CONTAINS(other->reason, "dimension 0: expected 4, got 5");
  takt_buffer_description_free(other);
  takt_buffer_description_t* scalar = describe("I4!S1!R1!", NULL);
  EXPECT(scalar->advice == TAKT_BUFFER_ADVICE_UNSUPPORTED);
  EXPECT_CONTAINS(scalar->reason, "not a buffer");
  takt_buffer_description_free(scalar);
}

static void refuses_questions_that_cannot_be(void) {
  takt_signature_t* signature = NULL;
  REQUIRE_OK(takt_signature_parse_compact("I6!B3!d4R1!", &signature));
  const takt_value_type_t* type = takt_signature_argument(signature, 0);
  takt_buffer_description_t* none = NULL;
  takt_buffer_query_t query;
  memset(&query, 0, sizeof(query));
  EXPECT_ERROR(takt_device_describe_buffer(device, type, &query, &none),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  EXPECT_ERROR(takt_device_describe_buffer(NULL, type, NULL, &none),
               TAKT_STATUS_INVALID_ARGUMENT, "device is NULL");
  EXPECT_ERROR(takt_device_describe_buffer(device, NULL, NULL, &none),
               TAKT_STATUS_INVALID_ARGUMENT, "type is NULL");
  takt_buffer_query_init(&query);
  query.rank = 1;
  EXPECT_ERROR(takt_device_describe_buffer(device, type, &query, &none),
               TAKT_STATUS_INVALID_ARGUMENT, "shape is NULL");
  EXPECT(none == NULL);
  takt_buffer_description_free(NULL);
  takt_signature_release(signature);
}

int main(void) {
  instance = create_instance(0);
  device = create_device(instance, "local-sync");
  RUN(makes_a_buffer_of_the_types_shape);
  RUN(makes_a_buffer_of_the_given_shape);
  RUN(uses_or_converts_what_there_is);
  RUN(widens_only_when_asked);
  RUN(says_why_nothing_fits);
  RUN(refuses_questions_that_cannot_be);
  takt_device_release(device);
  takt_instance_release(instance);
  return test_result();
}
