/* Native code that imports a function of the NPU's (route C): who has the NPU
 * next, and what happens to an import that takes too long. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "takt/npu.h"
#include "tests/api/npu_product.h"

/* The import of the driver that is tested with, around the real one. */
static takt_npu_import_t real_import;
static void* real_context;
static atomic_int gate;       /* 1: the next import waits until it is 0. */
static atomic_int entered;    /* Imports that have begun. */
static atomic_bool cancelled; /* By cancel_import(). */
static atomic_int order[8];   /* Who had the NPU, one after the other. */
static _Thread_local int thread_name;

static int gated_import(void* parameters, void* context, void* reserved) {
  (void)context;
  order[atomic_fetch_add(&entered, 1)] = thread_name;
  AWAIT(atomic_load(&gate) == 0);
  return real_import(parameters, real_context, reserved);
}

/* Runs until it is cancelled, or its limit of 1 ms has passed for certain. With
 * a context it has no such limit; a test that does not cancel it fails. */
static int slow_import(void* parameters, void* context, void* reserved) {
  (void)parameters, (void)reserved;
  const int64_t end_ns =
      takt_clock_now_ns() + (context != NULL ? kAwaitNs : 50000000);
  while (!atomic_load(&cancelled) && !test_is_passed(end_ns)) {
  }
  EXPECT(context == NULL || atomic_load(&cancelled));
  return atomic_load(&cancelled) ? 1 : 0;
}

static takt_npu_result_t find_gated(void* unit, const char* name,
                                    takt_npu_import_t* out_function,
                                    void** out_context) {
  const takt_npu_result_t result = takt_npu_sim_driver()->find_import(
      unit, name, &real_import, &real_context);
  *out_function = &gated_import;
  *out_context = NULL;
  return result;
}
static takt_npu_result_t find_slow(void* unit, const char* name,
                                   takt_npu_import_t* out_function,
                                   void** out_context) {
  (void)unit, (void)name;
  *out_function = &slow_import;
  *out_context = NULL;
  return TAKT_NPU_RESULT_OK;
}
/* One that ends by nothing but being cancelled. */
static takt_npu_result_t find_endless(void* unit, const char* name,
                                      takt_npu_import_t* out_function,
                                      void** out_context) {
  (void)name;
  *out_function = &slow_import;
  *out_context = unit;
  return TAKT_NPU_RESULT_OK;
}
static void cancel_import(void* unit) {
  (void)unit;
  atomic_store(&cancelled, true);
}

static npu_t create(const takt_npu_driver_t* driver, int64_t time_limit_ns) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.native_code = true;
  options.worker_count = 0;
  options.time_limit_ns = time_limit_ns;
  options.quarantine_after = 1000000;
  return npu_create_in(create_instance(1), "local-sync", driver, &options);
}

static takt_context_t* link_route_c(const npu_t* npu) {
  takt_status_t status = NULL;
  takt_context_t* context = link_module(npu, TESTDATA("npu/route_c.vmfb"), 1,
                                        &npu->devices[1], &status);
  REQUIRE_OK(status);
  return context;
}

typedef struct caller_t {
  pthread_t thread;
  takt_context_t* context;
  takt_device_t* device;
  int name;
  int32_t priority;
} caller_t;

static void* call(void* argument) {
  const caller_t* caller = argument;
  thread_name = caller->name;
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.priority = caller->priority;
  EXPECT_OK(run_product_with(caller->context, caller->device, 1, &options));
  return NULL;
}

static void start(caller_t* caller, const npu_t* npu, int name,
                  int32_t priority) {
  caller->context = link_route_c(npu);
  caller->device = npu->devices[1];
  caller->name = name;
  caller->priority = priority;
  EXPECT(pthread_create(&caller->thread, NULL, &call, caller) == 0);
}

