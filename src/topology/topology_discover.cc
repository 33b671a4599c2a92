#include <string>

#include "base/clock.h"
#include "base/stable_sort.h"
#include "topology/hwloc_topology.h"
#include "topology/sysfs_topology.h"
#include "topology/topology.h"

namespace takt::topology {
namespace {

constexpr char kSysfs[] = "/sys";

}  // namespace

Topology DiscoverTopology() {
  const int64_t start_ns = NowNs();
  const CpuSet allowed = AllowedCpus();
  CpuSet usable = allowed - IsolatedCpus(kSysfs);
  if (usable.empty()) usable = allowed;
  Topology result = ReadHwloc(usable);
  if (!(result.cpu_set() == usable)) result = ReadSysfs(kSysfs, usable);
  StableSort(result.cpus, [](const CpuInfo& a, const CpuInfo& b) {
    return a.os_index < b.os_index;
  });
  DivideClusters(kSysfs, &result);
  result.name = "host";
  result.discovery_ns = NowNs() - start_ns;
  return result;
}

}  // namespace takt::topology
