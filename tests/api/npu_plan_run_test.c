/* Runs of plans with operations on an NPU: an operation runs on the NPU if it
 * is planned for the NPU, and on a core if it is planned for a core. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "takt/npu.h"
#include "takt/plan_run.h"
#include "tests/analysis/contents.h"
#include "tests/api/npu_product.h"

enum { kCalls = 4 };

/* Computes 64x256 by 256x128. It has three dispatches; each can run on the NPU
 * and on cores. */
static const char* const kModel = TESTDATA("npu/either_way.vmfb");
enum { kDispatches = 3, kM = 64, kK = 256, kN = 128 };

static npu_t create(const takt_npu_driver_t* driver) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.virtual_time = true;
  options.event_count_max = 1000;
  return npu_create_in(create_instance_with_policy(2, "job-shop"), "local-task",
                       driver, &options);
}

/* A plan of kCalls calls, one after the other, whose dispatch `d` is on the NPU
 * `npu_name` if bit `d` of `on_npu` is set, else on a core. */
static takt_plan_t* make_plan(uint64_t content, const char* npu_name,
                              unsigned on_npu) {
  char kernels[1024] = "";
  char operations[256] = "";
  for (unsigned d = 0; d < kDispatches; ++d) {
    const size_t k = strlen(kernels), o = strlen(operations);
    snprintf(kernels + k, sizeof(kernels) - k,
             "%s{\"name\": \"k%u\", \"module_name\": \"module\","
             " \"alternatives\": [{\"pool\": \"%s\", \"q50_us\": 300,"
             " \"q90_us\": 300, \"q99_us\": 300, \"samples\": 9}]}",
             d > 0 ? "," : "", d, (on_npu >> d & 1) != 0 ? npu_name : "a");
    snprintf(operations + o, sizeof(operations) - o,
             d > 0 ? ",{\"kernel\": \"k%u\", \"after\": [%u]}"
                   : "{\"kernel\": \"k%u\"}",
             d, d - 1);
  }
  static char profile[4096];
  snprintf(profile, sizeof(profile),
           "{\"format\": \"takt-profile\", \"version\": 1,"
           " \"modules\": [{\"name\": \"module\","
           "   \"content_hash\": \"%016" PRIx64
           "\"}],"
           " \"functions\": [{\"name\": \"module.run\"}],"
           " \"kernels\": [%s],"
           " \"programs\": [{\"name\": \"module.run\","
           "   \"operations\": [%s]}]}",
           content, kernels, operations);
  static char text[1024];
  snprintf(text, sizeof(text),
           "{\"name\": \"w\", \"topology\": {\"clusters\":"
           "   [{\"name\": \"a\", \"cpus\": \"0\"}],"
           "   \"npus\": [{\"name\": \"%s\"}]},"
           " \"modules\": [{\"name\": \"module\", \"file\": \"m.vmfb\"}],"
           " \"functions\": [{\"function\": \"module.run\"}],"
           " \"streams\": [{\"name\": \"s\", \"function\": \"module.run\","
           "   \"arrival\": \"once\", \"count\": %d}]}",
           npu_name, kCalls);
  takt_workload_options_t options;
  takt_workload_options_init(&options);
  options.profile = profile;
  options.profile_length = strlen(profile);
  takt_workload_t* workload = NULL;
  REQUIRE_OK(takt_workload_parse(text, strlen(text), &options, &workload));
  takt_plan_t* plan = NULL;
  takt_plan_solve_options_t solve;
  takt_plan_solve_options_init(&solve);
  solve.time_limit_ns = 10000000;
  REQUIRE_OK(takt_workload_plan(workload, &solve, &plan, NULL));
  takt_workload_release(workload);
  return plan;
}

typedef struct callee_t {
  takt_module_t* module;
  takt_context_t* context;
  takt_function_t* function;
  takt_value_t arguments[2];
  atomic_int right_count;
} callee_t;

static void callee_init(callee_t* callee, const npu_t* npu,
                        size_t device_count) {
  callee->module = load_module(npu->instance, kModel);
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &callee->module;
  options.module_count = 1;
  options.devices = npu->devices;
  options.device_count = device_count;
  REQUIRE_OK(takt_context_create(npu->instance, &options, &callee->context));
  callee->function = find_function(callee->context, "run");
  static int8_t x[kM * kK], w[kK * kN];
  memset(x, 2, sizeof(x));
  memset(w, 3, sizeof(w));
  callee->arguments[0] =
      view_of(npu->devices[0], TAKT_ELEMENT_I8, kM, kK, x, sizeof(x));
  callee->arguments[1] =
      view_of(npu->devices[0], TAKT_ELEMENT_I8, kK, kN, w, sizeof(w));
  callee->right_count = 0;
}

