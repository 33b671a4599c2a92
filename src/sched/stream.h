// A stream is a source of jobs: one function that is called again and again
// with the same requirements. Every job belongs to a stream; a single call is a
// stream of one job without a period.
#ifndef TAKT_SCHED_STREAM_H_
#define TAKT_SCHED_STREAM_H_

#include <cstdint>
#include <limits>

#include "base/clock.h"
#include "sched/resource_set.h"

namespace takt::sched {

using StreamId = uint32_t;
using ProgramId = uint32_t;
inline constexpr ProgramId kNoProgram = std::numeric_limits<uint32_t>::max();

inline constexpr uint32_t kWeightMax = 1000;

enum class Criticality : uint8_t { kHard, kSoft, kBestEffort };

// The treatment of a job whose deadline has passed.
enum class LatePolicy : uint8_t {
  kRunOn,       // It continues, and is counted.
  kDemote,      // It continues as best effort.
  kDrop,        // It ends; what runs is asked to stop.
  kLatestOnly,  // As kDrop; and a job that has not started when the next of
                // its stream is released is dropped then.
};

// How long a job holds an NPU.
enum class LeaseScope : uint8_t {
  kOperation,  // One operation.
  kJob,        // From its first operation there to its end.
};

struct StreamOptions {
  // Its operations, if they are known in advance; kNoProgram: they become known
  // as they become ready.
  ProgramId program = kNoProgram;
  int64_t period_ns = 0;  // The least time between two releases; 0: once.
  int64_t deadline_ns = kInfiniteFuture;  // After the release.
  Criticality criticality = Criticality::kSoft;
  uint8_t priority = 128;  // Within the criticality; higher goes first.
  LatePolicy late = LatePolicy::kRunOn;
  // Of each `met_window` jobs in a row, at least `met_min` must be in time; see
  // MetWindow. A job that may miss runs a band below its stream's; a job of an
  // admitted stream never does. 0: no job may miss.
  uint32_t met_window = 0;
  uint32_t met_min = 0;
  // The part of its cores' time, in thousandths, that it gets of any 100 ms in
  // which it asks for it, before all jobs that are not hard; see ShareAccount.
  // 0: none. Not of a hard stream.
  uint32_t share_permille = 0;
  // Best-effort jobs of equal priority divide the time that the others leave by
  // the weights of their streams; see FairClock. 0: as 1 beside streams that
  // have a weight; without any the earlier deadline goes first.
  uint32_t weight = 0;
  LeaseScope lease = LeaseScope::kOperation;
  ResourceSet affinity = ResourceSet::All();
  uint32_t pools = ~0u;           // Bit i: pool i is allowed.
  uint32_t shards_preferred = 0;  // 0: as the policy thinks best.
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_STREAM_H_
