// What became of the jobs of a simulated run, stream by stream.
#ifndef TAKT_SIM_REPORT_H_
#define TAKT_SIM_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sched/scheduler.h"

namespace takt::sim {

struct StreamReport {
  std::string name;
  sched::Criticality criticality = sched::Criticality::kSoft;
  uint64_t released = 0;
  uint64_t met = 0;
  uint64_t missed = 0;   // Done late, or not done and late at the end.
  uint64_t dropped = 0;  // By its late policy, or never released in a chain.
  uint64_t failed = 0;
  // If it asked for admission: the answer, beside all promises.
  bool asked = false;
  sched::AdmissionReport admission;
  uint64_t unfinished = 0;  // At the end, and not late.
  // Of all resources together, by runs that have stopped.
  int64_t used_ns = 0;
  // Of jobs that were done, ascending.
  std::vector<int64_t> responses_ns;
  // Of those with a deadline: response less deadline, in that order.
  std::vector<int64_t> delays_ns;

  // Counts a job that ended. A stream without deadlines has kInfiniteFuture.
  void Add(const sched::Decision& end, int64_t deadline_ns);
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
  // Of the scheduler's predictions of durations.
  sched::PredictionErrors predictions;

  uint64_t MissCount(sched::Criticality criticality) const;
};

}  // namespace takt::sim

#endif  // TAKT_SIM_REPORT_H_
