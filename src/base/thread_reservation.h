// A reservation of processor time for a thread (SCHED_DEADLINE of Linux): it
// gets a budget in each period before all other threads, and no more than that.
#ifndef TAKT_BASE_THREAD_RESERVATION_H_
#define TAKT_BASE_THREAD_RESERVATION_H_

#include <cstdint>

namespace takt {

struct ThreadReservation {
  int64_t budget_ns = 0;  // 0: none.
  int64_t period_ns = 0;

  bool is_set() const { return budget_ns > 0; }
};

// Gives the calling thread a reservation; threads that it starts have none.
// The errno of a refusal; 0: granted.
//   EPERM   no CAP_SYS_NICE, or the thread may not run on all CPUs of its
//           root domain.
//   EBUSY   the reservations of all threads would exceed what the system gives
//           to real-time threads (sched_rt_runtime_us).
//   EINVAL  a period that the system does not allow
//           (sched_deadline_period_min_us, sched_deadline_period_max_us).
int Reserve(const ThreadReservation& reservation);

// The reservation of the calling thread, as the system reports it.
ThreadReservation ReadReservation();

}  // namespace takt

#endif  // TAKT_BASE_THREAD_RESERVATION_H_
