/* The graph of five calls and three fences: whatever order the calls are
 * issued in, from one thread or several, with fences of single arguments or
 * none, the results are the same. And programs with state. */
#include <pthread.h>

#include "takt/async.h"
#include "tests/api/fixture.h"

static const char* const kDag[4] = {
    TESTDATA("async/dag.cpu.vmfb"), TESTDATA("async/dag.cpu.async.vmfb"),
    TESTDATA("async/dag.vmvx.vmfb"), TESTDATA("async/dag.vmvx.async.vmfb")};

enum { P, Q, U, V, W, X, Y, TENSOR_COUNT };
enum { NONE, A, B, C, FENCE_COUNT };

/* fn0: u = 2 p, fn1: v = u + 1, fn2: w = u u, fn3: x = -q, fn4: y = p - 1 */
static const struct {
  const char* name;
  int input, output;
  int wait, signal;
} kCalls[5] = {{"fn0", P, U, A, B},
               {"fn1", U, V, B, C},
               {"fn2", U, W, B, C},
               {"fn3", Q, X, NONE, C},
               {"fn4", P, Y, A, C}};

typedef struct graph_t {
  takt_buffer_view_t* tensors[TENSOR_COUNT];
  takt_fence_t* fences[FENCE_COUNT];
} graph_t;

static graph_t create_graph(fixture_t* fixture) {
  static const float kValues[4] = {1, 2, 3, 4};
  graph_t graph = {{NULL}, {NULL}};
  for (int i = 0; i < TENSOR_COUNT; ++i) {
    graph.tensors[i] = float_view(fixture->device, 4, kValues);
  }
  REQUIRE_OK(takt_fence_create(&graph.fences[A]));
  REQUIRE_OK(takt_fence_create(&graph.fences[B]));
  REQUIRE_OK(takt_fence_create_barrier(4, &graph.fences[C]));
  return graph;
}

static void issue(fixture_t* fixture, graph_t* graph, int call) {
  takt_function_t* function =
      find_function(fixture->context, kCalls[call].name);
  const takt_value_t arguments[2] = {
      takt_value_ref(graph->tensors[kCalls[call].input]),
      takt_value_ref(graph->tensors[kCalls[call].output])};
  REQUIRE_OK(takt_async_invoke(function, NULL, 2, arguments,
                               graph->fences[kCalls[call].wait],
                               graph->fences[kCalls[call].signal], NULL));
  takt_function_release(function);
}

/* Signals a and waits for c. */
static void finish_graph(fixture_t* fixture, graph_t* graph) {
  bool reached = true;
  EXPECT_OK(takt_fence_query(graph->fences[B], &reached));
  EXPECT(!reached);
  EXPECT_OK(takt_fence_query(graph->fences[C], &reached));
  EXPECT(!reached);
  EXPECT_OK(takt_fence_signal(graph->fences[A]));
  EXPECT_OK(takt_fence_wait(graph->fences[C], fixture->instance,
                            TAKT_INFINITE_FUTURE));
  EXPECT_VIEW(graph->tensors[V], "4xf32=3 5 7 9");
  EXPECT_VIEW(graph->tensors[W], "4xf32=4 16 36 64");
  EXPECT_VIEW(graph->tensors[X], "4xf32=-1 -2 -3 -4");
  EXPECT_VIEW(graph->tensors[Y], "4xf32=0 1 2 3");
  for (int i = 0; i < TENSOR_COUNT; ++i) {
    takt_buffer_view_release(graph->tensors[i]);
  }
  for (int i = 0; i < FENCE_COUNT; ++i) takt_fence_release(graph->fences[i]);
}

/* Issues the calls of `order[done .. 5)` in every order after the rest. */
static int issue_in_all_orders(fixture_t* fixture, int* order, int done) {
  if (done == 5) {
    graph_t graph = create_graph(fixture);
    for (int i = 0; i < 5; ++i) issue(fixture, &graph, order[i]);
    finish_graph(fixture, &graph);
    return 1;
  }
  int count = 0;
  for (int i = done; i < 5; ++i) {
    const int chosen = order[i];
    order[i] = order[done];
    order[done] = chosen;
    count += issue_in_all_orders(fixture, order, done + 1);
    order[done] = order[i];
    order[i] = chosen;
  }
  return count;
}

static void issued_in_any_order(void) {
  for (int m = 0; m < 4; ++m) {
    fixture_t f = fixture_create("local-task", kDag[m]);
    int order[5] = {0, 1, 2, 3, 4};
    EXPECT(issue_in_all_orders(&f, order, 0) == 120);
    fixture_destroy(&f);
  }
}

typedef struct issuer_t {
  fixture_t* fixture;
  graph_t* graph;
  int call;
  pthread_t thread;
} issuer_t;

