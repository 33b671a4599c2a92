#include "takt/fence.h"

#include "tests/api/fixture.h"

static takt_fence_t* create_fence(void) {
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  return fence;
}

static bool is_reached(const takt_fence_t* fence) {
  bool reached = false;
  REQUIRE_OK(takt_fence_query(fence, &reached));
  return reached;
}

static void is_reached_once_signaled(void) {
  takt_fence_t* fence = create_fence();
  EXPECT(!is_reached(fence));
  EXPECT_ERROR(takt_fence_wait(fence, NULL, 0), TAKT_STATUS_DEADLINE_EXCEEDED,
               "");
  EXPECT_OK(takt_fence_signal(fence));
  EXPECT(is_reached(fence));
  EXPECT_OK(takt_fence_wait(fence, NULL, TAKT_INFINITE_FUTURE));
  EXPECT_OK(takt_fence_wait(fence, NULL, 0));
  takt_fence_release(fence);
}

static void a_poll_that_is_early_allocates_nothing(void) {
  takt_fence_t* fence = create_fence();
  takt_status_t one = takt_fence_wait(fence, NULL, 0);
  takt_status_t other = takt_fence_wait(fence, NULL, takt_clock_now_ns());
  EXPECT(one != NULL && one == other);
  takt_status_free(one);
  takt_fence_release(fence);
}

static void null_is_reached_and_tells_nobody(void) {
  EXPECT(is_reached(NULL));
  EXPECT_OK(takt_fence_wait(NULL, NULL, 0));
  EXPECT_ERROR(takt_fence_signal(NULL), TAKT_STATUS_INVALID_ARGUMENT,
               "fence is NULL");
  takt_fence_fail(NULL, takt_status_create(TAKT_STATUS_ABORTED, "nobody"));
}

static void needs_all_of_its_points(void) {
  takt_timeline_t* timelines[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i) {
    REQUIRE_OK(takt_timeline_create(0, &timelines[i]));
  }
  const takt_timeline_point_t points[3] = {
      {timelines[0], 1}, {timelines[1], 4}, {timelines[0], 2}};
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create_from_points(3, points, &fence));
  EXPECT_OK(takt_timeline_signal(timelines[0], 1));
  EXPECT_OK(takt_timeline_signal(timelines[1], 4));
  EXPECT(!is_reached(fence));
  EXPECT_OK(takt_timeline_signal(timelines[0], 2));
  EXPECT(is_reached(fence));
  takt_fence_release(fence);
  for (int i = 0; i < 2; ++i) takt_timeline_release(timelines[i]);
}

static void refuses_points_that_cannot_be(void) {
  const takt_timeline_point_t none = {NULL, 1};
  takt_fence_t* fence = NULL;
  EXPECT_ERROR(takt_fence_create_from_points(1, &none, &fence),
               TAKT_STATUS_INVALID_ARGUMENT, "timeline 0");
  takt_timeline_t* timeline = NULL;
  REQUIRE_OK(takt_timeline_create(0, &timeline));
  const takt_timeline_point_t beyond = {timeline, UINT64_MAX};
  EXPECT_ERROR(takt_fence_create_from_points(1, &beyond, &fence),
               TAKT_STATUS_INVALID_ARGUMENT, "");
  EXPECT(fence == NULL);
  takt_timeline_release(timeline);
}

static void join_waits_for_all(void) {
  takt_fence_t* parts[3] = {create_fence(), NULL, create_fence()};
  takt_fence_t* joined = NULL;
  REQUIRE_OK(takt_fence_join(3, parts, &joined));
  EXPECT_OK(takt_fence_signal(parts[0]));
  EXPECT(!is_reached(joined));
  EXPECT_OK(takt_fence_signal(parts[2]));
  EXPECT(is_reached(joined));
  takt_fence_release(joined);
  REQUIRE_OK(takt_fence_join(1, &parts[1], &joined));
  EXPECT(joined == NULL);
  takt_fence_release(parts[0]);
  takt_fence_release(parts[2]);
}

