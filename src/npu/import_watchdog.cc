#include "npu/import_watchdog.h"

#include <new>

#include "base/check.h"
#include "base/exceptions.h"

namespace takt::npu {

void ImportWatchdog::ScheduleCheck(int64_t at_ns) {
  time_.Schedule(at_ns, &ImportWatchdog::OnTime, this);
  check_ns_ = at_ns;
}

void ImportWatchdog::Begin(int64_t time_limit_ns) {
  if (time_limit_ns == kInfiniteFuture) return;
  MutexLock lock(&mutex_);
  TAKT_CHECK(import_end_ns_ == kInfiniteFuture);
  const int64_t end_ns = DeadlineAfter(time_.NowNs(), time_limit_ns);
  // A check that comes sooner schedules the next one. So few checks are
  // scheduled, however many imports run.
  if (check_ns_ > end_ns) ScheduleCheck(end_ns);
  is_late_ = false;
  import_end_ns_ = end_ns;
}

bool ImportWatchdog::End() {
  MutexLock lock(&mutex_);
  const bool is_late = is_late_ || time_.NowNs() > import_end_ns_;
  import_end_ns_ = kInfiniteFuture;
  is_late_ = false;
  return is_late;
}

void ImportWatchdog::OnTime(void* argument) {
  static_cast<ImportWatchdog*>(argument)->Check();
}

void ImportWatchdog::Check() {
  MutexLock lock(&mutex_);
  const int64_t now_ns = time_.NowNs();
  if (now_ns < check_ns_) return;  // Another check has been scheduled since.
  check_ns_ = kInfiniteFuture;
  if (import_end_ns_ == kInfiniteFuture) return;
  if (now_ns < import_end_ns_) {
    TAKT_TRY { return ScheduleCheck(import_end_ns_); }
    TAKT_CATCH(const std::bad_alloc&) {}  // No other check would come.
  }
  is_late_ = true;
  cancel_();
}

}  // namespace takt::npu
