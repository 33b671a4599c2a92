// A robot's workload, its plan, and runs of it in virtual time, for tests of
// plans that are followed.
#ifndef TAKT_TESTS_FOLLOW_PLAN_PLAY_H_
#define TAKT_TESTS_FOLLOW_PLAN_PLAY_H_

#include <map>
#include <utility>

#include "gtest/gtest.h"
#include "plan/workload_plan.h"
#include "sim/plan_run.h"

namespace takt::follow {

using plan::Workload;
using sim::PlayedPlan;
using sim::SimulationOptions;

// Two clusters and an NPU that a core of the first feeds.
inline constexpr char kRobot[] = R"({
  "topology": {"clusters": [{"name": "big", "cpus": "0-3"},
                            {"name": "little", "cpus": "4-7"}],
               "npus": [{"name": "npu0", "cluster": "big"}]},
  "kernels": [
    {"name": "conv", "alternatives": [
      {"pool": "big", "duration_us": 2400, "tile_us": 50},
      {"pool": "big", "shards": 2, "duration_us": 1300, "tile_us": 50},
      {"pool": "little", "duration_us": 4000, "tile_us": 50},
      {"pool": "npu0", "duration_us": 600}]},
    {"name": "act", "alternatives": [
      {"pool": "big", "duration_us": 120, "tile_us": 20},
      {"pool": "little", "duration_us": 200, "tile_us": 20}]},
    {"name": "filter", "alternatives": [
      {"pool": "big", "duration_us": 40, "tile_us": 10},
      {"pool": "little", "duration_us": 60, "tile_us": 10}]}],
  "programs": [
    {"name": "detect", "operations": [{"kernel": "conv", "count": 4},
      {"kernel": "act", "after": [3]}, {"kernel": "act", "after": [3]}]},
    {"name": "control", "operations": [{"kernel": "act", "count": 3}]},
    {"name": "update", "operations": [{"kernel": "filter", "count": 2}]},
    {"name": "log", "operations": [{"kernel": "act", "count": 2}]}],
  "streams": [
    {"name": "camera", "program": "detect", "period_ms": 20},
    {"name": "policy", "program": "control", "period_ms": 5,
     "criticality": "hard"},
    {"name": "estimator", "program": "update", "period_ms": 2,
     "offset_ms": 0.3, "criticality": "hard"}]})";

inline Workload ReadRobot() {
  const auto workload = plan::ReadWorkload(kRobot, plan::WorkloadSources{});
  EXPECT_TRUE(workload.ok()) << workload.status();
  return *workload;
}

inline plan::Plan PlanOf(const Workload& workload) {
  solve::SolverOptions options;
  options.step_limit = 3'000;
  options.time_limit_ns = 60'000'000'000;
  auto found = plan::PlanWorkload(workload, options);
  EXPECT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->quality.late_count, 0u);
  return std::move(found->plan);
}

// Records which jobs were in time, by stream and number.
class Outcomes : public sim::Observer {
 public:
  void OnRelease(int64_t, const sched::Decision& decision, int64_t) override {
    numbers_[decision.tag] = counts_[decision.stream]++;
  }
  void OnDecision(int64_t, const sched::Decision& decision) override {
    if (decision.kind != sched::DecisionKind::kJobDone) return;
    met[{decision.stream, numbers_[decision.tag]}] =
        decision.outcome == sched::JobOutcome::kMet;
  }

  std::map<std::pair<uint32_t, uint64_t>, bool> met;

 private:
  std::map<uint64_t, uint64_t> numbers_;
  std::map<uint32_t, uint64_t> counts_;
};

struct Result : PlayedPlan {
  std::map<std::pair<uint32_t, uint64_t>, bool> met;
};

inline constexpr int64_t kLengthNs = 200'000'000;

// Plays the workload by the plan; nullptr: by the policy alone.
inline Result Play(const Workload& workload, const plan::Plan* plan,
                   uint64_t seed, FollowerOptions follower = {}) {
  Outcomes outcomes;
  SimulationOptions options;
  options.seed = seed;
  options.length_ns = kLengthNs;
  options.drains = true;
  options.observer = &outcomes;
  Result result;
  if (plan == nullptr) {
    auto report = sim::Simulate(workload, options);
    EXPECT_TRUE(report.ok()) << report.status();
    result.report = *std::move(report);
  } else {
    auto run = sim::PlayPlan(workload, *plan, std::move(follower), options);
    EXPECT_TRUE(run.ok()) << run.status();
    static_cast<PlayedPlan&>(result) = *std::move(run);
  }
  result.met = outcomes.met;
  return result;
}

// Expects that `other` has every job in time that `online` has, and returns
// their number.
inline int ExpectMeetsWhatIsMet(const Workload& workload, const Result& online,
                                const Result& other) {
  int met_count = 0;
  for (const auto& [job, is_met] : online.met) {
    if (!is_met) continue;
    ++met_count;
    EXPECT_TRUE(other.met.at(job))
        << workload.streams[job.first].name << "#" << job.second << ", noise "
        << workload.noise;
  }
  return met_count;
}

}  // namespace takt::follow

#endif  // TAKT_TESTS_FOLLOW_PLAN_PLAY_H_