static void* issue_on_thread(void* argument) {
  issuer_t* issuer = argument;
  issue(issuer->fixture, issuer->graph, issuer->call);
  return NULL;
}

static void issued_from_several_threads(void) {
  for (int m = 0; m < 4; ++m) {
    fixture_t f = fixture_create("local-task", kDag[m]);
    for (int round = 0; round < 20; ++round) {
      graph_t graph = create_graph(&f);
      issuer_t issuers[5];
      for (int i = 0; i < 5; ++i) {
        issuers[i] = (issuer_t){&f, &graph, (i + round) % 5, 0};
        if (pthread_create(&issuers[i].thread, NULL, issue_on_thread,
                           &issuers[i]) != 0) {
          exit(1);
        }
      }
      for (int i = 0; i < 5; ++i) pthread_join(issuers[i].thread, NULL);
      finish_graph(&f, &graph);
    }
    fixture_destroy(&f);
  }
}

/* c is passed on: nobody blocks but at the very end. */
static void the_last_fence_is_passed_on(void) {
  for (int m = 0; m < 4; ++m) {
    fixture_t f = fixture_create("local-task", kDag[m]);
    graph_t graph = create_graph(&f);
    takt_function_t* fma = find_function(f.context, "fma");
    takt_buffer_view_t* out =
        float_view(f.device, 4, (const float[4]){0, 0, 0, 0});
    const takt_value_t arguments[4] = {
        takt_value_ref(graph.tensors[V]), takt_value_ref(graph.tensors[X]),
        takt_value_ref(graph.tensors[W]), takt_value_ref(out)};
    takt_fence_t* done = NULL;
    REQUIRE_OK(takt_fence_create(&done));
    REQUIRE_OK(takt_async_invoke(fma, NULL, 4, arguments, graph.fences[C], done,
                                 NULL));
    for (int i = 5; i-- > 0;) issue(&f, &graph, i);
    EXPECT_OK(takt_fence_signal(graph.fences[A]));
    EXPECT_OK(takt_fence_wait(done, f.instance, TAKT_INFINITE_FUTURE));
    EXPECT_VIEW(out, "4xf32=1 6 15 28"); /* v x + w */
    for (int i = 0; i < TENSOR_COUNT; ++i) {
      takt_buffer_view_release(graph.tensors[i]);
    }
    for (int i = 0; i < FENCE_COUNT; ++i) takt_fence_release(graph.fences[i]);
    takt_fence_release(done);
    takt_buffer_view_release(out);
    takt_function_release(fma);
    fixture_destroy(&f);
  }
}

/* Two inputs wait for one fence, the third for another; the output has a
 * signal fence of its own. */
static void single_arguments_have_fences(void) {
  const float zero[4] = {0, 0, 0, 0};
  for (int m = 0; m < 8; ++m) {
    fixture_t f = fixture_create("local-task", kDag[m / 2]);
    takt_buffer_view_t* views[4];
    takt_fence_t* fences[5]; /* ab, c, wait, output, done */
    takt_value_t arguments[4];
    for (int i = 0; i < 4; ++i) {
      views[i] = float_view(f.device, 4, zero);
      arguments[i] = takt_value_ref(views[i]);
    }
    for (int i = 0; i < 5; ++i) REQUIRE_OK(takt_fence_create(&fences[i]));
    const takt_indexed_fence_t waits[4] = {
        {0, fences[0]}, {1, fences[0]}, {2, fences[1]}, {3, NULL}};
    const takt_indexed_fence_t signals[1] = {{0, fences[3]}};
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.argument_fence_count = 4;
    options.argument_fences = waits;
    options.result_fence_count = 1;
    options.result_fences = signals;
    options.cancellable = m % 2 == 0;
    takt_function_t* fma = find_function(f.context, "fma");
    REQUIRE_OK(takt_async_invoke(fma, &options, 4, arguments, fences[2],
                                 fences[4], NULL));
    /* Each argument's maker writes it, then signals its fence. */
    for (int i = 0; i < 3; ++i) {
      const float values[4] = {1, 2, 3, (float)i};
      bool reached = true;
      EXPECT_OK(takt_fence_query(fences[3], &reached));
      EXPECT(!reached);
      EXPECT_OK(takt_buffer_write(takt_buffer_view_buffer(views[i]), 0, values,
                                  sizeof(values)));
      if (i > 0) EXPECT_OK(takt_fence_signal(fences[i - 1]));
    }
    EXPECT_OK(takt_fence_signal(fences[2]));
    EXPECT_OK(takt_fence_wait(fences[3], f.instance, TAKT_INFINITE_FUTURE));
    EXPECT_OK(takt_fence_wait(fences[4], f.instance, TAKT_INFINITE_FUTURE));
    EXPECT_VIEW(views[3], "4xf32=2 6 12 2");
    for (int i = 0; i < 4; ++i) takt_buffer_view_release(views[i]);
    for (int i = 0; i < 5; ++i) takt_fence_release(fences[i]);
    takt_function_release(fma);
    fixture_destroy(&f);
  }
}

