// Which CPUs the workers of a tool run on: what the --task_topology_* flags
// other than explicit numbers choose.
#ifndef TAKT_TOOLS_COMMON_WORKER_CPUS_H_
#define TAKT_TOOLS_COMMON_WORKER_CPUS_H_

#include <cstdint>
#include <string>

#include "takt/topology.h"
#include "tools/common/status.h"

namespace takt::tools {

// Where the kernel describes CPUs and NUMA nodes.
inline constexpr char kSystemFolder[] = "/sys/devices/system";

struct WorkerPlacement {
  std::string nodes = "all";  // NUMA nodes: all, numa, current, or numbers.
  // "physical_cores": one CPU of each core. Empty: every CPU.
  std::string mode = {};
  std::string performance_level = "any";  // low, efficiency, high, performance.
  // Which CPUs are left out where `count_max` is less than there are:
  // "compact" fills one cluster after the other, "scatter" takes them in turns.
  std::string distribution = "scatter";
  // latency, throughput, efficiency: stands for a performance level and a
  // distribution, and comes before both. Empty: neither.
  std::string favor = {};
  int64_t count_max = 0;  // 0: any number.

  // True if only a topology says what is chosen.
  bool NeedsTopology() const;
};

// The chosen CPUs, such as "0-3,8"; "" for all that the process may use.
//
//   topology  the machine's, or a snapshot's; NULL if !NeedsTopology().
//   folder    kSystemFolder; for a snapshot "", for which CPUs that share a
//             core have numbers one after the other.
//
// Errors: INVALID_ARGUMENT  `nodes` has another form. NOT_FOUND  there is no
// such node, or no CPU is left.
Result<std::string> ChooseWorkerCpus(const WorkerPlacement& placement,
                                     const takt_topology_t* topology,
                                     const std::string& folder);

// The clusters of a machine, one a line: name, CPUs, kind and frequency.
Result<std::string> DescribeTopology(const takt_topology_t* topology);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_WORKER_CPUS_H_
