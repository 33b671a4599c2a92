// A Simulation drives the scheduler in virtual time: it runs a workload on a
// simulated machine and reports the results. The scheduler is the one that the
// runtime drives; only the clock and the work are simulated.
//
// All random numbers come from one seed, and times are whole nanoseconds, so
// the same workload, options and seed give the same run on every machine.
#ifndef TAKT_SIM_SIMULATION_H_
#define TAKT_SIM_SIMULATION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "sched/scheduler.h"
#include "sim/report.h"
#include "sim/workload.h"

namespace takt::sim {

// Observes a run as it happens; `now_ns` is its virtual time.
class Observer {
 public:
  virtual ~Observer() = default;
  // A job was released. `job` has its ids; kInfiniteFuture: no deadline.
  virtual void OnRelease(int64_t /*now_ns*/, const sched::Decision& /*job*/,
                         int64_t /*deadline_ns*/) {}
  // kStart, kYield, kCancel, kJobDone as the scheduler decided them.
  virtual void OnDecision(int64_t /*now_ns*/,
                          const sched::Decision& /*decision*/) {}
  // The operation of `start` has stopped; `done_ppm` of it is done.
  virtual void OnStop(int64_t /*now_ns*/, const sched::Decision& /*start*/,
                      uint32_t /*done_ppm*/) {}
  // The operation of `start` pauses, because a core has used its budget, or
  // resumes.
  virtual void OnPause(int64_t /*now_ns*/, const sched::Decision& /*start*/,
                       bool /*pauses*/) {}
  virtual void OnAvailable(int64_t /*now_ns*/, uint32_t /*resource*/,
                           bool /*is_available*/) {}
  virtual void OnSpeed(int64_t /*now_ns*/, uint32_t /*pool*/,
                       uint32_t /*permille*/) {}
};

struct SimulationOptions {
  sched::SchedulerOptions scheduler;
  uint64_t seed = 1;
  int64_t length_ns = 1'000'000'000;
  // If above 0, and without another advisor: the length of windows that are
  // planned in advance (follow/window_advisor.h).
  int64_t window_ns = 0;
  // Whether the run ends only when all jobs are done. Nothing is released after
  // `length_ns`.
  bool drains = false;
  // The number of events after which the run ends with an error, because a
  // workload may take hours.
  uint64_t event_limit = 2'000'000'000;
  Observer* observer = nullptr;  // Borrowed; may be null.
};

// Errors: those of the scheduler for the workload; RESOURCE_EXHAUSTED beyond
// the limit of events.
absl::StatusOr<Report> Simulate(const Workload& workload,
                                const SimulationOptions& options);

}  // namespace takt::sim

#endif  // TAKT_SIM_SIMULATION_H_
