// Compares policies: runs the same workload under every policy, at several
// loads and with several amounts of noise.
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

// A table with a line for each case and a column for each policy: the part of
// hard jobs that missed, in per cent. Then the numbers of cases in which
// job-shop missed fewer, equally many and more than the best other policy,
// without its variant laxity.
// Errors: those of Simulate().
absl::StatusOr<std::string> SweepTable(const Workload& workload,
                                       const SweepOptions& options);

// A table with a line for each scenario and a column for each policy: the score
// of XRBench and the part of frames that were dropped or late, in per cent.
// Then the mean score.
absl::StatusOr<std::string> XrBenchTable(const std::vector<Workload>& scenarios,
                                         const SweepOptions& options);

}  // namespace takt::sim

#endif  // TAKT_SIM_SWEEP_H_
