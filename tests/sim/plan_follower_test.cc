// Goal: plans are carried out as they say, or bent when the machine does not
// keep to them. Method: plans of real workloads, followed by the scheduler in
// virtual time, with noise and a core that is lost.
#include "plan/plan_follower.h"

#include <map>
#include <set>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/workload_plan.h"
#include "sim/plan_run.h"

namespace takt::sim {
namespace {

using plan::FollowerOptions;
using plan::FollowMode;
using plan::Plan;
using plan::PlanFollower;
using plan::Violation;
using testing::HasSubstr;

// Two clusters and an NPU that a core of the first feeds.
constexpr char kRobot[] = R"({
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

Workload Read() {
  const auto workload = ReadWorkload(kRobot, plan::WorkloadSources{});
  EXPECT_TRUE(workload.ok()) << workload.status();
  return *workload;
}

Plan PlanOf(const Workload& workload) {
  plan::SolverOptions options;
  options.step_limit = 3'000;
  options.time_limit_ns = 60'000'000'000;
  auto found = plan::PlanWorkload(workload, options);
  EXPECT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->quality.late_count, 0u);
  return std::move(found->plan);
}

// Jobs by stream and number: whether they were in time.
class Outcomes : public Observer {
 public:
  void OnRelease(int64_t, const sched::Decision& decision,
                 int64_t) override {
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

struct Result : PlanRun {
  std::map<std::pair<uint32_t, uint64_t>, bool> met;
};

constexpr int64_t kLengthNs = 200'000'000;

Result Play(const Workload& workload, const Plan* plan, FollowMode mode,
            uint64_t seed, bool falls_back = false) {
  Outcomes outcomes;
  SimulationOptions options;
  options.seed = seed;
  options.length_ns = kLengthNs;
  options.drains = true;
  options.observer = &outcomes;
  Result result;
  if (plan == nullptr) {
    auto report = Simulate(workload, options);
    EXPECT_TRUE(report.ok()) << report.status();
    result.report = *std::move(report);
  } else {
    FollowerOptions follower;
    follower.mode = mode;
    follower.falls_back = falls_back;
    auto run = PlayPlan(workload, *plan, follower, options);
    EXPECT_TRUE(run.ok()) << run.status();
    static_cast<PlanRun&>(result) = *std::move(run);
  }
  result.met = outcomes.met;
  return result;
}

TEST(PlanFollowerTest, StrictStartsAllExactlyAsPlanned) {
  const Workload workload = Read();
  const Plan plan = PlanOf(workload);
  const Result result = Play(workload, &plan, FollowMode::kStrict, 1);
  EXPECT_EQ(result.follow.start_error_max_ns, 0);
  EXPECT_EQ(result.follow.violation_count, 0u);
  // Ten repetitions of all.
  EXPECT_EQ(result.follow.started_count, 10 * plan.operations.size());
  EXPECT_EQ(result.follow.in_place_count, result.follow.started_count);
  for (const auto& [job, is_met] : result.met) EXPECT_TRUE(is_met);
}

TEST(PlanFollowerTest, AdaptiveUsesTheSlackUp) {
  Workload workload = Read();
  const Plan plan = PlanOf(workload);
  // All takes half as long as it was planned with.
  workload.Scale(0.5);
  const Result strict = Play(workload, &plan, FollowMode::kStrict, 1);
  const Result adaptive = Play(workload, &plan, FollowMode::kAdaptive, 1);
  EXPECT_EQ(strict.follow.start_error_max_ns, 0);
  EXPECT_LT(adaptive.report.streams[0].mean_ns(),
            strict.report.streams[0].mean_ns());
  EXPECT_EQ(adaptive.follow.divergence_count, 0u);
  for (const auto& [job, is_met] : adaptive.met) EXPECT_TRUE(is_met);
}

TEST(PlanFollowerTest, StrictTellsEachViolationOnce) {
  Workload workload = Read();
  const Plan plan = PlanOf(workload);
  for (const bool falls_back : {false, true}) {
    for (const double noise : {0.1, 0.3, 0.5}) {
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        workload.noise = noise;
        workload.faults = {{kLengthNs / 2, kInfiniteFuture, /*resource=*/1}};
        const Result result =
            Play(workload, &plan, FollowMode::kStrict, seed, falls_back);
        EXPECT_GT(result.violations.size(), 0u);
        EXPECT_EQ(result.violations.size(), result.follow.violation_count);
        std::set<std::tuple<Violation::Kind, uint32_t, uint64_t>> told;
        bool has_lost = false;
        for (const Violation& violation : result.violations) {
          EXPECT_TRUE(told.insert({violation.kind, violation.operation,
                                   violation.cycle})
                          .second)
              << ViolationName(violation.kind) << " of operation "
              << violation.operation << " in " << violation.cycle << ", seed "
              << seed;
          has_lost |= violation.kind == Violation::Kind::kLost;
        }
        const bool uses_core = std::any_of(
            plan.operations.begin(), plan.operations.end(), [](const auto& o) {
              return std::count(o.resources.begin(), o.resources.end(), 1u);
            });
        EXPECT_EQ(has_lost, uses_core);
        // All jobs end, whatever happens.
        for (const StreamReport& stream : result.report.streams) {
          EXPECT_EQ(stream.released, stream.met + stream.missed);
        }
      }
    }
  }
}

TEST(PlanFollowerTest, AdaptiveMeetsWhatTheOnlinePolicyMeets) {
  Workload workload = Read();
  const Plan plan = PlanOf(workload);
  int met_count = 0;
  for (const double noise : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      workload.noise = noise;
      workload.faults = {
          {kLengthNs / 2, kInfiniteFuture, static_cast<uint32_t>(seed % 5)}};
      const Result online =
          Play(workload, nullptr, FollowMode::kAdaptive, seed);
      const Result adaptive =
          Play(workload, &plan, FollowMode::kAdaptive, seed);
      for (const auto& [job, is_met] : online.met) {
        if (!is_met) continue;
        ++met_count;
        EXPECT_TRUE(adaptive.met.at(job))
            << workload.streams[job.first].name << "#" << job.second
            << ", noise " << noise << ", seed " << seed;
      }
    }
  }
  EXPECT_GT(met_count, 3000);
}

TEST(PlanFollowerTest, BestEffortFillsHolesOnly) {
  Workload workload = Read();
  const Plan plan = PlanOf(workload);
  Stream log;
  log.name = "log";
  log.terms.program = 3;
  log.terms.criticality = sched::Criticality::kBestEffort;
  log.arrival = Arrival::kClosed;
  workload.streams.push_back(log);
  const Result result = Play(workload, &plan, FollowMode::kStrict, 1);
  EXPECT_EQ(result.follow.start_error_max_ns, 0);
  for (const Violation& violation : result.violations) {
    ADD_FAILURE() << ViolationName(violation.kind) << ": "
                  << plan.operations[violation.operation].name << " in "
                  << violation.cycle << " by " << violation.by_ns
                  << ", planned at "
                  << plan.operations[violation.operation].start;
  }
  EXPECT_GT(result.report.streams[3].met, 100u);
}

TEST(PlanFollowerTest, RefusesPlansOfOtherMachines) {
  const Workload workload = Read();
  const Plan plan = PlanOf(workload);
  const auto reason = [&](const Plan& wrong, bool has_streams) {
    absl::flat_hash_map<std::string, sched::StreamId> streams;
    if (has_streams) streams = {{"camera", 0}, {"policy", 1}, {"estimator", 2}};
    return std::string(
        PlanFollower::Create(wrong, workload.machine, streams, {})
            .status()
            .message());
  };
  EXPECT_EQ(reason(plan, true), "");
  EXPECT_THAT(reason(plan, false), HasSubstr("there is no stream"));
  Plan wrong = plan;
  wrong.resources.pop_back();
  EXPECT_THAT(reason(wrong, true), Not(HasSubstr("there is no stream")));
  wrong = plan;
  wrong.operations[0].start += 1'000'000'000;
  EXPECT_THAT(reason(wrong, true), HasSubstr("precedence"));
  wrong = plan;
  wrong.jobs[1].instance = 7;
  EXPECT_THAT(reason(wrong, true), HasSubstr("of its stream"));
}

// Straight calls: what never becomes ready is not waited for.
TEST(PlanFollowerTest, WhatIsMissingIsNotWaitedFor) {
  sched::Machine machine;
  machine.pools = {{"a", sched::ResourceKind::kCore, 1, -1, 0}};
  Plan plan;
  plan.modules = {{"m", ""}};
  plan.resources = {{"a#0", plan::PlannedResource::Kind::kCore, 0}};
  plan.jobs = {{"x#0", 0, plan::kNoDeadline, {}, "x", 0},
               {"y#0", 0, plan::kNoDeadline, {}, "y", 0}};
  plan.operations.resize(2);
  plan.operations[0] = {"x0", 0, 0, "k", 0, 0, 1000, {0}, {}, {}};
  plan.operations[1] = {"y0", 1, 0, "k", 0, 1000, 1000, {0}, {}, {}};
  std::vector<Violation> violations;
  FollowerOptions options;
  options.patience_ns = 10'000;
  options.on_violation = [&](const Violation& violation) {
    violations.push_back(violation);
  };
  auto follower =
      PlanFollower::Create(plan, machine, {{"x", 0}, {"y", 1}}, options);
  ASSERT_TRUE(follower.ok()) << follower.status();
  (*follower)->Start(5'000);
  sched::GuidedOperation y;
  y.job = {1, 1};
  y.stream = 1;
  y.release_ns = 5'000;
  EXPECT_EQ((*follower)->Prescribe(y, 5'000).not_before_ns, 25'000);
  const sched::Prescription prescription = (*follower)->Prescribe(y, 25'000);
  EXPECT_LE(prescription.not_before_ns, 25'000);
  EXPECT_TRUE(prescription.resources.Contains(0));
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].kind, Violation::Kind::kMissing);
  EXPECT_EQ(violations[0].operation, 0u);
  (*follower)->OnStarted(y, sched::ResourceSet::Range(0, 1), 25'000);
  EXPECT_EQ(violations.size(), 2u);  // Late.
  EXPECT_EQ(violations[1].by_ns, 19'000);
  (*follower)->OnStopped(y, true, 25'900);
  EXPECT_EQ(violations.size(), 2u);
}

}  // namespace
}  // namespace takt::sim
