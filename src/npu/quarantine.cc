#include "npu/quarantine.h"

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"

namespace takt::npu {

void Quarantine::NoteSuccess() {
  failures_in_a_row_ = 0;
  duration_ns_ = 0;
}

bool Quarantine::NoteFailure() {
  TAKT_CHECK(failures_in_a_row_ < UINT32_MAX);
  ++failures_in_a_row_;
  return failures_in_a_row_ >= policy_.quarantine_after;
}

int64_t Quarantine::Begin(int64_t now_ns) {
  const int64_t first_ns = policy_.quarantine_ns;
  duration_ns_ = duration_ns_ == 0
                     ? first_ns
                     : std::min(duration_ns_ * 2, first_ns * kGrowthMax);
  TAKT_CHECK(duration_ns_ >= 0 && duration_ns_ / kGrowthMax <= first_ns);
  failures_in_a_row_ = 0;
  MutexLock lock(&mutex_);
  is_on_ = true;
  end_ns_ = DeadlineAfter(now_ns, duration_ns_);
  TAKT_CHECK(end_ns_ >= now_ns);
  return duration_ns_;
}

void Quarantine::End() {
  MutexLock lock(&mutex_);
  TAKT_CHECK(is_on_ && !is_lost_);
  is_on_ = false;
}

void Quarantine::SetLost(bool is_lost) {
  MutexLock lock(&mutex_);
  TAKT_CHECK(end_ns_ >= 0);
  is_lost_ = is_lost;
}

bool Quarantine::is_lost() const {
  MutexLock lock(&mutex_);
  return is_lost_;
}

bool Quarantine::is_on() const {
  MutexLock lock(&mutex_);
  return is_on_;
}

bool Quarantine::IsProbeDue(int64_t now_ns) const {
  MutexLock lock(&mutex_);
  return is_on_ && now_ns >= end_ns_;
}

bool Quarantine::IsClosed(int64_t now_ns) const {
  MutexLock lock(&mutex_);
  return is_on_ && now_ns < end_ns_;
}

}  // namespace takt::npu
