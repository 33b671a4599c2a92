// Waiting with the GIL given up, until the wait ends, a time has passed, or a
// signal of Python raises an exception, such as KeyboardInterrupt.
#ifndef TAKT_PYTHON_WAIT_H_
#define TAKT_PYTHON_WAIT_H_

#include <nanobind/nanobind.h>
#include <takt/takt.h>

#include <algorithm>
#include <cstdint>

#include "errors.h"

namespace takt::python {

// How often a wait looks for signals of Python: soon for a person at a
// keyboard, and rare beside any work.
inline constexpr int64_t kSignalPeriodNs = 50'000'000;

// The time `timeout` seconds from now; TAKT_INFINITE_FUTURE for None.
int64_t DeadlineOf(nanobind::handle timeout);

// Throws the error that the wait ended with; takt.DeadlineExceeded with
// `message` if `deadline_ns` passes. Needs the GIL.
//
//   wait   (deadline_ns, &is_over) -> takt_status_t: waits without the GIL. If
//          the deadline has passed first: NULL, and is_over is false.
template <typename Wait>
void WaitForSignals(int64_t deadline_ns, const char* message, Wait&& wait) {
  for (;;) {
    const int64_t slice_ns =
        std::min(deadline_ns, takt_clock_deadline_ns(kSignalPeriodNs));
    takt_status_t status = nullptr;
    bool is_over = true;
    {
      nanobind::gil_scoped_release no_gil;
      status = wait(slice_ns, &is_over);
    }
    Check(status);
    if (is_over) return;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    if (takt_clock_now_ns() >= deadline_ns) {
      Check(takt_status_create(TAKT_STATUS_DEADLINE_EXCEEDED, message));
    }
  }
}

}  // namespace takt::python

#endif  // TAKT_PYTHON_WAIT_H_
