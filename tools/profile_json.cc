#include "tools/profile_json.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

namespace takt::tools {
namespace {

using Json = nlohmann::ordered_json;

// How many times the median the 99 % quantile is on a noisy machine. On an idle
// machine the ratio stays below 2.
constexpr double kNoisyRatio = 3;

int64_t Quantile(const std::vector<int64_t>& sorted, int percent) {
  const size_t rank = (sorted.size() * static_cast<size_t>(percent) + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

double Us(int64_t time_ns) {
  return static_cast<double>(std::max<int64_t>(time_ns, 1)) / 1e3;
}

Json QuantilesJson(std::vector<int64_t> samples_ns) {
  std::sort(samples_ns.begin(), samples_ns.end());
  return {{"q50_us", Us(Quantile(samples_ns, 50))},
          {"q90_us", Us(Quantile(samples_ns, 90))},
          {"q99_us", Us(Quantile(samples_ns, 99))},
          {"samples", samples_ns.size()}};
}

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The present state of the machine, as far as sysfs has it.
Json ConditionsJson(const std::vector<MeasuredCluster>& clusters) {
  Json conditions = {{"cpus", Json::array()},
                     {"temperatures_c", Json::array()}};
  for (const MeasuredCluster& cluster : clusters) {
    for (const uint32_t cpu : cluster.cpus) {
      const std::string folder =
          "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/";
      Json one = {{"cpu", cpu}};
      const std::string frequency = ReadLine(folder + "scaling_cur_freq");
      if (!frequency.empty()) one["frequency_khz"] = frequency;
      const std::string governor = ReadLine(folder + "scaling_governor");
      if (!governor.empty()) one["governor"] = governor;
      conditions["cpus"].push_back(std::move(one));
    }
  }
  for (int zone = 0; zone < 64; ++zone) {
    const std::string text = ReadLine("/sys/class/thermal/thermal_zone" +
                                      std::to_string(zone) + "/temp");
    if (text.empty()) break;
    conditions["temperatures_c"].push_back(std::atof(text.c_str()) / 1000);
  }
  return conditions;
}

Json KernelJson(const ProfileData& data, const std::string& name,
                const Kernel& kernel) {
  Json json = {{"name", name},
               {"module_name", kernel.module},
               {"function", kernel.function},
               {"grid", kernel.grid},
               {"alternatives", Json::array()}};
  const uint64_t workgroups =
      uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
  for (size_t a = 0; a < data.alternatives().size(); ++a) {
    const Samples& samples = kernel.samples[a];
    if (samples.empty()) continue;
    Json row = {{"pool", data.alternatives()[a].pool},
                {"shards", data.alternatives()[a].shards},
                {"measured", true}};
    row.update(QuantilesJson(samples));
    // An NPU runs the dispatch as a whole.
    const bool is_npu = data.alternatives()[a].npu != kNoNpu;
    // Workgroups are what others are looked for between; a tile is one, on
    // one core, as long as the slowest runs of all of them make it.
    Samples one_core;
    if (!is_npu) one_core = kernel.samples[data.OneCoreOf(a)];
    std::sort(one_core.begin(), one_core.end());
    if (!one_core.empty() && workgroups > 0) {
      row["tile_us"] =
          Us(Quantile(one_core, 99) / static_cast<int64_t>(workgroups));
    }
    json["alternatives"].push_back(std::move(row));
  }
  return json;
}

Json FunctionJson(const ProfileData& data, const takt_workload_t* workload,
                  const std::vector<Module>& modules, size_t index) {
  const takt_workload_function_t given =
      takt_workload_function(workload, index);
  const Module& module = modules[given.module];
  const std::string name = given.name;
  const size_t at = takt_module_find_export(
      module.get(), name.substr(name.find('.') + 1).c_str());
  Json attributes = Json::object();
  for (size_t i = 0; i < takt_module_export_attribute_count(module.get(), at);
       ++i) {
    const std::string key =
        takt_module_export_attribute_key(module.get(), at, i);
    if (!key.starts_with("takt.")) continue;
    attributes[key] = takt_module_export_attribute_value(module.get(), at, i);
  }
  Json calls = Json::array();
  for (size_t a = 0; a < data.alternatives().size(); ++a) {
    if (data.calls()[index][a].empty()) continue;
    Json row = {{"pool", data.alternatives()[a].pool},
                {"shards", data.alternatives()[a].shards}};
    row.update(QuantilesJson(data.calls()[index][a]));
    calls.push_back(std::move(row));
  }
  return {{"name", name}, {"attributes", attributes}, {"calls", calls}};
}

}  // namespace

Json ProfileJson(const ProfileData& data, const takt_workload_t* workload,
                 const MeasuredMachine& machine,
                 const std::vector<Module>& modules) {
  Json json = {{"format", "takt-profile"},
               {"version", 1},
               {"topology", machine.json},
               {"conditions", ConditionsJson(machine.clusters)},
               {"modules", Json::array()},
               {"functions", Json::array()},
               {"kernels", Json::array()},
               {"programs", Json::array()}};
  for (const Module& module : modules) {
    char hash[32];
    std::snprintf(hash, sizeof(hash), "%016llx",
                  static_cast<unsigned long long>(
                      takt_module_content_hash(module.get())));
    json["modules"].push_back(
        {{"name", module.name()}, {"content_hash", hash}});
  }
  for (size_t i = 0; i < data.programs().size(); ++i) {
    json["functions"].push_back(FunctionJson(data, workload, modules, i));
  }
  for (const auto& [name, kernel] : data.kernels()) {
    json["kernels"].push_back(KernelJson(data, name, kernel));
  }
  for (const Program& program : data.programs()) {
    Json operations = Json::array();
    for (size_t o = 0; o < program.kernels.size(); ++o) {
      operations.push_back(
          {{"kernel", program.kernels[o]}, {"after", program.after[o]}});
    }
    json["programs"].push_back(
        {{"name", program.name}, {"operations", operations}});
  }
  return json;
}

void PrintProfile(const Json& profile) {
  size_t count = 0;
  size_t noisy_count = 0;
  double worst = 0;
  std::string worst_name;
  std::printf("%-32s %-12s %6s %12s %12s\n", "function", "pool", "cores",
              "median us", "99 % us");
  for (const Json& function : profile["functions"]) {
    const std::string name = function["name"];
    for (const Json& call : function["calls"]) {
      const auto median = call["q50_us"].get<double>();
      const auto slow = call["q99_us"].get<double>();
      std::printf("%-32s %-12s %6s %12.3f %12.3f\n", name.c_str(),
                  call["pool"].get<std::string>().c_str(),
                  call["shards"].dump().c_str(), median, slow);
      ++count;
      const double ratio = median > 0 ? slow / median : 0;
      if (ratio > kNoisyRatio) ++noisy_count;
      if (ratio > worst) {
        worst = ratio;
        worst_name = name;
      }
    }
  }
  std::printf("%zu functions, %zu kernels\n", profile["functions"].size(),
              profile["kernels"].size());
  std::fflush(stdout);
  if (noisy_count == 0) return;
  std::fprintf(stderr,
               "takt-plan: warning: the machine was noisy: in %zu of %zu rows "
               "the 99 %% quantile is more than %g times the median (%s: %.1f "
               "times); plans of this profile will be too careful\n",
               noisy_count, count, kNoisyRatio, worst_name.c_str(), worst);
}

}  // namespace takt::tools
