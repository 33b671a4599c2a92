/* Runs of plans on real workers: which calls they make, when, and what they
 * report. No test depends on the speed of the machine. Starts are only checked
 * not to be early; a plan that must be violated gives an operation a
 * nanosecond. */
#define _GNU_SOURCE
#include "takt/plan_run.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "tests/analysis/contents.h"
#include "tests/api/fixture.h"
#include "tests/support/fault_injection.h"

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

/* The plan of a workload with one core and one kernel of `duration_us`.
 * `content` is the content hash of its module, and `streams` is JSON. */
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

/* An instance, a plan for it, the function that the plan calls, and what the
 * callbacks have received. */
typedef struct scene_t {
  fixture_t f;
  callee_t callee;
  seen_t seen;
  takt_plan_t* plan;
} scene_t;

static void scene_init(scene_t* s, double duration_us, const char* streams) {
  memset(s, 0, sizeof(*s));
  s->f = planned();
  s->callee = callee_create(&s->f);
  s->plan =
      make_plan(takt_module_content_hash(s->f.module), duration_us, streams);
}

static void scene_destroy(scene_t* s) {
  takt_plan_release(s->plan);
  callee_destroy(&s->callee);
  fixture_destroy(&s->f);
}

static takt_plan_binding_t bind(scene_t* s, const char* stream) {
  return binding_of(stream, &s->callee, &s->seen);
}

/* A run of the scene's plan, which has not been started. */
static takt_plan_run_t* create_run(scene_t* s,
                                   const takt_plan_run_options_t* options,
                                   const takt_plan_binding_t* bindings,
                                   size_t binding_count) {
  takt_plan_run_t* run = NULL;
  REQUIRE_OK(takt_plan_run_create(s->f.instance, s->plan, binding_count,
                                  bindings, options, &run));
  return run;
}

/* Options with which the speed of the machine has no effect. */
static takt_plan_run_options_t patient(int mode) {
  takt_plan_run_options_t options = plan_run_options();
  options.mode = (takt_plan_mode_t)mode;
  options.timing = takt_plan_timing(TAKT_PLAN_TIMING_PATIENT);
  return options;
}

/* Options with which an adaptive run diverges at the first delay. */
static takt_plan_run_options_t impatient(seen_t* seen) {
  takt_plan_run_options_t options = plan_run_options();
  options.mode = TAKT_PLAN_MODE_ADAPTIVE;
  options.timing.divergence_ns = 0;
  options.timing.patience_ns = INT64_C(60000000000);
  options.on_event = on_event;
  options.user_data = seen;
  return options;
}

/* How often the rest of the plan was planned anew, in time or not. */
static uint64_t planned_anew(takt_plan_run_t* run) {
  const takt_plan_run_report_t report = report_of(run);
  return report.resolve_count + report.refused_count;
}

