// The priority of a job whose caller states only its criticality.
#ifndef TAKT_SCHED_PRIORITY_H_
#define TAKT_SCHED_PRIORITY_H_

#include <cstdint>

#include "base/job_attributes.h"
#include "sched/stream.h"

namespace takt::sched {

// The executor sorts the 256 priorities into eight lanes of 32. Each
// criticality gets the lowest priority of a lane, so that an application can
// place 31 priorities above it without a change of lane:
//   224  the highest lane: nothing can delay a hard job but another one.
//   128  the lane of calls that state nothing.
//    32  the second lane from below. The lowest lane stays free for work that
//        an application ranks below its best-effort streams.
inline constexpr uint8_t kHardPriority = 224;
inline constexpr uint8_t kSoftPriority = kNormalPriority;
inline constexpr uint8_t kBestEffortPriority = 32;

// The priority of streams that are behind their shares, and of the programs of
// all streams that have one: these issue what the stream asks for.
inline constexpr uint8_t kBelowHardPriority = kHardPriority - 1;

inline constexpr uint8_t PriorityOf(Criticality criticality) {
  switch (criticality) {
    case Criticality::kHard:
      return kHardPriority;
    case Criticality::kSoft:
      return kSoftPriority;
    case Criticality::kBestEffort:
      break;
  }
  return kBestEffortPriority;
}

}  // namespace takt::sched

#endif  // TAKT_SCHED_PRIORITY_H_
