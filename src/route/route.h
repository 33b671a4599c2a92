// A Route chooses the target that is expected to finish a dispatch first, by
// the measured durations on both targets and by the time that the dispatch
// would wait for the exclusive resource. Before the first comparison each
// target is tried once, the resource first. The slower target is tried again
// now and then, because durations change.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_ROUTE_ROUTE_H_
#define TAKT_ROUTE_ROUTE_H_

#include <cstdint>

#include "cpu/command.h"
#include "cpu/dispatch_route.h"
#include "exec/job.h"
#include "route/exclusive_code.h"

namespace takt::route {

// One choice out of this many tries the slower target: at most 1.6 % of the
// dispatches pay for keeping both durations up to date.
inline constexpr uint32_t kRetrialPeriod = 64;
// A target that takes more than this many times as long is not tried again: a
// trial would cost more than a change is likely to gain.
inline constexpr int64_t kRetrialFactor = 8;

class Route final : public cpu::DispatchRoute {
 public:
  struct Estimates {
    int64_t exclusive_ns = 0;  // Without waiting. 0: not measured.
    int64_t cpu_ns = 0;        // 0: not measured.
  };

  // `recorded` has exclusive code, and outlives the route. `counterpart` is the
  // same dispatch with code for the CPU; its executable and constants outlive
  // the route. `cpu_executor` may be null.
  Route(const cpu::DispatchCommand& recorded,
        const cpu::DispatchCommand& counterpart, exec::Executor* cpu_executor);

  // `core_count`: the threads that may share the work on the CPU.
  Estimates Estimate(uint32_t core_count) const;

  // cpu::DispatchRoute.
  const cpu::DispatchCommand& CommandFor(
      cpu::RouteTarget target) const override;
  exec::Executor* cpu_executor() const override { return cpu_executor_; }
  cpu::RouteTarget Choose(const exec::JobTraits& traits,
                          uint32_t core_count) const override;
  bool IsMeasured() const override;
  void Offer(uint32_t exclusive_pools, uint32_t core_pools,
             shop::Work* work) const override;
  int64_t ExclusiveNs() const override { return Estimate(1).exclusive_ns; }
  void CountChoice(cpu::RouteTarget target) const override;

 private:
  bool IsExclusiveFirst(const Estimates& estimates,
                        const exec::JobTraits& traits) const;

  const cpu::DispatchCommand& recorded_;
  // The code of the counterpart, on the operands of recorded_.
  cpu::DispatchCommand on_cpu_;
  exec::Executor* const cpu_executor_;
  ExclusiveResource& resource_;
};

}  // namespace takt::route

#endif  // TAKT_ROUTE_ROUTE_H_
