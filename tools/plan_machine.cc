#include "tools/plan_machine.h"

#include <algorithm>
#include <utility>

namespace takt::tools {
namespace {

using Json = nlohmann::ordered_json;
using Topology = std::unique_ptr<takt_topology_t, TopologyDeleter>;

// "0-3,8" as numbers.
std::vector<uint32_t> ParseCpus(const std::string& text) {
  std::vector<uint32_t> cpus;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find(',', begin);
    if (end == std::string::npos) end = text.size();
    const std::string part = text.substr(begin, end - begin);
    const size_t dash = part.find('-');
    const auto first = static_cast<uint32_t>(std::stoul(part));
    const uint32_t last =
        dash == std::string::npos
            ? first
            : static_cast<uint32_t>(std::stoul(part.substr(dash + 1)));
    for (uint32_t cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    begin = end + 1;
  }
  return cpus;
}

Json ToJson(const takt_topology_t* topology) {
  char* text = nullptr;
  const Status status(takt_topology_to_json(topology, &text));
  if (!status.ok()) return Json::object();
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  takt_string_free(text);
  return json;
}

std::vector<MeasuredCluster> ClustersOf(const Json& topology) {
  std::vector<MeasuredCluster> clusters;
  for (const Json& cluster : topology["clusters"]) {
    clusters.push_back(
        {cluster["name"], ParseCpus(cluster["cpus"].get<std::string>())});
  }
  return clusters;
}

// Whether this machine has all of its CPUs.
bool IsHere(const Json& topology, const Json& here) {
  std::vector<uint32_t> cpus;
  for (const MeasuredCluster& cluster : ClustersOf(here)) {
    cpus.insert(cpus.end(), cluster.cpus.begin(), cluster.cpus.end());
  }
  for (const MeasuredCluster& cluster : ClustersOf(topology)) {
    for (const uint32_t cpu : cluster.cpus) {
      if (std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) return false;
    }
  }
  return true;
}

// The topology of the workload; an object without members if there is none, or
// if it is invalid. The reader of the workload reports the error.
Json TopologyIn(const std::string& workload) {
  const Json json = Json::parse(workload, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("topology")) return Json::object();
  takt_topology_t* parsed = nullptr;
  const Status status(
      takt_topology_parse(json["topology"].dump().c_str(), &parsed));
  if (!status.ok()) return Json::object();
  return ToJson(Topology(parsed).get());
}

Json& NpuNamed(const std::string& name, Json* topology) {
  for (Json& npu : (*topology)["npus"]) {
    if (npu["name"] == name) return npu;
  }
  return (*topology)["npus"].emplace_back(Json{{"name", name}});
}

// The clusters of one of them, and all NPUs.
Json Choose(const Json& wanted, Json here) {
  if (wanted.empty() || IsHere(wanted, here)) {
    return wanted.empty() ? here : wanted;
  }
  if (!wanted.contains("npus")) return here;
  for (const Json& npu : wanted["npus"]) {
    Json& added = NpuNamed(npu["name"], &here);
    for (const MeasuredCluster& cluster : ClustersOf(here)) {
      if (npu.value("cluster", "") == cluster.name) added = npu;
    }
  }
  return here;
}

}  // namespace

Result<MeasuredMachine> FindMachine(
    const std::string& workload, const std::vector<std::string>& npu_devices) {
  takt_topology_t* discovered = nullptr;
  Status status(takt_topology_discover(&discovered));
  if (!status.ok()) return status;
  MeasuredMachine machine;
  machine.json =
      Choose(TopologyIn(workload), ToJson(Topology(discovered).get()));
  std::vector<MeasuredNpu> given;
  for (const std::string& text : npu_devices) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 ||
        equals + 1 == text.size()) {
      return InvalidArgument("--npu: expected NAME=DEVICE, got " + text);
    }
    given.push_back({text.substr(0, equals), text.substr(equals + 1)});
    NpuNamed(given.back().name, &machine.json);
  }
  if (machine.json.contains("npus")) {
    for (const Json& npu : machine.json["npus"]) {
      const std::string name = npu["name"];
      std::string device = name == "host" || name == "sim" ? "npu-" + name : "";
      for (const MeasuredNpu& each : given) {
        if (each.name == name) device = each.device;
      }
      machine.npus.push_back({name, std::move(device)});
    }
  }
  machine.clusters = ClustersOf(machine.json);
  takt_topology_t* chosen = nullptr;
  status = Status(takt_topology_parse(machine.json.dump().c_str(), &chosen));
  if (!status.ok()) return status;
  machine.topology.reset(chosen);
  return machine;
}

}  // namespace takt::tools
