// The machine as hwloc sees it.
#ifndef TAKT_TOPOLOGY_HWLOC_TOPOLOGY_H_
#define TAKT_TOPOLOGY_HWLOC_TOPOLOGY_H_

#include "base/cpu_set.h"
#include "topology/topology.h"

namespace takt::topology {

// Reads the CPUs of `usable` and their clusters. The library is opened for the
// call and not linked, so a process that runs one thread does not load it.
// Empty if there is no such library.
Topology ReadHwloc(const CpuSet& usable);

}  // namespace takt::topology

#endif  // TAKT_TOPOLOGY_HWLOC_TOPOLOGY_H_
