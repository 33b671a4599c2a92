// Arrivals says when the streams of a workload release their jobs.
#ifndef TAKT_SIM_ARRIVALS_H_
#define TAKT_SIM_ARRIVALS_H_

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "sim/workload.h"

namespace takt::sim {

class Arrivals {
 public:
  // Both are borrowed. `random` draws jitter, gaps of Poisson arrivals and
  // releases with a probability.
  Arrivals(const Workload& workload, Random* random);

  // When `stream` releases first; kInfiniteFuture if it does not by itself.
  int64_t FirstNs(uint32_t stream) const;
  // When `stream` releases after `released_count` jobs, the last of them at
  // `now_ns` or earlier; kInfiniteFuture if it does not by itself.
  int64_t NextNs(uint32_t stream, uint64_t released_count, int64_t now_ns);
  // Whether `stream`, which follows another, releases a job this time.
  bool IsDrawn(uint32_t stream);

 private:
  const Workload& workload_;
  Random* const random_;
  std::vector<int64_t> nominal_ns_;  // By stream: a release without jitter.
};

}  // namespace takt::sim

#endif  // TAKT_SIM_ARRIVALS_H_
