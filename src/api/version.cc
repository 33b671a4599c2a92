#include <cstdlib>

#include "base/clock.h"
#include "takt/base.h"

#define TAKT_TEXT_INNER_(x) #x
#define TAKT_TEXT_(x) TAKT_TEXT_INNER_(x)

const char* takt_version(void) {
  return TAKT_TEXT_(TAKT_VERSION_MAJOR) "." TAKT_TEXT_(
      TAKT_VERSION_MINOR) "." TAKT_TEXT_(TAKT_VERSION_PATCH);
}

int64_t takt_clock_now_ns(void) { return takt::NowNs(); }

int64_t takt_clock_deadline_ns(int64_t timeout_ns) {
  return takt::DeadlineAfter(takt::NowNs(), timeout_ns);
}

void takt_string_free(char* text) { std::free(text); }
