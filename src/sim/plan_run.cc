#include "sim/plan_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "sim/report_json.h"

namespace takt::sim {
namespace {

// Tells the follower of lost resources, and whoever looks on of all.
class Watch final : public Observer {
 public:
  Watch(plan::PlanFollower* follower, Observer* other)
      : follower_(*follower), other_(other != nullptr ? *other : nobody_) {}

  void OnRelease(int64_t now_ns, const sched::Decision& decision,
                 int64_t release_ns) override {
    other_.OnRelease(now_ns, decision, release_ns);
  }
  void OnDecision(int64_t now_ns, const sched::Decision& decision) override {
    other_.OnDecision(now_ns, decision);
  }
  void OnStop(int64_t now_ns, const sched::Decision& decision,
              uint32_t done_ppm) override {
    other_.OnStop(now_ns, decision, done_ppm);
  }
  void OnAvailable(int64_t now_ns, uint32_t resource, bool available) override {
    follower_.SetAvailable(resource, available, now_ns);
    other_.OnAvailable(now_ns, resource, available);
  }
  void OnSpeed(int64_t now_ns, uint32_t pool, uint32_t permille) override {
    other_.OnSpeed(now_ns, pool, permille);
  }

 private:
  Observer nobody_;
  plan::PlanFollower& follower_;
  Observer& other_;
};

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

absl::StatusOr<PlanRun> PlayPlan(const Workload& workload,
                                 const plan::Plan& plan,
                                 plan::FollowerOptions follower,
                                 SimulationOptions options) {
  PlanRun run;
  follower.on_violation = [&run](const plan::Violation& violation) {
    run.violations.push_back(violation);
  };
  if (!follower.longest_ns) {
    follower.longest_ns = [&workload](uint32_t kernel, uint32_t pool) {
      return LongestOf(workload, kernel, pool);
    };
  }
  absl::flat_hash_map<std::string, sched::StreamId> streams;
  for (uint32_t i = 0; i < workload.streams.size(); ++i) {
    streams[workload.streams[i].name] = i;
  }
  TAKT_ASSIGN_OR_RETURN(
      const std::unique_ptr<plan::PlanFollower> guide,
      plan::PlanFollower::Create(plan, workload.machine, streams,
                                 std::move(follower)));
  guide->Start(0);
  Watch watch(guide.get(), options.observer);
  options.observer = &watch;
  options.scheduler.guide = guide.get();
  TAKT_ASSIGN_OR_RETURN(run.report, Simulate(workload, options));
  run.follow = guide->report();
  return run;
}

std::string PlanRunJson(const Workload& workload,
                        const SimulationOptions& options, const PlanRun& run) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(
      ReportJson(workload, options, run.report), nullptr, false);
  json["plan"] = {{"started", run.follow.started_count},
                  {"in_place", run.follow.in_place_count},
                  {"violations", run.follow.violation_count},
                  {"divergences", run.follow.divergence_count},
                  {"start_error_max_ns", run.follow.start_error_max_ns},
                  {"lateness_max_ns", run.follow.lateness_max_ns}};
  return json.dump(2) + "\n";
}

std::string PlanRunTable(const Workload& workload,
                         const SimulationOptions& options, const PlanRun& run) {
  return absl::StrCat(ReportTable(workload, options, run.report),
                      "plan: ", run.follow.started_count,
                      " operations started, ", run.follow.in_place_count,
                      " in place, latest by ",
                      static_cast<double>(run.follow.lateness_max_ns) / 1e3,
                      " us; ", run.follow.violation_count, " violations, ",
                      run.follow.divergence_count, " divergences\n");
}

}  // namespace takt::sim
