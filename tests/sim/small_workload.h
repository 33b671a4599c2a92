// Two streams on two cores: a short job every 5 ms, and a long one back to
// back, less urgent.
#ifndef TAKT_TESTS_SIM_SMALL_WORKLOAD_H_
#define TAKT_TESTS_SIM_SMALL_WORKLOAD_H_

#include <string>

#include "sim/workload.h"

namespace takt::sim {

inline WorkloadKernel KernelOf(const std::string& name, int64_t work_ns,
                               uint32_t shard_count_max) {
  WorkloadKernel kernel;
  kernel.name = name;
  for (uint32_t shards = 1; shards <= shard_count_max; ++shards) {
    sched::AlternativeOptions alternative;
    alternative.shards = shards;
    alternative.guess_ns = work_ns / static_cast<int64_t>(shards);
    alternative.tile_ns = 50'000;
    kernel.alternatives.push_back(alternative);
  }
  return kernel;
}

inline Workload SmallWorkload() {
  Workload workload;
  workload.name = "small";
  sched::Pool cores;
  cores.name = "cores";
  cores.count = 2;
  workload.machine.pools.push_back(cores);
  workload.kernels = {KernelOf("short", 400'000, 2),
                      KernelOf("conv", 3'000'000, 2),
                      KernelOf("head", 500'000, 1)};
  workload.programs = {{"act", {{0, {}}, {0, {0}}}},
                       {"detect", {{1, {}}, {1, {0}}, {2, {1}}}}};
  WorkloadStream act;
  act.name = "act";
  act.terms.program = 0;
  act.terms.period_ns = 5'000'000;
  act.terms.deadline_ns = 5'000'000;
  act.terms.priority = 200;
  WorkloadStream detect;
  detect.name = "detect";
  detect.terms.program = 1;
  detect.terms.priority = 64;
  detect.arrival = Arrival::kClosed;
  workload.streams = {act, detect};
  return workload;
}

}  // namespace takt::sim

#endif  // TAKT_TESTS_SIM_SMALL_WORKLOAD_H_
