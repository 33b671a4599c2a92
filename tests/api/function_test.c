#include "takt/function.h"

#include "tests/api/fixture.h"

/* Calls `name` with two views of `count` floats. */
static takt_status_t multiply(fixture_t* fixture, int64_t count,
                              takt_value_t* out_result) {
  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  takt_buffer_view_t* view = float_view(fixture->device, count, values);
  takt_function_t* function = find_function(fixture->context, "mul");
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_status_t status =
      takt_function_invoke(function, NULL, 2, arguments, 1, out_result);
  takt_function_release(function);
  takt_buffer_view_release(view);
  return status;
}

/* 0 workers: the caller's thread is enough. */
static void runs_on_every_device_in_both_models(void) {
  static const char* const kModules[2] = {
      TESTDATA("api/simple_mul.vmfb"), TESTDATA("api/simple_mul_async.vmfb")};
  static const char* const kDevices[2] = {"local-sync", "local-task"};
  static const int32_t kWorkerCounts[5] = {0, 1, 2, 4, 64};
  for (int i = 0; i < 20; ++i) {
    fixture_t fixture = fixture_create_with(
        kWorkerCounts[i / 4], kDevices[i % 2], kModules[i / 2 % 2]);
    for (int round = 0; round < 50; ++round) {
      takt_value_t result;
      REQUIRE_OK(multiply(&fixture, 4, &result));
      EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=1 4 9 16");
      takt_values_release(1, &result);
    }
    fixture_destroy(&fixture);
  }
}

static void async_functions_take_the_callers_fences(void) {
  fixture_t fixture =
      fixture_create("local-task", TESTDATA("api/simple_mul_async.vmfb"));
  takt_function_t* function = find_function(fixture.context, "mul");
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(fixture.device, 4, values);
  takt_fence_t* wait = NULL;
  takt_fence_t* signal = NULL;
  REQUIRE_OK(takt_fence_create(&wait));
  REQUIRE_OK(takt_fence_create(&signal));
  const takt_value_t arguments[4] = {takt_value_ref(view), takt_value_ref(view),
                                     takt_value_ref(wait),
                                     takt_value_ref(signal)};
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, 4, arguments, 1, &result));
  bool reached = true;
  EXPECT_OK(takt_fence_query(signal, &reached));
  EXPECT(!reached); /* Nothing runs before the wait fence. */
  EXPECT_OK(takt_fence_signal(wait));
  EXPECT_OK(takt_fence_wait(signal, fixture.instance, TAKT_INFINITE_FUTURE));
  EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=1 4 9 16");
  takt_values_release(1, &result);

  /* A failed wait fence fails the signal fence, with the first cause. */
  takt_fence_release(wait);
  takt_fence_release(signal);
  REQUIRE_OK(takt_fence_create(&wait));
  REQUIRE_OK(takt_fence_create(&signal));
  const takt_value_t failing[4] = {takt_value_ref(view), takt_value_ref(view),
                                   takt_value_ref(wait),
                                   takt_value_ref(signal)};
  REQUIRE_OK(takt_function_invoke(function, NULL, 4, failing, 1, &result));
  takt_fence_fail(wait, takt_status_create(TAKT_STATUS_DATA_LOSS, "torn"));
  EXPECT_ERROR(takt_fence_wait(signal, fixture.instance, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_DATA_LOSS, "torn");
  takt_values_release(1, &result);
  takt_fence_release(wait);
  takt_fence_release(signal);

  const takt_value_t wrong[4] = {takt_value_ref(view), takt_value_ref(view),
                                 takt_value_ref(view), takt_value_ref(NULL)};
  EXPECT_ERROR(takt_function_invoke(function, NULL, 4, wrong, 1, &result),
               TAKT_STATUS_INVALID_ARGUMENT,
               "input 2: expected hal.fence, got 4xf32");
  takt_buffer_view_release(view);
  takt_function_release(function);
  fixture_destroy(&fixture);
}

