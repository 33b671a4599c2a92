// The ResourceMap is the machine that a job shop decides for, and what its
// resources are in the executor: the threads that may run at once, in pools by
// cluster where every worker stays on its processors, and the NPUs.
//
// Where workers are not kept in place, a core is any of the threads that may
// run at once: the scheduler decides how many of them work on something, and
// the executor which.
//
// Immutable once made, but for the sets that it remembers, and NPUs that come.
// Thread-safety: who decides.
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
  // It runs on the thread that uses it, which is then no core for others.
  bool is_on_caller = false;
};

class ResourceMap {
 public:
  // `topology` may be null. `is_placed`: workers stay where they were put.
  static absl::StatusOr<ResourceMap> Create(exec::Executor& executor,
                                            const topology::Topology* topology,
                                            bool is_placed,
                                            const std::vector<NpuPlace>& npus);

  // An NPU that has come: the pool that it is.
  sched::Pool PoolOf(const NpuPlace& npu) const;
  void AddNpu(sched::Pool pool);

  const sched::Machine& machine() const { return machine_; }
  // Bit i: pool i is one of cores.
  uint32_t core_pools() const { return core_pools_; }
  // The processors that the resource runs on; none for an NPU, or where
  // workers are not kept in place.
  const CpuSet& cpus(uint32_t resource) const { return cpus_[resource]; }

  // The resources that workers of `allowed` are; all of them for nullptr.
  sched::ResourceSet ResourcesOf(const exec::WorkerSet* allowed) const;
  // The workers that are to run what was given `resources`; nullptr: whoever
  // may anyway.
  const exec::WorkerSet* WorkersOf(const sched::ResourceSet& resources);

 private:
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