static void the_most_urgent_has_the_npu_next(void) {
  takt_npu_driver_t driver = *takt_npu_sim_driver();
  driver.find_import = &find_gated;
  npu_t npu = create(&driver, kAwaitNs);
  caller_t callers[4];
  atomic_store(&gate, 1);
  start(&callers[0], &npu, 1, 16);
  AWAIT(atomic_load(&entered) >= 1);
  /* It has the NPU; each of the others waits for it before the next comes. */
  static const int32_t kPriorities[3] = {48, 240, 112};
  const uint64_t waits = statistics_of(&npu).wait_count;
  for (int i = 0; i < 3; ++i) {
    start(&callers[i + 1], &npu, i + 2, kPriorities[i]);
    AWAIT(statistics_of(&npu).wait_count >= waits + i + 1);
  }
  atomic_store(&gate, 0);
  for (int i = 0; i < 4; ++i) pthread_join(callers[i].thread, NULL);
  EXPECT(atomic_load(&entered) == 4);
  EXPECT(order[0] == 1);
  EXPECT(order[1] == 3); /* 240 */
  EXPECT(order[2] == 4); /* 112 */
  EXPECT(order[3] == 2); /* 48 */
  for (int i = 0; i < 4; ++i) takt_context_release(callers[i].context);
  npu_destroy(&npu);
}

static void an_import_is_cancelled_at_its_limit(void) {
  takt_npu_driver_t driver = *takt_npu_sim_driver();
  driver.find_import = &find_endless;
  driver.cancel_import = &cancel_import;
  npu_t npu = create(&driver, 1000000);
  takt_context_t* context = link_route_c(&npu);
  for (uint64_t i = 1; i <= 3; ++i) {
    atomic_store(&cancelled, false);
    EXPECT_ERROR(run_product(context, npu.devices[1], 1),
                 TAKT_STATUS_DEADLINE_EXCEEDED,
                 "an import took more than 1 ms");
    EXPECT(atomic_load(&cancelled));
    EXPECT(statistics_of(&npu).time_out_count == i);
    EXPECT(statistics_of(&npu).error_count == i);
  }
  takt_context_release(context);
  npu_destroy(&npu);
}

static void an_import_without_cancelling_fails_once_it_returns(void) {
  takt_npu_driver_t driver = *takt_npu_sim_driver();
  driver.find_import = &find_slow;
  driver.cancel_import = NULL;
  npu_t npu = create(&driver, 1000000);
  takt_context_t* context = link_route_c(&npu);
  atomic_store(&cancelled, false);
  EXPECT_ERROR(run_product(context, npu.devices[1], 1),
               TAKT_STATUS_DEADLINE_EXCEEDED, "an import took more than");
  EXPECT(statistics_of(&npu).time_out_count == 1);
  takt_context_release(context);
  npu_destroy(&npu);
}

/* The call's own limit goes before the device's, either way. */
static void limits_are_per_call(void) {
  takt_npu_driver_t driver = *takt_npu_sim_driver();
  driver.find_import = &find_endless;
  driver.cancel_import = &cancel_import;
  npu_t npu = create(&driver, TAKT_INFINITE_FUTURE);
  takt_context_t* context = link_route_c(&npu);
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.npu_time_limit_ns = 2000000;
  atomic_store(&cancelled, false);
  EXPECT_ERROR(run_product_with(context, npu.devices[1], 1, &options),
               TAKT_STATUS_DEADLINE_EXCEEDED, "more than 2 ms");
  takt_context_release(context);
  npu_destroy(&npu);

  driver = *takt_npu_sim_driver();
  npu = create(&driver, 1);
  context = link_route_c(&npu);
  options.npu_time_limit_ns = TAKT_INFINITE_FUTURE;
  EXPECT_OK(run_product_with(context, npu.devices[1], 1, &options));
  EXPECT(statistics_of(&npu).time_out_count == 0);
  takt_context_release(context);
  npu_destroy(&npu);
}

static void an_error_of_an_import_fails_the_call(void) {
  takt_npu_driver_t driver = *takt_npu_sim_driver();
  driver.find_import = &find_endless;
  npu_t npu = create(&driver, 1000000000);
  takt_context_t* context = link_route_c(&npu);
  atomic_store(&cancelled, true); /* From the beginning: it returns 1. */
  EXPECT_ERROR(run_product(context, npu.devices[1], 1), TAKT_STATUS_UNAVAILABLE,
               "an import returned 1");
  EXPECT(statistics_of(&npu).failed_count == 1);
  takt_context_release(context);
  npu_destroy(&npu);
}

int main(void) {
  RUN(the_most_urgent_has_the_npu_next);
  RUN(an_import_is_cancelled_at_its_limit);
  RUN(an_import_without_cancelling_fails_once_it_returns);
  RUN(limits_are_per_call);
  RUN(an_error_of_an_import_fails_the_call);
  return test_result();
}