static void messages_say_what_was_expected(void) {
  fixture_t fixture =
      fixture_create("local-sync", TESTDATA("api/simple_mul.vmfb"));
  takt_value_t result;
  EXPECT_ERROR(multiply(&fixture, 5, &result), TAKT_STATUS_INVALID_ARGUMENT,
               "simple.mul: input 0: expected 4xf32, got 5xf32");
  EXPECT(result.kind == TAKT_VALUE_NONE);

  takt_function_t* function = find_function(fixture.context, "double");
  const int32_t integers[4] = {0};
  int64_t shape[2] = {2, 2};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(fixture.device, TAKT_ELEMENT_I32,
                                             2, shape, integers, 16, &view));
  takt_value_t argument = takt_value_ref(view);
  EXPECT_ERROR(takt_function_invoke(function, NULL, 1, &argument, 1, &result),
               TAKT_STATUS_INVALID_ARGUMENT,
               "simple.double: input 0: expected ?x2xf32, got 2x2xi32");
  argument = takt_value_i32(1);
  EXPECT_ERROR(takt_function_invoke(function, NULL, 1, &argument, 1, &result),
               TAKT_STATUS_INVALID_ARGUMENT, "expected ?x2xf32, got i32");
  argument = takt_value_ref(NULL);
  EXPECT_ERROR(takt_function_invoke(function, NULL, 1, &argument, 1, &result),
               TAKT_STATUS_INVALID_ARGUMENT, "expected ?x2xf32, got null");
  argument = takt_value_ref(takt_buffer_view_buffer(view));
  EXPECT_ERROR(takt_function_invoke(function, NULL, 1, &argument, 1, &result),
               TAKT_STATUS_INVALID_ARGUMENT, "got hal.buffer");
  EXPECT_ERROR(takt_function_invoke(function, NULL, 0, NULL, 1, &result),
               TAKT_STATUS_INVALID_ARGUMENT,
               "simple.double: expected 1 input, got 0");
  EXPECT_ERROR(takt_function_invoke(function, NULL, 1, &argument, 0, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "results");
  takt_buffer_view_release(view);
  takt_function_release(function);
  fixture_destroy(&fixture);
}

/* Calls `name` of models/integer_types with one tensor of that type. */
static takt_status_t call_with(fixture_t* fixture, const char* name,
                               takt_element_type_t type, int64_t count,
                               const void* data, takt_value_t* out_result) {
  size_t byte_length = 0;
  REQUIRE_OK(
      takt_element_type_dense_byte_length(type, 1, &count, &byte_length));
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(fixture->device, type, 1, &count,
                                             data, byte_length, &view));
  takt_function_t* function = find_function(fixture->context, name);
  const takt_value_t argument = takt_value_ref(view);
  takt_status_t status =
      takt_function_invoke(function, NULL, 1, &argument, 1, out_result);
  takt_function_release(function);
  takt_buffer_view_release(view);
  return status;
}

static void integers_of_one_width_are_one_type(void) {
  static const int32_t kWords[2] = {-7, 21};
  static const uint8_t kBytes[4] = {0, 1, 0, 1};
  static const struct {
    const char* function;
    takt_element_type_t type;
    int64_t count;
    const void* data;
    const char* result;
  } kCalls[] = {
      {"add_i32", TAKT_ELEMENT_I32, 2, kWords, "2xi32=-14 42"},
      {"add_i32", TAKT_ELEMENT_SI32, 2, kWords, "2xi32=-14 42"},
      {"add_i32", TAKT_ELEMENT_UI32, 2, kWords, "2xi32=-14 42"},
      {"add_i8", TAKT_ELEMENT_UI8, 4, kBytes, "4xi8=0 2 0 2"},
      {"add_i8", TAKT_ELEMENT_BOOL, 4, kBytes, "4xi8=0 2 0 2"},
      {"invert_i1", TAKT_ELEMENT_BOOL, 4, kBytes, "4xi1=01 00 01 00"},
      {"invert_i1", TAKT_ELEMENT_I8, 4, kBytes, "4xi1=01 00 01 00"},
      {"invert_i1", TAKT_ELEMENT_SI8, 4, kBytes, "4xi1=01 00 01 00"},
      {"invert_i1", TAKT_ELEMENT_UI8, 4, kBytes, "4xi1=01 00 01 00"},
      {"pass_ui8", TAKT_ELEMENT_I8, 4, kBytes, "4xi8=0 1 0 1"},
  };
  fixture_t fixture =
      fixture_create("local-sync", TESTDATA("models/integer_types.cpu.vmfb"));
  takt_value_t result;
  for (size_t i = 0; i < sizeof(kCalls) / sizeof(kCalls[0]); ++i) {
    REQUIRE_OK(call_with(&fixture, kCalls[i].function, kCalls[i].type,
                         kCalls[i].count, kCalls[i].data, &result));
    EXPECT_VIEW(takt_value_as_buffer_view(&result), kCalls[i].result);
    takt_values_release(1, &result);
  }
  EXPECT_ERROR(
      call_with(&fixture, "add_i32", TAKT_ELEMENT_F32, 2, kWords, &result),
      TAKT_STATUS_INVALID_ARGUMENT,
      "integer_types.add_i32: input 0: expected 2xi32, got 2xf32");
  EXPECT_ERROR(
      call_with(&fixture, "add_i16", TAKT_ELEMENT_UI8, 3, kBytes, &result),
      TAKT_STATUS_INVALID_ARGUMENT, "expected 3xi16, got 3xui8");
  fixture_destroy(&fixture);
}

