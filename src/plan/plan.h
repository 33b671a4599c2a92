// A Plan says when and where every operation of some jobs runs. `takt-plan`
// makes it ahead of time and the runtime carries it out. Times are nanoseconds
// from the plan's start.
//
// A Plan is plain data. ValidatePlan() checks that a plan from outside is well
// formed. FindPlanFaults() checks that it can be carried out; it shares no code
// with the solver.
#ifndef TAKT_PLAN_PLAN_H_
#define TAKT_PLAN_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace takt::plan {

constexpr int64_t kNoDeadline = INT64_MAX;

struct PlannedModule {
  std::string name;
  // The hash of the module's content; "" in a plan that is not bound to it.
  std::string content_hash;
};

struct PlannedResource {
  enum class Kind : uint8_t { kCore = 0, kNpu = 1 };
  std::string name;  // "core 3"; no two are alike.
  Kind kind = Kind::kCore;
  uint32_t cluster = 0;  // The core's, or the one that feeds the NPU.
};

struct PlannedJob {
  std::string name;  // No two are alike.
  int64_t release = 0;
  int64_t deadline = kNoDeadline;
  std::vector<uint32_t> allowed;  // Resources; ascending. Empty: all.
  // Its stream, and its number within a period. "" in plans that were not made
  // from a workload.
  std::string stream = {};
  uint32_t instance = 0;
};

// A measured alternative of the operation.
struct PlannedAlternative {
  PlannedResource::Kind kind = PlannedResource::Kind::kCore;
  uint32_t cluster = 0;
  uint32_t width = 1;  // Resources of that cluster, taken at once.
  int64_t duration = 0;
  uint32_t feeders = 0;  // Cores that feed an NPU.
};

struct PlannedOperation {
  std::string name;  // No two are alike.
  uint32_t job = 0;
  uint32_t module = 0;
  std::string kernel;    // The export that it dispatches.
  uint32_t ordinal = 0;  // Which dispatch of its job.
  int64_t start = 0;
  int64_t duration = 0;             // Above 0.
  std::vector<uint32_t> resources;  // At least one; ascending.
  std::vector<uint32_t> after;      // Operations that end before it starts.
  // Empty: any width of any cluster.
  std::vector<PlannedAlternative> alternatives;
};

struct Plan {
  std::string name;
  // Above 0: the plan is repeated every `period`. 0: it runs once.
  int64_t period = 0;
  // The machine and the profile it was made for; "": not known.
  std::string topology_hash;
  std::string profile_hash;
  int64_t lower_bound = 0;  // Of the makespan, proved; 0: none.
  std::vector<PlannedModule> modules;
  std::vector<PlannedResource> resources;
  std::vector<PlannedJob> jobs;
  std::vector<PlannedOperation> operations;

  int64_t makespan() const;  // The latest end.
};

// The largest number of items of one kind. It is far more than any plan has,
// and keeps a damaged file from taking all memory.
constexpr uint32_t kPlanItemsMax = 1 << 22;

// INVALID_ARGUMENT names the item: an index that does not exist, a name that
// occurs twice, a negative or absurd time, an operation without resources or
// duration, or an operation that follows itself.
absl::Status ValidatePlan(const Plan& plan);

// A reason why a well-formed plan cannot be carried out.
struct PlanFault {
  enum class Kind : uint8_t {
    kPrecedence,  // An operation starts before a predecessor ends.
    kOverlap,     // Two use a resource at once, also in the next period.
    kRelease,     // One starts before its job is released.
    kDeadline,    // One ends after its job's deadline.
    kAffinity,    // One uses a resource that its job is not allowed.
    kWidth,       // One runs as none of its alternatives.
    kDuration,    // One has less time than its alternative takes.
    kPeriod,      // One takes longer than the period.
  };
  Kind kind;
  uint32_t operation;
  std::string text;  // A sentence naming operations, resources and times.
};

const char* PlanFaultName(PlanFault::Kind kind);

// All faults, by operation; empty if there is none. O(n log n) but for
// overlaps, of which one is reported for an operation and resource.
std::vector<PlanFault> FindPlanFaults(const Plan& plan);

}  // namespace takt::plan

#endif  // TAKT_PLAN_PLAN_H_
