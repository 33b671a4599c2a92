// The options and reports of plan runs.
#ifndef TAKT_PLAN_RUN_PLAN_RUN_OPTIONS_H_
#define TAKT_PLAN_RUN_PLAN_RUN_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/histogram.h"
#include "follow/plan_follower.h"
#include "sched/stream.h"
#include "vm/value.h"

namespace takt::runtime {
class Function;
}  // namespace takt::runtime

namespace takt::stream {
class Stream;
}  // namespace takt::stream

namespace takt::plan_run {

// How closely a run follows its plan in time. All durations are 0 or more.
struct PlanTiming {
  // Starts and durations may differ from the plan by this much.
  int64_t tolerance_ns = 0;
  // Strict: how long after its planned end the run waits for an operation.
  int64_t patience_ns = 0;
  // Adaptive: the delay of an operation at which the plan is repaired.
  int64_t divergence_ns = 0;
  // How long before its release a call is made.
  int64_t lead_ns = 0;
  // Adaptive: the time for planning the rest anew; 0: the rest is not planned
  // anew.
  int64_t repair_budget_ns = 0;
  // Adaptive: how far ahead the rest is planned anew; 0: to the end of the
  // period.
  int64_t repair_horizon_ns = 0;
  // Adaptive: operations on cores that are planned for no longer than this are
  // left out of the plan.
  int64_t small_ns = 0;
};

// The reaction of the run to a violation of a strict plan.
enum class ViolationPolicy : uint8_t {
  kReport,    // It reports the event; the planned order stays.
  kFallBack,  // Also, the online policy takes the rest of the job.
  kFail,      // The run ends with an error.
};

// Called for each event, in order, on a timer's thread. May be null.
using PlanEventCallback = std::function<void(const follow::PlanEvent& event)>;

struct PlanRunOptions {
  follow::FollowMode mode = follow::FollowMode::kStrict;
  ViolationPolicy violations = ViolationPolicy::kReport;
  PlanTiming timing;
  PlanEventCallback on_event;
};

// The end of a planned job whose call the run made.
struct PlanJobEnd {
  size_t job = 0;  // Index in the plan.
  uint64_t cycle = 0;
  int64_t release_ns = 0;
  int64_t end_ns = 0;
};

// Called at the end of each call, on the thread that ends it. `results` are
// empty if `status` is an error. May be null.
using PlanDoneCallback =
    std::function<void(const PlanJobEnd& job, const absl::Status& status,
                       absl::Span<const vm::Value> results)>;

// Binds one stream of the plan to a stream of this machine, or to functions
// that the run calls. All pointers are borrowed.
struct PlanBinding {
  std::string name;              // In the plan.
  stream::Stream* to = nullptr;  // Null: the functions.
  std::vector<runtime::Function*> functions;
  absl::Span<const vm::Value> arguments;
  sched::Criticality criticality = sched::Criticality::kHard;
  PlanDoneCallback on_done;
};

struct PlanRunReport {
  bool is_running = false;
  follow::FollowReport follow;
  uint64_t call_count = 0;    // Calls that the run made.
  uint64_t failed_count = 0;  // Those that failed.
  Quantiles late_start;
  Quantiles late_end;
  int64_t first_release_ns = 0;  // Of a job; 0: none yet.
  int64_t last_end_ns = 0;       // Of an operation; 0: none yet.
};

struct PlanOperationReport {
  follow::DivergenceSummary start;
  follow::DivergenceSummary end;
};

}  // namespace takt::plan_run

#endif  // TAKT_PLAN_RUN_PLAN_RUN_OPTIONS_H_
