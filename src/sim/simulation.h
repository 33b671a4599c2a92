// A Simulation drives the scheduler in virtual time: it runs a workload on a
// simulated machine and reports the results. The scheduler is the one that the
// runtime drives; only the clock and the work are simulated.
//
// All random numbers come from one seed, and times are whole nanoseconds, so
// the same workload, options and seed give the same run on every machine.
#ifndef TAKT_SIM_SIMULATION_H_
#define TAKT_SIM_SIMULATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sched/scheduler.h"
#include "sim/workload.h"

namespace takt::sim {

// Observes a run as it happens.
class Observer {
 public:
  virtual ~Observer() = default;
  // Its job has this deadline, or kInfiniteFuture.
  virtual void OnRelease(int64_t, const sched::Decision&, int64_t) {}
  // kStart, kYield, kCancel, kJobDone as the scheduler decided them.
  virtual void OnDecision(int64_t, const sched::Decision&) {}
  // The operation of `start` has stopped; `done_ppm` of it is done.
  virtual void OnStop(int64_t, const sched::Decision&, uint32_t) {}
  virtual void OnAvailable(int64_t, uint32_t, bool) {}
  virtual void OnSpeed(int64_t, uint32_t, uint32_t) {}
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

struct StreamReport {
  std::string name;
  sched::Criticality criticality = sched::Criticality::kSoft;
  uint64_t released = 0;
  uint64_t met = 0;
  uint64_t missed = 0;   // Done late, or not done and late at the end.
  uint64_t dropped = 0;  // By its late policy, or never released in a chain.
  uint64_t failed = 0;
  // If it asked for admission.
  bool asked = false;
  sched::AdmissionReport admission;
  uint64_t unfinished = 0;  // At the end, and not late.
  // Of jobs that were done, ascending.
  std::vector<int64_t> responses_ns;
  // Of those with a deadline: response less deadline, in that order.
  std::vector<int64_t> delays_ns;

  // 0 without responses.
  int64_t quantile_ns(double rank) const;
  int64_t mean_ns() const;
  double miss_ratio() const;  // Missed, dropped and failed.
};

struct Report {
  std::vector<StreamReport> streams;
  std::vector<double> utilization;  // By resource.
  int64_t makespan_ns = 0;          // When the last operation stopped.
  uint64_t release_count = 0;
  uint64_t start_count = 0;
  uint64_t yield_count = 0;
  uint64_t mode_changes = 0;
  uint64_t event_count = 0;

  uint64_t MissCount(sched::Criticality criticality) const;
};

// Errors: those of the scheduler for the workload; RESOURCE_EXHAUSTED beyond
// the limit of events.
absl::StatusOr<Report> Simulate(const Workload& workload,
                                const SimulationOptions& options);

}  // namespace takt::sim

#endif  // TAKT_SIM_SIMULATION_H_
