// A counterpart of absl::Notification in our own code, which ThreadSanitizer
// sees.
#ifndef TAKT_TESTS_SUPPORT_NOTIFICATION_H_
#define TAKT_TESTS_SUPPORT_NOTIFICATION_H_

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace takt {

class Notification {
 public:
  void Notify() {
    MutexLock lock(&mutex_);
    has_come_ = true;
    come_.SignalAll();
  }
  bool HasBeenNotified() {
    MutexLock lock(&mutex_);
    return has_come_;
  }
  void WaitForNotification() {
    MutexLock lock(&mutex_);
    while (!has_come_) come_.Wait(&mutex_);
  }

 private:
  Mutex mutex_;
  CondVar come_;
  bool has_come_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace takt

#endif  // TAKT_TESTS_SUPPORT_NOTIFICATION_H_
