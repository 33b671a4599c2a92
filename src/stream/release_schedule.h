// A ReleaseSchedule computes when a stream's next job is released. It has no
// clock: callers pass the time.
//
// Invariant: every release of a periodic schedule is a whole number of periods
// after the start time. A missed release is skipped; the phase is kept.
//
// Thread-safety: none.
#ifndef TAKT_STREAM_RELEASE_SCHEDULE_H_
#define TAKT_STREAM_RELEASE_SCHEDULE_H_

#include <cstdint>

namespace takt::stream {

class ReleaseSchedule {
 public:
  // `period_ns` 0: a schedule of one release, at the start time.
  explicit ReleaseSchedule(int64_t period_ns);

  int64_t period_ns() const { return period_ns_; }
  // When the next release is due.
  int64_t next_ns() const { return next_ns_; }

  // Starts over. If `start_ns` has passed, a periodic schedule continues with
  // the first release at or after `now_ns`.
  void Start(int64_t start_ns, int64_t now_ns);

  // The release at next_ns() happens at `now_ns`. Moves on to the first
  // release after `now_ns` and returns how many releases between the two were
  // missed. For periodic schedules.
  uint64_t Advance(int64_t now_ns);

 private:
  const int64_t period_ns_;
  int64_t next_ns_ = 0;
};

}  // namespace takt::stream

#endif  // TAKT_STREAM_RELEASE_SCHEDULE_H_
