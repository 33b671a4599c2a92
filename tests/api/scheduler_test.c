/* The scheduler through the C API: every policy computes what the executor
 * alone does, and says what it knows. Devices here learn no costs, so that
 * nothing is too small to be scheduled. */
#include "takt/scheduler.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/api/fixture.h"

static const char* const kMul = TESTDATA("api/simple_mul.vmfb");

static void call_mul(fixture_t* f, const takt_invoke_options_t* options) {
  const float a[4] = {1, 2, 3, 4};
  const float b[4] = {10, 20, 30, 40};
  takt_buffer_view_t* x = float_view(f->device, 4, a);
  takt_buffer_view_t* y = float_view(f->device, 4, b);
  const takt_value_t arguments[2] = {takt_value_ref(x), takt_value_ref(y)};
  takt_function_t* function = find_function(f->context, "mul");
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, options, 2, arguments, 1, &result));
  EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=10 40 90 160");
  takt_values_release(1, &result);
  takt_function_release(function);
  takt_buffer_view_release(x);
  takt_buffer_view_release(y);
}

static takt_class_statistics_t class_of(fixture_t* f, takt_criticality_t c) {
  takt_class_statistics_t statistics = {.struct_size = sizeof(statistics)};
  REQUIRE_OK(takt_scheduler_query_class(f->instance, c, &statistics));
  return statistics;
}

static void every_policy_computes_the_same(void) {
  const char* const* names = NULL;
  const size_t count = takt_scheduler_policy_names(&names);
  EXPECT(count == 9);
  EXPECT_TEXT(names[0], "off");
  for (size_t i = 0; i < count; ++i) {
    for (int32_t workers = 0; workers <= 4; workers += 2) {
      fixture_t f = fixture_create_with_policy(names[i], workers, kMul);
      EXPECT_TEXT(takt_scheduler_policy(f.instance), names[i]);
      takt_invoke_options_t options;
      takt_invoke_options_init(&options);
      for (int call = 0; call < 10; ++call) {
        options.priority = call % 3 * 100;
        if (call % 2 == 1) {
          options.deadline_ns = takt_clock_now_ns() + 10000000000;
        }
        call_mul(&f, &options);
      }
      if (i > 0) {
        takt_class_statistics_t soft = class_of(&f, TAKT_CRITICALITY_SOFT);
        REPEAT_UNTIL(soft.met_count >= 5,
                     soft = class_of(&f, TAKT_CRITICALITY_SOFT));
        EXPECT(soft.missed_count == 0);
        EXPECT(soft.response.count == soft.met_count);
      }
      fixture_destroy(&f);
    }
  }
}

static void an_instance_has_one_by_itself(void) {
  fixture_t f = fixture_create("local-task", kMul);
  EXPECT_TEXT(takt_scheduler_policy(f.instance), "job-shop");
  call_mul(&f, NULL);
  fixture_destroy(&f);
}

static void without_a_scheduler_it_says_so(void) {
  fixture_t f = fixture_create_with_policy("off", 2, kMul);
  EXPECT_TEXT(takt_scheduler_policy(f.instance), "off");
  size_t count = 7;
  EXPECT_ERROR(takt_scheduler_query_resources(f.instance, 0, NULL, &count),
               TAKT_STATUS_FAILED_PRECONDITION, "\"off\"");
  EXPECT(count == 0);
  EXPECT_ERROR(takt_scheduler_set_speed(f.instance, "cores", 500),
               TAKT_STATUS_FAILED_PRECONDITION, "no scheduler");
  fixture_destroy(&f);
}

static void asked_for_without_a_name_it_is_the_job_shop(void) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  fixture_t f = fixture_create_scheduled(1, &scheduler, kMul);
  EXPECT_TEXT(takt_scheduler_policy(f.instance), "job-shop");
  fixture_destroy(&f);
}

static void options_that_are_none_are_named(void) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.scheduler = &scheduler;
  takt_instance_t* instance = NULL;
  scheduler.policy = "lottery";
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT,
               "there is no lottery; there are "
               "off, fifo");
  scheduler.policy = "edf";
  scheduler.aging_ns = -1;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "aging_ns");
}