/* Any order will do; they may run at the same time. */
static void without_fences(void) {
  for (int m = 0; m < 4; ++m) {
    fixture_t f = fixture_create("local-task", kDag[m]);
    takt_invocation_t* calls[64];
    takt_buffer_view_t* outs[64];
    takt_function_t* function = find_function(f.context, "fn0");
    for (int i = 0; i < 64; ++i) {
      const float values[4] = {(float)i, 1, 2, 3};
      takt_buffer_view_t* input = float_view(f.device, 4, values);
      outs[i] = float_view(f.device, 4, values);
      const takt_value_t arguments[2] = {takt_value_ref(input),
                                         takt_value_ref(outs[i])};
      REQUIRE_OK(takt_async_invoke(function, NULL, 2, arguments, NULL, NULL,
                                   &calls[i]));
      takt_buffer_view_release(input);
    }
    for (int i = 64; i-- > 0;) {
      char text[64];
      snprintf(text, sizeof(text), "4xf32=%d 2 4 6", 2 * i);
      EXPECT_OK(takt_invocation_wait(calls[i], TAKT_INFINITE_FUTURE));
      EXPECT_VIEW(outs[i], text);
      takt_invocation_release(calls[i]);
      takt_buffer_view_release(outs[i]);
    }
    takt_function_release(function);
    fixture_destroy(&f);
  }
}

static void call_state(takt_context_t* context, const char* name,
                       takt_buffer_view_t* argument, takt_invocation_t** out) {
  takt_function_t* function = find_function(context, name);
  const takt_value_t value = takt_value_ref(argument);
  REQUIRE_OK(takt_async_invoke(function, NULL, argument != NULL ? 1 : 0, &value,
                               NULL, NULL, out));
  takt_function_release(function);
}

/* set(x), matmul(a), matmul(b), matmul(c), get() without fences give x a b c;
 * two contexts of the module know nothing of each other. */
static void state_follows_the_order_of_issue(void) {
  static const char* const kState[2] = {
      TESTDATA("async/state.cpu.async.vmfb"),
      TESTDATA("async/state.vmvx.async.vmfb")};
  static const float kMatrices[4][4] = {
      {1, 2, 3, 4}, {0, 1, 1, 0}, {2, 0, 0, 1}, {1, 1, 0, 1}};
  static const int64_t kShape[2] = {2, 2};
  for (int m = 0; m < 2; ++m) {
    fixture_t f = fixture_create("local-task", kState[m]);
    takt_buffer_view_t* x[4];
    for (int i = 0; i < 4; ++i) {
      REQUIRE_OK(takt_buffer_view_copy_from_host(
          f.device, TAKT_ELEMENT_F32, 2, kShape, kMatrices[i], 16, &x[i]));
    }
    for (int round = 0; round < 50; ++round) {
      takt_context_t* contexts[2] = {
          f.context, create_context(f.instance, f.device, f.module)};
      takt_invocation_t* gets[2];
      for (int i = 0; i < 2; ++i) call_state(contexts[i], "set", x[0], NULL);
      for (int j = 1; j < 4; ++j) {
        for (int i = 0; i < 2; ++i) {
          call_state(contexts[i], "matmul", x[i == 0 ? j : 4 - j], NULL);
        }
      }
      for (int i = 0; i < 2; ++i)
        call_state(contexts[i], "get", NULL, &gets[i]);
      takt_context_release(contexts[1]);
      static const char* const kExpected[2] = {"2x2xf32=[4 5][8 11]",
                                               "2x2xf32=[3 2][7 6]"};
      for (int i = 0; i < 2; ++i) {
        takt_value_t result;
        EXPECT_OK(takt_invocation_wait(gets[i], TAKT_INFINITE_FUTURE));
        REQUIRE_OK(takt_invocation_take_results(gets[i], 1, &result));
        EXPECT_VIEW(takt_value_as_buffer_view(&result), kExpected[i]);
        takt_values_release(1, &result);
        takt_invocation_release(gets[i]);
      }
    }
    for (int i = 0; i < 4; ++i) takt_buffer_view_release(x[i]);
    fixture_destroy(&f);
  }
}

int main(void) {
  RUN(issued_in_any_order);
  RUN(issued_from_several_threads);
  RUN(the_last_fence_is_passed_on);
  RUN(single_arguments_have_fences);
  RUN(without_fences);
  RUN(state_follows_the_order_of_issue);
  return test_result();
}
