#include "shop/npu_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace takt::shop {

std::string NewPoolName(const sched::Machine& machine, const std::string& npu) {
  std::string name = npu;
  for (uint32_t number = 2; machine.FindPool(name) >= 0; ++number) {
    name = absl::StrCat(npu, " ", number);
  }
  return name;
}

absl::optional<uint32_t> NpuRegistry::Reuse(const NpuPlace& place) {
  MutexLock lock(&mutex_);
  for (Known& known : npus_) {
    if (known.is_there || known.place.name != place.name ||
        known.place.is_on_caller != place.is_on_caller) {
      continue;
    }
    known.is_there = true;
    return known.pool;
  }
  return absl::nullopt;
}

void NpuRegistry::Reserve() {
  MutexLock lock(&mutex_);
  npus_.reserve(npus_.size() + 1);
}

void NpuRegistry::Add(NpuPlace place, uint32_t pool) {
  MutexLock lock(&mutex_);
  npus_.push_back({std::move(place), pool, true});
}

void NpuRegistry::Remove(uint32_t pool) {
  MutexLock lock(&mutex_);
  for (Known& known : npus_) {
    if (known.pool == pool) known.is_there = false;
  }
}

uint32_t NpuRegistry::gone_pools() const {
  MutexLock lock(&mutex_);
  uint32_t pools = 0;
  for (const Known& known : npus_) {
    if (!known.is_there) pools |= 1u << known.pool;
  }
  return pools;
}

}  // namespace takt::shop
