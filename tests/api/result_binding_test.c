/* Results in memory of the caller's: written there by the program where that
 * can be, else copied; the statistics say which. */
#include "takt/async.h"
#include "takt/takt.h"
#include "tests/api/fixture.h"

static const char* const kMul[2] = {TESTDATA("api/simple_mul.vmfb"),
                                    TESTDATA("api/simple_mul_async.vmfb")};
static const char* const kDevices[2] = {"local-sync", "local-task"};
static const float kOneToFour[4] = {1, 2, 3, 4};

/* Host memory that is also a tensor. */
typedef struct memory_t {
  _Alignas(TAKT_BUFFER_ALIGNMENT) float floats[16];
  takt_buffer_view_t* view;
} memory_t;

static void memory_wrap(memory_t* memory, takt_device_t* device, size_t rank,
                        const int64_t* shape) {
  size_t count = 1;
  for (size_t i = 0; i < rank; ++i) count *= (size_t)shape[i];
  memset(memory->floats, 0, sizeof(memory->floats));
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_wrap(device, memory->floats, count * sizeof(float),
                              NULL, NULL, NULL, &buffer));
  REQUIRE_OK(takt_buffer_view_create(buffer, TAKT_ELEMENT_F32, rank, shape,
                                     &memory->view));
  takt_buffer_release(buffer);
}

static void expect_counts(takt_function_t* function, uint64_t in_place,
                          uint64_t copied) {
  takt_binding_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  REQUIRE_OK(takt_function_query_bindings(function, &statistics));
  EXPECT(statistics.in_place_count == in_place);
  EXPECT(statistics.copied_count == copied);
}

static void expect_floats(const float* actual, float a, float b, float c,
                          float d) {
  EXPECT(actual[0] == a && actual[1] == b && actual[2] == c && actual[3] == d);
}

/* mul(view, view), whose result lies in `memory`. */
static takt_status_t mul_into(takt_function_t* mul, takt_buffer_view_t* view,
                              memory_t* memory, int64_t timeout_ns,
                              takt_value_t* result) {
  const takt_result_buffer_t bound = {0, memory->view};
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.timeout_ns = timeout_ns;
  options.result_buffer_count = 1;
  options.result_buffers = &bound;
  return takt_function_invoke(mul, &options, 2, arguments, 1, result);
}

/* From the second call on the program itself writes there. */
static void a_result_is_written_in_place(void) {
  const int64_t shape[1] = {4};
  for (int i = 0; i < 8; ++i) {
    fixture_t f =
        fixture_create_with(i & 4 ? 2 : 0, kDevices[i >> 1 & 1], kMul[i & 1]);
    takt_function_t* mul = find_function(f.context, "mul");
    memory_t memory;
    memory_wrap(&memory, f.device, 1, shape);
    for (int call = 0; call < 6; ++call) {
      float values[4];
      for (int j = 0; j < 4; ++j) values[j] = kOneToFour[j] + (float)call;
      takt_buffer_view_t* view = float_view(f.device, 4, values);
      takt_value_t result;
      /* An ordinary call, and one that can be given up. */
      const int64_t timeout_ns = call & 1 ? 3600000000000 : 0;
      REQUIRE_OK(mul_into(mul, view, &memory, timeout_ns, &result));
      EXPECT(takt_value_as_buffer_view(&result) == memory.view);
      takt_values_release(1, &result);
      expect_floats(memory.floats, values[0] * values[0], values[1] * values[1],
                    values[2] * values[2], values[3] * values[3]);
      expect_counts(mul, (uint64_t)call, 1);
      takt_buffer_view_release(view);
    }
    takt_buffer_view_release(memory.view);
    takt_function_release(mul);
    fixture_destroy(&f);
  }
}

