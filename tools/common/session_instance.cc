#include "tools/common/session_instance.h"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tools/common/file.h"

namespace takt::tools {
namespace {

// Those that this process may run on.
int64_t CpuCount() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

}  // namespace

Result<Topology> OpenTopology(const std::string& path) {
  takt_topology_t* topology = nullptr;
  if (path.empty()) {
    Status status(takt_topology_discover(&topology));
    if (!status.ok()) return status;
    return Topology(topology);
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string json, ReadFile(path));
  Status status(takt_topology_parse(json.c_str(), &topology));
  if (status.ok()) return Topology(topology);
  return Annotate(status, "--task_topology_snapshot=" + path);
}

Result<Instance> CreateInstance(const SessionFlags& flags) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  const bool is_given = flags.worker_count > 0;
  WorkerPlacement placement = flags.placement;
  placement.count_max = is_given ? 0 : flags.worker_count_max;
  Topology topology;
  if (!flags.topology_path.empty() || placement.NeedsTopology()) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(topology, OpenTopology(flags.topology_path));
  }
  // Only a described machine is given to the instance, which looks at this one
  // by itself.
  if (!flags.topology_path.empty()) options.topology = topology.get();
  std::string cpus = flags.worker_cpus;
  if (cpus.empty()) {
    const Result<std::string> chosen = ChooseWorkerCpus(
        placement, topology.get(),
        flags.topology_path.empty() || placement.nodes == "current"
            ? kSystemFolder
            : "");
    if (!chosen.ok()) {
      return Annotate(chosen.status(),
                      "--task_topology_nodes=" + placement.nodes);
    }
    cpus = *chosen;
  }
  if (!cpus.empty()) options.worker_cpus = cpus.c_str();
  if (is_given) {
    options.worker_count = static_cast<int32_t>(flags.worker_count);
  } else if (flags.worker_count_max > 0 && !placement.NeedsTopology()) {
    options.worker_count = static_cast<int32_t>(
        std::min<int64_t>(flags.worker_count_max, CpuCount()));
  }
  options.worker_spin_ns = flags.worker_spin_us * 1000;
  if (flags.worker_stack_bytes > 0) {
    options.worker_stack_bytes = static_cast<size_t>(flags.worker_stack_bytes);
  }
  options.worker_fifo_priority =
      static_cast<int32_t>(flags.worker_fifo_priority);
  options.worker_budget_ns = flags.worker_budget_us * 1000;
  options.worker_period_ns = flags.worker_period_us * 1000;
  if (!flags.cores_path.empty()) options.cores_path = flags.cores_path.c_str();
  options.cores_share_permille =
      static_cast<int32_t>(flags.cores_share_permille);
  options.fault_reports = true;
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = flags.policy.c_str();
  options.scheduler = &scheduler;
  return Instance::Create(&options);
}

}  // namespace takt::tools
