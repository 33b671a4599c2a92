#include "sim/xrbench.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::sim {
namespace {

using Json = nlohmann::json;

// Speed-up of 2 and 4 cores of a SpacemiT K1, ResNet-50, as its vendor
// measured it.
constexpr double kSpeedUpOfTwo = 1.8;
constexpr double kSpeedUpOfFour = 2.95;

absl::Status Error(const std::string& place, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("xrbench: ", place, ": ", reason));
}

double SpeedUp(uint32_t shards) {
  return shards == 1 ? 1 : shards == 2 ? kSpeedUpOfTwo : kSpeedUpOfFour;
}

class Reader {
 public:
  Reader(const Json& root, const sched::Machine& machine,
         const XrBenchRates& rates)
      : root_(root), machine_(machine), rates_(rates) {}

  absl::StatusOr<std::vector<Workload>> Read() {
    if (!root_.is_object() || !root_.contains("scenarios") ||
        !root_["scenarios"].is_object() || !root_.contains("networks") ||
        !root_["networks"].is_object()) {
      return Error("document", "expected scenarios and networks");
    }
    std::vector<Workload> workloads;
    for (const auto& [name, models] : root_["scenarios"].items()) {
      Workload workload;
      workload.name = name;
      workload.machine = machine_;
      if (!models.is_array()) return Error(name, "expected a list of models");
      for (const Json& model : models) {
        TAKT_RETURN_IF_ERROR(AddModel(model, name, &workload));
      }
      if (workload.streams.empty()) return Error(name, "has no models");
      workloads.push_back(std::move(workload));
    }
    return workloads;
  }

 private:
  absl::Status AddModel(const Json& model, const std::string& scenario,
                        Workload* workload) {
    const std::string place =
        absl::StrCat(scenario, "[", workload->streams.size(), "]");
    if (!model.is_object() || !model.contains("name") ||
        !model["name"].is_string() || !model.contains("fps") ||
        !model["fps"].is_number()) {
      return Error(place, "expected a name and frames a second");
    }
    const double fps = model["fps"].get<double>();
    if (!(fps >= 0.001 && fps <= 1e6)) {
      return Error(place, "frames a second from 0.001 to 1000000");
    }
    WorkloadStream stream;
    stream.name = model["name"].get<std::string>();
    stream.terms.period_ns = std::llround(1e9 / fps);
    stream.terms.deadline_ns = stream.terms.period_ns;
    stream.terms.late = sched::LatePolicy::kDrop;
    stream.probability = 1;
    if (model.contains("probability") && model["probability"].is_number()) {
      stream.probability =
          std::clamp(model["probability"].get<double>(), 0.0, 1.0);
    }
    if (model.contains("depends_on") && model["depends_on"].is_array() &&
        !model["depends_on"].empty()) {
      const Json& before = model["depends_on"][0];
      const auto found = std::find_if(
          workload->streams.begin(), workload->streams.end(),
          [&](const WorkloadStream& other) { return before == other.name; });
      if (found == workload->streams.end()) {
        return Error(place, "depends on a model that does not stand above");
      }
      stream.arrival = Arrival::kAfter;
      stream.after = Narrow<uint32_t>(found - workload->streams.begin());
    }
    stream.terms.program = Narrow<uint32_t>(workload->programs.size());
    TAKT_RETURN_IF_ERROR(AddNetwork(stream.name, workload));
    workload->streams.push_back(std::move(stream));
    return absl::OkStatus();
  }

  absl::Status AddNetwork(const std::string& name, Workload* workload) {
    const auto network = root_["networks"].find(name);
    if (network == root_["networks"].end() || !network->is_array() ||
        network->empty() || network->size() > 100'000) {
      return Error(name, "there is no such network");
    }
    WorkloadProgram program{name, {}};
    for (const Json& layer : *network) {
      // [name, N, K, C, Y, X, R, S]
      if (!layer.is_array() || layer.size() != 8) {
        return Error(name, "a layer is a name and seven sizes");
      }
      double sizes[7];
      for (size_t i = 0; i < 7; ++i) {
        const Json& size = layer[i + 1];
        if (!size.is_number() || !(size.get<double>() >= 1) ||
            !(size.get<double>() <= 1e5)) {
          return Error(name, "sizes are numbers from 1 to 100000");
        }
        sizes[i] = size.get<double>();
      }
      sched::ProgramOperation operation;
      operation.kernel = Narrow<uint32_t>(workload->kernels.size());
      if (!program.operations.empty()) {
        operation.after = {Narrow<uint32_t>(program.operations.size() - 1)};
      }
      program.operations.push_back(operation);
      workload->kernels.push_back(MakeKernel(sizes));
    }
    workload->programs.push_back(std::move(program));
    return absl::OkStatus();
  }

  WorkloadKernel MakeKernel(const double (&sizes)[7]) const {
    const auto [n, k, c, y, x, r, s] = sizes;
    const double macs = n * k * c * y * x * r * s;
    const double bytes = k * c * r * s + n * c * y * x + n * k * y * x;
    const double memory_ns = bytes / rates_.bytes_per_ns;
    WorkloadKernel kernel;
    for (uint32_t pool = 0; pool < machine_.pools.size(); ++pool) {
      const bool is_npu =
          machine_.pools[pool].kind == sched::ResourceKind::kNpu;
      for (uint32_t shards = 1;
           shards <= std::min(machine_.pools[pool].count, is_npu ? 1u : 4u);
           shards *= 2) {
        const double rate = is_npu ? rates_.npu_macs_per_ns
                                   : rates_.core_macs_per_ns * SpeedUp(shards);
        const double launch_ns =
            is_npu ? rates_.npu_launch_ns : rates_.core_launch_ns;
        sched::AlternativeOptions alternative;
        alternative.pool = pool;
        alternative.shards = shards;
        alternative.guess_ns = std::llround(
            std::min(launch_ns + std::max(macs / rate, memory_ns), 1e15));
        if (!is_npu) {
          alternative.tile_ns = std::min<int64_t>(
              std::llround(rates_.core_tile_ns), alternative.guess_ns);
        }
        kernel.alternatives.push_back(alternative);
      }
    }
    return kernel;
  }

  const Json& root_;
  const sched::Machine& machine_;
  const XrBenchRates& rates_;
};

}  // namespace

absl::StatusOr<std::vector<Workload>> ReadXrBench(absl::string_view json,
                                                  const sched::Machine& machine,
                                                  const XrBenchRates& rates) {
  TAKT_ASSIGN_OR_RETURN(const Json root, ParseJson(json, "xrbench"));
  return Reader(root, machine, rates).Read();
}

double XrBenchScore(const Report& report) {
  double sum = 0;
  for (const StreamReport& stream : report.streams) {
    const uint64_t ended = stream.released - stream.unfinished;
    if (stream.delays_ns.empty() || ended == 0) continue;
    double in_time = 0;
    for (const int64_t delay_ns : stream.delays_ns) {
      in_time += 1 / (1 + std::exp(15 * static_cast<double>(delay_ns) / 1e6));
    }
    const double dropped =
        static_cast<double>(stream.dropped) / static_cast<double>(ended);
    sum +=
        in_time / static_cast<double>(stream.delays_ns.size()) * (1 - dropped);
  }
  return report.streams.empty()
             ? 0
             : 100 * sum / static_cast<double>(report.streams.size());
}

}  // namespace takt::sim