static void wait_until_over(takt_plan_run_t* run) {
  EXPECT_OK(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
}

static void stop_and_release(takt_plan_run_t* run) {
  takt_plan_run_stop(run);
  wait_until_over(run);
  takt_plan_run_release(run);
}

/* Runs the scene's single shot, whose only stream is "s", to its end. */
static takt_plan_run_report_t carry_out(
    scene_t* s, const takt_plan_run_options_t* options) {
  const takt_plan_binding_t binding = bind(s, "s");
  takt_plan_run_t* run = create_run(s, options, &binding, 1);
  REQUIRE_OK(takt_plan_run_start(run, soon_ns()));
  wait_until_over(run);
  const takt_plan_run_report_t report = report_of(run);
  takt_plan_run_release(run);
  return report;
}

/* Each of the scene's four operations ran once and, in a strict run, not
 * early. */
static void expect_starts(const scene_t* s, takt_plan_run_t* run, int mode) {
  takt_plan_contents_t* contents = plan_contents(s->plan);
  for (size_t i = 0; i < 4; ++i) {
    takt_plan_errors_t start;
    takt_plan_errors_t end;
    EXPECT_OK(takt_plan_run_query_operation(run, i, &start, &end));
    EXPECT(start.count == 1 && end.count == 1 && start.min == start.max);
    if (mode == TAKT_PLAN_MODE_STRICT) EXPECT(start.min >= 0);
    const takt_planned_operation_t planned =
        takt_plan_contents_operation(contents, i);
    EXPECT(planned.start_ns + start.min >= 0);
  }
  takt_plan_contents_release(contents);
  EXPECT_ERROR(takt_plan_run_query_operation(run, 4, NULL, NULL),
               TAKT_STATUS_OUT_OF_RANGE, "the plan has 4");
}

static void a_single_shot_runs_in_order_and_not_early(void) {
  for (int mode = TAKT_PLAN_MODE_STRICT; mode <= TAKT_PLAN_MODE_ADAPTIVE;
       ++mode) {
    scene_t s;
    scene_init(&s, 300, ONCE);
    const takt_plan_binding_t binding = bind(&s, "s");
    const takt_plan_run_options_t options = patient(mode);
    takt_plan_run_t* run = create_run(&s, &options, &binding, 1);
    EXPECT(!report_of(run).is_running);
    EXPECT_ERROR(takt_plan_run_wait(run, 0), TAKT_STATUS_FAILED_PRECONDITION,
                 "not been started");
    const int64_t start_ns = soon_ns();
    REQUIRE_OK(takt_plan_run_start(run, start_ns));
    wait_until_over(run);
    EXPECT(takt_clock_now_ns() >= start_ns);
    EXPECT(s.seen.done_count == 4 && s.seen.bad_count == 0);
    const takt_plan_run_report_t report = report_of(run);
    EXPECT(!report.is_running && report.call_count == 4);
    EXPECT(report.failed_count == 0 && report.started_count == 4);
    EXPECT(report.late_start.count == 4 && report.divergence_count == 0);
    EXPECT(report.first_release_ns == start_ns);
    EXPECT(report.last_end_ns > start_ns);
    if (mode == TAKT_PLAN_MODE_STRICT) EXPECT(report.in_place_count == 4);
    expect_starts(&s, run, mode);
    EXPECT_ERROR(takt_plan_run_start(run, soon_ns()),
                 TAKT_STATUS_FAILED_PRECONDITION, "has been started");
    takt_plan_run_stop(run); /* Does nothing: the run is over. */
    takt_plan_run_release(run);
    scene_destroy(&s);
  }
}

/* A periodic stream with an input. */
static takt_stream_t* create_stream(scene_t* s, int64_t period_ns) {
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.period_ns = period_ns;
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(s->callee.function, &options, &stream));
  REQUIRE_OK(takt_stream_set_input(stream, 2, s->callee.arguments));
  return stream;
}

static takt_plan_binding_t bind_to(const char* name, takt_stream_t* stream) {
  takt_plan_binding_t binding;
  memset(&binding, 0, sizeof(binding));
  binding.stream = name;
  binding.to = stream;
  return binding;
}