/* Two buffers in turn, for calls in flight at once. */
static void asynchronous_calls_write_results_in_place_too(void) {
  const int64_t shape[1] = {4};
  for (int i = 0; i < 4; ++i) {
    fixture_t f = fixture_create(kDevices[i >> 1], kMul[i & 1]);
    takt_function_t* mul = find_function(f.context, "mul");
    takt_fence_t* begin = NULL;
    REQUIRE_OK(takt_fence_create(&begin));
    memory_t memories[3];
    takt_invocation_t* calls[3] = {NULL, NULL, NULL};
    for (int j = 0; j < 3; ++j) {
      memory_wrap(&memories[j], f.device, 1, shape);
      float values[4];
      for (int k = 0; k < 4; ++k) values[k] = kOneToFour[k] + (float)j;
      takt_buffer_view_t* view = float_view(f.device, 4, values);
      const takt_result_buffer_t bound = {0, memories[j].view};
      const takt_value_t arguments[2] = {takt_value_ref(view),
                                         takt_value_ref(view)};
      takt_async_options_t options;
      takt_async_options_init(&options);
      options.result_buffer_count = 1;
      options.result_buffers = &bound;
      REQUIRE_OK(takt_async_invoke(mul, &options, 2, arguments,
                                   j > 0 ? begin : NULL, NULL, &calls[j]));
      takt_buffer_view_release(view);
      /* The first one teaches. */
      if (j == 0) {
        REQUIRE_OK(takt_invocation_wait(calls[0], TAKT_INFINITE_FUTURE));
      }
    }
    REQUIRE_OK(takt_fence_signal(begin));
    for (int j = 0; j < 3; ++j) {
      REQUIRE_OK(takt_invocation_wait(calls[j], TAKT_INFINITE_FUTURE));
      takt_value_t result;
      REQUIRE_OK(takt_invocation_take_results(calls[j], 1, &result));
      EXPECT(takt_value_as_buffer_view(&result) == memories[j].view);
      takt_values_release(1, &result);
      const float first = (float)(j + 1);
      expect_floats(memories[j].floats, first * first,
                    (first + 1) * (first + 1), (first + 2) * (first + 2),
                    (first + 3) * (first + 3));
      takt_invocation_release(calls[j]);
      takt_buffer_view_release(memories[j].view);
    }
    expect_counts(mul, 2, 1);
    takt_fence_release(begin);
    takt_function_release(mul);
    fixture_destroy(&f);
  }
}

/* The program might write its result before it has read its argument. */
static void memory_of_an_argument_is_copied_to(void) {
  const int64_t shape[1] = {4};
  fixture_t f = fixture_create("local-task", kMul[0]);
  takt_function_t* mul = find_function(f.context, "mul");
  memory_t memory;
  memory_wrap(&memory, f.device, 1, shape);
  memcpy(memory.floats, kOneToFour, sizeof(kOneToFour));
  for (uint64_t call = 1; call <= 3; ++call) {
    takt_value_t result;
    REQUIRE_OK(mul_into(mul, memory.view, &memory, 0, &result));
    takt_values_release(1, &result);
    expect_counts(mul, 0, call);
  }
  expect_floats(memory.floats, 1, 256, 6561, 65536);
  takt_buffer_view_release(memory.view);
  takt_function_release(mul);
  fixture_destroy(&f);
}

/* step() returns what it also keeps: it must not keep the caller's memory. The
 * asynchronous one queues a copy of its result that may last longer than the
 * call, so its result is always copied. */
static void memory_that_the_module_keeps_is_its_own(void) {
  const int64_t shape[1] = {16};
  const char* const modules[] = {
      TESTDATA("models/mutable_global.cpu.vmfb"),
      TESTDATA("models/mutable_global.cpu.async.vmfb")};
  for (int i = 0; i < 4; ++i) {
    fixture_t f = fixture_create(kDevices[i >> 1], modules[i & 1]);
    takt_function_t* step = find_function(f.context, "step");
    memory_t memory;
    memory_wrap(&memory, f.device, 1, shape);
    float ones[16];
    for (int j = 0; j < 16; ++j) ones[j] = 1;
    takt_buffer_view_t* view = float_view(f.device, 16, ones);
    const takt_value_t argument = takt_value_ref(view);
    const takt_result_buffer_t bound = {0, memory.view};
    takt_invoke_options_t options;
    takt_invoke_options_init(&options);
    options.result_buffer_count = 1;
    options.result_buffers = &bound;
    for (int call = 1; call <= 5; ++call) {
      takt_value_t result;
      REQUIRE_OK(
          takt_function_invoke(step, &options, 1, &argument, 1, &result));
      takt_values_release(1, &result);
      /* n of them: weights 1 to 16, once a call. */
      EXPECT(memory.floats[0] == (float)call);
      EXPECT(memory.floats[15] == (float)(16 * call));
      memset(memory.floats, 0, sizeof(memory.floats)); /* It is ours. */
    }
    expect_counts(step, i & 1 ? 0 : 4, i & 1 ? 5 : 1);
    takt_buffer_view_release(view);
    takt_buffer_view_release(memory.view);
    takt_function_release(step);
    fixture_destroy(&f);
  }
}

