/* What an instance says that it lacks: its log, and its statistics. */
#ifndef TAKT_TESTS_API_SHORTFALLS_H_
#define TAKT_TESTS_API_SHORTFALLS_H_

#include <stdatomic.h>

#include "tests/api/test.h"

/* The warnings of an instance. */
typedef struct log_t {
  atomic_int count;
  char last[512];
} log_t;

static inline void keep_message(void* user_data, takt_log_severity_t severity,
                                const char* message) {
  log_t* log = user_data;
  EXPECT(severity == TAKT_LOG_WARNING);
  ++log->count;
  snprintf(log->last, sizeof(log->last), "%s", message);
}

static inline takt_instance_statistics_t statistics_of(
    takt_instance_t* instance) {
  takt_instance_statistics_t statistics = {.struct_size = sizeof(statistics)};
  REQUIRE_OK(takt_instance_query_statistics(instance, &statistics));
  return statistics;
}

#endif /* TAKT_TESTS_API_SHORTFALLS_H_ */
