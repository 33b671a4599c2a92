// Writes what takt-plan profile has collected: as JSON, in the form that
// docs/planning.md describes, and as a table.
#ifndef TAKT_TOOLS_PROFILE_JSON_H_
#define TAKT_TOOLS_PROFILE_JSON_H_

#include <nlohmann/json.hpp>
#include <vector>

#include "takt/module.hpp"
#include "takt/tools/workload.h"
#include "tools/plan_machine.h"
#include "tools/profile_data.h"

namespace takt::tools {

// The profile of a workload. `modules` are those of the workload, loaded.
nlohmann::ordered_json ProfileJson(const ProfileData& data,
                                   const takt_workload_t* workload,
                                   const MeasuredMachine& machine,
                                   const std::vector<Module>& modules);

// Prints the durations of the functions' calls to stdout, and a warning to
// stderr if other programs kept the machine busy during the measurement.
void PrintProfile(const nlohmann::ordered_json& profile);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PROFILE_JSON_H_
