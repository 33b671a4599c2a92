// The machine that takt-plan profile measures: the clusters of this one, or of
// the workload's topology where its CPUs are this machine's, and NPUs.
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
  std::string device;  // As CreateNpu() takes it; "": nobody says which.
};

struct MeasuredMachine {
  std::unique_ptr<takt_topology_t, TopologyDeleter> topology;
  nlohmann::ordered_json json;  // The same.
  std::vector<MeasuredCluster> clusters;
  std::vector<MeasuredNpu> npus;  // In its order.
};

// The machine for the workload of this text. `npu_devices` are of the form
// NAME=DEVICE; an NPU that the topology names "host" or "sim" is that one
// unless they say otherwise, and those that it does not name are added.
//
// Errors: INVALID_ARGUMENT  naming the text that is of another form.
Result<MeasuredMachine> FindMachine(
    const std::string& workload, const std::vector<std::string>& npu_devices);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PLAN_MACHINE_H_
