// XRBench (Kwon et al., "XRBench: An Extended Reality (XR) Machine Learning
// Benchmark Suite for the Metaverse", MLSys 2023) as workloads: scenarios of
// several models with frame rates, some following others with a probability.
//
// A layer is an operation. Its duration follows from its multiply-accumulates
// and bytes by the rates below. The rates are not measured; they model a small
// robot board: an NPU of 2 TOPS at half its peak, cores with vector units, one
// memory bus.
#ifndef TAKT_SIM_XRBENCH_H_
#define TAKT_SIM_XRBENCH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/simulation.h"
#include "sim/workload.h"

namespace takt::sim {

struct XrBenchRates {
  double core_macs_per_ns = 8;
  double npu_macs_per_ns = 512;
  double bytes_per_ns = 7;
  double core_launch_ns = 5'000;
  double npu_launch_ns = 20'000;
  double core_tile_ns = 100'000;
};

// A workload for each scenario. Every frame is due when the next one arrives,
// and is dropped then. The text may be hostile. INVALID_ARGUMENT naming the
// place.
absl::StatusOr<std::vector<Workload>> ReadXrBench(absl::string_view json,
                                                  const sched::Machine& machine,
                                                  const XrBenchRates& rates);

// The suite's score without its part for energy: the mean over the models of
// the mean of 1 / (1 + exp(15 * delay in ms)) over frames that were done,
// times the part of frames that was not dropped, times 100.
double XrBenchScore(const Report& report);

}  // namespace takt::sim

#endif  // TAKT_SIM_XRBENCH_H_
