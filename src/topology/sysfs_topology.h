// The machine as the files of Linux's sysfs describe it. `root` is "/sys", or
// the same files of another machine.
#ifndef TAKT_TOPOLOGY_SYSFS_TOPOLOGY_H_
#define TAKT_TOPOLOGY_SYSFS_TOPOLOGY_H_

#include <string>

#include "base/cpu_set.h"
#include "topology/topology.h"

namespace takt::topology {

// The processors that are switched on; empty if the files do not list them.
CpuSet OnlineCpus(const std::string& root);
// The processors that the kernel excludes from load balancing.
CpuSet IsolatedCpus(const std::string& root);

// The CPUs of `usable`. Those that share the outermost cache, or else a
// package, are a cluster. Values without a file are 0: CPUs without files are
// one cluster.
Topology ReadSysfs(const std::string& root, const CpuSet& usable);

// Divides clusters until each is of one capacity and of one frequency domain:
// the cores of a big.LITTLE processor may share a cache. Sets the frequencies
// of the clusters and, where the capacities tell, their kinds.
void DivideClusters(const std::string& root, Topology* topology);

}  // namespace takt::topology

#endif  // TAKT_TOPOLOGY_SYSFS_TOPOLOGY_H_