static void a_cyclic_plan_repeats_until_it_is_stopped(void) {
  for (int mode = TAKT_PLAN_MODE_STRICT; mode <= TAKT_PLAN_MODE_ADAPTIVE;
       ++mode) {
    scene_t s;
    scene_init(&s, 50, CYCLIC);
    REQUIRE_OK(takt_fence_create_barrier(5, &s.seen.enough));
    takt_stream_t* stream = create_stream(&s, 20000000);
    const takt_plan_binding_t bindings[2] = {bind(&s, "t"),
                                             bind_to("s", stream)};
    const takt_plan_binding_t others[2] = {bind(&s, "t"), bind(&s, "s")};
    const takt_plan_run_options_t options = patient(mode);
    takt_plan_run_t* run = create_run(&s, &options, bindings, 2);
    REQUIRE_OK(takt_plan_run_start(run, soon_ns()));
    EXPECT(report_of(run).is_running);
    /* An instance carries out one plan at a time. */
    takt_plan_run_t* other = create_run(&s, NULL, others, 2);
    EXPECT_ERROR(takt_plan_run_start(other, soon_ns()),
                 TAKT_STATUS_FAILED_PRECONDITION, "another plan");
    EXPECT_OK(
        takt_fence_wait(s.seen.enough, s.f.instance, TAKT_INFINITE_FUTURE));
    EXPECT_ERROR(takt_plan_run_wait(run, 0), TAKT_STATUS_DEADLINE_EXCEEDED, "");
    takt_plan_run_stop(run);
    wait_until_over(run);
    EXPECT_OK(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
    const takt_plan_run_report_t report = report_of(run);
    EXPECT(!report.is_running && report.call_count >= 5);
    EXPECT(report.started_count >= 5);
    EXPECT(s.seen.done_count == (int)report.call_count);
    EXPECT(s.seen.bad_count == 0);
    takt_plan_run_release(run);
    /* The first run is over, so the other one may start. */
    EXPECT_OK(takt_plan_run_start(other, soon_ns()));
    stop_and_release(other);
    takt_stream_release(stream);
    takt_fence_release(s.seen.enough);
    scene_destroy(&s);
  }
}

static void another_plan_takes_over_at_the_end_of_a_period(void) {
  scene_t s;
  scene_init(&s, 50, CYCLIC);
  REQUIRE_OK(takt_fence_create_barrier(20, &s.seen.enough));
  const uint64_t content = takt_module_content_hash(s.f.module);
  takt_plan_t* longer = make_plan(content, 60, CYCLIC);
  takt_plan_t* once = make_plan(content, 60, ONCE);
  takt_plan_t* shifted =
      make_plan(content, 60,
                "{\"name\": \"s\", \"function\": \"module.mul\","
                " \"period_ms\": 20, \"offset_ms\": 1}");
  takt_stream_t* stream = create_stream(&s, 20000000);
  const takt_plan_binding_t bindings[2] = {bind(&s, "t"), bind_to("s", stream)};
  takt_plan_run_t* run = create_run(&s, NULL, bindings, 2);
  const int64_t far_ns = takt_clock_now_ns() + INT64_C(60000000000);
  int64_t at_ns = 0;
  EXPECT_ERROR(takt_plan_run_replace(run, longer, far_ns, &at_ns),
               TAKT_STATUS_FAILED_PRECONDITION, "not under way");
  const int64_t start_ns = soon_ns();
  REQUIRE_OK(takt_plan_run_start(run, start_ns));
  EXPECT_ERROR(takt_plan_run_replace(run, longer, start_ns - kLeadNs, &at_ns),
               TAKT_STATUS_INVALID_ARGUMENT, "has passed");
  EXPECT_ERROR(takt_plan_run_replace(run, once, far_ns, &at_ns),
               TAKT_STATUS_INVALID_ARGUMENT, "bound to functions");
  EXPECT_ERROR(takt_plan_run_replace(run, shifted, far_ns, &at_ns),
               TAKT_STATUS_INVALID_ARGUMENT, "first release");
  REQUIRE_OK(
      takt_plan_run_replace(run, longer, soon_ns() + 2 * kLeadNs, &at_ns));
  EXPECT((at_ns - start_ns) % 20000000 == 0 && at_ns > start_ns);
  EXPECT_OK(takt_fence_wait(s.seen.enough, s.f.instance, TAKT_INFINITE_FUTURE));
  EXPECT(report_of(run).call_count >= 20);
  takt_plan_run_stop(run);
  wait_until_over(run);
  EXPECT_ERROR(takt_plan_run_replace(run, longer, far_ns, NULL),
               TAKT_STATUS_FAILED_PRECONDITION, "not under way");
  EXPECT(s.seen.bad_count == 0);
  takt_plan_run_release(run);
  takt_fence_release(s.seen.enough);
  takt_stream_release(stream);
  takt_plan_release(shifted);
  takt_plan_release(once);
  takt_plan_release(longer);
  scene_destroy(&s);
}

/* No operation takes only the planned nanosecond. */
static void a_violation_is_reported_or_ends_a_strict_run(void) {
  for (int late = TAKT_PLAN_LATE_REPORT; late <= TAKT_PLAN_LATE_FAIL; ++late) {
    scene_t s;
    scene_init(&s, 0.001, ONCE);
    const takt_plan_binding_t binding = bind(&s, "s");
    takt_plan_run_options_t options = patient(TAKT_PLAN_MODE_STRICT);
    options.late = (takt_plan_late_t)late;
    options.timing.tolerance_ns = 0;
    options.on_event = on_event;
    options.user_data = &s.seen;
    takt_plan_run_t* run = create_run(&s, &options, &binding, 1);
    REQUIRE_OK(takt_plan_run_start(run, soon_ns()));
    if (late == TAKT_PLAN_LATE_FAIL) {
      EXPECT_ERROR(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE),
                   TAKT_STATUS_ABORTED, "plan \"w\": operation \"s#");
    } else {
      wait_until_over(run);
      EXPECT(s.seen.done_count == 4);
      int event_count = 0;
      for (int i = 0; i < 8; ++i) event_count += s.seen.event_counts[i];
      EXPECT(event_count == (int)report_of(run).violation_count);
      EXPECT(s.seen.event_counts[TAKT_PLAN_EVENT_DIVERGED] == 0);
      if (late == TAKT_PLAN_LATE_REPORT) {
        EXPECT(s.seen.event_counts[TAKT_PLAN_EVENT_OVERRUN] == 4);
      }
    }
    EXPECT(s.seen.bad_count == 0);
    takt_plan_run_release(run);
    scene_destroy(&s);
  }
}

