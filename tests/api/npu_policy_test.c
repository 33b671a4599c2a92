/* What is done when an NPU fails at the work of a call, as the call says. */
#include "takt/async.h"
#include "takt/npu.h"
#include "tests/analysis/contents.h"
#include "tests/api/npu_product.h"

static npu_t create(const char* faults) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.driver_options = faults;
  options.retry_max = 2;
  options.quarantine_after = 1000000;
  options.virtual_time = true;
  options.event_count_max = 1000;
  return npu_create_in(create_instance(2), "local-task", takt_npu_sim_driver(),
                       &options);
}

static takt_context_t* link_route_a(const npu_t* npu) {
  takt_status_t status = NULL;
  takt_context_t* context =
      link_module(npu, TESTDATA("npu/route_a.vmfb"), 2, npu->devices, &status);
  REQUIRE_OK(status);
  return context;
}

typedef struct case_t {
  takt_npu_policy_t policy;
  takt_status_code_t code;
  bool retries;
  bool falls_back;
} case_t;

static const case_t kCases[] = {
    {TAKT_NPU_POLICY_DEVICE, TAKT_STATUS_OK, true, true},
    {TAKT_NPU_POLICY_FAIL, TAKT_STATUS_UNAVAILABLE, false, false},
    {TAKT_NPU_POLICY_RETRY, TAKT_STATUS_UNAVAILABLE, true, false},
    {TAKT_NPU_POLICY_FALLBACK, TAKT_STATUS_OK, false, true},
    {TAKT_NPU_POLICY_RETRY_FALLBACK, TAKT_STATUS_OK, true, true},
};
enum { kCaseCount = sizeof(kCases) / sizeof(kCases[0]) };

/* Every batch fails, so each is tried as often as may be. */
static void check_counts(const npu_t* npu, const case_t* expected) {
  const takt_npu_statistics_t statistics = statistics_of(npu);
  EXPECT(statistics.operation_count == 0);
  EXPECT(statistics.error_count > 0);
  EXPECT(statistics.failed_count == statistics.batch_count);
  EXPECT(statistics.retry_count ==
         (expected->retries ? 2 * statistics.error_count : 0));
  EXPECT(statistics.fallback_count ==
         (expected->falls_back ? statistics.error_count : 0));
}

static void policies_are_per_call(void) {
  for (int i = 0; i < kCaseCount; ++i) {
    npu_t npu = create("{\"faults\": {\"error\": 1}}");
    takt_context_t* context = link_route_a(&npu);
    takt_invoke_options_t options;
    takt_invoke_options_init(&options);
    EXPECT(options.npu_policy == TAKT_NPU_POLICY_DEVICE);
    options.npu_policy = kCases[i].policy;
    takt_status_t status =
        run_product_with(context, npu.devices[0], 2, &options);
    EXPECT(takt_status_code(status) == kCases[i].code);
    takt_status_free(status);
    check_counts(&npu, &kCases[i]);
    takt_context_release(context);
    npu_destroy(&npu);
  }
}

static void policies_are_per_asynchronous_call(void) {
  for (int i = 0; i < kCaseCount; ++i) {
    npu_t npu = create("{\"faults\": {\"error\": 1}}");
    takt_context_t* context = link_route_a(&npu);
    static int8_t x[kRows * kDepth], w[kDepth * kColumns];
    static int32_t b[kRows * kColumns];
    takt_value_t arguments[3] = {
        view_of(npu.devices[0], TAKT_ELEMENT_I8, kRows, kDepth, x, sizeof(x)),
        view_of(npu.devices[0], TAKT_ELEMENT_I8, kDepth, kColumns, w,
                sizeof(w)),
        view_of(npu.devices[0], TAKT_ELEMENT_I32, kRows, kColumns, b,
                sizeof(b))};
    takt_function_t* function = find_function(context, "run");
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.npu_policy = kCases[i].policy;
    takt_invocation_t* invocation = NULL;
    REQUIRE_OK(takt_async_invoke(function, &options, 3, arguments, NULL, NULL,
                                 &invocation));
    takt_status_t status =
        takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE);
    EXPECT(takt_status_code(status) == kCases[i].code);
    takt_status_free(status);
    check_counts(&npu, &kCases[i]);
    takt_invocation_release(invocation);
    takt_function_release(function);
    takt_values_release(3, arguments);
    takt_context_release(context);
    npu_destroy(&npu);
  }
}