static void resources_are_told_and_set(void) {
  fixture_t f = fixture_create_with_policy("job-shop", 2, kMul);
  takt_resource_t resources[8];
  size_t count = 0;
  REQUIRE_OK(takt_scheduler_query_resources(f.instance, 8, resources, &count));
  EXPECT(count >= 1 && count <= 2);
  EXPECT_TEXT(resources[0].pool, "cores");
  EXPECT(resources[0].is_available && !resources[0].is_npu);
  EXPECT(resources[0].speed_permille == 1000);
  EXPECT_OK(takt_scheduler_set_speed(f.instance, "cores", 400));
  REQUIRE_OK(takt_scheduler_query_resources(f.instance, 1, resources, &count));
  EXPECT(resources[0].speed_permille == 400);
  call_mul(&f, NULL);
  EXPECT_ERROR(takt_scheduler_set_speed(f.instance, "tpu", 400),
               TAKT_STATUS_NOT_FOUND, "there is no pool tpu; there are cores");
  EXPECT_ERROR(takt_scheduler_set_speed(f.instance, "cores", 0),
               TAKT_STATUS_INVALID_ARGUMENT, "a speed of 0");
  EXPECT_ERROR(takt_scheduler_set_available(f.instance, 999, false),
               TAKT_STATUS_INVALID_ARGUMENT, "resource 999");
  takt_scheduler_mode_t mode = TAKT_SCHEDULER_MODE_BURST;
  EXPECT_OK(takt_scheduler_query_mode(f.instance, &mode));
  EXPECT(mode == TAKT_SCHEDULER_MODE_NOMINAL ||
         mode == TAKT_SCHEDULER_MODE_HOT);
  fixture_destroy(&f);
}

/* A stream of the function, which releases a job for each input. */
static takt_stream_t* stream_of(fixture_t* f, int64_t deadline_ns,
                                takt_stream_late_t late) {
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.arrival = TAKT_STREAM_ARRIVAL_INPUT;
  options.deadline_ns = deadline_ns;
  options.criticality = TAKT_CRITICALITY_HARD;
  options.late = late;
  takt_function_t* function = find_function(f->context, "mul");
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(function, &options, &stream));
  takt_function_release(function);
  REQUIRE_OK(takt_stream_start(stream, 0));
  return stream;
}

