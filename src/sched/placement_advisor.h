// A PlacementAdvisor prescribes where and when operations run: it follows a
// plan, or a window that was planned in advance. The scheduler asks it whenever
// an operation becomes ready; its prescription overrides the policy.
//
// Thread-safety: the driver of the scheduler calls it, within calls of the
// scheduler; it must not call the scheduler.
#ifndef TAKT_SCHED_PLACEMENT_ADVISOR_H_
#define TAKT_SCHED_PLACEMENT_ADVISOR_H_

#include <cstdint>

#include "base/clock.h"
#include "sched/cost_model.h"
#include "sched/job.h"
#include "sched/resource_set.h"
#include "sched/stream.h"

namespace takt::sched {

// The prescription for one operation. The default prescribes nothing.
struct Prescription {
  // The planned start. Planned operations go before all others, the earlier
  // first (with the policy job-shop).
  int64_t start_ns = kInfiniteFuture;
  // The operation does not start before this time. kInfiniteFuture: the advisor
  // is asked again when another operation has stopped, for example to keep the
  // order of a resource.
  int64_t not_before_ns = 0;
  // The prescription holds until this time; then the advisor is asked again.
  int64_t not_after_ns = kInfiniteFuture;
  // The resources on which it runs. Empty, or a set in which it has no
  // alternative: anywhere.
  ResourceSet resources;
  ResourceSet feeders;  // The cores that feed its NPU; empty: any.
  uint32_t shards = 0;  // 0: as the policy thinks best.
};

// The operation that the advisor is asked about.
struct AdvisedOperation {
  JobId job;
  StreamId stream = 0;
  uint64_t tag = 0;  // The job's.
  int64_t release_ns = 0;
  KernelId kernel = 0;
  uint32_t program_index = 0;  // Or the order in which it was found.
  // For a job without a program: the dispatches before it that were too small
  // to be reported to the scheduler.
  uint32_t unseen_count = 0;
};

// A job that has been released.
struct AdvisedJob {
  JobId job;
  StreamId stream = 0;
  int64_t release_ns = 0;
  int64_t deadline_ns = kInfiniteFuture;
};

class Scheduler;

class PlacementAdvisor {
 public:
  virtual ~PlacementAdvisor() = default;

  // Called when the scheduler begins to use this advisor. The scheduler lives
  // longer than this use.
  virtual void OnAttached(const Scheduler& /*scheduler*/) {}

  // Whether it prescribes anything now. Planned operations may go before those
  // to which admission has promised that they will fit.
  virtual bool is_prescribing() const { return true; }
  // Called when the operation becomes ready, when it has yielded, and as
  // `not_before_ns` says.
  virtual Prescription Prescribe(const AdvisedOperation& operation,
                                 int64_t now_ns) = 0;
  // The further resources that an operation which runs as prescribed may have,
  // if they are free and make it faster: then it yields, and is prescribed
  // anew.
  virtual ResourceSet MayHave(const AdvisedOperation& /*operation*/,
                              int64_t /*now_ns*/) {
    return {};
  }
  // Called when the operation has started, with its resources.
  virtual void OnStarted(const AdvisedOperation& /*operation*/,
                         const ResourceSet& /*resources*/, int64_t /*now_ns*/) {
  }
  // Called when the operation has stopped: it is done, or given up (`is_done`
  // false). Not called when it yields.
  virtual void OnStopped(const AdvisedOperation& /*operation*/,
                         bool /*is_done*/, int64_t /*now_ns*/) {}
  // The times of the first and the last tile of the run that stops now, if the
  // driver knows them. Called before OnStopped().
  virtual void OnRan(const AdvisedOperation& /*operation*/,
                     int64_t /*begin_ns*/, int64_t /*end_ns*/) {}
  // Called when a resource is lost or available again.
  virtual void OnAvailable(uint32_t /*resource*/, bool /*is_available*/,
                           int64_t /*now_ns*/) {}
  virtual void OnReleased(const AdvisedJob& /*job*/, int64_t /*now_ns*/) {}
  // Called when the job is over: done, or given up.
  virtual void OnOver(JobId /*job*/, int64_t /*now_ns*/) {}

  // Called when memory has run out in one of these methods. The advisor may be
  // in any state, and is not asked any more.
  virtual void OnLost() {}

  // The time at which OnTime() must be called; kInfiniteFuture: never.
  virtual int64_t next_event_ns() const { return kInfiniteFuture; }
  // Returns true if prescriptions have changed. The scheduler then asks again
  // about all waiting operations.
  virtual bool OnTime(int64_t /*now_ns*/) { return false; }
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_PLACEMENT_ADVISOR_H_