static void callee_destroy(callee_t* callee) {
  takt_values_release(2, callee->arguments);
  takt_function_release(callee->function);
  takt_context_release(callee->context);
  takt_module_release(callee->module);
}

static void on_done(void* user_data, const takt_plan_job_end_t* job,
                    takt_status_t status, size_t result_count,
                    const takt_value_t* results) {
  (void)job;
  callee_t* callee = (callee_t*)user_data;
  EXPECT_OK(status);
  if (result_count != 1) return;
  int32_t out[kM * kN];
  takt_status_t copied = takt_buffer_view_copy_to_host(
      takt_value_as_buffer_view(&results[0]), out, sizeof(out));
  EXPECT_OK(copied);
  int wrong = 0;
  for (int i = 0; i < kM * kN; ++i) wrong += out[i] != 2 * 3 * kK;
  if (wrong == 0) atomic_fetch_add(&callee->right_count, 1);
}

static takt_plan_binding_t binding_of(callee_t* callee) {
  takt_plan_binding_t binding;
  memset(&binding, 0, sizeof(binding));
  binding.stream = "s";
  binding.functions = &callee->function;
  binding.function_count = 1;
  binding.arguments = callee->arguments;
  binding.argument_count = 2;
  binding.on_done = on_done;
  binding.user_data = callee;
  return binding;
}

/* Options for a machine of any speed. */
static takt_plan_run_options_t patient(takt_plan_mode_t mode) {
  takt_plan_run_options_t options = plan_run_options();
  options.mode = mode;
  options.timing = takt_plan_timing(TAKT_PLAN_TIMING_PATIENT);
  return options;
}

