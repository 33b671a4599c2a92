#include "sim/arrivals.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/clock.h"

namespace takt::sim {

Arrivals::Arrivals(const Workload& workload, Random* random)
    : workload_(workload), random_(random) {
  for (const WorkloadStream& stream : workload.streams) {
    nominal_ns_.push_back(stream.offset_ns);
  }
}

int64_t Arrivals::FirstNs(uint32_t index) const {
  TAKT_CHECK(index < nominal_ns_.size());
  const WorkloadStream& stream = workload_.streams[index];
  if (stream.arrival == Arrival::kAfter) return kInfiniteFuture;
  if (stream.arrival != Arrival::kRecorded) return stream.offset_ns;
  return stream.recorded.empty() ? kInfiniteFuture
                                 : stream.recorded.front().release_ns;
}

int64_t Arrivals::NextNs(uint32_t index, uint64_t released_count,
                         int64_t now_ns) {
  TAKT_CHECK(index < nominal_ns_.size());
  const WorkloadStream& stream = workload_.streams[index];
  int64_t& nominal_ns = nominal_ns_[index];
  if (stream.arrival == Arrival::kPeriodic) {
    nominal_ns += stream.terms.period_ns;
  } else if (stream.arrival == Arrival::kRecorded) {
    if (released_count >= stream.recorded.size()) return kInfiniteFuture;
    nominal_ns = stream.recorded[released_count].release_ns;
  } else if (stream.arrival == Arrival::kPoisson) {
    nominal_ns += std::max<int64_t>(
        std::llround(-std::log(1 - random_->Unit()) *
                     static_cast<double>(stream.terms.period_ns)),
        1);
  } else {
    return kInfiniteFuture;
  }
  int64_t at_ns = nominal_ns;
  if (stream.jitter_ns > 0) {
    at_ns +=
        std::llround(random_->Unit() * static_cast<double>(stream.jitter_ns));
  }
  return std::max(at_ns, now_ns);
}

bool Arrivals::IsDrawn(uint32_t index) {
  TAKT_CHECK(workload_.streams[index].arrival == Arrival::kAfter);
  const double probability = workload_.streams[index].probability;
  return probability >= 1 || random_->Unit() < probability;
}

}  // namespace takt::sim
