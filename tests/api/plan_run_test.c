/* Plans, carried out by real workers: what runs, when it may, and what is told.
 * Nothing here depends on how fast the machine is: plans that are checked for
 * their starts have them in the future, and are only expected not to be early;
 * those that are to be violated give operations a nanosecond. */
#include "takt/plan_run.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "tests/api/fixture.h"

/* Enough to get ready in, on a machine that is slow. */
static const int64_t kLeadNs = 100000000;

static const char* const kMul = TESTDATA("api/simple_mul.vmfb");

static fixture_t planned_with(const char* policy) {
  fixture_t f;
  f.instance = create_instance_with_policy(2, policy);
  f.device = create_device(f.instance, "local-task");
  f.module = load_module(f.instance, kMul);
  f.context = create_context(f.instance, f.device, f.module);
  return f;
}

static fixture_t planned(void) { return planned_with("job-shop"); }

/* The plan of a workload with one core and one kernel of `duration_us`, whose
 * module has that content; `streams` is JSON. */
static takt_plan_t* make_plan(uint64_t content, double duration_us,
                              const char* streams) {
  static char profile[1024];
  snprintf(profile, sizeof(profile),
           "{\"format\": \"takt-profile\", \"version\": 1,"
           " \"modules\": [{\"name\": \"module\","
           "   \"content_hash\": \"%016" PRIx64
           "\"}],"
           " \"functions\": [{\"name\": \"module.mul\"}],"
           " \"kernels\": [{\"name\": \"k\", \"module_name\": \"module\","
           "   \"alternatives\": [{\"pool\": \"a\", \"q50_us\": %g,"
           "     \"q90_us\": %g, \"q99_us\": %g, \"samples\": 9}]}],"
           " \"programs\": [{\"name\": \"module.mul\","
           "   \"operations\": [{\"kernel\": \"k\"}]}]}",
           content, duration_us, duration_us, duration_us);
  static char workload_text[1024];
  snprintf(workload_text, sizeof(workload_text),
           "{\"name\": \"w\", \"topology\": {\"clusters\":"
           "   [{\"name\": \"a\", \"cpus\": \"0\"}]},"
           " \"modules\": [{\"name\": \"module\", \"file\": \"m.vmfb\"}],"
           " \"functions\": [{\"function\": \"module.mul\"}],"
           " \"streams\": [%s]}",
           streams);
  takt_workload_options_t options;
  takt_workload_options_init(&options);
  options.profile = profile;
  options.profile_length = strlen(profile);
  takt_workload_t* workload = NULL;
  REQUIRE_OK(takt_workload_parse(workload_text, strlen(workload_text), &options,
                                 &workload));
  takt_plan_t* plan = NULL;
  REQUIRE_OK(takt_workload_plan(workload, NULL, &plan, NULL));
  takt_workload_release(workload);
  return plan;
}

#define ONCE                                                               \
  "{\"name\": \"s\", \"function\": \"module.mul\", \"arrival\": \"once\"," \
  " \"count\": 4}"
#define CYCLIC                                                          \
  "{\"name\": \"s\", \"function\": \"module.mul\", \"period_ms\": 20}," \
  "{\"name\": \"t\", \"function\": \"module.mul\", \"period_ms\": 10}"

typedef struct seen_t {
  atomic_int done_count;
  atomic_int bad_count;
  atomic_int event_counts[8];
  takt_fence_t* enough; /* Signaled by each job, if not NULL. */
} seen_t;

static void on_done(void* user_data, const takt_plan_job_end_t* job,
                    takt_status_t status, size_t result_count,
                    const takt_value_t* results) {
  seen_t* seen = (seen_t*)user_data;
  atomic_fetch_add(&seen->done_count, 1);
  if (status != NULL || result_count != 1 || job->end_ns == 0 ||
      takt_value_as_buffer_view(&results[0]) == NULL) {
    atomic_fetch_add(&seen->bad_count, 1);
  }
  takt_status_free(status);
  if (seen->enough != NULL) takt_status_free(takt_fence_signal(seen->enough));
}

