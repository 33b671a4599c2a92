/* CPU and NPU work at the same time: the quantized network, with its products
 * on the NPU, in a trace. */
#include <sched.h>
#include <stdatomic.h>

#include "takt/async.h"
#include "takt/npu.h"
#include "tests/analysis/contents.h"
#include "tests/api/npu_product.h"

static npu_t create(const takt_npu_driver_t* driver, const char* profile) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.driver_options = profile;
  options.may_route_to_cpu = false;
  return npu_create_in(create_instance(2), "local-task", driver, &options);
}

static takt_context_t* link_quantized(const npu_t* npu, size_t device_count) {
  takt_status_t status = NULL;
  takt_context_t* context = link_module(npu, TESTDATA("npu/quantized.vmfb"),
                                        device_count, npu->devices, &status);
  REQUIRE_OK(status);
  return context;
}

static takt_invocation_t* call(const npu_t* npu, takt_context_t* context) {
  static int8_t x[32 * 64];
  for (int i = 0; i < 32 * 64; ++i) x[i] = (int8_t)(i * 37 % 101 - 50);
  takt_value_t argument =
      view_of(npu->devices[0], TAKT_ELEMENT_I8, 32, 64, x, sizeof(x));
  takt_function_t* function = find_function(context, "run");
  takt_invocation_t* invocation = NULL;
  REQUIRE_OK(
      takt_async_invoke(function, NULL, 1, &argument, NULL, NULL, &invocation));
  takt_function_release(function);
  takt_values_release(1, &argument);
  return invocation;
}

static void finish(takt_invocation_t* invocation, int32_t* out) {
  REQUIRE_OK(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
  takt_value_t result;
  REQUIRE_OK(takt_invocation_take_results(invocation, 1, &result));
  REQUIRE_OK(takt_buffer_view_copy_to_host(takt_value_as_buffer_view(&result),
                                           out, 32 * 64 * sizeof(int32_t)));
  takt_values_release(1, &result);
  takt_invocation_release(invocation);
}

/* Pairs of a batch and a dispatch that ran at the same time. */
static int count_overlaps(const npu_t* npu) {
  takt_trace_contents_t* trace = collect_contents(npu->instance);
  const size_t count = takt_trace_contents_info(trace).event_count;
  int overlaps = 0;
  for (size_t i = 0; i < count; ++i) {
    const takt_trace_event_t batch = takt_trace_contents_event(trace, i);
    if (strcmp(batch.kind, "npu_batch") != 0) continue;
    EXPECT(takt_trace_contents_track(trace, batch.track).kind ==
           TAKT_TRACE_TRACK_NPU);
    for (size_t j = 0; j < count; ++j) {
      const takt_trace_event_t dispatch = takt_trace_contents_event(trace, j);
      if (strcmp(dispatch.kind, "dispatch") != 0) continue;
      /* The dispatch that the batch is a part of began before it, and ends
       * after it. */
      const int64_t end_ns = dispatch.time_ns + dispatch.duration_ns;
      overlaps += dispatch.time_ns > batch.time_ns &&
                  end_ns < batch.time_ns + batch.duration_ns;
    }
  }
  takt_trace_contents_release(trace);
  return overlaps;
}

/* A driver whose first batch ends when it is told to. */
static atomic_bool holds;
static atomic_bool has_begun;
static takt_npu_batch_t held;

static void complete_held(void) {
  held.complete(held.user_data, held.id, TAKT_NPU_RESULT_OK);
}
static void on_complete(void* user_data, uint64_t id,
                        takt_npu_result_t result) {
  (void)user_data, (void)id;
  if (atomic_load(&holds)) {
    atomic_store(&has_begun, true); /* Ends by complete_held(). */
  } else {
    held.complete(held.user_data, held.id, result);
  }
}
static takt_npu_result_t hold_batch(void* unit, const takt_npu_batch_t* batch) {
  held = *batch;
  takt_npu_batch_t inner = *batch;
  inner.complete = &on_complete;
  return takt_npu_host_driver()->submit(unit, &inner);
}

static void the_cpu_works_while_the_npu_does(void) {
  takt_npu_driver_t driver = *takt_npu_host_driver();
  driver.submit = &hold_batch;
  npu_t npu = create(&driver, NULL);
  takt_context_t* on_both = link_quantized(&npu, 2);
  takt_context_t* on_cpu = link_quantized(&npu, 1);
  static int32_t first[32 * 64], second[32 * 64];
  REQUIRE_OK(takt_tracing_start(npu.instance, NULL));
  atomic_store(&has_begun, false);
  atomic_store(&holds, true);
  takt_invocation_t* one = call(&npu, on_both);
  AWAIT(atomic_load(&has_begun));
  /* The NPU is in its first batch for as long as this takes. */
  finish(call(&npu, on_cpu), second);
  atomic_store(&holds, false);
  complete_held();
  finish(one, first);
  EXPECT(memcmp(first, second, sizeof(first)) == 0);
  takt_context_release(on_cpu);
  takt_context_release(on_both);
  npu_destroy(&npu);
}

/* The same without anybody's help: calls of the network, two at a time, whose
 * batches take some milliseconds each. */
static void calls_of_one_network_overlap(void) {
  npu_t npu = create(takt_npu_sim_driver(), "{\"launch_ns\": 3000000}");
  takt_context_t* contexts[2] = {link_quantized(&npu, 2),
                                 link_quantized(&npu, 2)};
  static int32_t out[2][32 * 64];
  REQUIRE_OK(takt_tracing_start(npu.instance, NULL));
  /* How the two fall together is up to the machine, but not in every round. */
  enum { kRoundsMax = 100 };
  int rounds = 0;
  while (rounds < kRoundsMax && count_overlaps(&npu) == 0) {
    takt_invocation_t* calls[2] = {call(&npu, contexts[0]),
                                   call(&npu, contexts[1])};
    for (int i = 0; i < 2; ++i) finish(calls[i], out[i]);
    EXPECT(memcmp(out[0], out[1], sizeof(out[0])) == 0);
    ++rounds;
  }
  EXPECT(rounds < kRoundsMax);
  for (int i = 0; i < 2; ++i) takt_context_release(contexts[i]);
  npu_destroy(&npu);
}

int main(void) {
  RUN(the_cpu_works_while_the_npu_does);
  RUN(calls_of_one_network_overlap);
  return test_result();
}