static void failure_reaches_who_waits(void) {
  takt_fence_t* fence = create_fence();
  takt_fence_fail(fence, takt_status_create(TAKT_STATUS_DATA_LOSS, "torn"));
  bool reached = true;
  EXPECT_ERROR(takt_fence_query(fence, &reached), TAKT_STATUS_DATA_LOSS,
               "torn");
  EXPECT(!reached);
  EXPECT_ERROR(takt_fence_wait(fence, NULL, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_DATA_LOSS, "torn");
  takt_fence_release(fence);
}

static void barrier_waits_for_its_signallers(void) {
  takt_fence_t* barrier = NULL;
  REQUIRE_OK(takt_fence_create_barrier(2, &barrier));
  EXPECT_OK(takt_fence_signal(barrier));
  EXPECT(!is_reached(barrier));
  EXPECT_OK(takt_fence_signal(barrier));
  EXPECT(is_reached(barrier));
  EXPECT_ERROR(takt_fence_signal(barrier), TAKT_STATUS_FAILED_PRECONDITION,
               "2 signallers");
  takt_fence_release(barrier);
}

static void failing_a_barrier_counts_as_a_signaller(void) {
  takt_fence_t* barrier = NULL;
  REQUIRE_OK(takt_fence_create_barrier(2, &barrier));
  takt_fence_fail(barrier, takt_status_create(TAKT_STATUS_DATA_LOSS, "torn"));
  EXPECT_ERROR(takt_fence_wait(barrier, NULL, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_DATA_LOSS, "torn");
  EXPECT_OK(takt_fence_signal(barrier));
  EXPECT_ERROR(takt_fence_signal(barrier), TAKT_STATUS_FAILED_PRECONDITION, "");
  takt_fence_release(barrier);
}

static void refuses_barriers_that_cannot_be(void) {
  takt_fence_t* barrier = NULL;
  EXPECT_ERROR(
      takt_fence_create_barrier(TAKT_FENCE_SIGNALLERS_MAX + 1, &barrier),
      TAKT_STATUS_INVALID_ARGUMENT, "signallers");
  EXPECT(barrier == NULL);
  REQUIRE_OK(takt_fence_create_barrier(0, &barrier));
  EXPECT(is_reached(barrier));
  takt_fence_release(barrier);
}

typedef struct outcome_t {
  int call_count;
  takt_status_code_t code;
} outcome_t;

static void note_outcome(void* user_data, takt_status_t status) {
  outcome_t* outcome = user_data;
  ++outcome->call_count;
  outcome->code = takt_status_code(status);
  takt_status_free(status);
}

static void callback_runs_once(void) {
  takt_fence_t* fence = create_fence();
  outcome_t before = {0, TAKT_STATUS_OK};
  outcome_t after = {0, TAKT_STATUS_OK};
  takt_fence_on_reached(fence, note_outcome, &before);
  EXPECT(before.call_count == 0);
  takt_fence_fail(fence, takt_status_create(TAKT_STATUS_CANCELLED, "no more"));
  EXPECT(before.call_count == 1 && before.code == TAKT_STATUS_CANCELLED);
  takt_fence_on_reached(fence, note_outcome, &after);
  EXPECT(after.call_count == 1 && after.code == TAKT_STATUS_CANCELLED);
  takt_fence_on_reached(NULL, note_outcome, &after);
  EXPECT(after.call_count == 2 && after.code == TAKT_STATUS_OK);
  takt_fence_release(fence);
}

static void wait_for_all_needs_all(void) {
  takt_fence_t* fences[3] = {create_fence(), NULL, create_fence()};
  size_t index = 0;
  EXPECT_OK(takt_fence_signal(fences[0]));
  EXPECT_ERROR(
      takt_fence_wait_many(TAKT_FENCE_WAIT_ALL, 3, fences, NULL, 0, &index),
      TAKT_STATUS_DEADLINE_EXCEEDED, "");
  EXPECT(index == 3);
  EXPECT_OK(takt_fence_signal(fences[2]));
  EXPECT_OK(takt_fence_wait_many(TAKT_FENCE_WAIT_ALL, 3, fences, NULL,
                                 TAKT_INFINITE_FUTURE, &index));
  EXPECT(index == 3);
  EXPECT_OK(takt_fence_wait_many(TAKT_FENCE_WAIT_ALL, 0, NULL, NULL, 0, NULL));
  takt_fence_release(fences[0]);
  takt_fence_release(fences[2]);
}

static void wait_for_all_ends_with_the_first_failure(void) {
  takt_fence_t* fences[3] = {create_fence(), create_fence(), create_fence()};
  size_t index = 0;
  takt_fence_fail(fences[1], takt_status_create(TAKT_STATUS_DATA_LOSS, "torn"));
  EXPECT_ERROR(takt_fence_wait_many(TAKT_FENCE_WAIT_ALL, 3, fences, NULL,
                                    TAKT_INFINITE_FUTURE, &index),
               TAKT_STATUS_DATA_LOSS, "torn");
  EXPECT(index == 1);
  for (int i = 0; i < 3; ++i) takt_fence_release(fences[i]);
}

static void wait_for_any_tells_which(void) {
  takt_fence_t* fences[3] = {create_fence(), create_fence(), create_fence()};
  size_t index = 0;
  EXPECT_ERROR(takt_fence_wait_many(TAKT_FENCE_WAIT_ANY, 3, fences, NULL,
                                    takt_clock_deadline_ns(1000), &index),
               TAKT_STATUS_DEADLINE_EXCEEDED, "");
  EXPECT(index == 3);
  EXPECT_OK(takt_fence_signal(fences[2]));
  EXPECT_OK(takt_fence_wait_many(TAKT_FENCE_WAIT_ANY, 3, fences, NULL,
                                 TAKT_INFINITE_FUTURE, &index));
  EXPECT(index == 2);
  takt_fence_fail(fences[1], takt_status_create(TAKT_STATUS_DATA_LOSS, "torn"));
  EXPECT_ERROR(takt_fence_wait_many(TAKT_FENCE_WAIT_ANY, 3, fences, NULL,
                                    TAKT_INFINITE_FUTURE, &index),
               TAKT_STATUS_DATA_LOSS, "torn");
  EXPECT(index == 1);
  for (int i = 0; i < 3; ++i) takt_fence_release(fences[i]);
  takt_fence_t* none = NULL;
  EXPECT_OK(
      takt_fence_wait_many(TAKT_FENCE_WAIT_ANY, 1, &none, NULL, 0, &index));
  EXPECT(index == 0);
}

static void refuses_waits_that_make_no_sense(void) {
  takt_fence_t* fence = create_fence();
  size_t index = 7;
  EXPECT_ERROR(
      takt_fence_wait_many(TAKT_FENCE_WAIT_ANY, 0, NULL, NULL, 0, &index),
      TAKT_STATUS_INVALID_ARGUMENT, "no fences");
  EXPECT(index == 0);
  EXPECT_ERROR(
      takt_fence_wait_many(TAKT_FENCE_WAIT_ALL, 1, NULL, NULL, 0, &index),
      TAKT_STATUS_INVALID_ARGUMENT, "fences is NULL");
  EXPECT_ERROR(takt_fence_wait_many((takt_fence_wait_mode_t)9, 1, &fence, NULL,
                                    0, &index),
               TAKT_STATUS_INVALID_ARGUMENT, "mode 9");
  takt_fence_release(fence);
}

static void forgotten_fence_fails_who_waits(void) {
  outcome_t outcome = {0, TAKT_STATUS_OK};
  takt_fence_t* fence = create_fence();
  takt_fence_on_reached(fence, note_outcome, &outcome);
  EXPECT(outcome.call_count == 0);
  takt_fence_release(fence);
  EXPECT(outcome.call_count == 1 && outcome.code == TAKT_STATUS_ABORTED);
}

static void forgotten_fence_fails_work_that_is_queued(void) {
  fixture_t fixture =
      fixture_create("local-task", TESTDATA("api/simple_mul_async.vmfb"));
  takt_function_t* mul = find_function(fixture.context, "mul");
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(fixture.device, 4, values);
  takt_fence_t* ready = create_fence();
  takt_fence_t* done = create_fence();
  const takt_value_t arguments[4] = {takt_value_ref(view), takt_value_ref(view),
                                     takt_value_ref(ready),
                                     takt_value_ref(done)};
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(mul, NULL, 4, arguments, 1, &result));
  takt_fence_release(ready);
  EXPECT_ERROR(takt_fence_wait(done, fixture.instance, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_ABORTED, "forgotten");
  takt_values_release(1, &result);
  takt_fence_release(done);
  takt_buffer_view_release(view);
  takt_function_release(mul);
  fixture_destroy(&fixture);
}

static void expect_forgotten(const char* module, bool is_cancellable) {
  fixture_t fixture = fixture_create("local-task", module);
  takt_function_t* mul = find_function(fixture.context, "mul");
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(fixture.device, 4, values);
  takt_fence_t* ready = create_fence();
  takt_fence_t* done = create_fence();
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.cancellable = is_cancellable;
  REQUIRE_OK(takt_async_invoke(mul, &options, 2, arguments, ready, done, NULL));
  takt_fence_release(ready);
  EXPECT_ERROR(takt_fence_wait(done, fixture.instance, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_ABORTED, "forgotten");
  takt_fence_release(done);
  takt_buffer_view_release(view);
  takt_function_release(mul);
  fixture_destroy(&fixture);
}

static void forgotten_fence_fails_an_invocation_that_waits(void) {
  for (int is_cancellable = 0; is_cancellable < 2; ++is_cancellable) {
    expect_forgotten(TESTDATA("api/simple_mul.vmfb"), is_cancellable != 0);
    expect_forgotten(TESTDATA("api/simple_mul_async.vmfb"),
                     is_cancellable != 0);
  }
}

static void explains_points_by_the_names_of_their_timelines(void) {
  takt_timeline_t* timeline = NULL;
  REQUIRE_OK(takt_timeline_create(2, &timeline));
  takt_timeline_set_name(timeline, "camera");
  const takt_timeline_point_t point = {timeline, 5};
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create_from_points(1, &point, &fence));
  char* text = NULL;
  EXPECT_OK(takt_fence_explain(fence, &text));
  EXPECT_TEXT(text,
              "waits for 1 of 1 point\n"
              "  timeline \"camera\" is at 2 and must reach 5");
  takt_string_free(text);
  takt_fence_release(fence);
  takt_timeline_release(timeline);
}

static void explains_names_and_outcomes(void) {
  takt_fence_t* fence = create_fence();
  takt_fence_set_name(fence, "frame ready");
  takt_fence_set_name(fence, "not taken, it has one");
  char* text = NULL;
  EXPECT_OK(takt_fence_explain(fence, &text));
  EXPECT_CONTAINS(text, "timeline \"frame ready\" is at 0 and must reach 1");
  takt_string_free(text);
  EXPECT_OK(takt_fence_signal(fence));
  EXPECT_OK(takt_fence_explain(fence, &text));
  EXPECT_TEXT(text, "reached");
  takt_string_free(text);
  EXPECT_OK(takt_fence_explain(NULL, &text));
  EXPECT_TEXT(text, "reached");
  takt_string_free(text);
  takt_fence_release(fence);
}

static void signals_that_go_backwards_are_refused(void) {
  takt_fence_t* fence = create_fence();
  EXPECT_OK(takt_fence_signal(fence));
  EXPECT_ERROR(takt_fence_signal(fence), TAKT_STATUS_FAILED_PRECONDITION,
               "cannot be signaled to 1");
  /* What was reached stays reached, whoever fails it later. */
  takt_fence_fail(fence, takt_status_create(TAKT_STATUS_ABORTED, "late"));
  EXPECT(is_reached(fence));
  takt_fence_release(fence);
}

static void fences_work_across_instances(void) {
  takt_instance_t* one = create_instance(1);
  takt_instance_t* other = create_instance(0);
  takt_device_t* device = create_device(one, "local-task");
  takt_fence_t* fence = create_fence();
  takt_fence_t* fences[2] = {fence, NULL};
  EXPECT_OK(takt_fence_signal(fence));
  EXPECT_OK(takt_fence_wait(fence, one, TAKT_INFINITE_FUTURE));
  EXPECT_OK(takt_fence_wait(fence, other, TAKT_INFINITE_FUTURE));
  EXPECT_OK(takt_fence_wait_many(TAKT_FENCE_WAIT_ALL, 2, fences, other,
                                 TAKT_INFINITE_FUTURE, NULL));
  takt_device_release(device);
  takt_instance_release(one);
  takt_instance_release(other);
  takt_fence_release(fence);
}

static void waiting_with_an_instance_ends_at_the_deadline(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-task");
  takt_fence_t* fence = create_fence();
  EXPECT_ERROR(takt_fence_wait(fence, instance, takt_clock_deadline_ns(1000)),
               TAKT_STATUS_DEADLINE_EXCEEDED, "");
  EXPECT_ERROR(takt_fence_wait(fence, NULL, takt_clock_deadline_ns(1000)),
               TAKT_STATUS_DEADLINE_EXCEEDED, "");
  EXPECT_OK(takt_fence_signal(fence));
  EXPECT_OK(takt_fence_wait(fence, instance, TAKT_INFINITE_FUTURE));
  takt_fence_release(fence);
  takt_device_release(device);
  takt_instance_release(instance);
}

int main(void) {
  RUN(is_reached_once_signaled);
  RUN(a_poll_that_is_early_allocates_nothing);
  RUN(null_is_reached_and_tells_nobody);
  RUN(needs_all_of_its_points);
  RUN(refuses_points_that_cannot_be);
  RUN(join_waits_for_all);
  RUN(failure_reaches_who_waits);
  RUN(barrier_waits_for_its_signallers);
  RUN(failing_a_barrier_counts_as_a_signaller);
  RUN(refuses_barriers_that_cannot_be);
  RUN(callback_runs_once);
  RUN(wait_for_all_needs_all);
  RUN(wait_for_all_ends_with_the_first_failure);
  RUN(wait_for_any_tells_which);
  RUN(refuses_waits_that_make_no_sense);
  RUN(forgotten_fence_fails_who_waits);
  RUN(forgotten_fence_fails_work_that_is_queued);
  RUN(forgotten_fence_fails_an_invocation_that_waits);
  RUN(explains_points_by_the_names_of_their_timelines);
  RUN(explains_names_and_outcomes);
  RUN(signals_that_go_backwards_are_refused);
  RUN(fences_work_across_instances);
  RUN(waiting_with_an_instance_ends_at_the_deadline);
  return test_result();
}