static void on_event(void* user_data, const takt_plan_event_t* event) {
  atomic_fetch_add(&((seen_t*)user_data)->event_counts[event->kind], 1);
}

/* A function and its arguments. */
typedef struct callee_t {
  takt_function_t* function;
  takt_value_t arguments[2];
} callee_t;

static callee_t callee_create(fixture_t* f) {
  static const float kValues[4] = {1, 2, 3, 4};
  callee_t callee;
  callee.function = find_function(f->context, "mul");
  takt_buffer_view_t* view = float_view(f->device, 4, kValues);
  takt_buffer_view_retain(view);
  callee.arguments[0] = takt_value_ref(view);
  callee.arguments[1] = takt_value_ref(view);
  return callee;
}

static void callee_destroy(callee_t* callee) {
  takt_values_release(2, callee->arguments);
  takt_function_release(callee->function);
}

static takt_plan_binding_t binding_of(const char* stream, callee_t* callee,
                                      seen_t* seen) {
  takt_plan_binding_t binding;
  memset(&binding, 0, sizeof(binding));
  binding.stream = stream;
  binding.functions = &callee->function;
  binding.function_count = 1;
  binding.arguments = callee->arguments;
  binding.argument_count = 2;
  binding.criticality = TAKT_CRITICALITY_HARD;
  binding.on_done = on_done;
  binding.user_data = seen;
  return binding;
}

static takt_plan_run_report_t report_of(takt_plan_run_t* run) {
  takt_plan_run_report_t report = {.struct_size = sizeof(report)};
  REQUIRE_OK(takt_plan_run_query(run, &report));
  return report;
}

static void a_single_shot_runs_in_order_and_not_early(void) {
  for (int mode = TAKT_PLAN_MODE_STRICT; mode <= TAKT_PLAN_MODE_ADAPTIVE;
       ++mode) {
    fixture_t f = planned();
    callee_t callee = callee_create(&f);
    seen_t seen = {0};
    takt_plan_t* plan =
        make_plan(takt_module_content_hash(f.module), 300, ONCE);
    const takt_plan_binding_t binding = binding_of("s", &callee, &seen);
    takt_plan_run_options_t options = plan_run_options();
    options.mode = (takt_plan_mode_t)mode;
    /* However slow this machine is. */
    options.timing = takt_plan_timing(TAKT_PLAN_TIMING_PATIENT);
    takt_plan_run_t* run = NULL;
    REQUIRE_OK(
        takt_plan_run_create(f.instance, plan, 1, &binding, &options, &run));
    EXPECT(!report_of(run).is_running);
    EXPECT_ERROR(takt_plan_run_wait(run, 0), TAKT_STATUS_FAILED_PRECONDITION,
                 "not been started");
    const int64_t start_ns = takt_clock_now_ns() + kLeadNs;
    REQUIRE_OK(takt_plan_run_start(run, start_ns));
    EXPECT_OK(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
    EXPECT(takt_clock_now_ns() >= start_ns);
    EXPECT(seen.done_count == 4 && seen.bad_count == 0);
    const takt_plan_run_report_t report = report_of(run);
    EXPECT(!report.is_running && report.call_count == 4);
    EXPECT(report.failed_count == 0 && report.started_count == 4);
    EXPECT(report.late_start.count == 4 && report.divergence_count == 0);
    EXPECT(report.first_release_ns == start_ns);
    EXPECT(report.last_end_ns > start_ns);
    int64_t earliest = TAKT_INFINITE_FUTURE;
    for (size_t i = 0; i < 4; ++i) {
      takt_plan_errors_t start;
      takt_plan_errors_t end;
      EXPECT_OK(takt_plan_run_query_operation(run, i, &start, &end));
      EXPECT(start.count == 1 && end.count == 1 && start.min == start.max);
      if (start.min < earliest) earliest = start.min;
      const takt_planned_operation_t planned = takt_plan_operation(plan, i);
      EXPECT(planned.start_ns + start.min >= 0);
    }
    if (mode == TAKT_PLAN_MODE_STRICT) {
      EXPECT(earliest >= 0);
      EXPECT(report.in_place_count == 4);
    }
    EXPECT_ERROR(takt_plan_run_query_operation(run, 4, NULL, NULL),
                 TAKT_STATUS_OUT_OF_RANGE, "the plan has 4");
    EXPECT_ERROR(takt_plan_run_start(run, takt_clock_now_ns() + 1000000),
                 TAKT_STATUS_FAILED_PRECONDITION, "has been started");
    takt_plan_run_stop(run); /* Nothing, by now. */
    takt_plan_run_release(run);
    takt_plan_release(plan);
    callee_destroy(&callee);
    fixture_destroy(&f);
  }
}

static takt_stream_t* create_stream(fixture_t* f, callee_t* callee,
                                    int64_t period_ns) {
  (void)f;
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.period_ns = period_ns;
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(callee->function, &options, &stream));
  REQUIRE_OK(takt_stream_set_input(stream, 2, callee->arguments));
  return stream;
}

