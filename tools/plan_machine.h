// The machine that takt-plan profile measures: its NPUs, and the clusters of
// the workload's topology if this machine has their CPUs, else of this machine.
#ifndef TAKT_TOOLS_PLAN_MACHINE_H_
#define TAKT_TOOLS_PLAN_MACHINE_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "takt/topology.h"
#include "tools/common/main.h"

namespace takt::tools {

struct TopologyDeleter {
  void operator()(takt_topology_t* topology) const {
    takt_topology_release(topology);
  }
};

struct MeasuredCluster {
  std::string name;
  std::vector<uint32_t> cpus;
};

struct MeasuredNpu {
  std::string name;
  std::string device;  // As CreateNpu() takes it; "": unknown.
};

struct MeasuredMachine {
  std::unique_ptr<takt_topology_t, TopologyDeleter> topology;
  nlohmann::ordered_json json;  // The topology as JSON.
  std::vector<MeasuredCluster> clusters;
  std::vector<MeasuredNpu> npus;  // In the order of the topology.
};

// Finds the machine for the text of a workload. `npu_devices` have the form
// NAME=DEVICE. Without such an entry, an NPU that the topology names "host" or
// "sim" is that driver. Entries that the topology does not name are added.
//
// Errors: INVALID_ARGUMENT  names the text that has another form.
Result<MeasuredMachine> FindMachine(
    const std::string& workload, const std::vector<std::string>& npu_devices);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PLAN_MACHINE_H_
