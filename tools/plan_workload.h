// takt-plan's commands on workloads: solve, analyse, annotate.
#ifndef TAKT_TOOLS_PLAN_WORKLOAD_H_
#define TAKT_TOOLS_PLAN_WORKLOAD_H_

#include <functional>
#include <string>

#include "takt/tools/workload.hpp"
#include "tools/common/main.h"

namespace takt::tools {

// Whether the file is a workload, by its name.
bool IsWorkloadFile(const std::string& path);

// The text of a profile that `takt-plan profile` made; "" without a path.
//
// Errors: as ReadFile(); INVALID_ARGUMENT for a profile of the scheduler.
Result<std::string> ReadPlanProfile(const std::string& path);

// Reads a workload. `profile_path` "": without a profile. `topology` nullptr:
// the topology of the workload, or of the profile.
Result<Workload> LoadWorkload(const std::string& path,
                              const std::string& profile_path,
                              const takt_topology_t* topology);

// Each prints, or writes to `output`, and returns the exit code: 1 for a plan
// with a late job, or a stream whose response time has no bound within its
// deadline. `on_solved` is called after the search, before anything is printed.
struct SolveFiles {
  std::string workload;
  std::string profile;  // "": none; the same for `start` and `output`.
  std::string start;    // A plan.
  std::string output;
  bool is_json = false;
};
Result<int> SolveWorkload(const SolveFiles& files,
                          takt_plan_solve_options_t options,
                          const std::function<void()>& on_solved);
Result<int> AnalyseWorkload(const std::string& path,
                            const std::string& profile_path, bool is_json);
// Prints the plan's choices as attributes of functions, by stream.
Result<int> AnnotatePlan(const std::string& path, bool is_json);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PLAN_WORKLOAD_H_
