// The ResourceMap maps the resources of the machine that a job shop decides for
// to the executor: cores to workers, in pools by cluster where each worker is
// pinned to its processors, and NPUs.
//
// If workers are not pinned, or there are more clusters than pools, a core
// stands for any one of the threads that may run at the same time: the
// scheduler decides the number of threads that work on a task, and the executor
// chooses the threads.
//
// Immutable, except that NPUs may be added and sets of workers are cached.
// Thread-safety: used by the decider of the shop.
#ifndef TAKT_SHOP_RESOURCE_MAP_H_
#define TAKT_SHOP_RESOURCE_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "exec/executor.h"
#include "sched/machine.h"
#include "sched/resource_set.h"

namespace takt::shop {

struct NpuPlace {
  std::string name;
  // The NPU's work runs on the thread that uses it, so the core of that thread
  // is busy meanwhile.
  bool is_on_caller = false;
};

class ResourceMap {
 public:
  // `topology` may be null. `is_placed`: each worker is pinned to its
  // processors.
  static absl::StatusOr<ResourceMap> Create(exec::Executor& executor,
                                            const topology::Topology* topology,
                                            bool is_placed,
                                            const std::vector<NpuPlace>& npus);

  // Makes the pool of an NPU, and adds it. ReserveNpu() takes the memory that
  // the next AddNpu() needs.
  sched::Pool PoolOf(const NpuPlace& npu) const;
  void ReserveNpu();
  void AddNpu(sched::Pool pool);

  const sched::Machine& machine() const { return machine_; }
  // Bit i: pool i is one of cores.
  uint32_t core_pools() const { return core_pools_; }
  // The processors of the resource; empty for an NPU, and if workers are not
  // pinned.
  const CpuSet& cpus(uint32_t resource) const { return cpus_[resource]; }

  // The resources of the workers in `allowed`; nullptr: all resources.
  sched::ResourceSet ResourcesOf(const exec::WorkerSet* allowed) const;
  // The workers that run work on `resources`; nullptr: all that the work
  // allows.
  const exec::WorkerSet* WorkersOf(const sched::ResourceSet& resources);

 private:
  // One pool of cores, of which each is any one of the workers.
  void AddAnyCores(uint32_t core_max);
  // One pool of cores, which are the workers. `places`: by worker.
  void AddCluster(uint32_t cluster, const topology::Topology* topology,
                  const std::vector<uint32_t>& workers,
                  const std::vector<CpuSet>& places);

  struct Known {
    sched::ResourceSet resources;
    const exec::WorkerSet* workers;
  };

  sched::Machine machine_;
  exec::Executor* executor_ = nullptr;
  bool is_placed_ = false;
  uint32_t core_pools_ = 0;
  uint32_t core_count_ = 0;
  std::vector<uint32_t> worker_of_;    // By resource.
  std::vector<uint32_t> resource_of_;  // By worker.
  std::vector<CpuSet> cpus_;           // By resource.
  std::vector<Known> known_;
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_RESOURCE_MAP_H_
