// Work is the unit that the job shop schedules: a job of the executor, with its
// kernel, the pools in which it may run, and its known costs.
#ifndef TAKT_SHOP_WORK_H_
#define TAKT_SHOP_WORK_H_

#include <cstdint>

#include "exec/job.h"
#include "sched/cost_model.h"

namespace takt::shop {

// The module hash in the kernel key of a transfer, which has no executable.
inline constexpr uint64_t kTransferHash = 1;

class Work : public exec::Job {
 public:
  sched::KernelKey kernel;  // Its duration is learned for this kernel.
  // The pools that it can run in; 0: all pools of cores. On an NPU one thread
  // runs all tiles. Work that may run on an NPU is not preempted.
  uint32_t pools = 0;
  uint32_t trace_name = 0;  // Tracer::Intern(), while it is on.
  int64_t npu_ns = 0;       // What it takes on an NPU; 0: the sum of its tiles.
  // The executor whose threads run it; null: the shop's.
  exec::Executor* executor = nullptr;

  // The placement callback. The scheduler has placed the work on an NPU or on
  // cores and starts it now, perhaps not for the first time. Work that can run
  // on both binds its code here, and may set `executor` and its traits; work
  // that has begun is not changed. Called under a lock of the shop, so it must
  // not call the shop.
  virtual void OnPlaced(bool on_npu) {}

  // Called instead of Finish() for work whose job was dropped. No tile of the
  // work runs, and none will. Called on any thread; may submit other work.
  virtual void GiveUp() = 0;

 protected:
  Work() = default;
  ~Work() = default;
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_WORK_H_
