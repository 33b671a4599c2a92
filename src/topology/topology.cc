#include "topology/topology.h"

#include <sched.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/status.h"

namespace takt::topology {

CpuSet Topology::cpu_set() const {
  CpuSet set;
  for (const CpuInfo& cpu : cpus) set.Add(cpu.os_index);
  return set;
}

const CpuInfo* Topology::FindCpu(uint32_t os_index) const {
  const auto found = std::lower_bound(
      cpus.begin(), cpus.end(), os_index,
      [](const CpuInfo& cpu, uint32_t index) { return cpu.os_index < index; });
  return found != cpus.end() && found->os_index == os_index ? &*found : nullptr;
}

uint32_t Topology::core_count() const {
  std::vector<uint32_t> cores;
  for (const CpuInfo& cpu : cpus) cores.push_back(cpu.core);
  std::sort(cores.begin(), cores.end());
  return static_cast<uint32_t>(std::unique(cores.begin(), cores.end()) -
                               cores.begin());
}

absl::StatusOr<CpuSet> Topology::CpusWithIsa(
    const std::vector<std::string>& required, const CpuSet& allowed,
    const std::vector<std::string>& host_isa) const {
  CpuSet found;
  std::vector<std::string> reasons;
  for (const Cluster& cluster : clusters) {
    const CpuSet cpus_here = cluster.cpus & allowed;
    if (cpus_here.empty()) continue;
    const std::vector<std::string>& isa =
        cluster.isa_known ? cluster.isa : host_isa;
    const auto lacking = std::find_if(
        required.begin(), required.end(), [&isa](const std::string& feature) {
          return std::find(isa.begin(), isa.end(), feature) == isa.end();
        });
    if (lacking == required.end()) {
      found = found | cpus_here;
    } else {
      reasons.push_back(absl::StrCat("cluster ", cluster.name, " lacks ",
                                     *lacking, " (it has ",
                                     absl::StrJoin(isa, " "), ")"));
    }
  }
  if (!found.empty()) return found;
  return absl::InvalidArgumentError(absl::StrCat(
      "no allowed cluster has the instruction sets ",
      absl::StrJoin(required, " "), ": ",
      reasons.empty() ? "no CPU is allowed" : absl::StrJoin(reasons, "; ")));
}

CpuSet AllowedCpus() {
  // The kernel refuses a mask smaller than its own.
  cpu_set_t mask[CpuSet::kMaxCpus / CPU_SETSIZE] = {};
  CpuSet allowed;
  if (sched_getaffinity(0, sizeof(mask), mask) == 0) {
    for (uint32_t cpu = 0; cpu < CpuSet::kMaxCpus; ++cpu) {
      if (CPU_ISSET_S(cpu, sizeof(mask), mask)) allowed.Add(cpu);
    }
  }
  if (allowed.empty()) allowed.Add(0);
  return allowed;
}

}  // namespace takt::topology