/* Two results, of which one or both are bound. */
static void every_result_may_have_memory(void) {
  const int64_t input_shape[2] = {1, 4};
  const int64_t shapes[2][2] = {{1, 3}, {1, 1}};
  for (int bound_count = 1; bound_count <= 2; ++bound_count) {
    fixture_t f =
        fixture_create("local-task", TESTDATA("onnx/policy.cpu.vmfb"));
    takt_function_t* policy = find_function(f.context, "policy");
    takt_buffer_view_t* view = NULL;
    REQUIRE_OK(takt_buffer_view_copy_from_host(f.device, TAKT_ELEMENT_F32, 2,
                                               input_shape, kOneToFour,
                                               sizeof(kOneToFour), &view));
    const takt_value_t argument = takt_value_ref(view);
    memory_t memories[2];
    takt_result_buffer_t bound[2];
    for (int j = 0; j < 2; ++j) {
      memory_wrap(&memories[j], f.device, 2, shapes[j]);
      bound[1 - j].index = (size_t)j;
      bound[1 - j].view = memories[j].view;
    }
    takt_invoke_options_t options;
    takt_invoke_options_init(&options);
    options.result_buffer_count = (size_t)bound_count;
    options.result_buffers = bound; /* The second result first. */
    for (int call = 0; call < 4; ++call) {
      for (int j = 0; j < 2; ++j) {
        memset(memories[j].floats, 0, sizeof(memories[j].floats));
      }
      takt_value_t results[2];
      REQUIRE_OK(
          takt_function_invoke(policy, &options, 1, &argument, 2, results));
      EXPECT_VIEW(takt_value_as_buffer_view(&results[0]), "1x3xf32=[0 14 1]");
      EXPECT_VIEW(takt_value_as_buffer_view(&results[1]), "1x1xf32=[5]");
      EXPECT(memories[1].floats[0] == 5);
      EXPECT(memories[0].floats[1] == (bound_count == 2 ? 14 : 0));
      takt_values_release(2, results);
    }
    takt_binding_statistics_t statistics;
    statistics.struct_size = sizeof(statistics);
    REQUIRE_OK(takt_function_query_bindings(policy, &statistics));
    EXPECT(statistics.in_place_count + statistics.copied_count ==
           4 * (uint64_t)bound_count);
    for (int j = 0; j < 2; ++j) takt_buffer_view_release(memories[j].view);
    takt_buffer_view_release(view);
    takt_function_release(policy);
    fixture_destroy(&f);
  }
}

static void refuses_buffers_that_do_not_fit(void) {
  const int64_t shape[1] = {4};
  const int64_t wrong_shape[1] = {5};
  fixture_t f = fixture_create("local-task", kMul[0]);
  takt_function_t* mul = find_function(f.context, "mul");
  memory_t right;
  memory_t wrong;
  memory_wrap(&right, f.device, 1, shape);
  memory_wrap(&wrong, f.device, 1, wrong_shape);
  takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  const struct {
    takt_result_buffer_t bound[2];
    size_t count;
    const char* message;
  } cases[] = {
      {{{1, right.view}}, 1, "simple.mul: result 1: there are 1 results"},
      {{{0, right.view}, {0, right.view}},
       2,
       "simple.mul: result 0: is given two buffers"},
      {{{0, NULL}}, 1, "result 0: view"},
      {{{0, wrong.view}},
       1,
       "simple.mul: result 0: is a tensor<4xf32>, for which the buffer of "
       "5xf32 is none"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    takt_invoke_options_t options;
    takt_invoke_options_init(&options);
    options.result_buffer_count = cases[i].count;
    options.result_buffers = cases[i].bound;
    takt_value_t result;
    EXPECT_ERROR(takt_function_invoke(mul, &options, 2, arguments, 1, &result),
                 TAKT_STATUS_INVALID_ARGUMENT, cases[i].message);
    takt_async_options_t async;
    takt_async_options_init(&async);
    async.result_buffer_count = cases[i].count;
    async.result_buffers = cases[i].bound;
    EXPECT_ERROR(takt_async_invoke(mul, &async, 2, arguments, NULL, NULL, NULL),
                 TAKT_STATUS_INVALID_ARGUMENT, cases[i].message);
  }
  takt_binding_statistics_t unsized_statistics;
  unsized_statistics.struct_size = 0;
  EXPECT_ERROR(takt_function_query_bindings(mul, &unsized_statistics),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  takt_buffer_view_release(view);
  takt_buffer_view_release(right.view);
  takt_buffer_view_release(wrong.view);
  takt_function_release(mul);
  fixture_destroy(&f);
}

int main(void) {
  RUN(a_result_is_written_in_place);
  RUN(asynchronous_calls_write_results_in_place_too);
  RUN(memory_of_an_argument_is_copied_to);
  RUN(memory_that_the_module_keeps_is_its_own);
  RUN(every_result_may_have_memory);
  RUN(refuses_buffers_that_do_not_fit);
  return test_result();
}
