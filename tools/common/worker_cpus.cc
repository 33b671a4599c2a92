#include "tools/common/worker_cpus.h"

#include <sched.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tools/common/file.h"
#include "tools/common/number.h"

namespace takt::tools {
namespace {

using Json = nlohmann::json;

struct TextDeleter {
  void operator()(char* text) const { takt_string_free(text); }
};

struct ClusterOfCpus {
  std::vector<int64_t> cpus;
  int64_t kind = 0;  // 0 is the fastest.
  int64_t threads_per_core = 1;
};

Result<Json> ReadTopology(const takt_topology_t* topology) {
  char* text = nullptr;
  Status status(takt_topology_to_json(topology, &text));
  if (!status.ok()) return status;
  const std::unique_ptr<char, TextDeleter> owner(text);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// Reads "0-3,8", the form of the kernel and of topologies.
Result<std::vector<int64_t>> ParseCpus(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::vector<int64_t> cpus;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t dash = word.find('-');
    TAKT_TOOLS_ASSIGN_OR_RETURN(const int64_t first,
                                ParseInteger(word.substr(0, dash)));
    int64_t last = first;
    if (dash != std::string::npos) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(last, ParseInteger(word.substr(dash + 1)));
    }
    constexpr int64_t kCpusMax = 1 << 16;
    if (first < 0 || last < first || last >= kCpusMax) {
      return InvalidArgument("expected CPUs such as 0-3,8, got \"" + text +
                             "\"");
    }
    for (int64_t cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string FormatCpus(std::vector<int64_t> cpus) {
  std::sort(cpus.begin(), cpus.end());
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (end > i + 1) text += '-' + std::to_string(cpus[end - 1]);
    i = end;
  }
  return text;
}

// The CPUs of the NUMA nodes in `nodes`.
Result<std::vector<int64_t>> CpusOfNodes(const std::string& nodes,
                                         const std::string& folder) {
  std::string list = nodes;
  if (nodes == "current") {
    unsigned node = 0;
    if (getcpu(nullptr, &node) != 0) node = 0;
    list = std::to_string(node);
  }
  std::vector<int64_t> cpus;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const Result<int64_t> number =
        ParseInteger(list.substr(begin, end - begin));
    begin = end + 1;
    if (!number.ok() || *number < 0) {
      return InvalidArgument("expected all, current or numbers such as 0,2");
    }
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        const std::string text,
        ReadFile(folder + "/node/node" + std::to_string(*number) + "/cpulist"));
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<int64_t> of_node,
                                ParseCpus(text));
    cpus.insert(cpus.end(), of_node.begin(), of_node.end());
  }
  if (cpus.empty()) {  // Nodes of memory alone.
    return Status(TAKT_STATUS_NOT_FOUND, "these nodes have no CPUs");
  }
  return cpus;
}

Result<std::vector<ClusterOfCpus>> ReadClusters(
    const takt_topology_t* topology) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Json json, ReadTopology(topology));
  std::vector<ClusterOfCpus> clusters;
  for (const Json& each : json.at("clusters")) {
    ClusterOfCpus cluster;
    TAKT_TOOLS_ASSIGN_OR_RETURN(cluster.cpus,
                                ParseCpus(each.at("cpus").get<std::string>()));
    cluster.kind = each.value("efficiency_kind", int64_t{0});
    cluster.threads_per_core = each.value("threads_per_core", int64_t{1});
    clusters.push_back(std::move(cluster));
  }
  return clusters;
}

// Leaves the first CPU of each core.
Result<std::vector<int64_t>> OnePerCore(const ClusterOfCpus& cluster,
                                        const std::string& folder) {
  std::vector<int64_t> chosen;
  std::set<int64_t> taken;  // Those that share a core with a chosen one.
  for (size_t i = 0; i < cluster.cpus.size(); ++i) {
    const int64_t cpu = cluster.cpus[i];
    if (folder.empty()) {
      if (i % static_cast<size_t>(cluster.threads_per_core) == 0) {
        chosen.push_back(cpu);
      }
      continue;
    }
    if (taken.contains(cpu)) continue;
    chosen.push_back(cpu);
    const Result<std::string> text =
        ReadFile(folder + "/cpu/cpu" + std::to_string(cpu) +
                 "/topology/thread_siblings_list");
    if (!text.ok()) continue;  // A kernel that does not say has no siblings.
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<int64_t> siblings,
                                ParseCpus(*text));
    taken.insert(siblings.begin(), siblings.end());
  }
  return chosen;
}