static void dynamic_dimensions_take_any_size(void) {
  fixture_t fixture =
      fixture_create("local-task", TESTDATA("api/simple_mul.vmfb"));
  takt_function_t* function = find_function(fixture.context, "double");
  const float values[6] = {1, 2, 3, 4, 5, 6};
  static const char* const kExpected[3] = {
      "1x2xf32=[2 4]", "2x2xf32=[2 4][6 8]", "3x2xf32=[2 4][6 8][10 12]"};
  for (int64_t rows = 1; rows <= 3; ++rows) {
    const int64_t shape[2] = {rows, 2};
    takt_buffer_view_t* view = NULL;
    REQUIRE_OK(takt_buffer_view_copy_from_host(
        fixture.device, TAKT_ELEMENT_F32, 2, shape, values,
        (size_t)rows * 2 * sizeof(float), &view));
    const takt_value_t argument = takt_value_ref(view);
    takt_value_t result;
    REQUIRE_OK(takt_function_invoke(function, NULL, 1, &argument, 1, &result));
    EXPECT_VIEW(takt_value_as_buffer_view(&result), kExpected[rows - 1]);
    takt_values_release(1, &result);
    takt_buffer_view_release(view);
  }
  takt_function_release(function);
  fixture_destroy(&fixture);
}

static void scalars_go_through(void) {
  takt_instance_t* instance = create_instance(0);
  takt_context_t* context = create_counter(instance, NULL, fail_without_robot);
  takt_function_t* function = find_function(context, "scalars");
  takt_value_t arguments[4] = {takt_value_i32(INT32_MIN),
                               takt_value_i64(INT64_MAX), takt_value_f32(-0.5f),
                               takt_value_f64(1e300)};
  takt_value_t results[4];
  REQUIRE_OK(takt_function_invoke(function, NULL, 4, arguments, 4, results));
  EXPECT(results[0].kind == TAKT_VALUE_I32 && results[0].i32 == INT32_MIN);
  EXPECT(results[1].kind == TAKT_VALUE_I64 && results[1].i64 == INT64_MAX);
  EXPECT(results[2].kind == TAKT_VALUE_F32 && results[2].f32 == -0.5f);
  EXPECT(results[3].kind == TAKT_VALUE_F64 && results[3].f64 == 1e300);
  /* Integers and floats convert among themselves. */
  arguments[0] = takt_value_i64((INT64_C(5) << 32) | 7);
  arguments[1] = takt_value_i32(-1);
  arguments[2] = takt_value_f64(0.25);
  arguments[3] = takt_value_f32(0.5f);
  REQUIRE_OK(takt_function_invoke(function, NULL, 4, arguments, 4, results));
  EXPECT(results[0].i32 == 7 && results[1].i64 == -1);
  EXPECT(results[2].f32 == 0.25f && results[3].f64 == 0.5);
  arguments[1] = takt_value_ref(NULL);
  EXPECT_ERROR(takt_function_invoke(function, NULL, 4, arguments, 4, results),
               TAKT_STATUS_INVALID_ARGUMENT,
               "counter.scalars: input 1: expected i64, got null");
  takt_function_release(function);
  takt_context_release(context);
  takt_instance_release(instance);
}

