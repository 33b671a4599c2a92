#include "topology/sysfs_topology.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text_file.h"

namespace takt::topology {
namespace {

uint32_t ReadNumber(const std::string& path, uint32_t otherwise) {
  return ReadNumberFile<uint32_t>(path).value_or(otherwise);
}

CpuSet ReadCpus(const std::string& path) {
  return CpuSet::Parse(ReadFirstLine(path)).value_or(CpuSet());
}

std::string FolderOf(const std::string& root, uint32_t cpu) {
  return absl::StrCat(root, "/devices/system/cpu/cpu", cpu);
}

// The CPUs that share the outermost cache of `cpu`: of level 3, or of level 2
// if it is not the CPU's own. Else those of its package.
CpuSet NeighboursOf(const std::string& folder) {
  constexpr uint32_t kCachesMax = 16;
  CpuSet shared[2];
  for (uint32_t i = 0; i < kCachesMax; ++i) {
    const std::string cache = absl::StrCat(folder, "/cache/index", i);
    const uint32_t level = ReadNumber(cache + "/level", 0);
    if (level == 0) break;
    if (level != 2 && level != 3) continue;
    shared[level - 2] = ReadCpus(cache + "/shared_cpu_list");
  }
  if (!shared[1].empty()) return shared[1];
  if (shared[0].count() > 1) return shared[0];
  return ReadCpus(folder + "/topology/core_siblings_list");
}

// A thread's place in its core, and a name of the core: its first thread.
struct CoreOfCpu {
  uint32_t first = 0;
  uint32_t smt_index = 0;
};
CoreOfCpu ReadCore(const std::string& folder, uint32_t cpu) {
  const CpuSet threads = ReadCpus(folder + "/topology/thread_siblings_list");
  if (!threads.Contains(cpu)) return {cpu, 0};
  uint32_t before = 0;
  threads.ForEach([&](uint32_t thread) { before += thread < cpu; });
  return {static_cast<uint32_t>(threads.Next(0)), before};
}

std::map<uint32_t, uint32_t> ReadNumaNodes(const std::string& root) {
  const std::string folder = root + "/devices/system/node";
  std::map<uint32_t, uint32_t> node_of_cpu;
  ReadCpus(folder + "/online").ForEach([&](uint32_t node) {
    ReadCpus(absl::StrCat(folder, "/node", node, "/cpulist"))
        .ForEach([&](uint32_t cpu) { node_of_cpu[cpu] = node; });
  });
  return node_of_cpu;
}

// The CPUs that change their frequency together. A domain of one CPU says
// nothing about clusters. This file has blanks between its numbers.
CpuSet FrequencyDomainOf(const std::string& folder) {
  std::string text = ReadFirstLine(folder + "/cpufreq/affected_cpus");
  std::replace(text.begin(), text.end(), ' ', ',');
  const CpuSet domain = CpuSet::Parse(text).value_or(CpuSet());
  return domain.count() > 1 ? domain : CpuSet();
}

// What all CPUs of a cluster have in common. A domain stands for itself by its
// text.
struct Likeness {
  uint32_t cluster = 0;
  uint32_t capacity = 0;
  std::string domain;

  bool operator<(const Likeness& other) const {
    return std::tie(cluster, capacity, domain) <
           std::tie(other.cluster, other.capacity, other.domain);
  }
};

}  // namespace

CpuSet OnlineCpus(const std::string& root) {
  return ReadCpus(root + "/devices/system/cpu/online");
}

CpuSet IsolatedCpus(const std::string& root) {
  return ReadCpus(root + "/devices/system/cpu/isolated");
}

Topology ReadSysfs(const std::string& root, const CpuSet& usable) {
  Topology result;
  const std::map<uint32_t, uint32_t> node_of_cpu = ReadNumaNodes(root);
  std::map<std::string, uint32_t> cluster_of_neighbours;
  std::map<uint32_t, uint32_t> core_of_first;
  usable.ForEach([&](uint32_t cpu) {
    const std::string folder = FolderOf(root, cpu);
    const auto [cluster, is_new] = cluster_of_neighbours.try_emplace(
        NeighboursOf(folder).ToString(),
        static_cast<uint32_t>(result.clusters.size()));
    if (is_new) {
      result.clusters.emplace_back();
      result.clusters.back().name = absl::StrCat("cluster", cluster->second);
    }
    result.clusters[cluster->second].cpus.Add(cpu);
    const CoreOfCpu core = ReadCore(folder, cpu);
    CpuInfo info;
    info.os_index = cpu;
    info.core = core_of_first
                    .try_emplace(core.first,
                                 static_cast<uint32_t>(core_of_first.size()))
                    .first->second;
    info.cluster = cluster->second;
    const auto node = node_of_cpu.find(cpu);
    info.numa_node = node != node_of_cpu.end() ? node->second : 0;
    info.package = ReadNumber(folder + "/topology/physical_package_id", 0);
    info.smt_index = core.smt_index;
    result.cpus.push_back(info);
  });
  return result;
}

void DivideClusters(const std::string& root, Topology* topology) {
  std::map<Likeness, uint32_t> index_of;
  std::vector<Cluster> clusters;
  std::vector<uint32_t> capacities;  // Of the clusters; 0: not known.
  for (CpuInfo& cpu : topology->cpus) {
    const std::string folder = FolderOf(root, cpu.os_index);
    Likeness likeness;
    likeness.cluster = cpu.cluster;
    likeness.capacity = ReadNumber(folder + "/cpu_capacity", 0);
    likeness.domain = FrequencyDomainOf(folder).ToString();
    const auto [entry, is_new] =
        index_of.try_emplace(likeness, static_cast<uint32_t>(clusters.size()));
    if (is_new) {
      Cluster cluster = topology->clusters[cpu.cluster];
      cluster.name = absl::StrCat("cluster", entry->second);
      cluster.cpus = CpuSet();
      constexpr uint32_t kKhzPerMhz = 1000;
      cluster.max_frequency_mhz =
          ReadNumber(folder + "/cpufreq/cpuinfo_max_freq", 0) / kKhzPerMhz;
      clusters.push_back(std::move(cluster));
      capacities.push_back(likeness.capacity);
    }
    clusters[entry->second].cpus.Add(cpu.os_index);
    cpu.cluster = entry->second;
  }
  const std::set<uint32_t, std::greater<>> kinds(capacities.begin(),
                                                 capacities.end());
  for (size_t i = 0; i < clusters.size() && kinds.count(0) == 0; ++i) {
    clusters[i].efficiency_kind = static_cast<uint32_t>(
        std::distance(kinds.begin(), kinds.find(capacities[i])));
  }
  topology->clusters = std::move(clusters);
}

}  // namespace takt::topology
