// Waiting with the GIL given up, until the wait ends, a time has passed, or a
// signal of Python raises an exception, such as KeyboardInterrupt.
#ifndef TAKT_PYTHON_WAIT_H_
#define TAKT_PYTHON_WAIT_H_

#include <nanobind/nanobind.h>
#include <takt/takt.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "errors.h"
#include "gil.h"

namespace takt::python {

// How often a wait looks for signals of Python: soon for a person at a
// keyboard, and rare beside any work.
inline constexpr int64_t kSignalPeriodNs = 50'000'000;

// A scope in which this thread runs a callback of the user's for work on
// `device`, which it must not wait for: the callback holds up that work.
class CallbackScope {
 public:
  explicit CallbackScope(const takt_device_t* device)
      : outer_(std::exchange(device_, device)) {}
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
  ~CallbackScope() { device_ = outer_; }

  // Throws takt.FailedPrecondition in a callback for `device`.
  static void CheckMayWait(const takt_device_t* device) {
    if (device != device_ || device == nullptr) return;
    Check(takt_status_create(
        TAKT_STATUS_FAILED_PRECONDITION,
        "a callback must not wait for work of its own instance: use submit(), "
        "stream(after=), or a thread"));
  }

 private:
  static inline thread_local const takt_device_t* device_ = nullptr;

  const takt_device_t* const outer_;
};

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
      const WithoutGil no_gil;
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