static void a_failed_call_leaves_the_context_usable(void) {
  takt_instance_t* instance = create_instance(0);
  takt_context_t* context = create_counter(instance, NULL, fail_without_robot);
  takt_function_t* read = find_function(context, "read");
  takt_function_t* next = find_function(context, "next");
  const takt_value_t arguments[4] = {takt_value_i32(1), takt_value_i64(2),
                                     takt_value_f32(3), takt_value_f64(4)};
  takt_value_t result;
  EXPECT_ERROR(takt_function_invoke(read, NULL, 4, arguments, 1, &result),
               TAKT_STATUS_UNIMPLEMENTED, "no robot here");
  EXPECT(result.kind == TAKT_VALUE_NONE);
  EXPECT_OK(takt_function_invoke(next, NULL, 1, arguments, 1, &result));
  EXPECT(result.i32 == 1);
  takt_function_release(read);
  takt_function_release(next);
  takt_context_release(context);
  takt_instance_release(instance);
}

static void a_step_limit_ends_an_endless_program(void) {
  takt_instance_t* instance = create_instance(0);
  takt_context_t* context = create_counter(instance, NULL, fail_without_robot);
  takt_function_t* spin = find_function(context, "spin");
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.step_limit = 1000;
  takt_value_t argument = takt_value_i32(-1); /* As unsigned: 2^32 - 1. */
  takt_value_t result;
  EXPECT_ERROR(takt_function_invoke(spin, &options, 1, &argument, 1, &result),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "");
  argument = takt_value_i32(100);
  EXPECT_OK(takt_function_invoke(spin, &options, 1, &argument, 1, &result));
  EXPECT(result.i32 == 100);
  options.struct_size = 1;
  EXPECT_ERROR(takt_function_invoke(spin, &options, 1, &argument, 1, &result),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  takt_function_release(spin);
  takt_context_release(context);
  takt_instance_release(instance);
}

static void a_memory_limit_ends_a_call_that_allocates_more(void) {
  fixture_t fixture =
      fixture_create("local-task", TESTDATA("api/simple_mul.vmfb"));
  takt_function_t* function = find_function(fixture.context, "mul");
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(fixture.device, 4, values);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  takt_value_t result;
  options.memory_limit = 8;
  EXPECT_ERROR(
      takt_function_invoke(function, &options, 2, arguments, 1, &result),
      TAKT_STATUS_RESOURCE_EXHAUSTED, "simple.mul");
  EXPECT_ERROR(
      takt_function_invoke(function, &options, 2, arguments, 1, &result),
      TAKT_STATUS_RESOURCE_EXHAUSTED, "asked for 16 bytes, 8 of 8 are left");
  const uint64_t enough[3] = {0, 16, TAKT_NO_MEMORY_LIMIT};
  for (int i = 0; i < 3; ++i) {
    options.memory_limit = enough[i];
    EXPECT_OK(
        takt_function_invoke(function, &options, 2, arguments, 1, &result));
    EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=1 4 9 16");
    takt_values_release(1, &result);
  }
  takt_buffer_view_release(view);
  takt_function_release(function);
  fixture_destroy(&fixture);
}

static void a_function_has_a_name_a_signature_and_attributes(void) {
  fixture_t fixture =
      fixture_create("local-sync", TESTDATA("api/simple_mul.vmfb"));
  takt_function_t* function = find_function(fixture.context, "mul");
  EXPECT_TEXT(takt_function_name(function), "simple.mul");
  EXPECT_TEXT(takt_function_attribute(function, "takt.priority"), "200");
  EXPECT(takt_function_attribute(function, "takt.deadline_ns") == NULL);
  EXPECT(takt_signature_argument_count(takt_function_signature(function)) == 2);
  takt_function_retain(function);
  takt_function_release(function);
  takt_function_release(function);
  fixture_destroy(&fixture);
}

int main(void) {
  RUN(runs_on_every_device_in_both_models);
  RUN(async_functions_take_the_callers_fences);
  RUN(messages_say_what_was_expected);
  RUN(integers_of_one_width_are_one_type);
  RUN(dynamic_dimensions_take_any_size);
  RUN(scalars_go_through);
  RUN(a_failed_call_leaves_the_context_usable);
  RUN(a_step_limit_ends_an_endless_program);
  RUN(a_memory_limit_ends_a_call_that_allocates_more);
  RUN(a_function_has_a_name_a_signature_and_attributes);
  return test_result();
}