static void time_limits_are_per_call(void) {
  npu_t npu = create("{\"faults\": {\"time_out\": 1}}");
  takt_context_t* context = link_route_a(&npu);
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.npu_policy = TAKT_NPU_POLICY_FAIL;
  options.npu_time_limit_ns = 12345678;
  EXPECT_ERROR(run_product_with(context, npu.devices[0], 2, &options),
               TAKT_STATUS_DEADLINE_EXCEEDED, "more than 12.3457 ms");
  static takt_npu_event_t events[1000];
  const size_t count = takt_npu_device_events(npu.devices[1], 1000, events);
  EXPECT(count >= 1); /* More, if operations run at the same time. */
  EXPECT(events[0].is_time_out);
  EXPECT(events[0].end_ns - events[0].start_ns == 12345678);
  takt_context_release(context);
  npu_destroy(&npu);
}

/* What was done about each failure, on the NPU's track. */
static void answers_are_recorded(void) {
  enum { kRetry = 1, kFallBack = 5, kFail = 6, kAnswers = 7 };
  for (int i = 0; i < kCaseCount; ++i) {
    npu_t npu = create("{\"faults\": {\"error\": 1}}");
    takt_context_t* context = link_route_a(&npu);
    REQUIRE_OK(takt_tracing_start(npu.instance, NULL));
    takt_invoke_options_t options;
    takt_invoke_options_init(&options);
    options.npu_policy = kCases[i].policy;
    takt_status_free(run_product_with(context, npu.devices[0], 2, &options));
    takt_trace_contents_t* trace = collect_contents(npu.instance);
    uint64_t counts[kAnswers] = {0};
    for (size_t e = 0; e < takt_trace_contents_info(trace).event_count; ++e) {
      const takt_trace_event_t event = takt_trace_contents_event(trace, e);
      if (strcmp(event.kind, "npu_fault") != 0) continue;
      EXPECT(takt_trace_contents_track(trace, event.track).kind ==
             TAKT_TRACE_TRACK_NPU);
      EXPECT(event.detail < kAnswers);
      if (event.detail < kAnswers) ++counts[event.detail];
    }
    const takt_npu_statistics_t statistics = statistics_of(&npu);
    EXPECT(counts[kRetry] == statistics.retry_count);
    EXPECT(counts[kFallBack] == statistics.fallback_count);
    /* Operations that run at the same time may all fail. */
    EXPECT((counts[kFail] == 0) == kCases[i].falls_back);
    takt_trace_contents_release(trace);
    takt_context_release(context);
    npu_destroy(&npu);
  }
}

static void invalid_policies_are_refused(void) {
  npu_t npu = create(NULL);
  takt_context_t* context = link_route_a(&npu);
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.npu_policy = (takt_npu_policy_t)5;
  EXPECT_ERROR(run_product_with(context, npu.devices[0], 2, &options),
               TAKT_STATUS_INVALID_ARGUMENT, "npu_policy: 5");
  takt_invoke_options_init(&options);
  options.npu_time_limit_ns = -1;
  EXPECT_ERROR(run_product_with(context, npu.devices[0], 2, &options),
               TAKT_STATUS_INVALID_ARGUMENT,
               "npu_time_limit_ns: expected 0 or more, got -1");
  /* Of a program that was built before there were these. */
  takt_invoke_options_init(&options);
  options.npu_policy = (takt_npu_policy_t)5;
  options.struct_size = offsetof(takt_invoke_options_t, npu_policy);
  EXPECT_OK(run_product_with(context, npu.devices[0], 2, &options));
  takt_context_release(context);
  npu_destroy(&npu);
}

int main(void) {
  RUN(policies_are_per_call);
  RUN(policies_are_per_asynchronous_call);
  RUN(time_limits_are_per_call);
  RUN(answers_are_recorded);
  RUN(invalid_policies_are_refused);
  return test_result();
}
