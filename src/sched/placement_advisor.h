// A PlacementAdvisor prescribes where and when operations run: it follows a
// plan, or a window that was planned ahead. The scheduler asks it whenever an
// operation becomes ready; its prescription counts before the policy.
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
  // It starts no sooner. kInfiniteFuture: the advisor is asked again when some
  // operation has stopped (it keeps the order of a resource, say).
  int64_t not_before_ns = 0;
  // Until then the prescription holds; afterwards the advisor is asked again.
  int64_t not_after_ns = kInfiniteFuture;
  // Where it runs. Empty, or a set that leaves it no alternative: anywhere.
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

  // It advises this scheduler from now on; the scheduler outlives its use.
  virtual void OnAttached(const Scheduler&) {}

  // Called when the operation becomes ready, when it has yielded, and as
  // `not_before_ns` says.
  virtual Prescription Prescribe(const AdvisedOperation& operation,
                                 int64_t now_ns) = 0;
  // The further resources that an operation which runs as prescribed may have,
  // if they are free and make it faster: then it yields, and is prescribed
  // anew.
  virtual ResourceSet MayHave(const AdvisedOperation&, int64_t) { return {}; }
  // The operation started on those resources.
  virtual void OnStarted(const AdvisedOperation&, const ResourceSet&, int64_t) {
  }
  // The operation has stopped: it is done, or given up (`is_done` false). Not
  // called when it yields.
  virtual void OnStopped(const AdvisedOperation&, bool, int64_t) {}
  // When the run that stops now ran its first and its last tile, if the driver
  // knows it. Called before OnStopped().
  virtual void OnRan(const AdvisedOperation&, int64_t, int64_t) {}
  // A resource is lost or found.
  virtual void OnAvailable(uint32_t, bool, int64_t) {}
  virtual void OnReleased(const AdvisedJob&, int64_t) {}
  // The job is over: done, or given up.
  virtual void OnOver(JobId, int64_t) {}

  // When OnTime() is to be called; kInfiniteFuture: not.
  virtual int64_t next_event_ns() const { return kInfiniteFuture; }
  // True if prescriptions have changed: then the scheduler asks again about all
  // waiting operations.
  virtual bool OnTime(int64_t) { return false; }
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_PLACEMENT_ADVISOR_H_
