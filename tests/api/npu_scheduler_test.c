/* NPUs as resources of the instance's scheduler. */
#include "takt/npu.h"
#include "takt/scheduler.h"
#include "tests/api/npu_product.h"

static npu_t create(const takt_npu_driver_t* driver, const char* policy) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  /* What is quicker is done without a decision. */
  if (driver == takt_npu_sim_driver()) {
    options.driver_options = "{\"launch_ns\": 100000}";
  }
  return npu_create_in(create_instance_with_policy(2, policy), "local-task",
                       driver, &options);
}

static const takt_npu_driver_t* driver_of(int index) {
  return index == 0 ? takt_npu_host_driver() : takt_npu_sim_driver();
}

static uint64_t count_released(const npu_t* npu) {
  takt_class_statistics_t statistics = {.struct_size = sizeof(statistics)};
  REQUIRE_OK(takt_scheduler_query_class(npu->instance, TAKT_CRITICALITY_SOFT,
                                        &statistics));
  return statistics.released_count;
}

static void results_are_right_under_every_policy(void) {
  const char* const* names = NULL;
  const size_t count = takt_scheduler_policy_names(&names);
  for (size_t i = 0; i < count; ++i) {
    for (int d = 0; d < 2; ++d) {
      npu_t npu = create(driver_of(d), names[i]);
      takt_status_t status = NULL;
      takt_context_t* context = link_module(&npu, TESTDATA("npu/route_a.vmfb"),
                                            2, npu.devices, &status);
      REQUIRE_OK(status);
      for (int call = 0; call < 5; ++call) {
        EXPECT_OK(run_product(context, npu.devices[0], 2));
      }
      EXPECT(statistics_of(&npu).operation_count > 0);
      if (i > 0) EXPECT(count_released(&npu) > 0);
      takt_context_release(context);
      npu_destroy(&npu);
    }
  }
}

static size_t count_npus(takt_instance_t* instance) {
  takt_resource_t resources[16];
  size_t count = 0;
  REQUIRE_OK(takt_scheduler_query_resources(instance, 16, resources, &count));
  size_t npus = 0;
  for (size_t i = 0; i < count; ++i) {
    npus += resources[i].is_npu;
    EXPECT(!resources[i].is_npu || resources[i].is_available);
  }
  return npus;
}

static void each_npu_is_a_resource(void) {
  npu_t npu = create(takt_npu_sim_driver(), "job-shop");
  EXPECT(count_npus(npu.instance) == 1);
  /* It runs at half its speed, as telemetry may say. */
  REQUIRE_OK(takt_scheduler_set_speed(npu.instance, "sim", 500));
  takt_device_t* others[2];
  for (int i = 0; i < 2; ++i) {
    REQUIRE_OK(
        takt_npu_device_create(npu.instance, driver_of(i), NULL, &others[i]));
  }
  EXPECT(count_npus(npu.instance) == 3);
  REQUIRE_OK(takt_scheduler_set_speed(npu.instance, "sim 2", 1000));
  EXPECT_ERROR(takt_scheduler_set_speed(npu.instance, "sim 3", 1000),
               TAKT_STATUS_NOT_FOUND, "there are cores, sim, host, sim 2");
  /* One that goes leaves its place to the next. */
  takt_device_release(others[1]);
  REQUIRE_OK(takt_npu_device_create(npu.instance, takt_npu_sim_driver(), NULL,
                                    &others[1]));
  EXPECT(count_npus(npu.instance) == 3);
  for (int i = 0; i < 2; ++i) takt_device_release(others[i]);
  npu_destroy(&npu);
}

static npu_t create_with(const takt_npu_options_t* options) {
  return npu_create_in(create_instance_with_policy(2, "job-shop"), "local-task",
                       takt_npu_sim_driver(), options);
}

static takt_resource_t npu_resource(const npu_t* npu) {
  takt_resource_t resources[16];
  size_t count = 0;
  REQUIRE_OK(
      takt_scheduler_query_resources(npu->instance, 16, resources, &count));
  EXPECT(resources[count - 1].is_npu);
  return resources[count - 1];
}

static takt_scheduler_mode_t mode_of(const npu_t* npu) {
  takt_scheduler_mode_t mode = TAKT_SCHEDULER_MODE_NOMINAL;
  REQUIRE_OK(takt_scheduler_query_mode(npu->instance, &mode));
  return mode;
}

/* The model of an NPU that gets hot by the first product, and stays so. Calls
 * go on until the scheduler knows: that ends by time, not by a count. */
static void the_heat_of_an_npu_reaches_the_scheduler(void) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.driver_options =
      "{\"launch_ns\": 100000, \"frequencies_hz\": [5e8, 1e9],"
      " \"heat\": {\"ambient_celsius\": 50, \"rise_celsius\": 50,"
      " \"time_constant_s\": 0.001, \"throttle_celsius\": 50.001,"
      " \"recover_celsius\": 20, \"critical_celsius\": 1000}}";
  npu_t npu = create_with(&options);
  takt_status_t status = NULL;
  takt_context_t* context =
      link_module(&npu, TESTDATA("npu/route_a.vmfb"), 2, npu.devices, &status);
  REQUIRE_OK(status);
  EXPECT(npu_resource(&npu).speed_permille == 1000);
  REPEAT_UNTIL(npu_resource(&npu).speed_permille != 1000 &&
                   mode_of(&npu) == TAKT_SCHEDULER_MODE_HOT,
               EXPECT_OK(run_product(context, npu.devices[0], 2)));
  EXPECT(npu_resource(&npu).speed_permille == 500);
  EXPECT(npu_resource(&npu).is_available);
  takt_context_release(context);
  npu_destroy(&npu);
}

/* Of an NPU that fails often. What only it can do is done in its place
 * meanwhile, and is right. */
static void an_npu_that_fails_is_not_available_for_a_while(void) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.driver_options =
      "{\"launch_ns\": 100000, \"faults\": {\"seed\": 3, \"error\": 0.3}}";
  options.retry_max = 0;
  options.quarantine_after = 1;
  options.quarantine_ns = 250000000;
  npu_t npu = create_with(&options);
  takt_status_t status = NULL;
  takt_context_t* context =
      link_module(&npu, TESTDATA("npu/route_a.vmfb"), 2, npu.devices, &status);
  REQUIRE_OK(status);
  REPEAT_UNTIL(!npu_resource(&npu).is_available,
               EXPECT_OK(run_product(context, npu.devices[0], 2)));
  EXPECT(statistics_of(&npu).quarantine_count > 0);
  EXPECT_OK(run_product(context, npu.devices[0], 2));
  /* The scheduler probes an NPU that has no work. */
  AWAIT(npu_resource(&npu).is_available);
  EXPECT(statistics_of(&npu).probe_count > 0);
  takt_context_release(context);
  npu_destroy(&npu);
}

int main(void) {
  RUN(results_are_right_under_every_policy);
  RUN(each_npu_is_a_resource);
  RUN(the_heat_of_an_npu_reaches_the_scheduler);
  RUN(an_npu_that_fails_is_not_available_for_a_while);
  return test_result();
}
