/* Modules on devices with an NPU behind them, and what the C API says of
 * these. */
#include "takt/npu.h"

#include "tests/analysis/contents.h"
#include "tests/api/npu_product.h"

typedef struct route_t {
  const char* path;
  int32_t scale;
  bool only_npu;     /* Runs on the NPU's device alone. */
  bool is_native;    /* Of the CPU's code. */
  bool counts;       /* Its operations are counted. */
  bool needs_memory; /* Cannot run on a unit of other memory. */
} route_t;

static const route_t kRoutes[] = {
    {TESTDATA("npu/route_a.vmfb"), 2, false, false, true, false},
    {TESTDATA("npu/route_a_or_cpu.vmfb"), 2, false, false, true, false},
    {TESTDATA("npu/two_devices.vmfb"), 2, false, true, false, false},
    {TESTDATA("npu/route_b.vmfb"), 1, false, false, true, true},
    {TESTDATA("npu/route_be.vmfb"), 1, false, false, true, true},
    {TESTDATA("npu/route_c.vmfb"), 1, true, true, false, false},
};
enum { kRouteCount = sizeof(kRoutes) / sizeof(kRoutes[0]) };

static void every_route_gives_the_right_result_on(
    const takt_npu_driver_t* driver, const char* profile, bool has_memory) {
  for (int i = 0; i < kRouteCount; ++i) {
    const route_t* route = &kRoutes[i];
    if (route->needs_memory && !has_memory) continue;
    npu_t npu = npu_create(driver, profile, true, route->is_native);
    takt_status_t status = NULL;
    takt_context_t* context =
        route->only_npu
            ? link_module(&npu, route->path, 1, &npu.devices[1], &status)
            : link_module(&npu, route->path, 2, npu.devices, &status);
    EXPECT_OK(status);
    if (context == NULL) exit(1);
    EXPECT_OK(run_product(context, npu.devices[route->only_npu ? 1 : 0],
                          route->scale));
    const takt_npu_statistics_t statistics = statistics_of(&npu);
    EXPECT((statistics.operation_count > 0) == route->counts);
    /* An import has the lease. */
    EXPECT(!route->only_npu || statistics.grant_count > 0);
    takt_context_release(context);
    npu_destroy(&npu);
  }
}

static void every_route_gives_the_right_result_on_the_host(void) {
  every_route_gives_the_right_result_on(takt_npu_host_driver(), NULL, true);
}
static void every_route_gives_the_right_result_on_sim(void) {
  every_route_gives_the_right_result_on(takt_npu_sim_driver(), NULL, true);
}
static void every_route_gives_the_right_result_on_sim_of_own_memory(void) {
  every_route_gives_the_right_result_on(takt_npu_sim_driver(),
                                        "{\"memory\": \"own\"}", false);
}

static void the_cpu_takes_over_what_the_npu_fails_to_do(void) {
  npu_t npu =
      npu_create(takt_npu_sim_driver(),
                 "{\"faults\": {\"seed\": 4, \"error\": 0.5}}", true, false);
  takt_status_t status = NULL;
  takt_context_t* context =
      link_module(&npu, TESTDATA("npu/route_a.vmfb"), 2, npu.devices, &status);
  EXPECT_OK(status);
  for (int i = 0; i < 20; ++i) {
    EXPECT_OK(run_product(context, npu.devices[0], 2));
  }
  const takt_npu_statistics_t statistics = statistics_of(&npu);
  EXPECT(statistics.failed_count > 0);
  EXPECT(statistics.fallback_count > 0);
  EXPECT(statistics.fallback_count == statistics.error_count);
  takt_context_release(context);
  npu_destroy(&npu);
}

static void without_fallback_the_failure_reaches_the_caller(void) {
  npu_t npu = npu_create(takt_npu_sim_driver(),
                         "{\"faults\": {\"time_out\": 1}}", false, false);
  takt_status_t status = NULL;
  takt_context_t* context =
      link_module(&npu, TESTDATA("npu/route_a.vmfb"), 2, npu.devices, &status);
  EXPECT_OK(status);
  EXPECT_ERROR(run_product(context, npu.devices[0], 2),
               TAKT_STATUS_DEADLINE_EXCEEDED, "took more than");
  EXPECT(statistics_of(&npu).time_out_count > 0);
  takt_context_release(context);
  npu_destroy(&npu);
}

static void without_an_npu_a_module_that_may_uses_the_cpu(void) {
  npu_t npu = npu_create(takt_npu_host_driver(), NULL, true, false);
  takt_status_t status = NULL;
  takt_context_t* context = link_module(
      &npu, TESTDATA("npu/route_a_or_cpu.vmfb"), 1, npu.devices, &status);
  EXPECT_OK(status);
  EXPECT_OK(run_product(context, npu.devices[0], 2));
  EXPECT(statistics_of(&npu).batch_count == 0);
  takt_context_release(context);
  npu_destroy(&npu);
}

static void programs_of_nobodys_format_are_refused(void) {
  npu_t npu = npu_create(takt_npu_host_driver(), NULL, true, false);
  takt_status_t status = NULL;
  takt_context_t* context = link_module(
      &npu, TESTDATA("npu/route_be.vendor.vmfb"), 2, npu.devices, &status);
  EXPECT(context == NULL);
  EXPECT_ERROR(status, TAKT_STATUS_DATA_LOSS, "20 bytes that are no program");
  npu_destroy(&npu);
}

