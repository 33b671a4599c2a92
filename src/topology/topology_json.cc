// The JSON form of a topology: a described board.
#include <algorithm>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/narrow.h"
#include "base/stable_sort.h"
#include "base/status.h"
#include "topology/topology.h"

namespace takt::topology {
namespace {

using Json = nlohmann::json;

// The member, which must be a whole number in [0, limit]; `fallback` if absent.
absl::StatusOr<uint32_t> Number(const JsonPlace& place, const char* key,
                                uint32_t limit, uint32_t fallback) {
  const Json* const member = place.Find(key);
  if (member == nullptr) return fallback;
  if (!member->is_number_unsigned() || member->get<uint64_t>() > limit) {
    return place.ErrorAt(key, absl::StrCat("expected a whole number from 0 to ",
                                           limit, ", got ", member->dump()));
  }
  return Narrow<uint32_t>(member->get<uint64_t>());
}

absl::StatusOr<CpuSet> ReadCpus(const JsonPlace& place) {
  const Json* const member = place.Find("cpus");
  if (member == nullptr) return place.Error("\"cpus\" is missing");
  CpuSet cpus;
  if (member->is_string()) {
    const absl::StatusOr<CpuSet> parsed =
        CpuSet::Parse(member->get<std::string>());
    if (!parsed.ok()) return place.Error(parsed.status().message());
    cpus = *parsed;
  } else if (member->is_array()) {
    for (const Json& cpu : *member) {
      if (!cpu.is_number_unsigned() ||
          cpu.get<uint64_t>() >= CpuSet::kMaxCpus) {
        return place.ErrorAt(
            "cpus", absl::StrCat("expected CPU numbers below ",
                                 CpuSet::kMaxCpus, ", got ", cpu.dump()));
      }
      cpus.Add(Narrow<uint32_t>(cpu.get<uint64_t>()));
    }
  } else {
    return place.ErrorAt("cpus", "expected a list of numbers or a range");
  }
  if (cpus.empty()) return place.Error("a cluster needs at least one CPU");
  return cpus;
}

absl::Status ReadIsa(const JsonPlace& place, Cluster* cluster) {
  const Json* const member = place.Find("isa");
  if (member == nullptr) return absl::OkStatus();
  if (!member->is_array()) {
    return place.ErrorAt("isa", "expected a list of features");
  }
  for (const Json& feature : *member) {
    if (!feature.is_string()) {
      return place.ErrorAt("isa",
                           absl::StrCat("expected text, got ", feature.dump()));
    }
    cluster->isa.push_back(feature.get<std::string>());
  }
  std::sort(cluster->isa.begin(), cluster->isa.end());
  cluster->isa_known = true;
  return absl::OkStatus();
}

absl::Status ReadCluster(const JsonPlace& place, size_t index,
                         Topology* topology) {
  TAKT_RETURN_IF_ERROR(place.CheckKeys(
      {"name", "cpus", "isa", "efficiency_kind", "max_frequency_mhz",
       "numa_node", "package", "threads_per_core"}));
  Cluster cluster;
  TAKT_ASSIGN_OR_RETURN(cluster.name,
                        place.Text("name", absl::StrCat("cluster", index)));
  TAKT_ASSIGN_OR_RETURN(cluster.cpus, ReadCpus(place));
  TAKT_RETURN_IF_ERROR(ReadIsa(place, &cluster));
  TAKT_ASSIGN_OR_RETURN(cluster.efficiency_kind,
                        Number(place, "efficiency_kind", 255, 0));
  TAKT_ASSIGN_OR_RETURN(cluster.max_frequency_mhz,
                        Number(place, "max_frequency_mhz", 1'000'000, 0));
  TAKT_ASSIGN_OR_RETURN(const uint32_t numa_node,
                        Number(place, "numa_node", 1023, 0));
  TAKT_ASSIGN_OR_RETURN(const uint32_t package,
                        Number(place, "package", 1023, 0));
  TAKT_ASSIGN_OR_RETURN(const uint32_t threads_per_core,
                        Number(place, "threads_per_core", 8, 1));
  if (threads_per_core == 0) {
    return place.Error("threads_per_core must be at least 1");
  }
  for (const Cluster& other : topology->clusters) {
    if (other.cpus.Intersects(cluster.cpus)) {
      return place.Error(absl::StrCat("CPUs ",
                                      (other.cpus & cluster.cpus).ToString(),
                                      " are in cluster ", other.name, " too"));
    }
    if (other.name == cluster.name) {
      return place.Error(absl::StrCat("a second cluster ", cluster.name));
    }
  }
  uint32_t position = 0;
  const uint32_t first_core = topology->core_count();
  cluster.cpus.ForEach([&](uint32_t cpu) {
    topology->cpus.push_back({cpu, first_core + position / threads_per_core,
                              Narrow<uint32_t>(index), numa_node, package,
                              position % threads_per_core});
    ++position;
  });
  topology->clusters.push_back(std::move(cluster));
  return absl::OkStatus();
}

absl::Status ReadNpu(const JsonPlace& place, size_t index, Topology* topology) {
  TAKT_RETURN_IF_ERROR(place.CheckKeys({"name", "cluster"}));
  NpuInfo npu;
  TAKT_ASSIGN_OR_RETURN(npu.name,
                        place.Text("name", absl::StrCat("npu", index)));
  TAKT_ASSIGN_OR_RETURN(const std::string cluster, place.Text("cluster", ""));
  for (size_t i = 0; i < topology->clusters.size(); ++i) {
    if (topology->clusters[i].name == cluster) {
      npu.cluster = Narrow<int32_t>(i);
    }
  }
  if (!cluster.empty() && npu.cluster < 0) {
    return place.Error(absl::StrCat("there is no cluster ", cluster));
  }
  topology->npus.push_back(std::move(npu));
  return absl::OkStatus();
}

// The list, empty if the member is absent.
absl::StatusOr<Json> Array(const JsonPlace& root, const char* key) {
  const Json* const member = root.Find(key);
  if (member == nullptr) return Json::array();
  if (!member->is_array()) return root.ErrorAt(key, "expected a list");
  return *member;
}

}  // namespace

absl::StatusOr<Topology> Topology::FromJson(absl::string_view text) {
  TAKT_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "topology"));
  const JsonPlace root(json, "topology");
  TAKT_RETURN_IF_ERROR(root.CheckKeys({"name", "clusters", "npus"}));
  Topology topology;
  TAKT_ASSIGN_OR_RETURN(topology.name, root.Text("name", "described"));
  TAKT_ASSIGN_OR_RETURN(const Json clusters, Array(root, "clusters"));
  if (clusters.empty()) return root.ErrorAt("clusters", "there is none");
  for (size_t i = 0; i < clusters.size(); ++i) {
    TAKT_RETURN_IF_ERROR(
        ReadCluster(root.Element("clusters", i, clusters[i]), i, &topology));
  }
  TAKT_ASSIGN_OR_RETURN(const Json npus, Array(root, "npus"));
  for (size_t i = 0; i < npus.size(); ++i) {
    TAKT_RETURN_IF_ERROR(
        ReadNpu(root.Element("npus", i, npus[i]), i, &topology));
  }
  StableSort(topology.cpus, [](const CpuInfo& a, const CpuInfo& b) {
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
      object["cluster"] = clusters[Narrow<size_t>(npu.cluster)].name;
    }
    root["npus"].push_back(std::move(object));
  }
  // Text from a file may hold any bytes; replace rather than throw.
  return root.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace takt::topology
