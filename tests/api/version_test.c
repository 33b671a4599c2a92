#include "takt/base.h"

#include "tests/api/test.h"

static void version_is_that_of_the_headers(void) {
  char expected[32];
  snprintf(expected, sizeof(expected), "%d.%d.%d", TAKT_VERSION_MAJOR,
           TAKT_VERSION_MINOR, TAKT_VERSION_PATCH);
  EXPECT_TEXT(takt_version(), expected);
}

static void clock_never_goes_back(void) {
  int64_t before = takt_clock_now_ns();
  for (int i = 0; i < 1000; ++i) {
    int64_t now = takt_clock_now_ns();
    EXPECT(now >= before);
    before = now;
  }
}

static void deadlines_saturate(void) {
  EXPECT(takt_clock_deadline_ns(TAKT_INFINITE_FUTURE) == TAKT_INFINITE_FUTURE);
  int64_t now = takt_clock_now_ns();
  EXPECT(takt_clock_deadline_ns(1000) >= now + 1000);
  EXPECT(takt_clock_deadline_ns(-5) <= takt_clock_now_ns());
}

static void freeing_no_text_is_nothing(void) { takt_string_free(NULL); }

int main(void) {
  RUN(version_is_that_of_the_headers);
  RUN(clock_never_goes_back);
  RUN(deadlines_saturate);
  RUN(freeing_no_text_is_nothing);
  return test_result();
}