// The kind of core that a performance level means; -1 for any.
int64_t KindOf(const std::string& level,
               const std::vector<ClusterOfCpus>& clusters) {
  if (level == "any") return -1;
  const auto [fast, slow] = std::minmax_element(
      clusters.begin(), clusters.end(),
      [](const auto& a, const auto& b) { return a.kind < b.kind; });
  const bool is_high = level == "high" || level == "performance";
  return is_high ? fast->kind : slow->kind;
}

// At most `count_max` CPUs of all clusters.
std::vector<int64_t> Distribute(const std::vector<ClusterOfCpus>& clusters,
                                bool scatter, int64_t count_max) {
  std::vector<int64_t> order;
  if (scatter) {
    size_t longest = 0;
    for (const auto& each : clusters) {
      longest = std::max(longest, each.cpus.size());
    }
    for (size_t i = 0; i < longest; ++i) {
      for (const auto& each : clusters) {
        if (i < each.cpus.size()) order.push_back(each.cpus[i]);
      }
    }
  } else {
    for (const auto& each : clusters) {
      order.insert(order.end(), each.cpus.begin(), each.cpus.end());
    }
  }
  if (count_max > 0 && order.size() > static_cast<size_t>(count_max)) {
    order.resize(static_cast<size_t>(count_max));
  }
  return order;
}

}  // namespace

bool WorkerPlacement::NeedsTopology() const {
  return !mode.empty() || performance_level != "any" || !favor.empty() ||
         distribution != "scatter";
}

Result<std::string> ChooseWorkerCpus(const WorkerPlacement& placement,
                                     const takt_topology_t* topology,
                                     const std::string& folder) {
  const bool all_nodes = placement.nodes == "all" || placement.nodes == "numa";
  std::vector<int64_t> of_nodes;
  if (!all_nodes) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(of_nodes, CpusOfNodes(placement.nodes, folder));
  }
  if (!placement.NeedsTopology()) return FormatCpus(of_nodes);
  std::string level = placement.performance_level;
  bool scatter = placement.distribution == "scatter";
  if (placement.favor == "latency") level = "high", scatter = false;
  if (placement.favor == "throughput") level = "any", scatter = true;
  if (placement.favor == "efficiency") level = "low", scatter = false;
  TAKT_TOOLS_ASSIGN_OR_RETURN(std::vector<ClusterOfCpus> clusters,
                              ReadClusters(topology));
  const int64_t kind = KindOf(level, clusters);
  std::erase_if(clusters, [&](const ClusterOfCpus& cluster) {
    return kind >= 0 && cluster.kind != kind;
  });
  for (ClusterOfCpus& cluster : clusters) {
    std::erase_if(cluster.cpus, [&](int64_t cpu) {
      return !all_nodes &&
             std::find(of_nodes.begin(), of_nodes.end(), cpu) == of_nodes.end();
    });
    if (placement.mode == "physical_cores") {
      TAKT_TOOLS_ASSIGN_OR_RETURN(cluster.cpus, OnePerCore(cluster, folder));
    }
  }
  const std::vector<int64_t> chosen =
      Distribute(clusters, scatter, placement.count_max);
  if (chosen.empty()) {
    return Status(TAKT_STATUS_NOT_FOUND,
                  "no CPU of these nodes has the performance level " + level);
  }
  return FormatCpus(chosen);
}

Result<std::string> DescribeTopology(const takt_topology_t* topology) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Json json, ReadTopology(topology));
  std::string text = json.value("name", "") + "\n";
  for (const Json& each : json.at("clusters")) {
    text += "  " + each.at("name").get<std::string>() + ": CPUs " +
            each.at("cpus").get<std::string>() + ", kind " +
            std::to_string(each.value("efficiency_kind", 0));
    const int mhz = each.value("max_frequency_mhz", 0);
    if (mhz > 0) text += ", " + std::to_string(mhz) + " MHz";
    text += "\n";
  }
  return text;
}

}  // namespace takt::tools
