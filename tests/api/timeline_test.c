#include "takt/timeline.h"

#include "tests/api/test.h"

static takt_timeline_t* create_timeline(uint64_t value) {
  takt_timeline_t* timeline = NULL;
  REQUIRE_OK(takt_timeline_create(value, &timeline));
  return timeline;
}

static void only_grows(void) {
  takt_timeline_t* timeline = create_timeline(3);
  uint64_t value = 0;
  EXPECT_OK(takt_timeline_query(timeline, &value));
  EXPECT(value == 3);
  EXPECT_OK(takt_timeline_signal(timeline, 5));
  EXPECT_ERROR(takt_timeline_signal(timeline, 5),
               TAKT_STATUS_FAILED_PRECONDITION, "");
  EXPECT_ERROR(takt_timeline_signal(timeline, 4),
               TAKT_STATUS_FAILED_PRECONDITION, "");
  EXPECT_OK(takt_timeline_query(timeline, &value));
  EXPECT(value == 5);
  takt_timeline_release(timeline);
}

static void failure_stays_with_its_first_error(void) {
  takt_timeline_t* timeline = create_timeline(0);
  EXPECT_OK(takt_timeline_signal(timeline, 2));
  takt_timeline_fail(timeline,
                     takt_status_create(TAKT_STATUS_DATA_LOSS, "torn"));
  takt_timeline_fail(timeline, takt_status_create(TAKT_STATUS_ABORTED, "late"));
  uint64_t value = 0;
  EXPECT_ERROR(takt_timeline_query(timeline, &value), TAKT_STATUS_DATA_LOSS,
               "torn");
  EXPECT(value == 2);
  EXPECT_ERROR(takt_timeline_signal(timeline, 3), TAKT_STATUS_DATA_LOSS,
               "torn");
  takt_timeline_release(timeline);
}

static void failing_without_a_status_is_a_failure(void) {
  takt_timeline_t* timeline = create_timeline(0);
  takt_timeline_fail(timeline, NULL);
  uint64_t value = 0;
  EXPECT_ERROR(takt_timeline_query(timeline, &value), TAKT_STATUS_UNKNOWN, "");
  takt_timeline_release(timeline);
}

static void refuses_values_that_mean_failure(void) {
  takt_timeline_t* timeline = NULL;
  EXPECT_ERROR(
      takt_timeline_create((uint64_t)TAKT_TIMELINE_VALUE_MAX + 1, &timeline),
      TAKT_STATUS_INVALID_ARGUMENT, "2147483647");
  EXPECT(timeline == NULL);
}

int main(void) {
  RUN(only_grows);
  RUN(failure_stays_with_its_first_error);
  RUN(failing_without_a_status_is_a_failure);
  RUN(refuses_values_that_mean_failure);
  return test_result();
}
