// A Machine describes the resources of the scheduler, in pools of equal
// resources. A pool of cores is a cluster: the unit of sharding and of
// frequency. A pool of NPUs holds NPUs of one kind, each used by one operation
// at a time.
//
// Resources are numbered over the machine: pool 0's first, then pool 1's, ...
#ifndef TAKT_SCHED_MACHINE_H_
#define TAKT_SCHED_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sched/resource_set.h"

namespace takt::sched {

enum class ResourceKind : uint8_t { kCore, kNpu };

struct Pool {
  std::string name;  // Saved profiles name it by this.
  ResourceKind kind = ResourceKind::kCore;
  uint32_t count = 0;
  // An NPU that is tied to a cluster occupies this number of the cluster's
  // cores while it runs: all of them if the NPU is an extension of the cores.
  // -1 and 0: not tied.
  int32_t feeder_pool = -1;
  uint32_t feeder_count = 0;
};

struct Machine {
  static constexpr uint32_t kMaxPools = 16;

  std::vector<Pool> pools;

  // INVALID_ARGUMENT naming the pool: no pools or too many, an empty one, two
  // pools of one name, a tie to a pool that has no cores or too few, or more
  // than ResourceSet::kMaxResources.
  absl::Status Validate() const;

  uint32_t resource_count() const;
  uint32_t FirstOf(uint32_t pool) const;
  ResourceSet ResourcesOf(uint32_t pool) const;
  uint32_t PoolOf(uint32_t resource) const;
  // The resources of `affinity` that are in the pools of `pool_mask`.
  ResourceSet Allowed(uint32_t pool_mask, const ResourceSet& affinity) const;
  // The pool's index, or -1.
  int32_t FindPool(absl::string_view name) const;
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_MACHINE_H_
