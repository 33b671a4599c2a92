// takt-plan's commands on workloads: solve, analyse, annotate.
#ifndef TAKT_TOOLS_PLAN_WORKLOAD_H_
#define TAKT_TOOLS_PLAN_WORKLOAD_H_

#include <functional>
#include <memory>
#include <string>

#include "takt/workload.h"
#include "tools/common/main.h"

namespace takt::tools {

struct WorkloadDeleter {
  void operator()(takt_workload_t* workload) const {
    takt_workload_release(workload);
  }
};
using Workload = std::unique_ptr<takt_workload_t, WorkloadDeleter>;

// Whether the file is one of workloads, by its name.
bool IsWorkloadFile(const std::string& path);

// The text of a profile that `takt-plan profile` made; "" without a path.
//
// Errors: as ReadFile(); INVALID_ARGUMENT for a profile of the scheduler.
Result<std::string> ReadPlanProfile(const std::string& path);

// Reads a workload; `profile_path` "": without a profile. `topology` may be
// NULL: the workload's own, or the profile's.
Result<Workload> LoadWorkload(const std::string& path,
                              const std::string& profile_path,
                              const takt_topology_t* topology);

// Each prints, or writes to `output`, and returns the exit code: 1 for a plan
// that is late, or a stream that is not bound to be in time. `on_solved` is
// called once the search is over, before anything is printed.
Result<int> SolveWorkload(const std::string& path,
                          const std::string& profile_path,
                          const takt_plan_solve_options_t& options,
                          const std::string& output, bool is_json,
                          const std::function<void()>& on_solved);
Result<int> AnalyseWorkload(const std::string& path,
                            const std::string& profile_path, bool is_json);
// A plan's choices as attributes of functions, by stream.
Result<int> AnnotatePlan(const std::string& path, bool is_json);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PLAN_WORKLOAD_H_
