/* A test program in C: functions that EXPECT, and a main that runs them. A
 * failed expectation is printed and the test goes on; the program then ends
 * with 1. */
#ifndef TAKT_TESTS_API_TEST_H_
#define TAKT_TESTS_API_TEST_H_

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "takt/takt.h"

static int test_failure_count = 0;

static inline void test_expect(bool condition, const char* text,
                               const char* file, int line) {
  if (condition) return;
  fprintf(stderr, "%s:%d: expected %s\n", file, line, text);
  ++test_failure_count;
}
#define EXPECT(condition) \
  test_expect((condition), #condition, __FILE__, __LINE__)

static inline void test_expect_text(const char* text, const char* part,
                                    bool whole, const char* file, int line) {
  if (text != NULL &&
      (whole ? strcmp(text, part) == 0 : strstr(text, part) != NULL)) {
    return;
  }
  fprintf(stderr, "%s:%d: expected \"%s\"%s, got \"%s\"\n", file, line, part,
          whole ? "" : " within", text != NULL ? text : "(NULL)");
  ++test_failure_count;
}
#define EXPECT_TEXT(text, whole) \
  test_expect_text((text), (whole), true, __FILE__, __LINE__)
#define EXPECT_CONTAINS(text, part) \
  test_expect_text((text), (part), false, __FILE__, __LINE__)

/* Takes the status; expects its code, and `part` within its message. */
static inline void test_expect_status(takt_status_t status,
                                      takt_status_code_t code, const char* part,
                                      const char* file, int line) {
  if (takt_status_code(status) != code ||
      strstr(takt_status_message(status), part) == NULL) {
    fprintf(stderr, "%s:%d: expected %s: ...%s..., got %s: %s\n", file, line,
            takt_status_code_name(code), part,
            takt_status_code_name(takt_status_code(status)),
            takt_status_message(status));
    ++test_failure_count;
  }
  takt_status_free(status);
}
#define EXPECT_OK(status) \
  test_expect_status((status), TAKT_STATUS_OK, "", __FILE__, __LINE__)
#define EXPECT_ERROR(status, code, part) \
  test_expect_status((status), (code), (part), __FILE__, __LINE__)

/* For what a test cannot go on without. */
#define REQUIRE_OK(expression)                                         \
  do {                                                                 \
    takt_status_t require_status = (expression);                       \
    if (require_status != NULL) {                                      \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__,           \
              takt_status_code_name(takt_status_code(require_status)), \
              takt_status_message(require_status));                    \
      exit(1);                                                         \
    }                                                                  \
  } while (false)

/* How long tests wait for an event: far longer than a busy machine needs, and
 * shorter than the ten minutes after which ctest ends a test. */
static const int64_t kAwaitNs = INT64_C(60000000000);

static inline bool test_is_passed(int64_t deadline_ns) {
  sched_yield();
  return takt_clock_now_ns() >= deadline_ns;
}
/* Runs `statement` until `condition` is true; a failed expectation if it stays
 * false. */
#define REPEAT_UNTIL(condition, statement)                            \
  do {                                                                \
    const int64_t await_end_ns = takt_clock_now_ns() + kAwaitNs;      \
    bool await_met = (condition);                                     \
    while (!await_met && !test_is_passed(await_end_ns)) {             \
      statement;                                                      \
      await_met = (condition);                                        \
    }                                                                 \
    test_expect(await_met, "before the limit: " #condition, __FILE__, \
                __LINE__);                                            \
  } while (false)
/* Waits until `condition` is true; a failed expectation if it stays false. */
#define AWAIT(condition) REPEAT_UNTIL(condition, (void)0)

#define TESTDATA(name) TAKT_TESTDATA_DIR "/" name

#define RUN(test)                  \
  do {                             \
    printf("[ RUN ] %s\n", #test); \
    fflush(stdout);                \
    test();                        \
  } while (false)

static inline int test_result(void) {
  if (test_failure_count == 0) {
    printf("[ PASSED ]\n");
    return 0;
  }
  printf("[ FAILED ] %d expectations\n", test_failure_count);
  return 1;
}

#endif /* TAKT_TESTS_API_TEST_H_ */
