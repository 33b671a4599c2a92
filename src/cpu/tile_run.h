// A TileRun measures tiles of one dispatch that run on this thread, from its
// construction on: for the costs that functions learn, for traces and for
// observers. Where none of them asks, it does not read the clock.
#ifndef TAKT_CPU_TILE_RUN_H_
#define TAKT_CPU_TILE_RUN_H_

#include <cstdint>

#include "base/check.h"
#include "base/clock.h"
#include "cpu/dispatch_cost.h"
#include "cpu/resource_waits.h"

namespace takt::cpu {

class TileRun {
 public:
  explicit TileRun(bool is_timed)
      : waited_ns_(ResourceWaits::TotalNs()),
        start_ns_(is_timed ? NowNs() : 0) {}
  TileRun(const TileRun&) = delete;
  TileRun& operator=(const TileRun&) = delete;

  // 0 if it is not timed.
  int64_t start_ns() const { return start_ns_; }

  // `tile_count` tiles have run until `end_ns`; the time for which the thread
  // waited for a resource does not count.
  void Learn(WorkgroupCost& cost, int64_t end_ns, uint32_t tile_count) const {
    TAKT_DCHECK(start_ns_ != 0 && tile_count > 0);
    cost.Add(end_ns - start_ns_ - (ResourceWaits::TotalNs() - waited_ns_),
             tile_count);
  }

 private:
  const int64_t waited_ns_;
  const int64_t start_ns_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_TILE_RUN_H_
