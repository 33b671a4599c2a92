// Policies side by side: the same workload under every policy, at several loads
// and with several amounts of noise.
#ifndef TAKT_SIM_SWEEP_H_
#define TAKT_SIM_SWEEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/simulation.h"
#include "sim/workload.h"

namespace takt::sim {

struct SweepOptions {
  std::vector<double> loads = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  std::vector<double> noises = {0, 0.1, 0.25, 0.5};
  uint64_t seed = 1;
  int64_t length_ns = 10'000'000'000;
};

// One line a case, a column a policy: the part of hard jobs that missed, in
// per cent; then in how many cases job-shop missed fewer, as many and more
// than the best of the others. Errors: Simulate()'s.
absl::StatusOr<std::string> SweepTable(const Workload& workload,
                                       const SweepOptions& options);

// One line a scenario, a column a policy: the score of XRBench and the part of
// frames dropped or late, in per cent; then the mean score.
absl::StatusOr<std::string> XrBenchTable(const std::vector<Workload>& scenarios,
                                         const SweepOptions& options);

}  // namespace takt::sim

#endif  // TAKT_SIM_SWEEP_H_
