// The machine of a workload, and what happens to it.
#include <cmath>

#include "base/narrow.h"
#include "base/status.h"
#include "plan/workload_keys.h"
#include "plan/workload_reader.h"
#include "topology/topology.h"

namespace takt::plan {

using Json = nlohmann::json;

absl::StatusOr<uint32_t> WorkloadReader::PoolNamed(const JsonPlace& place,
                                                   const char* key) {
  TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text(key, ""));
  const int32_t pool = workload_.machine.FindPool(name);
  if (pool >= 0) return Narrow<uint32_t>(pool);
  return place.ErrorAt(key,
                       absl::StrCat("the machine has no pool \"", name, "\""));
}

absl::Status WorkloadReader::ReadTopology(const JsonPlace& place) {
  const auto topology = topology::Topology::FromJson(place.json().dump());
  if (!topology.ok()) return place.Error(topology.status().message());
  const auto machine = MachineOf(*topology);
  if (!machine.ok()) return place.Error(machine.status().message());
  workload_.machine = *machine;
  workload_.topology_hash = TopologyHash(*topology);
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadMachine(const JsonPlace& place,
                                         const Json* profile,
                                         const sched::Machine* machine) {
  if (machine != nullptr) {
    workload_.machine = *machine;
    return absl::OkStatus();
  }
  if (const Json* own = place.Find("topology"); own != nullptr) {
    return ReadTopology(place.Member("topology", *own));
  }
  if (profile != nullptr && profile->is_object() &&
      profile->contains("topology")) {
    return ReadTopology(JsonPlace((*profile)["topology"], "profile.topology"));
  }
  TAKT_RETURN_IF_ERROR(CheckMembers(place));
  return place.Error("no \"topology\", here or in a profile");
}

absl::Status WorkloadReader::ReadPower(const JsonPlace& place) {
  workload_.power_mw.assign(workload_.machine.pools.size(), 0.0);
  const Json* member = place.Find("power_mw");
  if (member == nullptr) return absl::OkStatus();
  const JsonPlace power = place.Member("power_mw", *member);
  if (!member->is_object()) return power.Error("expected an object");
  for (const auto& [name, value] : member->items()) {
    const int32_t pool = workload_.machine.FindPool(name);
    if (pool < 0) {
      return power.Error(
          absl::StrCat("the machine has no pool \"", name, "\""));
    }
    TAKT_ASSIGN_OR_RETURN(workload_.power_mw[Narrow<size_t>(pool)],
                          ReadReal(power, name.c_str(), 0, 1e9, 0));
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadNpuCores(const JsonPlace& place) {
  const Json* member = place.Find("npu_cores");
  if (member == nullptr) return absl::OkStatus();
  const JsonPlace cores = place.Member("npu_cores", *member);
  if (!member->is_object()) return cores.Error("expected an object");
  for (const auto& [name, value] : member->items()) {
    const int32_t index = workload_.machine.FindPool(name);
    if (index < 0) {
      return cores.Error(absl::StrCat("there is no NPU ", name));
    }
    TAKT_ASSIGN_OR_RETURN(
        const double count,
        ReadReal(cores, name.c_str(), 0, sched::ResourceSet::kMaxResources, 0));
    workload_.machine.pools[Narrow<size_t>(index)].feeder_count =
        Narrow<uint32_t>(count);
  }
  const absl::Status status = workload_.machine.Validate();
  if (!status.ok()) return cores.Error(status.message());
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadFault(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckFaultKeys(place));
  ResourceFault fault;
  TAKT_ASSIGN_OR_RETURN(fault.at_ns, ReadTime(place, "at", 0));
  TAKT_ASSIGN_OR_RETURN(fault.length_ns,
                        ReadTime(place, "length", kInfiniteFuture));
  TAKT_ASSIGN_OR_RETURN(const uint32_t pool, PoolNamed(place, "pool"));
  TAKT_ASSIGN_OR_RETURN(
      const double index,
      ReadReal(place, "index", 0, workload_.machine.pools[pool].count - 1, 0));
  fault.resource = workload_.machine.FirstOf(pool) + Narrow<uint32_t>(index);
  workload_.faults.push_back(fault);
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadSpeed(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckSpeedKeys(place));
  SpeedStep step;
  TAKT_ASSIGN_OR_RETURN(step.at_ns, ReadTime(place, "at", 0));
  TAKT_ASSIGN_OR_RETURN(step.pool, PoolNamed(place, "pool"));
  TAKT_ASSIGN_OR_RETURN(const double speed,
                        ReadReal(place, "speed", 0.01, 100, 1));
  step.permille = Narrow<uint32_t>(std::lround(speed * 1000));
  workload_.speed_steps.push_back(step);
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadThermal(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckThermalKeys(place));
  ThermalModel model;
  TAKT_ASSIGN_OR_RETURN(model.pool, PoolNamed(place, "pool"));
  TAKT_ASSIGN_OR_RETURN(model.ambient_c,
                        ReadReal(place, "ambient_c", -100, 200, 40));
  TAKT_ASSIGN_OR_RETURN(model.heating_c,
                        ReadReal(place, "heating_c", 0, 500, 60));
  TAKT_ASSIGN_OR_RETURN(model.time_constant_ns,
                        ReadTime(place, "time_constant", 10'000'000'000));
  if (model.time_constant_ns <= 0) {
    return place.Error("\"time_constant_s\" must be above 0");
  }
  TAKT_ASSIGN_OR_RETURN(model.trip_c, ReadReal(place, "trip_c", -100, 500, 85));
  TAKT_ASSIGN_OR_RETURN(model.hysteresis_c,
                        ReadReal(place, "hysteresis_c", 0, 100, 5));
  TAKT_ASSIGN_OR_RETURN(const double speed,
                        ReadReal(place, "speed", 0.01, 1, 0.6));
  model.permille = Narrow<uint32_t>(std::lround(speed * 1000));
  workload_.thermal_models.push_back(model);
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadBudget(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckBudgetKeys(place));
  PoolBudget budget;
  TAKT_ASSIGN_OR_RETURN(budget.pool, PoolNamed(place, "pool"));
  TAKT_ASSIGN_OR_RETURN(budget.budget_ns, ReadTime(place, "budget", 0));
  TAKT_ASSIGN_OR_RETURN(budget.period_ns, ReadTime(place, "period", 0));
  if (budget.budget_ns <= 0 || budget.budget_ns > budget.period_ns) {
    return place.Error(
        "\"budget_ms\" must be above 0, and at most \"period_ms\"");
  }
  for (const PoolBudget& other : workload_.budgets) {
    if (other.pool == budget.pool) {
      return place.ErrorAt("pool", "has a budget already");
    }
  }
  workload_.budgets.push_back(budget);
  return absl::OkStatus();
}

}  // namespace takt::plan
