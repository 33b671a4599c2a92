// Random boards and workloads for the tests of src/sim. Source: Random, or
// another type with its Below() and Unit().
#ifndef TAKT_TESTS_SIM_RANDOM_WORKLOAD_H_
#define TAKT_TESTS_SIM_RANDOM_WORKLOAD_H_

#include <string>

#include "base/random.h"
#include "sched/met_window.h"
#include "sim/workload.h"

namespace takt::sim {

template <typename Source>
sched::Machine MakeRandomMachine(Source& random) {
  sched::Machine machine;
  const uint32_t clusters = 1 + random.Below(3);
  for (uint32_t i = 0; i < clusters; ++i) {
    machine.pools.push_back({"cluster" + std::to_string(i),
                             sched::ResourceKind::kCore, 1 + random.Below(4),
                             -1, 0});
  }
  for (uint32_t i = 0; i < random.Below(3); ++i) {
    sched::Pool npu{"npu" + std::to_string(i), sched::ResourceKind::kNpu,
                    1 + random.Below(2), -1, 0};
    if (random.Below(2) == 0) {
      npu.feeder_pool = static_cast<int32_t>(random.Below(clusters));
      npu.feeder_count = random.Below(
          machine.pools[static_cast<size_t>(npu.feeder_pool)].count + 1);
    }
    machine.pools.push_back(npu);
  }
  return machine;
}

template <typename Source>
WorkloadKernel MakeRandomKernel(const sched::Machine& machine, Source& random) {
  WorkloadKernel kernel;
  const int64_t base_ns = 1000 + random.Below(500'000);
  for (uint32_t pool = 0; pool < machine.pools.size(); ++pool) {
    if (!kernel.alternatives.empty() && random.Below(3) == 0) continue;
    const bool is_npu = machine.pools[pool].kind == sched::ResourceKind::kNpu;
    const uint32_t most = is_npu ? 1 : machine.pools[pool].count;
    for (uint32_t shards = 1 + (random.Below(8) == 0 ? most - 1 : 0);
         shards <= most; shards *= 2) {
      sched::AlternativeOptions alternative;
      alternative.pool = pool;
      alternative.shards = shards;
      alternative.guess_ns =
          base_ns * (8 + random.Below(8)) / 8 / (is_npu ? 4 : shards) + 1;
      if (!is_npu && random.Below(4) != 0) {
        alternative.tile_ns = 1 + alternative.guess_ns / (1 + random.Below(20));
      }
      kernel.alternatives.push_back(alternative);
    }
  }
  return kernel;
}

template <typename Source>
WorkloadStream MakeRandomStream(const Workload& workload, Source& random) {
  WorkloadStream stream;
  sched::StreamOptions& terms = stream.terms;
  terms.program = random.Below(static_cast<uint32_t>(workload.programs.size()));
  terms.period_ns = 200'000 + random.Below(20'000'000);
  terms.deadline_ns = terms.period_ns / 2 + random.Below(20'000'000);
  terms.criticality = static_cast<sched::Criticality>(random.Below(3));
  terms.priority = static_cast<uint8_t>(random.Below(256));
  terms.late = static_cast<sched::LatePolicy>(random.Below(4));
  terms.lease = static_cast<sched::LeaseScope>(random.Below(2));
  if (random.Below(3) == 0) {
    terms.met_window = 2 + random.Below(sched::MetWindow::kLengthMax - 1);
    terms.met_min = 1 + random.Below(terms.met_window - 1);
  }
  if (random.Below(4) == 0 && terms.criticality != sched::Criticality::kHard) {
    terms.share_permille = 1 + random.Below(150);  // Of six streams: they fit.
  }
  if (random.Below(4) == 0) {
    terms.weight = 1 + random.Below(sched::kWeightMax);
  }
  stream.offset_ns = random.Below(5'000'000);
  if (random.Below(3) == 0) stream.jitter_ns = random.Below(1'000'000);
  if (random.Below(4) == 0) stream.is_dynamic = true;
  stream.arrival = static_cast<Arrival>(random.Below(3));
  if (!workload.streams.empty() && random.Below(4) == 0) {
    stream.arrival = Arrival::kAfter;
    stream.after = random.Below(static_cast<uint32_t>(workload.streams.size()));
    stream.probability = random.Unit();
  }
  return stream;
}

struct RandomWorkloadOptions {
  bool with_faults = true;
  uint32_t streams_max = 6;
};

// Any affinity leaves its program a place.
template <typename Source>
Workload MakeRandomWorkload(const RandomWorkloadOptions& options,
                            Source& random) {
  Workload workload;
  workload.name = "random";
  workload.machine = MakeRandomMachine(random);
  const uint32_t kernels = 1 + random.Below(5);
  for (uint32_t i = 0; i < kernels; ++i) {
    workload.kernels.push_back(MakeRandomKernel(workload.machine, random));
    workload.kernels.back().name = "k" + std::to_string(i);
  }
  const uint32_t programs = 1 + random.Below(4);
  for (uint32_t i = 0; i < programs; ++i) {
    WorkloadProgram program;
    program.name = "p" + std::to_string(i);
    const uint32_t size = 1 + random.Below(8);
    for (uint32_t at = 0; at < size; ++at) {
      sched::ProgramOperation operation;
      operation.kernel = random.Below(kernels);
      for (uint32_t before = 0; before < at; ++before) {
        if (random.Below(3) == 0) operation.after.push_back(before);
      }
      program.operations.push_back(operation);
    }
    workload.programs.push_back(program);
  }
  const uint32_t streams = 1 + random.Below(options.streams_max);
  for (uint32_t i = 0; i < streams; ++i) {
    workload.streams.push_back(MakeRandomStream(workload, random));
    workload.streams.back().name = "s" + std::to_string(i);
    if (random.Below(3) == 0) {
      const uint32_t lost = random.Below(workload.machine.resource_count());
      sched::ResourceSet& affinity = workload.streams.back().terms.affinity;
      // Without one resource of a pool that no operation needs whole.
      const auto& pool = workload.machine.pools[workload.machine.PoolOf(lost)];
      bool needs_all = pool.count == 1;
      for (const WorkloadKernel& kernel : workload.kernels) {
        for (const auto& alternative : kernel.alternatives) {
          needs_all |= alternative.shards == pool.count;
        }
      }
      if (!needs_all) affinity.Remove(lost);
    }
  }
  if (!options.with_faults) return workload;
  workload.noise = random.Below(3) * 0.25;
  const uint32_t resources = workload.machine.resource_count();
  for (uint32_t i = 0; i < random.Below(4); ++i) {
    workload.faults.push_back({random.Below(20'000'000),
                               1 + random.Below(10'000'000),
                               random.Below(resources)});
  }
  for (uint32_t i = 0; i < random.Below(4); ++i) {
    workload.speed_steps.push_back(
        {random.Below(20'000'000),
         random.Below(static_cast<uint32_t>(workload.machine.pools.size())),
         300 + random.Below(1000)});
  }
  return workload;
}

}  // namespace takt::sim

#endif  // TAKT_TESTS_SIM_RANDOM_WORKLOAD_H_