static void a_cyclic_plan_goes_on_until_it_is_stopped(void) {
  for (int mode = TAKT_PLAN_MODE_STRICT; mode <= TAKT_PLAN_MODE_ADAPTIVE;
       ++mode) {
    fixture_t f = planned();
    callee_t callee = callee_create(&f);
    seen_t seen = {0};
    REQUIRE_OK(takt_fence_create_barrier(5, &seen.enough));
    takt_plan_t* plan =
        make_plan(takt_module_content_hash(f.module), 50, CYCLIC);
    takt_stream_t* stream = create_stream(&f, &callee, 20000000);
    takt_plan_binding_t bindings[2] = {binding_of("t", &callee, &seen)};
    bindings[1].stream = "s";
    bindings[1].to = stream;
    takt_plan_run_options_t options = plan_run_options();
    options.mode = (takt_plan_mode_t)mode;
    options.timing = takt_plan_timing(TAKT_PLAN_TIMING_PATIENT);
    takt_plan_run_t* run = NULL;
    REQUIRE_OK(
        takt_plan_run_create(f.instance, plan, 2, bindings, &options, &run));
    REQUIRE_OK(takt_plan_run_start(run, takt_clock_now_ns() + 3000000));
    EXPECT(report_of(run).is_running);
    /* Another one cannot be carried out beside it. */
    takt_plan_run_t* other = NULL;
    bindings[1].to = NULL;
    bindings[1] = binding_of("s", &callee, &seen);
    REQUIRE_OK(
        takt_plan_run_create(f.instance, plan, 2, bindings, NULL, &other));
    EXPECT_ERROR(takt_plan_run_start(other, takt_clock_now_ns() + 50000000),
                 TAKT_STATUS_FAILED_PRECONDITION, "another plan");
    EXPECT_OK(takt_fence_wait(seen.enough, f.instance, TAKT_INFINITE_FUTURE));
    EXPECT_ERROR(takt_plan_run_wait(run, 0), TAKT_STATUS_DEADLINE_EXCEEDED, "");
    takt_plan_run_stop(run);
    EXPECT_OK(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
    EXPECT_OK(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
    const takt_plan_run_report_t report = report_of(run);
    EXPECT(!report.is_running && report.call_count >= 5);
    EXPECT(report.started_count >= 5);
    EXPECT(seen.done_count == (int)report.call_count && seen.bad_count == 0);
    /* Its place is free now. */
    EXPECT_OK(takt_plan_run_start(other, takt_clock_now_ns() + 3000000));
    takt_plan_run_release(run);
    takt_plan_run_stop(other);
    EXPECT_OK(takt_plan_run_wait(other, TAKT_INFINITE_FUTURE));
    takt_plan_run_release(other);
    takt_stream_release(stream);
    takt_plan_release(plan);
    takt_fence_release(seen.enough);
    callee_destroy(&callee);
    fixture_destroy(&f);
  }
}

static void another_plan_takes_over(void) {
  fixture_t f = planned();
  callee_t callee = callee_create(&f);
  seen_t seen = {0};
  REQUIRE_OK(takt_fence_create_barrier(20, &seen.enough));
  const uint64_t content = takt_module_content_hash(f.module);
  takt_plan_t* plan = make_plan(content, 50, CYCLIC);
  takt_plan_t* longer = make_plan(content, 60, CYCLIC);
  takt_plan_t* once = make_plan(content, 60, ONCE);
  takt_plan_t* shifted =
      make_plan(content, 60,
                "{\"name\": \"s\", \"function\": \"module.mul\","
                " \"period_ms\": 20, \"offset_ms\": 1}");
  takt_stream_t* stream = create_stream(&f, &callee, 20000000);
  takt_plan_binding_t bindings[2] = {binding_of("t", &callee, &seen)};
  bindings[1].stream = "s";
  bindings[1].to = stream;
  takt_plan_run_t* run = NULL;
  REQUIRE_OK(takt_plan_run_create(f.instance, plan, 2, bindings, NULL, &run));
  const int64_t far_ns = takt_clock_now_ns() + INT64_C(60000000000);
  int64_t at_ns = 0;
  EXPECT_ERROR(takt_plan_run_replace(run, longer, far_ns, &at_ns),
               TAKT_STATUS_FAILED_PRECONDITION, "not under way");
  const int64_t start_ns = takt_clock_now_ns() + kLeadNs;
  REQUIRE_OK(takt_plan_run_start(run, start_ns));
  EXPECT_ERROR(takt_plan_run_replace(run, longer, start_ns - kLeadNs, &at_ns),
               TAKT_STATUS_INVALID_ARGUMENT, "has passed");
  EXPECT_ERROR(takt_plan_run_replace(run, once, far_ns, &at_ns),
               TAKT_STATUS_INVALID_ARGUMENT, "bound to functions");
  EXPECT_ERROR(takt_plan_run_replace(run, shifted, far_ns, &at_ns),
               TAKT_STATUS_INVALID_ARGUMENT, "first release");
  REQUIRE_OK(takt_plan_run_replace(run, longer,
                                   takt_clock_now_ns() + 3 * kLeadNs, &at_ns));
  EXPECT((at_ns - start_ns) % 20000000 == 0 && at_ns > start_ns);
  EXPECT_OK(takt_fence_wait(seen.enough, f.instance, TAKT_INFINITE_FUTURE));
  EXPECT(report_of(run).call_count >= 20);
  takt_plan_run_stop(run);
  EXPECT_OK(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
  EXPECT_ERROR(takt_plan_run_replace(run, longer, far_ns, NULL),
               TAKT_STATUS_FAILED_PRECONDITION, "not under way");
  EXPECT(seen.bad_count == 0);
  takt_plan_run_release(run);
  takt_fence_release(seen.enough);
  takt_stream_release(stream);
  takt_plan_release(shifted);
  takt_plan_release(once);
  takt_plan_release(longer);
  takt_plan_release(plan);
  callee_destroy(&callee);
  fixture_destroy(&f);
}

static void what_is_not_kept_to_is_told_or_ends_it(void) {
  for (int late = TAKT_PLAN_LATE_TELL; late <= TAKT_PLAN_LATE_FAIL; ++late) {
    fixture_t f = planned();
    callee_t callee = callee_create(&f);
    seen_t seen = {0};
    /* Nothing is done in a nanosecond. */
    takt_plan_t* plan =
        make_plan(takt_module_content_hash(f.module), 0.001, ONCE);
    const takt_plan_binding_t binding = binding_of("s", &callee, &seen);
    takt_plan_run_options_t options = plan_run_options();
    options.late = (takt_plan_late_t)late;
    options.timing.tolerance_ns = 0;
    options.timing.patience_ns = INT64_C(60000000000);
    options.on_event = on_event;
    options.user_data = &seen;
    takt_plan_run_t* run = NULL;
    REQUIRE_OK(
        takt_plan_run_create(f.instance, plan, 1, &binding, &options, &run));
    REQUIRE_OK(takt_plan_run_start(run, takt_clock_now_ns() + 2000000));
    if (late == TAKT_PLAN_LATE_FAIL) {
      EXPECT_ERROR(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE),
                   TAKT_STATUS_ABORTED, "plan \"w\": operation \"s#");
    } else {
      EXPECT_OK(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
      EXPECT(seen.done_count == 4);
      const takt_plan_run_report_t report = report_of(run);
      int told = 0;
      for (int i = 0; i < 8; ++i) told += seen.event_counts[i];
      EXPECT(told == (int)report.violation_count);
      EXPECT(seen.event_counts[TAKT_PLAN_EVENT_DIVERGED] == 0);
      if (late == TAKT_PLAN_LATE_TELL) {
        EXPECT(seen.event_counts[TAKT_PLAN_EVENT_OVERRUN] == 4);
      }
    }
    EXPECT(seen.bad_count == 0);
    takt_plan_run_release(run);
    takt_plan_release(plan);
    callee_destroy(&callee);
    fixture_destroy(&f);
  }
}

/* Of one stream, to its end. */
static takt_plan_run_report_t carry_out(
    fixture_t* f, takt_plan_t* plan, const takt_plan_binding_t* binding,
    const takt_plan_run_options_t* options) {
  takt_plan_run_t* run = NULL;
  REQUIRE_OK(
      takt_plan_run_create(f->instance, plan, 1, binding, options, &run));
  REQUIRE_OK(takt_plan_run_start(run, takt_clock_now_ns() + 2000000));
  EXPECT_OK(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
  const takt_plan_run_report_t report = report_of(run);
  takt_plan_run_release(run);
  return report;
}

/* What is small is left out of an adaptive plan, as it is by default. */
static void adaptive_plans_leave_out_what_is_small(void) {
  fixture_t f = planned();
  callee_t callee = callee_create(&f);
  seen_t seen = {0};
  takt_plan_t* plan = make_plan(takt_module_content_hash(f.module), 20, ONCE);
  const takt_plan_binding_t binding = binding_of("s", &callee, &seen);
  takt_plan_run_options_t options;
  takt_plan_run_options_init(&options);
  options.mode = TAKT_PLAN_MODE_ADAPTIVE;
  const takt_plan_run_report_t report = carry_out(&f, plan, &binding, &options);
  EXPECT(seen.done_count == 4 && seen.bad_count == 0);
  EXPECT(report.call_count == 4 && report.started_count == 0);
  EXPECT(report.divergence_count == 0);
  takt_plan_release(plan);
  callee_destroy(&callee);
  fixture_destroy(&f);
}

static void adaptive_plans_give_way(void) {
  fixture_t f = planned();
  callee_t callee = callee_create(&f);
  seen_t seen = {0};
  takt_plan_t* plan =
      make_plan(takt_module_content_hash(f.module), 0.001, ONCE);
  const takt_plan_binding_t binding = binding_of("s", &callee, &seen);
  takt_plan_run_options_t options = plan_run_options();
  options.mode = TAKT_PLAN_MODE_ADAPTIVE;
  options.timing.divergence_ns = 0;
  options.timing.patience_ns = INT64_C(60000000000);
  options.on_event = on_event;
  options.user_data = &seen;
  const takt_plan_run_report_t report = carry_out(&f, plan, &binding, &options);
  EXPECT(seen.done_count == 4 && seen.bad_count == 0);
  EXPECT(report.divergence_count > 0 && report.violation_count == 0);
  EXPECT(seen.event_counts[TAKT_PLAN_EVENT_DIVERGED] ==
         (int)report.divergence_count);
  takt_plan_release(plan);
  callee_destroy(&callee);
  fixture_destroy(&f);
}

/* Jobs of a nanosecond, one after the other, are late whatever happens, and so
 * that nothing can be moved; what is due in a minute never comes. */
static void what_is_left_is_planned_anew(void) {
  fixture_t f = planned();
  callee_t callee = callee_create(&f);
  seen_t seen = {0};
  takt_plan_t* plan =
      make_plan(takt_module_content_hash(f.module), 0.001,
                "{\"name\": \"s\", \"function\": \"module.mul\","
                " \"arrival\": \"once\", \"count\": 4,"
                " \"deadline_ms\": 0.000001},"
                "{\"name\": \"t\", \"function\": \"module.mul\","
                " \"arrival\": \"once\", \"offset_ms\": 60000,"
                " \"deadline_ms\": 1000}");
  const takt_plan_binding_t bindings[2] = {binding_of("s", &callee, &seen),
                                           binding_of("t", &callee, &seen)};
  for (int budget_ms = 0; budget_ms <= 1; ++budget_ms) {
    takt_plan_run_options_t options = plan_run_options();
    options.mode = TAKT_PLAN_MODE_ADAPTIVE;
    options.timing.divergence_ns = 0;
    options.timing.patience_ns = INT64_C(60000000000);
    options.timing.repair_budget_ns = budget_ms * INT64_C(1000000);
    takt_plan_run_t* run = NULL;
    REQUIRE_OK(
        takt_plan_run_create(f.instance, plan, 2, bindings, &options, &run));
    REQUIRE_OK(takt_plan_run_start(run, takt_clock_now_ns() + 2000000));
    takt_plan_run_report_t report = report_of(run);
    while (report.divergence_count == 0 ||
           report.resolve_count + report.refused_count < (uint64_t)budget_ms) {
      report = report_of(run);
    }
    if (budget_ms == 0)
      EXPECT(report.resolve_count + report.refused_count == 0);
    takt_plan_run_stop(run);
    EXPECT_OK(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
    takt_plan_run_release(run);
  }
  EXPECT(seen.bad_count == 0);
  takt_plan_release(plan);
  callee_destroy(&callee);
  fixture_destroy(&f);
}

/* While the core that a plan has is lost, jobs run elsewhere; found again, it
 * has what is released from the next period on. */
static void a_lost_core_is_done_without(void) {
  fixture_t f = planned();
  callee_t callee = callee_create(&f);
  seen_t seen = {0};
  takt_plan_t* plan = make_plan(takt_module_content_hash(f.module), 50, CYCLIC);
  const takt_plan_binding_t bindings[2] = {binding_of("s", &callee, &seen),
                                           binding_of("t", &callee, &seen)};
  takt_plan_run_options_t options = plan_run_options();
  options.mode = TAKT_PLAN_MODE_ADAPTIVE;
  options.timing = takt_plan_timing(TAKT_PLAN_TIMING_PATIENT);
  options.timing.repair_budget_ns = 5000000;
  options.on_event = on_event;
  options.user_data = &seen;
  takt_plan_run_t* run = NULL;
  REQUIRE_OK(
      takt_plan_run_create(f.instance, plan, 2, bindings, &options, &run));
  REQUIRE_OK(takt_plan_run_start(run, takt_clock_now_ns() + 3000000));
  while (report_of(run).in_place_count < 3) {
  }
  REQUIRE_OK(takt_scheduler_set_available(f.instance, 0, false));
  const takt_plan_run_report_t lost = report_of(run);
  EXPECT(lost.divergence_count == 1);
  while (seen.event_counts[TAKT_PLAN_EVENT_LOST] == 0) {
  }
  const int done_count = seen.done_count;
  while (seen.done_count < done_count + 5) {
  }
  REQUIRE_OK(takt_scheduler_set_available(f.instance, 0, true));
  const uint64_t in_place_count = report_of(run).in_place_count;
  while (report_of(run).in_place_count < in_place_count + 3) {
  }
  takt_plan_run_stop(run);
  EXPECT_OK(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
  EXPECT(seen.bad_count == 0 && report_of(run).failed_count == 0);
  takt_plan_run_release(run);
  takt_plan_release(plan);
  callee_destroy(&callee);
  fixture_destroy(&f);
}

static void presets_set_all_durations(void) {
  const takt_plan_timing_t standard =
      takt_plan_timing(TAKT_PLAN_TIMING_STANDARD);
  const takt_plan_timing_t exact = takt_plan_timing(TAKT_PLAN_TIMING_EXACT);
  const takt_plan_timing_t patient = takt_plan_timing(TAKT_PLAN_TIMING_PATIENT);
  const takt_plan_timing_t unknown =
      takt_plan_timing((takt_plan_timing_preset_t)9);
  takt_plan_run_options_t options;
  takt_plan_run_options_init(&options);
  EXPECT(memcmp(&options.timing, &standard, sizeof(standard)) == 0);
  EXPECT(memcmp(&unknown, &standard, sizeof(standard)) == 0);
  EXPECT(exact.tolerance_ns < standard.tolerance_ns);
  EXPECT(exact.patience_ns < standard.patience_ns);
  EXPECT(exact.divergence_ns < standard.divergence_ns);
  EXPECT(exact.small_ns == 0 && patient.small_ns == 0);
  EXPECT(patient.patience_ns == INT64_C(60000000000));
  EXPECT(patient.divergence_ns == INT64_C(60000000000));
  EXPECT(patient.repair_budget_ns == 0);
}

static void refuses_what_does_not_fit(void) {
  fixture_t f = planned();
  callee_t callee = callee_create(&f);
  seen_t seen = {0};
  const uint64_t content = takt_module_content_hash(f.module);
  takt_plan_t* plan = make_plan(content, 50, ONCE);
  takt_plan_t* foreign = make_plan(content ^ 1, 50, ONCE);
  takt_plan_t* cyclic = make_plan(content, 50, CYCLIC);
  takt_plan_run_t* run = NULL;
  takt_plan_binding_t bindings[2] = {binding_of("s", &callee, &seen),
                                     binding_of("s", &callee, &seen)};
  EXPECT_ERROR(takt_plan_run_create(NULL, plan, 1, bindings, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "instance is NULL");
  EXPECT_ERROR(takt_plan_run_create(f.instance, NULL, 1, bindings, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "plan is NULL");
  EXPECT_ERROR(takt_plan_run_create(f.instance, plan, 1, NULL, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "bindings is NULL");
  EXPECT_ERROR(takt_plan_run_create(f.instance, plan, 0, NULL, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "stream \"s\": it is not bound");
  EXPECT_ERROR(takt_plan_run_create(f.instance, plan, 2, bindings, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "bound twice");
  EXPECT_ERROR(
      takt_plan_run_create(f.instance, foreign, 1, bindings, NULL, &run),
      TAKT_STATUS_FAILED_PRECONDITION, "the plan was made for module");
  takt_plan_binding_t wrong = bindings[0];
  wrong.function_count = 0;
  EXPECT_ERROR(takt_plan_run_create(f.instance, plan, 1, &wrong, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "expected a stream, or functions");
  wrong = bindings[0];
  wrong.argument_count = 1;
  EXPECT_ERROR(takt_plan_run_create(f.instance, plan, 1, &wrong, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "expected 2 inputs");
  wrong = bindings[0];
  wrong.criticality = (takt_criticality_t)9;
  EXPECT_ERROR(takt_plan_run_create(f.instance, plan, 1, &wrong, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "criticality");
  wrong = bindings[0];
  wrong.stream = NULL;
  EXPECT_ERROR(takt_plan_run_create(f.instance, plan, 1, &wrong, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "stream is NULL");
  /* Streams of the application's. */
  takt_stream_t* stream = create_stream(&f, &callee, 30000000);
  memset(&wrong, 0, sizeof(wrong));
  wrong.stream = "s";
  wrong.to = stream;
  EXPECT_ERROR(takt_plan_run_create(f.instance, plan, 1, &wrong, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "a single shot is bound to");
  bindings[0] = wrong;
  bindings[1].stream = "t";
  EXPECT_ERROR(
      takt_plan_run_create(f.instance, cyclic, 2, bindings, NULL, &run),
      TAKT_STATUS_INVALID_ARGUMENT, "it releases 0 jobs in the plan's period");
  takt_stream_release(stream);
  /* Options. */
  bindings[0] = binding_of("s", &callee, &seen);
  takt_plan_run_options_t options = plan_run_options();
  options.timing.tolerance_ns = -1;
  EXPECT_ERROR(
      takt_plan_run_create(f.instance, plan, 1, bindings, &options, &run),
      TAKT_STATUS_INVALID_ARGUMENT, "tolerance_ns");
  options.timing.tolerance_ns = 0;
  options.timing.repair_budget_ns = -1;
  EXPECT_ERROR(
      takt_plan_run_create(f.instance, plan, 1, bindings, &options, &run),
      TAKT_STATUS_INVALID_ARGUMENT, "repair_budget_ns");
  options.timing.repair_budget_ns = 0;
  options.timing.repair_horizon_ns = -1;
  EXPECT_ERROR(
      takt_plan_run_create(f.instance, plan, 1, bindings, &options, &run),
      TAKT_STATUS_INVALID_ARGUMENT, "repair_horizon_ns");
  options.timing.repair_horizon_ns = 0;
  options.mode = (takt_plan_mode_t)7;
  EXPECT_ERROR(
      takt_plan_run_create(f.instance, plan, 1, bindings, &options, &run),
      TAKT_STATUS_INVALID_ARGUMENT, "mode is 7");
  EXPECT(run == NULL);
  /* Times. */
  REQUIRE_OK(takt_plan_run_create(f.instance, plan, 1, bindings, NULL, &run));
  EXPECT_ERROR(takt_plan_run_start(run, takt_clock_now_ns() - 1),
               TAKT_STATUS_INVALID_ARGUMENT, "has passed");
  takt_plan_run_report_t report = {0};
  EXPECT_ERROR(takt_plan_run_query(run, &report), TAKT_STATUS_INVALID_ARGUMENT,
               "struct_size");
  takt_plan_run_retain(run);
  takt_plan_run_release(run);
  takt_plan_run_release(run); /* Never started. */
  takt_plan_run_release(NULL);
  /* Schedulers. */
  static const char* const kPolicies[2] = {"off", "fifo"};
  for (int i = 0; i < 2; ++i) {
    fixture_t other = planned_with(kPolicies[i]);
    EXPECT_ERROR(
        takt_plan_run_create(other.instance, plan, 1, bindings, NULL, &run),
        TAKT_STATUS_FAILED_PRECONDITION, kPolicies[i]);
    fixture_destroy(&other);
  }
  fixture_t other = planned();
  EXPECT_ERROR(
      takt_plan_run_create(other.instance, plan, 1, bindings, NULL, &run),
      TAKT_STATUS_INVALID_ARGUMENT, "does not schedule its context");
  fixture_destroy(&other);
  takt_plan_release(cyclic);
  takt_plan_release(foreign);
  takt_plan_release(plan);
  callee_destroy(&callee);
  fixture_destroy(&f);
}

int main(void) {
  RUN(presets_set_all_durations);
  RUN(a_single_shot_runs_in_order_and_not_early);
  RUN(a_cyclic_plan_goes_on_until_it_is_stopped);
  RUN(another_plan_takes_over);
  RUN(what_is_not_kept_to_is_told_or_ends_it);
  RUN(adaptive_plans_leave_out_what_is_small);
  RUN(adaptive_plans_give_way);
  RUN(what_is_left_is_planned_anew);
  RUN(a_lost_core_is_done_without);
  RUN(refuses_what_does_not_fit);
  return test_result();
}
