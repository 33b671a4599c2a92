// The JSON form of a workload.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/content_hash.h"
#include "base/status.h"
#include "plan/workload_keys.h"
#include "plan/workload_reader.h"

namespace takt::plan {

using Json = nlohmann::json;

absl::Status WorkloadReader::CheckMembers(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(ForEachElement(place, "modules", CheckModuleKeys));
  TAKT_RETURN_IF_ERROR(ForEachElement(place, "functions", CheckFunctionKeys));
  TAKT_RETURN_IF_ERROR(ForEachElement(place, "kernels", CheckWholeKernelKeys));
  TAKT_RETURN_IF_ERROR(
      ForEachElement(place, "programs", CheckWholeProgramKeys));
  TAKT_RETURN_IF_ERROR(ForEachElement(place, "streams", CheckStreamKeys));
  TAKT_RETURN_IF_ERROR(ForEachElement(place, "faults", CheckFaultKeys));
  TAKT_RETURN_IF_ERROR(ForEachElement(place, "speeds", CheckSpeedKeys));
  TAKT_RETURN_IF_ERROR(ForEachElement(place, "thermal", CheckThermalKeys));
  return ForEachElement(place, "budgets", CheckBudgetKeys);
}

absl::StatusOr<Workload> WorkloadReader::Read(const Json& root,
                                              const Json* profile,
                                              const sched::Machine* machine) {
  const JsonPlace place(root, "workload");
  TAKT_RETURN_IF_ERROR(place.CheckKeys({"$schema",     "name",
                                        "description", "topology",
                                        "noise",       "npu_cores",
                                        "modules",     "functions",
                                        "kernels",     "programs",
                                        "streams",     "objectives",
                                        "power_mw",    "planned_quantile",
                                        "handover_us", "faults",
                                        "speeds",      "thermal",
                                        "budgets",     "memory_gbps"}));
  TAKT_ASSIGN_OR_RETURN(workload_.name, place.Text("name", "workload"));
  TAKT_RETURN_IF_ERROR(ReadMachine(place, profile, machine));
  TAKT_ASSIGN_OR_RETURN(workload_.noise, ReadReal(place, "noise", 0, 2, 0));
  TAKT_ASSIGN_OR_RETURN(workload_.memory_gbps,
                        ReadReal(place, "memory_gbps", 0, 1e6, 0));
  TAKT_RETURN_IF_ERROR(ReadNpuCores(place));
  TAKT_RETURN_IF_ERROR(ReadAims(place));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "modules", [&](const JsonPlace& p) { return ReadModule(p); }));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "functions", [&](const JsonPlace& p) { return ReadFunction(p); }));
  if (profile != nullptr) {
    TAKT_RETURN_IF_ERROR(ReadProfile(JsonPlace(*profile, "profile")));
  }
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "kernels", [&](const JsonPlace& p) { return ReadKernel(p); }));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "programs", [&](const JsonPlace& p) { return ReadProgram(p); }));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "streams", [&](const JsonPlace& p) { return ReadStream(p); }));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "faults", [&](const JsonPlace& p) { return ReadFault(p); }));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "speeds", [&](const JsonPlace& p) { return ReadSpeed(p); }));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "thermal", [&](const JsonPlace& p) { return ReadThermal(p); }));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "budgets", [&](const JsonPlace& p) { return ReadBudget(p); }));
  if (workload_.streams.empty())
    return place.ErrorAt("streams", "there is none");
  return std::move(workload_);
}

absl::Status WorkloadReader::ReadAims(const JsonPlace& place) {
  if (const Json* list = place.Find("objectives"); list != nullptr) {
    workload_.objectives.clear();
    const char* const kNames[] = {"misses", "makespan", "energy", "response"};
    if (!list->is_array() || list->size() > std::size(kNames)) {
      return place.ErrorAt("objectives", "expected a list of up to four");
    }
    for (const Json& item : *list) {
      const auto* found = std::find_if(
          std::begin(kNames), std::end(kNames), [&](const char* name) {
            return item.is_string() &&
                   item.get_ref<const std::string&>() == name;
          });
      if (found == std::end(kNames)) {
        return place.ErrorAt(
            "objectives", absl::StrCat("expected misses, makespan, energy or "
                                       "response, got ",
                                       item.dump()));
      }
      workload_.objectives.push_back(
          static_cast<Objective>(found - std::begin(kNames)));
    }
  }
  TAKT_ASSIGN_OR_RETURN(
      const uint32_t quantile,
      ReadChoice(place, "planned_quantile", {"q90", "q50", "q99"}));
  const sched::Quantile quantiles[] = {
      sched::Quantile::k90, sched::Quantile::k50, sched::Quantile::k99};
  workload_.planned_quantile = quantiles[quantile];
  TAKT_ASSIGN_OR_RETURN(workload_.handover_ns, ReadTime(place, "handover", 0));
  return ReadPower(place);
}

absl::StatusOr<Workload> ReadWorkload(absl::string_view json,
                                      const WorkloadSources& sources) {
  TAKT_ASSIGN_OR_RETURN(const Json root, ParseJson(json, "workload"));
  if (sources.profile.empty()) {
    return WorkloadReader().Read(root, nullptr, sources.machine);
  }
  TAKT_ASSIGN_OR_RETURN(const Json profile,
                        ParseJson(sources.profile, "profile"));
  TAKT_ASSIGN_OR_RETURN(Workload workload,
                        WorkloadReader().Read(root, &profile, sources.machine));
  workload.profile_hash = ContentHashText(ContentHash(sources.profile));
  return workload;
}

absl::StatusOr<Workload> ReadWorkload(absl::string_view json,
                                      const sched::Machine& machine) {
  return ReadWorkload(json, WorkloadSources{&machine, ""});
}

}  // namespace takt::plan
