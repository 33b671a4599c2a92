/* Calls whose arguments are results of calls that may still be under way: a
 * graph of functions as they are compiled by default, without a wait between
 * them, and what becomes of it if one fails or is cancelled. */
#include "takt/async.h"
#include "tests/api/fixture.h"

static const char* const kDag[4] = {
    TESTDATA("async/dag.cpu.vmfb"), TESTDATA("async/dag.cpu.async.vmfb"),
    TESTDATA("async/dag.vmvx.vmfb"), TESTDATA("async/dag.vmvx.async.vmfb")};
static const float kOneToFour[4] = {1, 2, 3, 4};

/* The call fn(input, storage), where `from` is to give the input if it is not
 * NULL. */
static takt_invocation_t* issue(fixture_t* f, const char* name,
                                takt_buffer_view_t* input,
                                takt_invocation_t* from, takt_fence_t* wait) {
  takt_function_t* function = find_function(f->context, name);
  takt_buffer_view_t* storage = float_view(f->device, 4, kOneToFour);
  takt_value_t arguments[2];
  memset(arguments, 0, sizeof(arguments));
  if (input != NULL) arguments[0] = takt_value_ref(input);
  arguments[1] = takt_value_ref(storage);
  const takt_future_argument_t future = {0, from, 0};
  takt_async_options_t options;
  takt_async_options_init(&options);
  if (from != NULL) {
    options.future_argument_count = 1;
    options.future_arguments = &future;
  }
  takt_invocation_t* invocation = NULL;
  REQUIRE_OK(takt_async_invoke(function, &options, 2, arguments, wait, NULL,
                               &invocation));
  takt_buffer_view_release(storage);
  takt_function_release(function);
  return invocation;
}