/* The default of small_ns is above the 20 us of the operations. */
static void an_adaptive_run_leaves_out_small_operations(void) {
  scene_t s;
  scene_init(&s, 20, ONCE);
  takt_plan_run_options_t options;
  takt_plan_run_options_init(&options);
  options.mode = TAKT_PLAN_MODE_ADAPTIVE;
  const takt_plan_run_report_t report = carry_out(&s, &options);
  EXPECT(s.seen.done_count == 4 && s.seen.bad_count == 0);
  EXPECT(report.call_count == 4 && report.started_count == 0);
  EXPECT(report.divergence_count == 0);
  scene_destroy(&s);
}

static void an_adaptive_run_reports_each_divergence(void) {
  scene_t s;
  scene_init(&s, 0.001, ONCE);
  const takt_plan_run_options_t options = impatient(&s.seen);
  const takt_plan_run_report_t report = carry_out(&s, &options);
  EXPECT(s.seen.done_count == 4 && s.seen.bad_count == 0);
  EXPECT(report.divergence_count > 0 && report.violation_count == 0);
  EXPECT(s.seen.event_counts[TAKT_PLAN_EVENT_DIVERGED] ==
         (int)report.divergence_count);
  scene_destroy(&s);
}

/* The jobs of "s" take a nanosecond each, one after the other, and have no time
 * to spare, so they are late and the plan cannot be moved. The job of "t" is
 * due in a minute and never runs. */
static void a_plan_that_cannot_be_moved_is_planned_anew(void) {
  scene_t s;
  scene_init(&s, 0.001,
             "{\"name\": \"s\", \"function\": \"module.mul\","
             " \"arrival\": \"once\", \"count\": 4,"
             " \"deadline_ms\": 0.000001},"
             "{\"name\": \"t\", \"function\": \"module.mul\","
             " \"arrival\": \"once\", \"offset_ms\": 60000,"
             " \"deadline_ms\": 1000}");
  const takt_plan_binding_t bindings[2] = {bind(&s, "s"), bind(&s, "t")};
  for (int budget_ms = 0; budget_ms <= 1; ++budget_ms) {
    takt_plan_run_options_t options = impatient(&s.seen);
    options.on_event = NULL;
    options.timing.repair_budget_ns = budget_ms * INT64_C(1000000);
    takt_plan_run_t* run = create_run(&s, &options, bindings, 2);
    REQUIRE_OK(takt_plan_run_start(run, soon_ns()));
    AWAIT(report_of(run).divergence_count > 0);
    const uint64_t least = (uint64_t)budget_ms;
    AWAIT(planned_anew(run) >= least);
    if (budget_ms == 0) EXPECT(planned_anew(run) == 0);
    stop_and_release(run);
  }
  EXPECT(s.seen.bad_count == 0);
  scene_destroy(&s);
}

/* While the planned core is lost, jobs run on the other one, or wait if there
 * is none. When it is back, it gets the jobs from the next period on. */
