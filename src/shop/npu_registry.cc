#include "shop/npu_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace takt::shop {

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

std::string NpuRegistry::NewPoolName(const std::string& npu) const {
  MutexLock lock(&mutex_);
  const auto namesakes = std::count_if(
      npus_.begin(), npus_.end(),
      [&](const Known& known) { return known.place.name == npu; });
  return namesakes == 0 ? npu : absl::StrCat(npu, " ", namesakes + 1);
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
