// Work is what the job shop schedules: an executor's job of tiles, with what is
// known of its costs.
#ifndef TAKT_SHOP_WORK_H_
#define TAKT_SHOP_WORK_H_

#include <cstdint>

#include "exec/job.h"
#include "sched/cost_model.h"

namespace takt::shop {

// In the place of an executable's hash in the kernel of a transfer.
inline constexpr uint64_t kTransferHash = 1;

class Work : public exec::Job {
 public:
  // What its duration is learned of.
  sched::KernelKey kernel;
  // The pools that it can run in; 0: all pools of cores. On an NPU one thread
  // runs all tiles. Where NPUs are among others, it runs to its end.
  uint32_t pools = 0;
  uint32_t trace_name = 0;  // Tracer::Intern(), while it is on.
  int64_t npu_ns = 0;       // What it takes on an NPU; 0: as its tiles say.
  // Whose threads run it; null: the shop's.
  exec::Executor* executor = nullptr;

  // It starts now, or again: on an NPU, or not. Work that has begun goes on as
  // it is. May set `executor`, and how it stands there.
  virtual void Place(bool on_npu) {}

  // Instead of Finish(), of work whose job was dropped: no tile of it runs any
  // more. On any thread; may submit other work.
  virtual void GiveUp() = 0;

 protected:
  Work() = default;
  ~Work() = default;
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_WORK_H_
