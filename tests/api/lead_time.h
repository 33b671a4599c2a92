/* A start time for runs of plans that a busy machine does not miss. */
#ifndef TAKT_TESTS_API_LEAD_TIME_H_
#define TAKT_TESTS_API_LEAD_TIME_H_

#include <stdint.h>

#include "takt/base.h"

/* A preempted thread gets a processor again within a tenth of a second. */
static const int64_t kLeadNs = 100000000;
static inline int64_t soon_ns(void) { return takt_clock_now_ns() + kLeadNs; }

#endif /* TAKT_TESTS_API_LEAD_TIME_H_ */
