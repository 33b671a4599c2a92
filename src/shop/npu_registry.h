// The NpuRegistry knows the NPUs that were added to a job shop, and the pool of
// each. A pool stays when its NPU is removed: the next NPU of that name gets
// it.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf.
#ifndef TAKT_SHOP_NPU_REGISTRY_H_
#define TAKT_SHOP_NPU_REGISTRY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/types/optional.h"
#include "base/mutex.h"
#include "sched/machine.h"
#include "shop/resource_map.h"

namespace takt::shop {

// The name of a new pool of the machine: that of its NPU and, if it is taken, a
// number.
std::string NewPoolName(const sched::Machine& machine, const std::string& npu);

class NpuRegistry {
 public:
  // Gives an NPU the pool of one like it that was removed. None: there is no
  // such pool.
  absl::optional<uint32_t> Reuse(const NpuPlace& place)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes the memory that the next Add() needs.
  void Reserve() ABSL_LOCKS_EXCLUDED(mutex_);
  // Adds an NPU, which has got a new pool.
  void Add(NpuPlace place, uint32_t pool) ABSL_LOCKS_EXCLUDED(mutex_);
  void Remove(uint32_t pool) ABSL_LOCKS_EXCLUDED(mutex_);
  // Bit i: the NPU of pool i was removed and not replaced.
  uint32_t gone_pools() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Known {
    NpuPlace place;
    uint32_t pool;
    bool is_there;
  };

  mutable Mutex mutex_;
  std::vector<Known> npus_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_NPU_REGISTRY_H_
