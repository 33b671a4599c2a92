// The machine as hwloc sees it.
#ifndef TAKT_TOPOLOGY_HWLOC_TOPOLOGY_H_
#define TAKT_TOPOLOGY_HWLOC_TOPOLOGY_H_

#include "base/cpu_set.h"
#include "topology/topology.h"

namespace takt::topology {

// The CPUs of `usable` and their clusters. The library is opened for the call,
// not linked: a process that runs one thread neither loads nor pays for it.
// Empty if it is not there.
Topology ReadHwloc(const CpuSet& usable);

}  // namespace takt::topology

#endif  // TAKT_TOPOLOGY_HWLOC_TOPOLOGY_H_
