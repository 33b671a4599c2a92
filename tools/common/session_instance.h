// The machine and the instance of a session, as its flags say.
#ifndef TAKT_TOOLS_COMMON_SESSION_INSTANCE_H_
#define TAKT_TOOLS_COMMON_SESSION_INSTANCE_H_

#include <memory>
#include <string>

#include "takt/takt.hpp"
#include "takt/topology.h"
#include "tools/common/session.h"

namespace takt::tools {

struct TopologyReleaser {
  void operator()(takt_topology_t* topology) const {
    takt_topology_release(topology);
  }
};
using Topology = std::unique_ptr<takt_topology_t, TopologyReleaser>;

// The machine that the file of --task_topology_snapshot= describes; this one if
// `path` is empty.
Result<Topology> OpenTopology(const std::string& path);

// Errors: a description of the machine that is wrong, and as
// Instance::Create().
Result<Instance> CreateInstance(const SessionFlags& flags);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_SESSION_INSTANCE_H_