static void expect_result(takt_invocation_t* invocation, const char* text) {
  REQUIRE_OK(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
  takt_value_t result;
  REQUIRE_OK(takt_invocation_take_results(invocation, 1, &result));
  EXPECT_VIEW(takt_value_as_buffer_view(&result), text);
  takt_values_release(1, &result);
}

/* u = 2 p; v = u + 1; w = u u; x = -w. The first waits for a fence, so that
 * nothing is there when the others are issued. Handles go before the graph
 * runs, but for those that are looked at. */
static void a_graph_runs_without_a_wait_between(void) {
  for (int i = 0; i < 12; ++i) {
    fixture_t f = fixture_create_with(
        i % 3, i & 1 ? "local-task" : "local-sync", kDag[i / 3]);
    takt_fence_t* begin = NULL;
    REQUIRE_OK(takt_fence_create(&begin));
    takt_buffer_view_t* p = float_view(f.device, 4, kOneToFour);
    takt_invocation_t* u = issue(&f, "fn0", p, NULL, begin);
    takt_invocation_t* v = issue(&f, "fn1", NULL, u, NULL);
    takt_invocation_t* w = issue(&f, "fn2", NULL, u, NULL);
    takt_invocation_t* x = issue(&f, "fn3", NULL, w, NULL);
    takt_invocation_release(u);
    takt_invocation_release(w);
    takt_buffer_view_release(p);
    EXPECT(takt_invocation_state(x) == TAKT_INVOCATION_WAITING);
    REQUIRE_OK(takt_fence_signal(begin));
    expect_result(v, "4xf32=3 5 7 9");
    expect_result(x, "4xf32=-4 -16 -36 -64");
    takt_invocation_release(v);
    takt_invocation_release(x);
    takt_fence_release(begin);
    fixture_destroy(&f);
  }
}

static void a_result_may_be_taken_and_be_an_argument(void) {
  fixture_t f = fixture_create("local-task", kDag[0]);
  takt_buffer_view_t* p = float_view(f.device, 4, kOneToFour);
  takt_fence_t* begin = NULL;
  REQUIRE_OK(takt_fence_create(&begin));
  takt_invocation_t* u = issue(&f, "fn0", p, NULL, NULL);
  REQUIRE_OK(takt_invocation_wait(u, TAKT_INFINITE_FUTURE));
  /* It is done, and its results are taken before the other begins. */
  takt_invocation_t* v = issue(&f, "fn1", NULL, u, begin);
  expect_result(u, "4xf32=2 4 6 8");
  REQUIRE_OK(takt_fence_signal(begin));
  expect_result(v, "4xf32=3 5 7 9");
  /* Afterwards they are gone. */
  takt_function_t* fn1 = find_function(f.context, "fn1");
  takt_value_t arguments[2];
  memset(arguments, 0, sizeof(arguments));
  arguments[1] = takt_value_ref(p);
  const takt_future_argument_t future = {0, u, 0};
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.future_argument_count = 1;
  options.future_arguments = &future;
  EXPECT_ERROR(takt_async_invoke(fn1, &options, 2, arguments, NULL, NULL, NULL),
               TAKT_STATUS_FAILED_PRECONDITION,
               "dag.fn1: input 0: the results of dag.fn0 have been taken");
  takt_function_release(fn1);
  takt_invocation_release(u);
  takt_invocation_release(v);
  takt_fence_release(begin);
  takt_buffer_view_release(p);
  fixture_destroy(&f);
}

/* The second call begins at any moment of the end of the first one. */
static void a_call_may_begin_while_the_other_one_ends(void) {
  enum { kRounds = 40000, kStepNs = 37, kSpanNs = 30000 };
  fixture_t f = fixture_create("local-task", kDag[0]);
  takt_buffer_view_t* p = float_view(f.device, 4, kOneToFour);
  for (int i = 0; i < kRounds; ++i) {
    takt_invocation_t* u = issue(&f, "fn0", p, NULL, NULL);
    const int64_t end_ns = takt_clock_now_ns() + (int64_t)i * kStepNs % kSpanNs;
    while (takt_clock_now_ns() < end_ns) {
    }
    takt_invocation_t* v = issue(&f, "fn1", NULL, u, NULL);
    expect_result(v, "4xf32=3 5 7 9");
    takt_invocation_release(u);
    takt_invocation_release(v);
  }
  takt_buffer_view_release(p);
  fixture_destroy(&f);
}

/* step(fails, a, b, out) */
static takt_invocation_t* issue_failing(fixture_t* f, takt_fence_t* wait) {
  takt_function_t* step = find_function(f->context, "step");
  takt_buffer_view_t* view = float_view(f->device, 4, kOneToFour);
  const takt_value_t arguments[4] = {takt_value_i32(1), takt_value_ref(view),
                                     takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_invocation_t* invocation = NULL;
  REQUIRE_OK(
      takt_async_invoke(step, NULL, 4, arguments, wait, NULL, &invocation));
  takt_buffer_view_release(view);
  takt_function_release(step);
  return invocation;
}

static void a_failure_ends_what_depends_on_it(void) {
  for (int i = 0; i < 8; ++i) {
    fixture_t f = fixture_create("local-task", kDag[i & 3]);
    takt_fence_t* begin = NULL;
    REQUIRE_OK(takt_fence_create(&begin));
    /* It fails before or after the others are issued. */
    if (i >= 4) REQUIRE_OK(takt_fence_signal(begin));
    takt_invocation_t* first = issue_failing(&f, begin);
    if (i >= 4) {
      takt_status_free(takt_invocation_wait(first, TAKT_INFINITE_FUTURE));
    }
    takt_invocation_t* second = issue(&f, "fn0", NULL, first, NULL);
    takt_invocation_t* third = issue(&f, "fn1", NULL, second, NULL);
    takt_invocation_release(first);
    takt_invocation_release(second);
    if (i < 4) REQUIRE_OK(takt_fence_signal(begin));
    EXPECT_ERROR(takt_invocation_wait(third, TAKT_INFINITE_FUTURE),
                 TAKT_STATUS_FAILED_PRECONDITION, "asked to fail");
    takt_invocation_release(third);
    takt_fence_release(begin);
    fixture_destroy(&f);
  }
}

static void cancelling_one_ends_what_depends_on_it(void) {
  for (int i = 0; i < 4; ++i) {
    fixture_t f = fixture_create("local-task", kDag[i]);
    takt_fence_t* never = NULL;
    REQUIRE_OK(takt_fence_create(&never));
    takt_buffer_view_t* p = float_view(f.device, 4, kOneToFour);
    takt_invocation_t* u = issue(&f, "fn0", p, NULL, never);
    takt_invocation_t* v = issue(&f, "fn1", NULL, u, NULL);
    takt_invocation_t* w = issue(&f, "fn2", NULL, u, NULL);
    takt_invocation_cancel(v); /* Not the others. */
    EXPECT_ERROR(takt_invocation_wait(v, TAKT_INFINITE_FUTURE),
                 TAKT_STATUS_CANCELLED, "dag.fn1: cancelled");
    EXPECT(takt_invocation_state(w) == TAKT_INVOCATION_WAITING);
    takt_invocation_cancel(u);
    EXPECT_ERROR(takt_invocation_wait(w, TAKT_INFINITE_FUTURE),
                 TAKT_STATUS_CANCELLED, "dag.fn0: cancelled");
    takt_invocation_release(u);
    takt_invocation_release(v);
    takt_invocation_release(w);
    takt_buffer_view_release(p);
    takt_fence_release(never);
    fixture_destroy(&f);
  }
}

/* Each holds the one before it. Nothing recurses when they go. */
static void a_long_chain_runs_and_is_cancelled(void) {
  for (int cancelled = 0; cancelled < 2; ++cancelled) {
    fixture_t f = fixture_create("local-task", kDag[0]);
    takt_fence_t* begin = NULL;
    REQUIRE_OK(takt_fence_create(&begin));
    takt_buffer_view_t* p = float_view(f.device, 4, kOneToFour);
    takt_invocation_t* first = issue(&f, "fn1", p, NULL, begin);
    takt_invocation_t* last = first;
    takt_invocation_retain(last);
    for (int i = 1; i < 3000; ++i) {
      takt_invocation_t* next = issue(&f, "fn1", NULL, last, NULL);
      takt_invocation_release(last);
      last = next;
    }
    if (cancelled) {
      takt_invocation_cancel(first);
      EXPECT_ERROR(takt_invocation_wait(last, TAKT_INFINITE_FUTURE),
                   TAKT_STATUS_CANCELLED, "dag.fn1: cancelled");
    } else {
      REQUIRE_OK(takt_fence_signal(begin));
      expect_result(last, "4xf32=3001 3002 3003 3004");
    }
    takt_invocation_release(first);
    takt_invocation_release(last);
    takt_buffer_view_release(p);
    takt_fence_release(begin);
    fixture_destroy(&f);
  }
}

static void refuses_invalid_futures(void) {
  fixture_t f = fixture_create("local-task", kDag[0]);
  fixture_t other = fixture_create("local-task", kDag[0]);
  takt_buffer_view_t* p = float_view(f.device, 4, kOneToFour);
  takt_buffer_view_t* q = float_view(other.device, 4, kOneToFour);
  takt_invocation_t* u = issue(&f, "fn0", p, NULL, NULL);
  takt_invocation_t* foreign = issue(&other, "fn0", q, NULL, NULL);
  REQUIRE_OK(takt_invocation_wait(u, TAKT_INFINITE_FUTURE));
  REQUIRE_OK(takt_invocation_wait(foreign, TAKT_INFINITE_FUTURE));
  takt_function_t* step = find_function(f.context, "step");
  const struct {
    takt_future_argument_t futures[2];
    size_t count;
    takt_value_kind_t kind; /* Of argument 1. */
    const char* message;
  } cases[] = {
      {{{4, u, 0}}, 1, TAKT_VALUE_REF, "dag.step: input 4: there are 4 inputs"},
      {{{1, u, 1}},
       1,
       TAKT_VALUE_NONE,
       "dag.step: input 1: result 1 of dag.fn0, which has 1 results"},
      {{{1, u, 0}},
       1,
       TAKT_VALUE_REF,
       "dag.step: input 1: is to come from another call, but a value"},
      {{{1, u, 0}, {1, u, 0}},
       2,
       TAKT_VALUE_NONE,
       "dag.step: input 1: is to come from two calls"},
      {{{1, NULL, 0}},
       1,
       TAKT_VALUE_NONE,
       "dag.step: input 1: the invocation is NULL"},
      {{{1, foreign, 0}},
       1,
       TAKT_VALUE_NONE,
       "dag.step: input 1: dag.fn0 is of another instance"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    takt_value_t arguments[4] = {takt_value_i32(0), takt_value_ref(p),
                                 takt_value_ref(p), takt_value_ref(p)};
    if (cases[i].kind == TAKT_VALUE_NONE) {
      memset(&arguments[1], 0, sizeof(arguments[1]));
    }
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.future_argument_count = cases[i].count;
    options.future_arguments = cases[i].futures;
    takt_invocation_t* invocation = NULL;
    EXPECT_ERROR(takt_async_invoke(step, &options, 4, arguments, NULL, NULL,
                                   &invocation),
                 TAKT_STATUS_INVALID_ARGUMENT, cases[i].message);
    EXPECT(invocation == NULL);
  }
  /* A number where a tensor is wanted, and the other way round. */
  takt_value_t arguments[4] = {
      {0}, takt_value_ref(p), takt_value_ref(p), takt_value_ref(p)};
  const takt_future_argument_t future = {0, u, 0};
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.future_argument_count = 1;
  options.future_arguments = &future;
  EXPECT_ERROR(
      takt_async_invoke(step, &options, 4, arguments, NULL, NULL, NULL),
      TAKT_STATUS_INVALID_ARGUMENT,
      "dag.step: input 0: expected i32, but result 0 of dag.fn0 is ref");
  takt_function_release(step);
  takt_invocation_release(u);
  takt_invocation_release(foreign);
  takt_buffer_view_release(p);
  takt_buffer_view_release(q);
  fixture_destroy(&f);
  fixture_destroy(&other);
}

int main(void) {
  RUN(a_graph_runs_without_a_wait_between);
  RUN(a_result_may_be_taken_and_be_an_argument);
  RUN(a_call_may_begin_while_the_other_one_ends);
  RUN(a_failure_ends_what_depends_on_it);
  RUN(cancelling_one_ends_what_depends_on_it);
  RUN(a_long_chain_runs_and_is_cancelled);
  RUN(refuses_invalid_futures);
  return test_result();
}
