// A DispatchRoute belongs to a recorded dispatch that two pieces of code can
// run: the one it was recorded with, which needs a resource to itself, and one
// for the cores of the CPU. It chooses between them each time the dispatch
// runs. The device knows this interface only; src/route implements it.
//
// Two parties may choose. Where a job shop decides when the dispatch runs, the
// shop is offered both targets (Offer()) and names its choice when it starts
// the dispatch (shop::Work::OnPlaced()). Otherwise the route chooses by itself
// (Choose()).
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_CPU_DISPATCH_ROUTE_H_
#define TAKT_CPU_DISPATCH_ROUTE_H_

#include <cstdint>

#include "exec/executor.h"
#include "exec/job.h"
#include "shop/work.h"

namespace takt::cpu {

struct DispatchCommand;

// The code that runs a dispatch. Traces hold the numbers.
enum class RouteTarget : uint8_t {
  kOnly = 0,       // The dispatch has no route: there is nothing to choose.
  kExclusive = 1,  // The recorded code, which needs a resource to itself.
  kCpu = 2,        // The code for the cores of the CPU.
};

class DispatchRoute {
 public:
  // The command that runs the dispatch on `target`, which is not kOnly. Both
  // work on the same operands.
  virtual const DispatchCommand& CommandFor(RouteTarget target) const = 0;

  // The executor whose threads run the code for the CPU; null: those of the
  // device that runs the command buffer.
  virtual exec::Executor* cpu_executor() const = 0;

  // Chooses by the measured costs of both targets and the time that a job with
  // these traits would wait for the resource; counts the choice. `core_count`:
  // the threads that may share the work on the CPU.
  virtual RouteTarget Choose(const exec::JobTraits& traits,
                             uint32_t core_count) const = 0;

  // Whether both targets have been measured.
  virtual bool IsMeasured() const = 0;

  // Prepares `work`, which was prepared for the CPU, so that a shop may place
  // it in `exclusive_pools` as well, and in `core_pools`.
  virtual void Offer(uint32_t exclusive_pools, uint32_t core_pools,
                     shop::Work* work) const = 0;

  // The duration of the whole dispatch with the recorded code, without waiting;
  // 0: not measured.
  virtual int64_t ExclusiveNs() const = 0;

  // Counts the choice of a shop.
  virtual void CountChoice(RouteTarget target) const = 0;

 protected:
  ~DispatchRoute() = default;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_DISPATCH_ROUTE_H_