static void a_plan_continues_without_a_core_that_is_lost(void) {
  scene_t s;
  scene_init(&s, 50, CYCLIC);
  size_t core_count = 0;
  REQUIRE_OK(
      takt_scheduler_query_resources(s.f.instance, 0, NULL, &core_count));
  const takt_plan_binding_t bindings[2] = {bind(&s, "s"), bind(&s, "t")};
  takt_plan_run_options_t options = patient(TAKT_PLAN_MODE_ADAPTIVE);
  options.timing.repair_budget_ns = 5000000;
  options.on_event = on_event;
  options.user_data = &s.seen;
  takt_plan_run_t* run = create_run(&s, &options, bindings, 2);
  REQUIRE_OK(takt_plan_run_start(run, soon_ns()));
  AWAIT(report_of(run).in_place_count >= 3);
  REQUIRE_OK(takt_scheduler_set_available(s.f.instance, 0, false));
  EXPECT(report_of(run).divergence_count == 1);
  if (core_count > 1) {
    AWAIT(s.seen.event_counts[TAKT_PLAN_EVENT_LOST] > 0);
    const int done_count = s.seen.done_count;
    AWAIT(s.seen.done_count >= done_count + 5);
  }
  REQUIRE_OK(takt_scheduler_set_available(s.f.instance, 0, true));
  const uint64_t in_place_count = report_of(run).in_place_count;
  AWAIT(report_of(run).in_place_count >= in_place_count + 3);
  takt_plan_run_stop(run);
  wait_until_over(run);
  EXPECT(s.seen.bad_count == 0 && report_of(run).failed_count == 0);
  takt_plan_run_release(run);
  scene_destroy(&s);
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

typedef void (*spoil_binding_t)(takt_plan_binding_t* binding);
static void no_functions(takt_plan_binding_t* b) { b->function_count = 0; }
static void null_functions(takt_plan_binding_t* b) { b->functions = NULL; }
static void one_argument(takt_plan_binding_t* b) { b->argument_count = 1; }
static void null_arguments(takt_plan_binding_t* b) { b->arguments = NULL; }
static void bad_criticality(takt_plan_binding_t* b) {
  b->criticality = (takt_criticality_t)9;
}
static void no_name(takt_plan_binding_t* b) { b->stream = NULL; }
static void other_name(takt_plan_binding_t* b) { b->stream = "other"; }

static void errors_name_the_bad_binding(void) {
  static const struct {
    spoil_binding_t spoil;
    const char* message;
  } kCases[] = {{no_functions, "expected a stream, or functions"},
                {null_functions, "functions is NULL"},
                {one_argument, "expected 2 inputs"},
                {null_arguments, "arguments is NULL"},
                {bad_criticality, "criticality is 9"},
                {no_name, "stream is NULL"},
                {other_name, "stream \"s\": it is not bound"}};
  scene_t s;
  scene_init(&s, 50, ONCE);
  takt_plan_run_t* run = NULL;
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    takt_plan_binding_t binding = bind(&s, "s");
    kCases[i].spoil(&binding);
    EXPECT_ERROR(
        takt_plan_run_create(s.f.instance, s.plan, 1, &binding, NULL, &run),
        TAKT_STATUS_INVALID_ARGUMENT, kCases[i].message);
    EXPECT(run == NULL);
  }
  const takt_plan_binding_t twice[2] = {bind(&s, "s"), bind(&s, "s")};
  EXPECT_ERROR(takt_plan_run_create(s.f.instance, s.plan, 2, twice, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "bound twice");
  EXPECT_ERROR(takt_plan_run_create(NULL, s.plan, 1, twice, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "instance is NULL");
  EXPECT_ERROR(takt_plan_run_create(s.f.instance, NULL, 1, twice, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "plan is NULL");
  EXPECT_ERROR(takt_plan_run_create(s.f.instance, s.plan, 1, NULL, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT, "bindings is NULL");
  scene_destroy(&s);
}

typedef void (*spoil_options_t)(takt_plan_run_options_t* options);
static void bad_tolerance(takt_plan_run_options_t* o) {
  o->timing.tolerance_ns = -1;
}
static void bad_patience(takt_plan_run_options_t* o) {
  o->timing.patience_ns = -1;
}
static void bad_lead(takt_plan_run_options_t* o) { o->timing.lead_ns = -1; }
static void bad_budget(takt_plan_run_options_t* o) {
  o->timing.repair_budget_ns = -1;
}
static void bad_horizon(takt_plan_run_options_t* o) {
  o->timing.repair_horizon_ns = -1;
}
static void bad_mode(takt_plan_run_options_t* o) {
  o->mode = (takt_plan_mode_t)7;
}
static void bad_late(takt_plan_run_options_t* o) {
  o->late = (takt_plan_late_t)7;
}

static void errors_name_the_bad_option(void) {
  static const struct {
    spoil_options_t spoil;
    const char* message;
  } kCases[] = {{bad_tolerance, "tolerance_ns"},
                {bad_patience, "patience_ns"},
                {bad_lead, "lead_ns"},
                {bad_budget, "repair_budget_ns"},
                {bad_horizon, "repair_horizon_ns"},
                {bad_mode, "mode is 7"},
                {bad_late, "late is 7"}};
  scene_t s;
  scene_init(&s, 50, ONCE);
  const takt_plan_binding_t binding = bind(&s, "s");
  takt_plan_run_t* run = NULL;
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    takt_plan_run_options_t options = plan_run_options();
    kCases[i].spoil(&options);
    EXPECT_ERROR(
        takt_plan_run_create(s.f.instance, s.plan, 1, &binding, &options, &run),
        TAKT_STATUS_INVALID_ARGUMENT, kCases[i].message);
    EXPECT(run == NULL);
  }
  scene_destroy(&s);
}

static void a_plan_must_fit_the_module_and_the_streams(void) {
  scene_t s;
  scene_init(&s, 50, CYCLIC);
  const uint64_t content = takt_module_content_hash(s.f.module);
  takt_plan_t* foreign = make_plan(content ^ 1, 50, ONCE);
  takt_plan_t* once = make_plan(content, 50, ONCE);
  takt_stream_t* stream = create_stream(&s, 30000000);
  const takt_plan_binding_t by_run = bind(&s, "s");
  const takt_plan_binding_t by_clock = bind_to("s", stream);
  const takt_plan_binding_t both[2] = {by_clock, bind(&s, "t")};
  takt_plan_run_t* run = NULL;
  EXPECT_ERROR(
      takt_plan_run_create(s.f.instance, foreign, 1, &by_run, NULL, &run),
      TAKT_STATUS_FAILED_PRECONDITION, "the plan was made for module");
  EXPECT_ERROR(
      takt_plan_run_create(s.f.instance, once, 1, &by_clock, NULL, &run),
      TAKT_STATUS_INVALID_ARGUMENT, "a single shot is bound to");
  EXPECT_ERROR(takt_plan_run_create(s.f.instance, s.plan, 2, both, NULL, &run),
               TAKT_STATUS_INVALID_ARGUMENT,
               "it releases 0 jobs in the plan's period");
  EXPECT(run == NULL);
  takt_stream_release(stream);
  takt_plan_release(once);
  takt_plan_release(foreign);
  scene_destroy(&s);
}

static void a_run_needs_a_job_shop_that_schedules_its_functions(void) {
  static const char* const kPolicies[2] = {"off", "fifo"};
  scene_t s;
  scene_init(&s, 50, ONCE);
  const takt_plan_binding_t binding = bind(&s, "s");
  takt_plan_run_t* run = NULL;
  for (int i = 0; i < 2; ++i) {
    fixture_t other = planned_with(kPolicies[i]);
    EXPECT_ERROR(
        takt_plan_run_create(other.instance, s.plan, 1, &binding, NULL, &run),
        TAKT_STATUS_FAILED_PRECONDITION, kPolicies[i]);
    fixture_destroy(&other);
  }
  fixture_t other = planned();
  EXPECT_ERROR(
      takt_plan_run_create(other.instance, s.plan, 1, &binding, NULL, &run),
      TAKT_STATUS_INVALID_ARGUMENT, "does not schedule its context");
  EXPECT(run == NULL);
  fixture_destroy(&other);
  scene_destroy(&s);
}

/* A tensor of zeros. */
static takt_value_t zeros(takt_device_t* device, takt_element_type_t type,
                          size_t rank, int64_t rows, int64_t columns,
                          size_t byte_length) {
  static const uint8_t kZeros[64];
  const int64_t shape[2] = {rows, columns};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(device, type, rank, shape, kZeros,
                                             byte_length, &view));
  return takt_value_ref(view);
}

/* Memory runs out at every point of a run, for one allocation. */
static void a_call_of_many_results_ends_where_memory_runs_out(void) {
  fixture_t f = planned();
  takt_module_t* module =
      load_module(f.instance, TESTDATA("models/tool_io.cpu.vmfb"));
  takt_context_t* context = create_context(f.instance, f.device, module);
  callee_t callee = {.function = find_function(context, "io")};
  takt_value_t arguments[11] = {
      zeros(f.device, TAKT_ELEMENT_F32, 2, 2, 3, 24),
      zeros(f.device, TAKT_ELEMENT_I8, 1, 3, 0, 3),
      zeros(f.device, TAKT_ELEMENT_BOOL, 1, 2, 0, 2),
      zeros(f.device, TAKT_ELEMENT_F16, 1, 4, 0, 8),
      zeros(f.device, TAKT_ELEMENT_I64, 1, 2, 0, 16),
      zeros(f.device, TAKT_ELEMENT_F32, 0, 0, 0, 4),
      zeros(f.device, TAKT_ELEMENT_F32, 1, 0, 0, 0),
      zeros(f.device, TAKT_ELEMENT_BF16, 1, 3, 0, 6),
      takt_value_i32(0),
      takt_value_f32(0),
      takt_value_i64(0),
  };
  takt_plan_t* plan = make_plan(takt_module_content_hash(module), 50, ONCE);
  seen_t seen;
  memset(&seen, 0, sizeof(seen));
  takt_plan_binding_t binding = binding_of("s", &callee, &seen);
  binding.arguments = arguments;
  binding.argument_count = 11;
  long fault = 0;
  do {
    takt_plan_run_t* run = NULL;
    REQUIRE_OK(takt_plan_run_create(f.instance, plan, 1, &binding, NULL, &run));
    REQUIRE_OK(takt_plan_run_start(run, soon_ns()));
    fault_arm(FAULT_MEMORY, fault, false);
    takt_status_t status = takt_plan_run_wait(run, TAKT_INFINITE_FUTURE);
    const long call_count = fault_call_counts[FAULT_MEMORY];
    fault_disarm();
    /* The wait may be what found none. */
    if (takt_status_code(status) == TAKT_STATUS_RESOURCE_EXHAUSTED) {
      takt_status_free(status);
      status = takt_plan_run_wait(run, TAKT_INFINITE_FUTURE);
    }
    EXPECT_OK(status);
    EXPECT(report_of(run).call_count == 4);
    takt_plan_run_release(run);
    fault = CAN_INJECT && fault < call_count ? fault + 1 : -1;
  } while (fault >= 0);
  EXPECT(seen.done_count > 0);
  takt_plan_release(plan);
  takt_values_release(11, arguments);
  takt_function_release(callee.function);
  takt_context_release(context);
  takt_module_release(module);
  fixture_destroy(&f);
}

static void a_run_that_was_never_started_may_be_released(void) {
  scene_t s;
  scene_init(&s, 50, ONCE);
  const takt_plan_binding_t binding = bind(&s, "s");
  takt_plan_run_t* run = create_run(&s, NULL, &binding, 1);
  EXPECT_ERROR(takt_plan_run_start(run, takt_clock_now_ns() - 1),
               TAKT_STATUS_INVALID_ARGUMENT, "has passed");
  takt_plan_run_report_t report = {0};
  EXPECT_ERROR(takt_plan_run_query(run, &report), TAKT_STATUS_INVALID_ARGUMENT,
               "struct_size");
  takt_plan_run_retain(run);
  takt_plan_run_release(run);
  EXPECT(!report_of(run).is_running);
  takt_plan_run_release(run);
  takt_plan_run_release(NULL);
  scene_destroy(&s);
}

int main(void) {
  RUN(presets_set_all_durations);
  RUN(a_single_shot_runs_in_order_and_not_early);
  RUN(a_cyclic_plan_repeats_until_it_is_stopped);
  RUN(another_plan_takes_over_at_the_end_of_a_period);
  RUN(a_violation_is_reported_or_ends_a_strict_run);
  RUN(an_adaptive_run_leaves_out_small_operations);
  RUN(an_adaptive_run_reports_each_divergence);
  RUN(a_plan_that_cannot_be_moved_is_planned_anew);
  RUN(a_plan_continues_without_a_core_that_is_lost);
  RUN(errors_name_the_bad_binding);
  RUN(errors_name_the_bad_option);
  RUN(a_plan_must_fit_the_module_and_the_streams);
  RUN(a_run_needs_a_job_shop_that_schedules_its_functions);
  RUN(a_call_of_many_results_ends_where_memory_runs_out);
  RUN(a_run_that_was_never_started_may_be_released);
  return test_result();
}
