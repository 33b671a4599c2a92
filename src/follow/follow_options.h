// Options of following a plan, departures from the plan, and reports.
//
//   strict    Each operation runs on its planned resources, not before its
//             planned start, in the planned order of each resource. An
//             operation that is late, missing, too long, not in the plan or
//             without its resources is a violation, which is reported once. It
//             runs as soon as it can and the order stays; with `falls_back`,
//             the online policy takes the rest of its job.
//   adaptive  Places and order are preferences. An operation starts as soon as
//             it is ready, in its planned place, unless it would delay another
//             operation that the plan has there first. So slack is used up, and
//             lateness moves to the right. If lateness exceeds
//             `divergence_ns`, the rest of the period is moved to the right by
//             it, provided that every deadline is still met. Otherwise, and if
//             a resource is lost, the online policy decides until the plan is
//             in step again, in the next period. Meanwhile the rest of the
//             period is planned anew (`repair`), and the new plan is followed
//             once it is ready, unless a job is late by it.
//
// Jobs that are not planned fill the holes: they start only where they end
// before the next planned start, by their 99 % quantile.
#ifndef TAKT_FOLLOW_FOLLOW_OPTIONS_H_
#define TAKT_FOLLOW_FOLLOW_OPTIONS_H_

#include <cstdint>
#include <functional>

#include "follow/window.h"
#include "sched/cost_model.h"
#include "sched/stream.h"

namespace takt::follow {

enum class FollowMode : uint8_t { kStrict, kAdaptive };

// A departure from the plan.
struct PlanEvent {
  enum class Kind : uint8_t {
    kLate,       // It started after its planned start and the tolerance.
    kOverrun,    // It took longer than planned, beyond the tolerance.
    kMissing,    // It was not ready in time, and the plan continues without it.
    kUnplanned,  // Its job has no such operation in the plan.
    kLost,       // One of its resources is lost.
    kDiverged,   // It was so late that the plan was given up. Adaptive.
  };
  Kind kind = Kind::kLate;
  uint32_t operation = 0;  // Of the plan; its size if no operation is meant.
  uint64_t cycle = 0;      // The repetition of the plan.
  int64_t by_ns = 0;       // The lateness, or the excess of its duration.
};

const char* PlanEventName(PlanEvent::Kind kind);

struct FollowerOptions {
  FollowMode mode = FollowMode::kStrict;
  // Strict: the online policy takes the rest of a job with a violation.
  bool falls_back = false;
  // Starts and durations may differ from the plan by this much. The default is
  // a few times the duration of a decision.
  int64_t tolerance_ns = 1'000;
  // How long after its planned end the plan waits for an operation that has not
  // become ready.
  int64_t patience_ns = 1'000'000;
  // Adaptive: operations on cores that take no longer than this may run without
  // the scheduler, as soon as they can. Other operations do not wait for them,
  // and they do not wait for their place.
  int64_t small_ns = 0;
  // Adaptive: lateness beyond this gives the plan up.
  int64_t divergence_ns = 500'000;
  // Adaptive: how the rest of the plan is planned anew. Without a budget it is
  // not planned anew.
  WindowPlanning repair;
  // If above 0: only jobs that are released within this time are planned anew
  // together.
  int64_t repair_horizon_ns = 0;
  // Returns the longest duration of a kernel that is not planned, in a pool.
  // Null: jobs that are not planned may run anywhere at any time.
  std::function<int64_t(sched::KernelId kernel, uint32_t pool)> longest_ns;
  // Returns whether a stream that is not planned may run only in holes of the
  // plan; null: every stream.
  std::function<bool(sched::StreamId stream)> fills;
  // Strict: called with each violation. May be null.
  std::function<void(const PlanEvent& violation)> on_violation;
  // Adaptive: called when the plan is given up, with the operation that was
  // late, or without one for a lost resource. May be null.
  std::function<void(const PlanEvent& event)> on_divergence;
};

// What has happened to a plan so far.
struct FollowReport {
  uint64_t started_count = 0;      // Planned operations that started;
  uint64_t in_place_count = 0;     // those of them on their planned resources.
  uint64_t violation_count = 0;    // Strict.
  uint64_t divergence_count = 0;   // Adaptive: lateness beyond the limit, and
  uint64_t repair_count = 0;       // how often moving to the right was enough.
  uint64_t resolve_count = 0;      // New plans that were followed, and those
  uint64_t refused_count = 0;      // that came too late or made jobs late.
  int64_t start_error_max_ns = 0;  // Actual minus planned start; strict.
  int64_t lateness_max_ns = 0;     // The same, in both modes.

  void Add(const FollowReport& other);
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_FOLLOW_OPTIONS_H_
