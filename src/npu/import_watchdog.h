// An ImportWatchdog limits how long an import of an NPU driver may run: when
// the limit has passed, it asks the driver to end the import, on the thread of
// the timebase.
//
// Thread-safety: Begin() and End() by the holder of the NPU's lease, in turns.
// Lock order: the driver's cancel_import is called under mutex_, so that it
// cancels the import that is late and not the next one; nothing else is locked
// under it.
#ifndef TAKT_NPU_IMPORT_WATCHDOG_H_
#define TAKT_NPU_IMPORT_WATCHDOG_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "npu/timebase.h"

namespace takt::npu {

class ImportWatchdog {
 public:
  // `cancel` ends the running import, if the driver can. `time` outlives the
  // watchdog, and must have run all scheduled calls before the watchdog is
  // destroyed.
  ImportWatchdog(Timebase& time, absl::AnyInvocable<void()> cancel)
      : time_(time), cancel_(std::move(cancel)) {}
  ImportWatchdog(const ImportWatchdog&) = delete;
  ImportWatchdog& operator=(const ImportWatchdog&) = delete;

  // Reports that an import begins. kInfiniteFuture: it has no limit. Where it
  // throws std::bad_alloc, no import has begun. If memory runs out later, the
  // import may be ended before its limit.
  void Begin(int64_t time_limit_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  // Reports that the import has returned. Returns whether its limit had passed.
  bool End() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static void OnTime(void* argument);
  void Check() ABSL_LOCKS_EXCLUDED(mutex_);
  void ScheduleCheck(int64_t at_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Timebase& time_;
  absl::AnyInvocable<void()> cancel_;

  Mutex mutex_;
  // When the import must have ended; kInfiniteFuture: none runs, or it has no
  // limit.
  int64_t import_end_ns_ ABSL_GUARDED_BY(mutex_) = kInfiniteFuture;
  // When Check() is called next; kInfiniteFuture: never.
  int64_t check_ns_ ABSL_GUARDED_BY(mutex_) = kInfiniteFuture;
  bool is_late_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_IMPORT_WATCHDOG_H_
