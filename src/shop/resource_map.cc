#include "shop/resource_map.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/exceptions.h"
#include "base/status.h"

namespace takt::shop {
namespace {

using sched::ResourceKind;
using sched::ResourceSet;

// The largest number of cached sets; decisions use few different sets.
constexpr size_t kKnownMax = 1024;

std::vector<CpuSet> PlacesOf(const exec::Executor& executor) {
  std::vector<CpuSet> places;
  for (const auto& worker : executor.statistics().workers) {
    places.push_back(worker.placement);
  }
  return places;
}

// The workers at `places`, by cluster.
std::map<uint32_t, std::vector<uint32_t>> ClustersOf(
    const std::vector<CpuSet>& places, const topology::Topology* topology) {
  std::map<uint32_t, std::vector<uint32_t>> workers_of;
  for (uint32_t i = 0; i < places.size(); ++i) {
    const int32_t cpu = places[i].Next(0);
    const topology::CpuInfo* const info =
        topology != nullptr && cpu >= 0
            ? topology->FindCpu(static_cast<uint32_t>(cpu))
            : nullptr;
    workers_of[info != nullptr ? info->cluster : 0].push_back(i);
  }
  return workers_of;
}

}  // namespace

absl::StatusOr<ResourceMap> ResourceMap::Create(
    exec::Executor& executor, const topology::Topology* topology,
    bool is_placed, const std::vector<NpuPlace>& npus) {
  ResourceMap map;
  map.executor_ = &executor;
  const auto npu_count = static_cast<uint32_t>(npus.size());
  const uint32_t core_max =
      ResourceSet::kMaxResources - std::min(npu_count, 64u);
  std::vector<CpuSet> places;
  if (is_placed && executor.worker_count() <= core_max) {
    places = PlacesOf(executor);
  }
  const auto workers_of = ClustersOf(places, topology);
  // More clusters than pools are one pool, as if no worker were pinned.
  map.is_placed_ = !workers_of.empty() &&
                   workers_of.size() + npu_count <= sched::Machine::kMaxPools;
  if (map.is_placed_) {
    map.resource_of_.resize(executor.worker_count());
    for (const auto& [cluster, workers] : workers_of) {
      map.AddCluster(cluster, topology, workers, places);
    }
  } else {
    map.AddAnyCores(core_max);
  }
  map.core_pools_ = (1u << map.machine_.pools.size()) - 1;
  for (const NpuPlace& npu : npus) map.AddNpu(map.PoolOf(npu));
  TAKT_RETURN_IF_ERROR(map.machine_.Validate());
  return map;
}

void ResourceMap::AddAnyCores(uint32_t core_max) {
  const uint32_t worker_count = executor_->worker_count();
  core_count_ = std::clamp(executor_->max_concurrency(), 1u,
                           std::clamp(worker_count, 1u, core_max));
  machine_.pools.push_back({"cores", ResourceKind::kCore, core_count_, -1, 0});
  cpus_.resize(core_count_);
  for (uint32_t i = 0; i < worker_count; ++i) {
    resource_of_.push_back(i % core_count_);
  }
}

void ResourceMap::AddCluster(uint32_t cluster,
                             const topology::Topology* topology,
                             const std::vector<uint32_t>& workers,
                             const std::vector<CpuSet>& places) {
  std::string name = topology != nullptr &&
                             cluster < topology->clusters.size() &&
                             !topology->clusters[cluster].name.empty()
                         ? topology->clusters[cluster].name
                         : absl::StrCat("cluster", cluster);
  if (machine_.FindPool(name) >= 0) absl::StrAppend(&name, cluster);
  machine_.pools.push_back({std::move(name), ResourceKind::kCore,
                            static_cast<uint32_t>(workers.size()), -1, 0});
  for (const uint32_t worker : workers) {
    resource_of_[worker] = core_count_++;
    worker_of_.push_back(worker);
    cpus_.push_back(places[worker]);
  }
}

sched::Pool ResourceMap::PoolOf(const NpuPlace& npu) const {
  return {npu.name, ResourceKind::kNpu, 1, npu.is_on_caller ? 0 : -1,
          npu.is_on_caller ? 1u : 0u};
}

void ResourceMap::ReserveNpu() {
  machine_.pools.reserve(machine_.pools.size() + 1);
  cpus_.reserve(cpus_.size() + 1);
}

void ResourceMap::AddNpu(sched::Pool pool) {
  machine_.pools.push_back(std::move(pool));
  cpus_.emplace_back();
}

ResourceSet ResourceMap::ResourcesOf(const exec::WorkerSet* allowed) const {
  if (allowed == nullptr) return ResourceSet::All();
  // An NPU is no worker.
  ResourceSet resources =
      ResourceSet::All() - ResourceSet::Range(0, core_count_);
  for (uint32_t i = 0; i < resource_of_.size(); ++i) {
    if (allowed->Contains(i)) resources.Add(resource_of_[i]);
  }
  return resources;
}

const exec::WorkerSet* ResourceMap::WorkersOf(const ResourceSet& resources) {
  if (!is_placed_) return nullptr;
  const ResourceSet cores = resources & ResourceSet::Range(0, core_count_);
  if (cores.empty()) return nullptr;
  for (const Known& known : known_) {
    if (known.resources == cores) return known.workers;
  }
  if (known_.size() >= kKnownMax) return nullptr;
  TAKT_TRY {
    exec::WorkerSet workers;
    cores.ForEach([&](uint32_t core) { workers.Add(worker_of_[core]); });
    known_.push_back({cores, executor_->FindWorkers(workers)});
    return known_.back().workers;
  }
  TAKT_CATCH(const std::bad_alloc&) { return nullptr; }
}

}  // namespace takt::shop
