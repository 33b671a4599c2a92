#include "sim/plan_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash_map.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "sim/report_json.h"

namespace takt::sim {
namespace {

int64_t LongestOf(const Workload& workload, uint32_t kernel, uint32_t pool) {
  int64_t longest_ns = 0;
  for (const auto& way : workload.kernels[kernel].alternatives) {
    if (way.pool != pool) continue;
    longest_ns =
        std::max(longest_ns, way.sample_count > 0 ? way.q99_ns : way.guess_ns);
  }
  return longest_ns;
}

}  // namespace

absl::StatusOr<PlayedPlan> PlayPlan(const Workload& workload,
                                    const plan::Plan& plan,
                                    follow::FollowerOptions follower,
                                    SimulationOptions options) {
  PlayedPlan run;
  follower.on_violation = [&run](const follow::PlanEvent& violation) {
    run.violations.push_back(violation);
  };
  if (!follower.longest_ns) {
    follower.longest_ns = [&workload](uint32_t kernel, uint32_t pool) {
      return LongestOf(workload, kernel, pool);
    };
  }
  HashMap<std::string, sched::StreamId> streams;
  for (uint32_t i = 0; i < workload.streams.size(); ++i) {
    streams[workload.streams[i].name] = i;
  }
  TAKT_ASSIGN_OR_RETURN(
      const std::unique_ptr<follow::PlanFollower> advisor,
      follow::PlanFollower::Create(plan, workload.machine, streams,
                                   std::move(follower)));
  advisor->Start(0);
  options.scheduler.advisor = advisor.get();
  TAKT_ASSIGN_OR_RETURN(run.report, Simulate(workload, options));
  run.follow = advisor->report();
  return run;
}

std::string PlayedPlanJson(const Workload& workload,
                           const SimulationOptions& options,
                           const PlayedPlan& run) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(
      ReportJson(workload, options, run.report), nullptr, false);
  json["plan"] = {{"started", run.follow.started_count},
                  {"in_place", run.follow.in_place_count},
                  {"violations", run.follow.violation_count},
                  {"divergences", run.follow.divergence_count},
                  {"repairs", run.follow.repair_count},
                  {"resolves", run.follow.resolve_count},
                  {"refused", run.follow.refused_count},
                  {"start_error_max_ns", run.follow.start_error_max_ns},
                  {"lateness_max_ns", run.follow.lateness_max_ns}};
  return json.dump(2) + "\n";
}

std::string PlayedPlanTable(const Workload& workload,
                            const SimulationOptions& options,
                            const PlayedPlan& run) {
  return absl::StrCat(
      ReportTable(workload, options, run.report),
      "plan: ", run.follow.started_count, " operations started, ",
      run.follow.in_place_count, " in place, latest by ",
      static_cast<double>(run.follow.lateness_max_ns) / 1e3, " us; ",
      run.follow.violation_count, " violations, ", run.follow.divergence_count,
      " divergences, ", run.follow.resolve_count, " planned anew\n");
}

}  // namespace takt::sim