static takt_plan_run_report_t carry_out(const npu_t* npu, takt_plan_t* plan,
                                        callee_t* callee,
                                        takt_plan_mode_t mode) {
  const takt_plan_binding_t binding = binding_of(callee);
  const takt_plan_run_options_t options = patient(mode);
  takt_plan_run_t* run = NULL;
  REQUIRE_OK(
      takt_plan_run_create(npu->instance, plan, 1, &binding, &options, &run));
  REQUIRE_OK(takt_plan_run_start(run, soon_ns()));
  EXPECT_OK(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
  takt_plan_run_report_t report = {.struct_size = sizeof(report)};
  REQUIRE_OK(takt_plan_run_query(run, &report));
  takt_plan_run_release(run);
  return report;
}

/* The plan chooses from the first call on, before anything was measured. Its
 * choices are counted like all others. */
static void check_ways(const takt_npu_driver_t* driver, takt_plan_mode_t mode) {
  npu_t npu = create(driver);
  callee_t callee;
  callee_init(&callee, &npu, 2);
  const uint64_t content = takt_module_content_hash(callee.module);
  uint64_t taken = 0, left = 0, operations = 0;
  for (unsigned on_npu = 0; on_npu < 1u << kDispatches; ++on_npu) {
    takt_plan_t* plan = make_plan(content, driver->name, on_npu);
    const takt_plan_run_report_t report = carry_out(&npu, plan, &callee, mode);
    EXPECT(report.failed_count == 0 && report.call_count == kCalls);
    EXPECT(report.started_count == kCalls * kDispatches);
    if (mode == TAKT_PLAN_MODE_STRICT) {
      EXPECT(report.in_place_count == kCalls * kDispatches);
    }
    const takt_npu_statistics_t now = statistics_of(&npu);
    const unsigned count = __builtin_popcount(on_npu);
    if (mode == TAKT_PLAN_MODE_STRICT) {
      EXPECT(now.taken_count - taken == kCalls * count);
      EXPECT(now.left_to_cpu_count - left == kCalls * (kDispatches - count));
      EXPECT((now.operation_count > operations) == (on_npu != 0));
    }
    taken = now.taken_count;
    left = now.left_to_cpu_count;
    operations = now.operation_count;
    takt_plan_release(plan);
  }
  EXPECT(taken + left == (kCalls * kDispatches) << kDispatches);
  EXPECT(callee.right_count == kCalls << kDispatches);
  callee_destroy(&callee);
  npu_destroy(&npu);
}

static void a_strict_plan_chooses_between_cpu_and_npu_on_a_model(void) {
  check_ways(takt_npu_sim_driver(), TAKT_PLAN_MODE_STRICT);
}
static void a_strict_plan_chooses_between_cpu_and_npu_on_the_host(void) {
  check_ways(takt_npu_host_driver(), TAKT_PLAN_MODE_STRICT);
}
static void an_adaptive_plan_runs_on_the_model_and_on_the_host(void) {
  check_ways(takt_npu_sim_driver(), TAKT_PLAN_MODE_ADAPTIVE);
  check_ways(takt_npu_host_driver(), TAKT_PLAN_MODE_ADAPTIVE);
}

/* The error for a plan that needs the NPU "sim". */
static void expect_error_of(takt_instance_t* instance, callee_t* callee,
                            takt_status_code_t code, const char* text) {
  const takt_plan_binding_t binding = binding_of(callee);
  const uint64_t content = takt_module_content_hash(callee->module);
  takt_plan_t* plan = make_plan(content, "sim", 2);
  takt_plan_run_t* run = NULL;
  EXPECT_ERROR(takt_plan_run_create(instance, plan, 1, &binding, NULL, &run),
               code, text);
  EXPECT(run == NULL);
  takt_plan_release(plan);
}

/* The same without an NPU. `was_removed`: there was one, and its resource
 * stays. */
static void expect_no_npu(const npu_t* npu, callee_t* callee,
                          bool was_removed) {
  size_t resource_count = 0;
  REQUIRE_OK(
      takt_scheduler_query_resources(npu->instance, 0, NULL, &resource_count));
  char text[160];
  snprintf(text, sizeof(text),
           "NPU \"sim#0\": no pool has room for the 1 of its cluster; "
           "there are %zu of cores%s",
           resource_count - was_removed, was_removed ? ", 0 of sim" : "");
  expect_error_of(npu->instance, callee, TAKT_STATUS_INVALID_ARGUMENT, text);
}

static void the_error_names_an_npu_that_was_removed(void) {
  npu_t npu = create(takt_npu_sim_driver());
  takt_device_release(npu.devices[1]); /* Removes the NPU. */
  callee_t callee;
  callee_init(&callee, &npu, 1);
  expect_no_npu(&npu, &callee, true);
  /* Another NPU of that name takes its place. */
  REQUIRE_OK(takt_npu_device_create(npu.instance, takt_npu_sim_driver(), NULL,
                                    &npu.devices[1]));
  callee_destroy(&callee);
  callee_init(&callee, &npu, 2);
  takt_plan_t* plan =
      make_plan(takt_module_content_hash(callee.module), "sim", 7);
  carry_out(&npu, plan, &callee, TAKT_PLAN_MODE_STRICT);
  EXPECT(callee.right_count == kCalls);
  EXPECT(statistics_of(&npu).taken_count == kCalls * kDispatches);
  takt_plan_release(plan);
  callee_destroy(&callee);
  npu_destroy(&npu);
  npu.instance = create_instance_with_policy(2, "job-shop");
  npu.devices[0] = create_device(npu.instance, "local-task");
  npu.devices[1] = NULL;
  callee_init(&callee, &npu, 1);
  expect_no_npu(&npu, &callee, false);
  callee_destroy(&callee);
  npu_destroy(&npu);
}

static void the_error_names_a_context_without_the_npu(void) {
  npu_t npu = create(takt_npu_sim_driver());
  callee_t callee;
  callee_init(&callee, &npu, 1);
  expect_error_of(npu.instance, &callee, TAKT_STATUS_FAILED_PRECONDITION,
                  "stream \"s\": operation \"s#0/1\" is planned for the NPU "
                  "\"sim#0\"");
  callee_destroy(&callee);
  npu_destroy(&npu);
}

static void an_npu_of_another_name_is_matched_by_its_cluster(void) {
  npu_t npu = create(takt_npu_sim_driver());
  callee_t callee;
  callee_init(&callee, &npu, 2);
  takt_plan_t* plan =
      make_plan(takt_module_content_hash(callee.module), "engine", 5);
  const takt_plan_run_report_t report =
      carry_out(&npu, plan, &callee, TAKT_PLAN_MODE_STRICT);
  EXPECT(report.in_place_count == kCalls * kDispatches);
  EXPECT(statistics_of(&npu).taken_count == kCalls * 2);
  takt_plan_release(plan);
  callee_destroy(&callee);
  npu_destroy(&npu);
}

static bool is_npu_available(takt_instance_t* instance) {
  takt_resource_t resources[16];
  size_t count = 0;
  REQUIRE_OK(takt_scheduler_query_resources(instance, 16, resources, &count));
  EXPECT(resources[count - 1].is_npu);
  return resources[count - 1].is_available;
}

/* The host's, but that the scheduler is told while it works that it is lost. */
static takt_instance_t* losing_instance;
static uint32_t losing_index;
static atomic_int is_to_be_lost;

static takt_npu_result_t lose_and_submit(void* unit,
                                         const takt_npu_batch_t* batch) {
  if (atomic_exchange(&is_to_be_lost, 0)) {
    EXPECT_OK(
        takt_scheduler_set_available(losing_instance, losing_index, false));
  }
  return takt_npu_host_driver()->submit(unit, batch);
}

/* No other unit can continue a batch that the NPU has begun. */
static void an_npu_finishes_a_batch_that_it_has_begun(void) {
  takt_npu_driver_t driver = *takt_npu_host_driver();
  driver.submit = &lose_and_submit;
  npu_t npu = create(&driver);
  callee_t callee;
  callee_init(&callee, &npu, 2);
  size_t count = 0;
  REQUIRE_OK(takt_scheduler_query_resources(npu.instance, 0, NULL, &count));
  losing_instance = npu.instance;
  losing_index = (uint32_t)count - 1;
  takt_plan_t* plan =
      make_plan(takt_module_content_hash(callee.module), driver.name, 7);
  for (int round = 1; round <= 10; ++round) {
    REQUIRE_OK(takt_scheduler_set_available(npu.instance, losing_index, true));
    is_to_be_lost = 1;
    carry_out(&npu, plan, &callee, TAKT_PLAN_MODE_ADAPTIVE);
    EXPECT(callee.right_count == round * kCalls);
  }
  EXPECT(is_to_be_lost == 0);
  takt_plan_release(plan);
  callee_destroy(&callee);
  npu_destroy(&npu);
}

/* The NPU fails at its first operation and is not used again. The plan then
 * runs on cores. */
static void a_plan_continues_without_an_npu_that_is_lost(void) {
  for (int mode = TAKT_PLAN_MODE_STRICT; mode <= TAKT_PLAN_MODE_ADAPTIVE;
       ++mode) {
    takt_npu_options_t options;
    takt_npu_options_init(&options);
    options.driver_options = "{\"faults\": {\"error\": 1}}";
    options.quarantine_after = 1;
    options.quarantine_ns = INT64_C(60000000000);
    npu_t npu = npu_create_in(create_instance_with_policy(2, "job-shop"),
                              "local-task", takt_npu_sim_driver(), &options);
    callee_t callee;
    callee_init(&callee, &npu, 2);
    takt_plan_t* plan =
        make_plan(takt_module_content_hash(callee.module), "sim", 7);
    carry_out(&npu, plan, &callee, (takt_plan_mode_t)mode);
    EXPECT(callee.right_count == kCalls);
    EXPECT(statistics_of(&npu).fallback_count > 0);
    AWAIT(!is_npu_available(npu.instance));
    const uint64_t taken = statistics_of(&npu).taken_count;
    const takt_plan_run_report_t report =
        carry_out(&npu, plan, &callee, (takt_plan_mode_t)mode);
    EXPECT(report.failed_count == 0 && report.call_count == kCalls);
    EXPECT(callee.right_count == 2 * kCalls);
    EXPECT(statistics_of(&npu).taken_count == taken);
    if (mode == TAKT_PLAN_MODE_STRICT) {
      EXPECT(report.violation_count >= kCalls * kDispatches);
    } else {
      EXPECT(report.divergence_count > 0);
    }
    takt_plan_release(plan);
    callee_destroy(&callee);
    npu_destroy(&npu);
  }
}

int main(void) {
  RUN(a_strict_plan_chooses_between_cpu_and_npu_on_a_model);
  RUN(a_strict_plan_chooses_between_cpu_and_npu_on_the_host);
  RUN(an_adaptive_plan_runs_on_the_model_and_on_the_host);
  RUN(the_error_names_an_npu_that_was_removed);
  RUN(the_error_names_a_context_without_the_npu);
  RUN(an_npu_of_another_name_is_matched_by_its_cluster);
  RUN(an_npu_finishes_a_batch_that_it_has_begun);
  RUN(a_plan_continues_without_an_npu_that_is_lost);
  return test_result();
}
