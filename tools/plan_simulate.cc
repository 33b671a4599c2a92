#include "tools/plan_simulate.h"

#include <cstdio>

#include "plan/plan_file.h"
#include "sim/plan_run.h"
#include "sim/report_json.h"
#include "tools/common/file.h"
#include "tools/plan_workload.h"

namespace takt::tools {
namespace {

// Limits of planning the rest of an adaptive plan anew: the time that plan runs
// allow, and about the number of steps that the solver makes in that time.
constexpr int64_t kRepairBudgetNs = 5'000'000;
constexpr uint64_t kRepairSteps = 500;

Status Convert(const absl::Status& status) {
  return Status(static_cast<takt_status_code_t>(status.raw_code()),
                std::string(status.message()));
}

Result<int> Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kSuccess;
}

}  // namespace

Result<int> SimulatePlan(const SimulateSettings& settings) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text,
                              ReadFile(settings.workload));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string profile,
                              ReadPlanProfile(settings.profile));
  auto workload =
      sim::ReadWorkload(text, plan::WorkloadSources{nullptr, profile});
  if (!workload.ok()) {
    return Annotate(Convert(workload.status()), settings.workload);
  }
  workload->noise = settings.noise;
  sim::SimulationOptions options;
  options.seed = settings.seed;
  options.length_ns = static_cast<int64_t>(settings.seconds * 1e9);
  options.drains = true;
  if (settings.plan.empty()) {
    const auto report = sim::Simulate(*workload, options);
    if (!report.ok()) return Convert(report.status());
    return Print(settings.is_json
                     ? sim::ReportJson(*workload, options, *report)
                     : sim::ReportTable(*workload, options, *report));
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(settings.plan));
  const auto plan = plan::DecodePlan(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!plan.ok()) return Annotate(Convert(plan.status()), settings.plan);
  follow::FollowerOptions follower;
  follower.mode = settings.is_adaptive ? follow::FollowMode::kAdaptive
                                       : follow::FollowMode::kStrict;
  follower.repair.budget_ns = kRepairBudgetNs;
  follower.repair.step_limit = kRepairSteps;
  const auto run = sim::PlayPlan(*workload, *plan, follower, options);
  if (!run.ok()) return Annotate(Convert(run.status()), settings.plan);
  return Print(settings.is_json
                   ? sim::PlayedPlanJson(*workload, options, *run)
                   : sim::PlayedPlanTable(*workload, options, *run));
}

}  // namespace takt::tools
