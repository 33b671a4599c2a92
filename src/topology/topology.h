// A Topology describes the parts of a machine: packages, NUMA nodes, clusters
// of cores that share a cache, cores, SMT threads, and the NPUs tied to
// clusters. It is discovered on the machine that runs the program, or read from
// JSON that describes any board.
//
// Immutable; a value.
#ifndef TAKT_TOPOLOGY_TOPOLOGY_H_
#define TAKT_TOPOLOGY_TOPOLOGY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/cpu_set.h"

namespace takt::topology {

// One processor that the operating system schedules on.
struct CpuInfo {
  uint32_t os_index = 0;
  uint32_t core = 0;     // Cores are numbered over the machine.
  uint32_t cluster = 0;  // Index into Topology::clusters.
  uint32_t numa_node = 0;
  uint32_t package = 0;
  uint32_t smt_index = 0;  // Which of its core's threads.
};

// Cores that share a cache: the unit of sharding and of frequency.
struct Cluster {
  std::string name;
  CpuSet cpus;
  // Instruction-set features beyond the base architecture, in the compiler's
  // spelling ("avx2", "v", "zvl256b"), sorted. Empty with `isa_known` false:
  // whatever the host has, on every cluster alike.
  std::vector<std::string> isa;
  bool isa_known = false;
  // 0 is the least efficient (fastest) kind of core of this machine.
  uint32_t efficiency_kind = 0;
  uint32_t max_frequency_mhz = 0;  // 0: not known.
};

struct NpuInfo {
  std::string name;
  int32_t cluster = -1;  // The cluster whose cores feed it; -1: not tied.
};

struct Topology {
  std::string name;
  std::vector<CpuInfo> cpus;  // By os_index; only those that may be used.
  std::vector<Cluster> clusters;
  std::vector<NpuInfo> npus;
  // Nanoseconds that discovery took; 0 for a described machine.
  int64_t discovery_ns = 0;

  CpuSet cpu_set() const;
  const CpuInfo* FindCpu(uint32_t os_index) const;
  uint32_t core_count() const;

  // INVALID_ARGUMENT naming the cluster, the feature it lacks and what it has,
  // if no cluster within `allowed` has every feature of `required`; else the
  // CPUs of the clusters that do. A cluster of unknown features has those of
  // `host_isa`.
  absl::StatusOr<CpuSet> CpusWithIsa(
      const std::vector<std::string>& required, const CpuSet& allowed,
      const std::vector<std::string>& host_isa) const;

  // The schema is docs/topology.md's. INVALID_ARGUMENT naming the place.
  static absl::StatusOr<Topology> FromJson(absl::string_view json);
  std::string ToJson() const;
};

// The processors this process may run on now: its affinity mask, which the
// kernel keeps within its cgroup.
CpuSet AllowedCpus();

// The machine this runs on, within AllowedCpus() and without the CPUs that
// the kernel isolates (unless nothing else is allowed). Uses hwloc if it is
// there, which takes milliseconds; else the files of the system. Never fails.
Topology DiscoverTopology();

}  // namespace takt::topology

#endif  // TAKT_TOPOLOGY_TOPOLOGY_H_
