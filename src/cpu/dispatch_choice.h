// Which way a dispatch goes that an exclusive unit can do, and the CPU as well:
// where it is expected to be done first, by what either has taken so far and
// how long it would wait for the unit. Each way is tried once before, the
// unit's first; and the worse one now and then, since things change.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_CPU_DISPATCH_CHOICE_H_
#define TAKT_CPU_DISPATCH_CHOICE_H_

#include <cstdint>

#include "cpu/command.h"
#include "cpu/operation_trace.h"
#include "exec/job.h"

namespace takt::cpu {

// One choice in so many is the other one.
inline constexpr uint32_t kRetrialPeriod = 64;
// But not if that takes so many times as long.
inline constexpr int64_t kRetrialFactor = 8;

struct WayEstimates {
  int64_t unit_ns = 0;  // Without waiting. 0: not known.
  int64_t cpu_ns = 0;
};

// `command` has another way. `core_count`: threads that may share the work on
// the CPU.
WayEstimates EstimateWays(const DispatchCommand& command, uint32_t core_count);

// Decides, and counts it.
DispatchWay ChooseWay(const DispatchCommand& command,
                      const exec::JobTraits& traits, uint32_t core_count);

}  // namespace takt::cpu

#endif  // TAKT_CPU_DISPATCH_CHOICE_H_
