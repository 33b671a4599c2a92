#include "sched/machine.h"

#include "base/check.h"
#include "base/status.h"

namespace takt::sched {
namespace {

absl::Status CheckTie(const Machine& machine, const Pool& pool) {
  if (pool.feeder_pool < 0 && pool.feeder_count == 0) return absl::OkStatus();
  const auto fault = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(
        absl::StrCat("machine: pool ", pool.name, ": ", reason));
  };
  if (pool.kind != ResourceKind::kNpu) {
    return fault("only NPUs are tied to cores");
  }
  if (pool.feeder_pool < 0 ||
      pool.feeder_pool >= static_cast<int32_t>(machine.pools.size())) {
    return fault("is tied to a pool that does not exist");
  }
  const Pool& feeder = machine.pools[static_cast<size_t>(pool.feeder_pool)];
  if (feeder.kind != ResourceKind::kCore) {
    return fault(
        absl::StrCat("is tied to ", feeder.name, ", which is no cores"));
  }
  if (pool.feeder_count > feeder.count) {
    return fault(absl::StrCat("takes ", pool.feeder_count, " cores of ",
                              feeder.name, ", which has ", feeder.count));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Machine::Validate() const {
  if (pools.empty() || pools.size() > kMaxPools) {
    return absl::InvalidArgumentError(absl::StrCat(
        "machine: expected 1 to ", kMaxPools, " pools, got ", pools.size()));
  }
  uint64_t total = 0;
  for (size_t i = 0; i < pools.size(); ++i) {
    const Pool& pool = pools[i];
    if (pool.count == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("machine: pool ", pool.name, " is empty"));
    }
    total += pool.count;
    for (size_t j = 0; j < i; ++j) {
      if (pools[j].name == pool.name) {
        return absl::InvalidArgumentError(
            absl::StrCat("machine: a second pool ", pool.name));
      }
    }
    TAKT_RETURN_IF_ERROR(CheckTie(*this, pool));
  }
  if (total > ResourceSet::kMaxResources) {
    return absl::InvalidArgumentError(absl::StrCat("machine: expected at most ",
                                                   ResourceSet::kMaxResources,
                                                   " resources, got ", total));
  }
  return absl::OkStatus();
}

uint32_t Machine::resource_count() const {
  return FirstOf(static_cast<uint32_t>(pools.size()));
}

uint32_t Machine::FirstOf(uint32_t pool) const {
  uint32_t first = 0;
  for (uint32_t i = 0; i < pool; ++i) first += pools[i].count;
  return first;
}

ResourceSet Machine::ResourcesOf(uint32_t pool) const {
  return ResourceSet::Range(FirstOf(pool), pools[pool].count);
}

uint32_t Machine::PoolOf(uint32_t resource) const {
  for (uint32_t pool = 0, first = 0; pool < pools.size(); ++pool) {
    first += pools[pool].count;
    if (resource < first) return pool;
  }
  TAKT_CHECK(false);
  return 0;
}

ResourceSet Machine::Allowed(uint32_t pool_mask,
                             const ResourceSet& affinity) const {
  ResourceSet allowed;
  for (uint32_t pool = 0; pool < pools.size(); ++pool) {
    if ((pool_mask >> pool & 1) != 0) allowed = allowed | ResourcesOf(pool);
  }
  return allowed & affinity;
}

int32_t Machine::FindPool(absl::string_view name) const {
  for (size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].name == name) return static_cast<int32_t>(i);
  }
  return -1;
}

}  // namespace takt::sched
