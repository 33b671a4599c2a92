// The JSON form of a topology: a described board.
#include <algorithm>
#include <string>
#include <utility>

#include "base/status.h"
#include "exec/topology.h"
#include "nlohmann/json.hpp"

namespace takt::exec {
namespace {

using Json = nlohmann::json;

absl::Status Error(const std::string& place, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("topology: ", place, ": ", reason));
}

// The member, which must be a whole number in [0, limit]; `fallback` if absent.
absl::StatusOr<uint32_t> Number(const Json& object, const char* key,
                                const std::string& place, uint32_t limit,
                                uint32_t fallback) {
  const auto member = object.find(key);
  if (member == object.end()) return fallback;
  if (!member->is_number_unsigned() || member->get<uint64_t>() > limit) {
    return Error(absl::StrCat(place, ".", key),
                 absl::StrCat("expected a whole number from 0 to ", limit,
                              ", got ", member->dump()));
  }
  return static_cast<uint32_t>(member->get<uint64_t>());
}

absl::StatusOr<std::string> Text(const Json& object, const char* key,
                                 const std::string& place,
                                 const std::string& fallback) {
  const auto member = object.find(key);
  if (member == object.end()) return fallback;
  if (!member->is_string()) {
    return Error(absl::StrCat(place, ".", key),
                 absl::StrCat("expected text, got ", member->dump()));
  }
  return member->get<std::string>();
}

absl::Status CheckKeys(const Json& object, const std::string& place,
                       std::initializer_list<absl::string_view> known) {
  if (!object.is_object()) return Error(place, "expected an object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), absl::string_view(key)) ==
        known.end()) {
      return Error(place, absl::StrCat("unknown member \"", key, "\""));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<CpuSet> ReadCpus(const Json& object, const std::string& place) {
  const auto member = object.find("cpus");
  if (member == object.end()) return Error(place, "\"cpus\" is missing");
  CpuSet cpus;
  if (member->is_string()) {
    const absl::StatusOr<CpuSet> parsed =
        CpuSet::Parse(member->get<std::string>());
    if (!parsed.ok()) return Error(place, parsed.status().message());
    cpus = *parsed;
  } else if (member->is_array()) {
    for (const Json& cpu : *member) {
      if (!cpu.is_number_unsigned() ||
          cpu.get<uint64_t>() >= CpuSet::kMaxCpus) {
        return Error(absl::StrCat(place, ".cpus"),
                     absl::StrCat("expected CPU numbers below ",
                                  CpuSet::kMaxCpus, ", got ", cpu.dump()));
      }
      cpus.Add(static_cast<uint32_t>(cpu.get<uint64_t>()));
    }
  } else {
    return Error(absl::StrCat(place, ".cpus"),
                 "expected a list of numbers or a range");
  }
  if (cpus.empty()) return Error(place, "a cluster needs at least one CPU");
  return cpus;
}

absl::Status ReadIsa(const Json& object, const std::string& place,
                     Cluster* cluster) {
  const auto member = object.find("isa");
  if (member == object.end()) return absl::OkStatus();
  if (!member->is_array()) {
    return Error(absl::StrCat(place, ".isa"), "expected a list of features");
  }
  for (const Json& feature : *member) {
    if (!feature.is_string()) {
      return Error(absl::StrCat(place, ".isa"),
                   absl::StrCat("expected text, got ", feature.dump()));
    }
    cluster->isa.push_back(feature.get<std::string>());
  }
  std::sort(cluster->isa.begin(), cluster->isa.end());
  cluster->isa_known = true;
  return absl::OkStatus();
}

absl::Status ReadCluster(const Json& object, size_t index, Topology* topology) {
  const std::string place = absl::StrCat("clusters[", index, "]");
  TAKT_RETURN_IF_ERROR(
      CheckKeys(object, place,
                {"name", "cpus", "isa", "efficiency_kind", "max_frequency_mhz",
                 "numa_node", "package", "threads_per_core"}));
  Cluster cluster;
  TAKT_ASSIGN_OR_RETURN(cluster.name, Text(object, "name", place,
                                           absl::StrCat("cluster", index)));
  TAKT_ASSIGN_OR_RETURN(cluster.cpus, ReadCpus(object, place));
  TAKT_RETURN_IF_ERROR(ReadIsa(object, place, &cluster));
  TAKT_ASSIGN_OR_RETURN(cluster.efficiency_kind,
                        Number(object, "efficiency_kind", place, 255, 0));
  TAKT_ASSIGN_OR_RETURN(
      cluster.max_frequency_mhz,
      Number(object, "max_frequency_mhz", place, 1'000'000, 0));
  TAKT_ASSIGN_OR_RETURN(const uint32_t numa_node,
                        Number(object, "numa_node", place, 1023, 0));
  TAKT_ASSIGN_OR_RETURN(const uint32_t package,
                        Number(object, "package", place, 1023, 0));
  TAKT_ASSIGN_OR_RETURN(const uint32_t threads_per_core,
                        Number(object, "threads_per_core", place, 8, 1));
  if (threads_per_core == 0) {
    return Error(place, "threads_per_core must be at least 1");
  }
  for (const Cluster& other : topology->clusters) {
    if (other.cpus.Intersects(cluster.cpus)) {
      return Error(place,
                   absl::StrCat("CPUs ", (other.cpus & cluster.cpus).ToString(),
                                " are in cluster ", other.name, " too"));
    }
    if (other.name == cluster.name) {
      return Error(place, absl::StrCat("a second cluster ", cluster.name));
    }
  }
  uint32_t position = 0;
  const uint32_t first_core = topology->core_count();
  cluster.cpus.ForEach([&](uint32_t cpu) {
    topology->cpus.push_back({cpu, first_core + position / threads_per_core,
                              static_cast<uint32_t>(index), numa_node, package,
                              position % threads_per_core});
    ++position;
  });
  topology->clusters.push_back(std::move(cluster));
  return absl::OkStatus();
}

absl::Status ReadNpu(const Json& object, size_t index, Topology* topology) {
  const std::string place = absl::StrCat("npus[", index, "]");
  TAKT_RETURN_IF_ERROR(CheckKeys(object, place, {"name", "cluster"}));
  NpuInfo npu;
  TAKT_ASSIGN_OR_RETURN(
      npu.name, Text(object, "name", place, absl::StrCat("npu", index)));
  TAKT_ASSIGN_OR_RETURN(const std::string cluster,
                        Text(object, "cluster", place, ""));
  for (size_t i = 0; i < topology->clusters.size(); ++i) {
    if (topology->clusters[i].name == cluster) {
      npu.cluster = static_cast<int32_t>(i);
    }
  }
  if (!cluster.empty() && npu.cluster < 0) {
    return Error(place, absl::StrCat("there is no cluster ", cluster));
  }
  topology->npus.push_back(std::move(npu));
  return absl::OkStatus();
}

// The array, empty if the member is absent.
absl::StatusOr<Json> Array(const Json& root, const char* key) {
  const auto member = root.find(key);
  if (member == root.end()) return Json::array();
  if (!member->is_array()) return Error(key, "expected a list");
  return *member;
}

// Whether the text nests no deeper than a topology does: the parser recurses.
bool IsShallow(absl::string_view json) {
  int depth = 0;
  for (const char c : json) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > 16) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Topology> Topology::FromJson(absl::string_view json) {
  if (!IsShallow(json)) return Error("document", "nested too deep");
  const Json root = Json::parse(json.begin(), json.end(), nullptr,
                                /*allow_exceptions=*/false);
  if (root.is_discarded()) return Error("document", "is not JSON");
  TAKT_RETURN_IF_ERROR(
      CheckKeys(root, "document", {"name", "clusters", "npus"}));
  Topology topology;
  TAKT_ASSIGN_OR_RETURN(topology.name,
                        Text(root, "name", "document", "described"));
  TAKT_ASSIGN_OR_RETURN(const Json clusters, Array(root, "clusters"));
  if (clusters.empty()) return Error("clusters", "there is none");
  for (size_t i = 0; i < clusters.size(); ++i) {
    TAKT_RETURN_IF_ERROR(ReadCluster(clusters[i], i, &topology));
  }
  TAKT_ASSIGN_OR_RETURN(const Json npus, Array(root, "npus"));
  for (size_t i = 0; i < npus.size(); ++i) {
    TAKT_RETURN_IF_ERROR(ReadNpu(npus[i], i, &topology));
  }
  std::sort(topology.cpus.begin(), topology.cpus.end(),
            [](const CpuInfo& a, const CpuInfo& b) {
              return a.os_index < b.os_index;
            });
  return topology;
}

std::string Topology::ToJson() const {
  Json root = {{"name", name}, {"clusters", Json::array()}};
  for (size_t i = 0; i < clusters.size(); ++i) {
    const Cluster& cluster = clusters[i];
    Json object = {{"name", cluster.name},
                   {"cpus", cluster.cpus.ToString()},
                   {"efficiency_kind", cluster.efficiency_kind},
                   {"max_frequency_mhz", cluster.max_frequency_mhz}};
    if (cluster.isa_known) object["isa"] = cluster.isa;
    uint32_t threads_per_core = 1;
    for (const CpuInfo& cpu : cpus) {
      if (cpu.cluster != i) continue;
      object["numa_node"] = cpu.numa_node;
      object["package"] = cpu.package;
      threads_per_core = std::max(threads_per_core, cpu.smt_index + 1);
    }
    object["threads_per_core"] = threads_per_core;
    root["clusters"].push_back(std::move(object));
  }
  if (!npus.empty()) root["npus"] = Json::array();
  for (const NpuInfo& npu : npus) {
    Json object = {{"name", npu.name}};
    if (npu.cluster >= 0) {
      object["cluster"] = clusters[static_cast<size_t>(npu.cluster)].name;
    }
    root["npus"].push_back(std::move(object));
  }
  // Text from a file may hold any bytes; replace rather than throw.
  return root.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace takt::exec