static void run_job(fixture_t* f, takt_stream_t* stream) {
  const float a[4] = {1, 2, 3, 4};
  takt_buffer_view_t* x = float_view(f->device, 4, a);
  const takt_value_t arguments[2] = {takt_value_ref(x), takt_value_ref(x)};
  REQUIRE_OK(takt_stream_set_input(stream, 2, arguments));
  takt_buffer_view_release(x);
  REQUIRE_OK(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
}

static void heat_makes_the_mode_hot(void) {
  fixture_t f = fixture_create_with_policy("job-shop", 1, kMul);
  takt_scheduler_mode_t mode = TAKT_SCHEDULER_MODE_BURST;
  REQUIRE_OK(takt_scheduler_query_mode(f.instance, &mode));
  EXPECT(mode == TAKT_SCHEDULER_MODE_NOMINAL);
  REQUIRE_OK(takt_scheduler_set_hot(f.instance, true));
  REPEAT_UNTIL(mode == TAKT_SCHEDULER_MODE_HOT,
               REQUIRE_OK(takt_scheduler_query_mode(f.instance, &mode)));
  REQUIRE_OK(takt_scheduler_set_hot(f.instance, false));
  fixture_destroy(&f);
  f = fixture_create_with_policy("off", 2, kMul);
  EXPECT_ERROR(takt_scheduler_set_hot(f.instance, true),
               TAKT_STATUS_FAILED_PRECONDITION, "no scheduler");
  fixture_destroy(&f);
}

static void admission_answers_with_numbers(void) {
  fixture_t f = fixture_create_with_policy("job-shop", 2, kMul);
  takt_stream_t* stream = stream_of(&f, 10000000000, TAKT_STREAM_LATE_RUN_ON);
  takt_admission_t admission = {.struct_size = sizeof(admission)};
  REQUIRE_OK(takt_stream_admit(stream, false, &admission));
  EXPECT(admission.verdict == TAKT_ADMISSION_UNKNOWN);
  EXPECT(admission.reason[0] != 0);
  for (int i = 0; i < 5; ++i) run_job(&f, stream);
  REQUIRE_OK(takt_stream_admit(stream, true, &admission));
  EXPECT(admission.verdict == TAKT_ADMISSION_FITS);
  EXPECT(admission.deadline_ns == 10000000000);
  EXPECT(admission.response_least_ns <= admission.response_bound_ns);
  EXPECT(admission.response_bound_ns <= admission.deadline_ns);
  takt_stream_predict_options_t asked;
  takt_stream_predict_options_init(&asked);
  asked.with_bound = true;
  asked.step_ns = 10000000000;
  takt_stream_prediction_t next = {.struct_size = sizeof(next)};
  REQUIRE_OK(takt_stream_predict(stream, &asked, &next));
  EXPECT(next.bound_ns - next.release_ns > 0);
  EXPECT(next.bound_ns - next.release_ns <= admission.deadline_ns);
  EXPECT(next.bound_steps == 1);
  /* Promised jobs run like others. */
  run_job(&f, stream);
  takt_class_statistics_t hard = class_of(&f, TAKT_CRITICALITY_HARD);
  /* The job shop counts a job after its results are there. */
  REPEAT_UNTIL(hard.met_count == 6, hard = class_of(&f, TAKT_CRITICALITY_HARD));
  EXPECT(hard.released_count == 6);
  EXPECT(hard.release_error.count == 6);
  admission.struct_size = 0;
  EXPECT_ERROR(takt_stream_admit(stream, true, &admission),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  takt_stream_stop(stream);
  takt_stream_release(stream);
  fixture_destroy(&f);
  /* Nothing schedules this one. */
  f = fixture_create("local-sync", kMul);
  stream = stream_of(&f, 10000000000, TAKT_STREAM_LATE_RUN_ON);
  admission.struct_size = sizeof(admission);
  EXPECT_ERROR(takt_stream_admit(stream, true, &admission),
               TAKT_STATUS_FAILED_PRECONDITION, "nothing schedules");
  takt_stream_release(stream);
  fixture_destroy(&f);
}

static void on_miss(void* user_data, const takt_miss_t* miss) {
  EXPECT_CONTAINS(miss->stream, "mul");
  EXPECT(miss->criticality == TAKT_CRITICALITY_HARD);
  EXPECT(miss->outcome != TAKT_STREAM_OUTCOME_MET);
  EXPECT(miss->deadline_ns == miss->release_ns + 1);
  EXPECT(miss->response_ns > 1);
  atomic_fetch_add((atomic_int*)user_data, 1);
}

static void misses_are_told_and_counted(void) {
  fixture_t f = fixture_create_with_policy("edf", 2, kMul);
  atomic_int miss_count = 0;
  EXPECT_OK(
      takt_scheduler_set_callbacks(f.instance, on_miss, NULL, &miss_count));
  /* Nobody does it in a nanosecond. */
  takt_stream_t* stream = stream_of(&f, 1, TAKT_STREAM_LATE_RUN_ON);
  for (int i = 0; i < 3; ++i) run_job(&f, stream);
  takt_class_statistics_t hard = class_of(&f, TAKT_CRITICALITY_HARD);
  REPEAT_UNTIL(hard.missed_count == 3 && atomic_load(&miss_count) == 3,
               hard = class_of(&f, TAKT_CRITICALITY_HARD));
  takt_class_statistics_t none = {.struct_size = sizeof(none)};
  EXPECT_ERROR(
      takt_scheduler_query_class(f.instance, (takt_criticality_t)9, &none),
      TAKT_STATUS_INVALID_ARGUMENT, "criticality: 9");
  takt_stream_release(stream);
  fixture_destroy(&f);
}

static void a_profile_comes_back(void) {
  char path[64], part[64];
  snprintf(path, sizeof(path), "/tmp/takt_profile_%d", (int)getpid());
  snprintf(part, sizeof(part), "/tmp/takt_part_%d", (int)getpid());
  fixture_t f = fixture_create_with_policy("job-shop", 2, kMul);
  for (int i = 0; i < 5; ++i) call_mul(&f, NULL);
  EXPECT_OK(takt_scheduler_save_profile(f.instance, path));
  fixture_destroy(&f);

  f = fixture_create_with_policy("job-shop", 2, kMul);
  size_t count = 0;
  EXPECT_OK(takt_scheduler_load_profile(f.instance, path, &count));
  EXPECT(count >= 1);
  call_mul(&f, NULL);
  /* Part of it is refused, and changes nothing. */
  char bytes[256];
  FILE* file = fopen(path, "rb");
  const size_t length = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  file = fopen(part, "wb");
  fwrite(bytes, 1, length - 9, file);
  fclose(file);
  EXPECT_ERROR(takt_scheduler_load_profile(f.instance, part, &count),
               TAKT_STATUS_DATA_LOSS, part);
  EXPECT(count == 0);
  remove(part);
  EXPECT_ERROR(takt_scheduler_load_profile(f.instance, part, NULL),
               TAKT_STATUS_NOT_FOUND, part);
  remove(path);
  fixture_destroy(&f);
}

/* Windows, planned in the background: they change what runs when, not what
 * comes of it. */
static void windows_are_planned_beside_it(void) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = "job-shop";
  scheduler.window_ns = 10000000;
  scheduler.window_budget_ns = 1000000;
  fixture_t f = fixture_create_scheduled(2, &scheduler, kMul);
  takt_function_t* function = find_function(f.context, "mul");
  takt_stream_options_t stream_options;
  takt_stream_options_init(&stream_options);
  stream_options.period_ns = 1000000;
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(function, &stream_options, &stream));
  static const float kValues[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(f.device, 4, kValues);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  REQUIRE_OK(takt_stream_set_input(stream, 2, arguments));
  REQUIRE_OK(takt_stream_start(stream, takt_clock_now_ns()));
  /* Some windows long, and until one is counted: a busy machine is slow. */
  const int64_t end_ns = takt_clock_now_ns() + 60000000;
  const int64_t give_up_ns = end_ns + INT64_C(60000000000);
  takt_window_statistics_t windows = {.struct_size = sizeof(windows)};
  do {
    call_mul(&f, NULL);
    REQUIRE_OK(takt_scheduler_query_windows(f.instance, &windows));
  } while (takt_clock_now_ns() < end_ns ||
           (windows.planned_count + windows.failed_count == 0 &&
            takt_clock_now_ns() < give_up_ns));
  takt_stream_stop(stream);
  EXPECT_OK(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
  takt_stream_statistics_t statistics = {.struct_size = sizeof(statistics)};
  REQUIRE_OK(takt_stream_query_statistics(stream, &statistics));
  EXPECT(statistics.failed_count == 0 && statistics.met_count > 0);
  REQUIRE_OK(takt_scheduler_query_windows(f.instance, &windows));
  EXPECT(windows.planned_count + windows.failed_count > 0);
  EXPECT(windows.planning.count <=
         windows.planned_count + windows.failed_count);
  EXPECT(windows.broken_count <= windows.planned_count);
  EXPECT(windows.in_place_count <= windows.started_count);
  EXPECT(windows.planned_count == 0 || windows.planning.max > 0);
  windows.struct_size = 0;
  EXPECT_ERROR(takt_scheduler_query_windows(f.instance, &windows),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  takt_buffer_view_release(view);
  takt_stream_release(stream);
  takt_function_release(function);
  fixture_destroy(&f);
  /* Without them there is nothing to tell. */
  windows.struct_size = sizeof(windows);
  f = fixture_create_with_policy("job-shop", 2, kMul);
  EXPECT_ERROR(takt_scheduler_query_windows(f.instance, &windows),
               TAKT_STATUS_FAILED_PRECONDITION, "plans no windows");
  fixture_destroy(&f);
  /* What windows cannot be. */
  takt_instance_t* instance = NULL;
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.scheduler = &scheduler;
  scheduler.window_budget_ns = scheduler.window_ns;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "at most half of it");
  scheduler.window_budget_ns = 0;
  scheduler.window_ns = -1;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "a window of -1 ns");
  scheduler.window_ns = 1000000;
  scheduler.policy = "fifo";
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "windows need the policy");
}

static void durations_are_predicted(void) {
  fixture_t f = fixture_create_with_policy("job-shop", 2, kMul);
  takt_duration_statistics_t durations = {.struct_size = sizeof(durations)};
  REQUIRE_OK(takt_scheduler_query_durations(f.instance, &durations));
  EXPECT(durations.run_count == 0 && durations.ran_ns == 0);
  durations.struct_size = 0;
  EXPECT_ERROR(takt_scheduler_query_durations(f.instance, &durations),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  fixture_destroy(&f);
}

int main(void) {
  RUN(every_policy_computes_the_same);
  RUN(an_instance_has_one_by_itself);
  RUN(without_a_scheduler_it_says_so);
  RUN(asked_for_without_a_name_it_is_the_job_shop);
  RUN(options_that_are_none_are_named);
  RUN(resources_are_told_and_set);
  RUN(heat_makes_the_mode_hot);
  RUN(admission_answers_with_numbers);
  RUN(misses_are_told_and_counted);
  RUN(a_profile_comes_back);
  RUN(windows_are_planned_beside_it);
  RUN(durations_are_predicted);
  return test_result();
}