static void says_what_the_npu_is_and_did(void) {
  npu_t npu = npu_create(takt_npu_sim_driver(), NULL, true, false);
  EXPECT_TEXT(takt_device_name(npu.devices[1]), "local-npu-sim");
  takt_npu_capabilities_t capabilities;
  capabilities.struct_size = sizeof(capabilities);
  EXPECT(takt_npu_device_capabilities(npu.devices[1], &capabilities));
  EXPECT_TEXT(capabilities.name, "a unit of one MAC a ns");
  EXPECT(!takt_npu_device_capabilities(npu.devices[0], &capabilities));
  takt_npu_telemetry_t telemetry;
  telemetry.struct_size = sizeof(telemetry);
  EXPECT(takt_npu_device_telemetry(npu.devices[1], &telemetry));
  EXPECT(telemetry.temperature_millicelsius == 25000);
  EXPECT(telemetry.frequency_hz == 1000000000);
  EXPECT(telemetry.utilization_ppm == INT64_MIN);
  EXPECT(!takt_npu_device_telemetry(npu.devices[0], &telemetry));

  takt_status_t status = NULL;
  takt_context_t* context =
      link_module(&npu, TESTDATA("npu/route_a.vmfb"), 2, npu.devices, &status);
  EXPECT_OK(status);
  EXPECT_OK(run_product(context, npu.devices[0], 2));
  takt_context_release(context);
  const takt_npu_statistics_t statistics = statistics_of(&npu);
  EXPECT(statistics.mac_count == (uint64_t)kRows * kColumns * kDepth);
  EXPECT(statistics.busy_ns > 0);
  static takt_npu_event_t events[1000];
  const size_t count = takt_npu_device_events(npu.devices[1], 1000, events);
  EXPECT(count == statistics.batch_count);
  for (size_t i = 1; i < count; ++i) {
    EXPECT(events[i].start_ns >= events[i - 1].end_ns);
  }
  EXPECT(takt_npu_device_events(npu.devices[0], 64, events) == 0);
  npu_destroy(&npu);
}

static void refuses_options_and_drivers_that_are_wrong(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = NULL;
  takt_npu_driver_t driver = *takt_npu_host_driver();
  driver.version = 7;
  EXPECT_ERROR(takt_npu_device_create(instance, &driver, NULL, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "version 7, expected 1");
  EXPECT_ERROR(takt_npu_device_create(instance, NULL, NULL, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "driver is NULL");
  EXPECT_ERROR(takt_npu_device_create(NULL, &driver, NULL, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "instance is NULL");
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.time_limit_ns = 0;
  EXPECT_ERROR(takt_npu_device_create(instance, takt_npu_host_driver(),
                                      &options, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "time_limit_ns: expected 1");
  takt_npu_options_init(&options);
  options.worker_count = 65;
  EXPECT_ERROR(takt_npu_device_create(instance, takt_npu_host_driver(),
                                      &options, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "worker_count");
  takt_npu_options_init(&options);
  options.driver_options = "fast";
  EXPECT_ERROR(takt_npu_device_create(instance, takt_npu_host_driver(),
                                      &options, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "takes no options");
  EXPECT_ERROR(takt_npu_device_create(instance, takt_npu_sim_driver(), &options,
                                      &device),
               TAKT_STATUS_INVALID_ARGUMENT, "not JSON");
  EXPECT_ERROR(takt_npu_device_load(instance, "/no/such.so", NULL, &device),
               TAKT_STATUS_NOT_FOUND, "/no/such.so");
  EXPECT(device == NULL);
  takt_instance_release(instance);
}

/* What a unit does is on its track, a batch at a time. */
static void its_batches_are_recorded(void) {
  npu_t npu = npu_create(takt_npu_sim_driver(), NULL, true, false);
  REQUIRE_OK(takt_tracing_start(npu.instance, NULL));
  takt_status_t status = NULL;
  takt_context_t* context =
      link_module(&npu, TESTDATA("npu/route_b.vmfb"), 2, npu.devices, &status);
  EXPECT_OK(status);
  EXPECT_OK(run_product(context, npu.devices[0], 1));
  takt_context_release(context);
  takt_trace_contents_t* trace = collect_contents(npu.instance);
  uint64_t batch_count = 0;
  uint64_t lease_count = 0;
  for (size_t i = 0; i < takt_trace_contents_info(trace).event_count; ++i) {
    const takt_trace_event_t event = takt_trace_contents_event(trace, i);
    const takt_trace_track_t track =
        takt_trace_contents_track(trace, event.track);
    /* The scheduler has a track for the unit, too. */
    if (strcmp(track.name, "NPU sim") != 0) continue;
    EXPECT(track.kind == TAKT_TRACE_TRACK_NPU);
    batch_count += strcmp(event.kind, "npu_batch") == 0;
    lease_count += strcmp(event.kind, "npu_lease") == 0;
    EXPECT(event.detail == TAKT_NPU_RESULT_OK);
  }
  EXPECT(batch_count == statistics_of(&npu).batch_count);
  EXPECT(batch_count > 0);
  EXPECT(lease_count > 0);
  uint64_t fault_count = 0;
  char* faults = NULL;
  REQUIRE_OK(takt_trace_contents_check(trace, &fault_count, &faults));
  EXPECT_TEXT(faults, "");
  takt_string_free(faults);
  takt_trace_contents_release(trace);
  npu_destroy(&npu);
}

int main(void) {
  RUN(every_route_gives_the_right_result_on_the_host);
  RUN(every_route_gives_the_right_result_on_sim);
  RUN(every_route_gives_the_right_result_on_sim_of_own_memory);
  RUN(the_cpu_takes_over_what_the_npu_fails_to_do);
  RUN(without_fallback_the_failure_reaches_the_caller);
  RUN(without_an_npu_a_module_that_may_uses_the_cpu);
  RUN(programs_of_nobodys_format_are_refused);
  RUN(says_what_the_npu_is_and_did);
  RUN(its_batches_are_recorded);
  RUN(refuses_options_and_drivers_that_are_wrong);
  return test_result();
}
