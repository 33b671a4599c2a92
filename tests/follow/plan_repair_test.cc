// Goal: the rest of a plan that was given up is planned anew, and the new plan
// is followed where it makes no job late. Method: plans in virtual time, with
// noise and a lost core, and planners that are late or never done.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/follow/plan_play.h"

namespace takt::follow {
namespace {

using plan::Plan;

FollowerOptions Repairing() {
  FollowerOptions options;
  options.mode = FollowMode::kAdaptive;
  options.repair.budget_ns = 1'000'000;
  options.repair.step_limit = 200;
  return options;
}

Workload WithLostCore(uint32_t core) {
  Workload workload = ReadRobot();
  workload.faults = {{kLengthNs / 2, kInfiniteFuture, core}};
  return workload;
}

TEST(PlanRepairTest, PlansTheRestWithoutALostCore) {
  const Plan plan = PlanOf(ReadRobot());
  const Workload workload = WithLostCore(1);
  FollowerOptions without = Repairing();
  without.repair.budget_ns = 0;
  const Result online = Play(workload, &plan, 1, without);
  const Result repaired = Play(workload, &plan, 1, Repairing());
  EXPECT_EQ(online.follow.resolve_count, 0u);
  // One for each remaining 20 ms, and for the rest of the first.
  EXPECT_GE(repaired.follow.resolve_count, 5u);
  EXPECT_EQ(repaired.follow.refused_count, 0u);
  // Most operations that the online policy placed are planned.
  EXPECT_GT(repaired.follow.started_count,
            online.follow.started_count * 19 / 10);
  EXPECT_GT(repaired.follow.in_place_count,
            repaired.follow.started_count * 9 / 10);
  for (const auto& [job, is_met] : repaired.met) EXPECT_TRUE(is_met);
}

TEST(PlanRepairTest, MeetsTheDeadlinesThatTheOnlinePolicyMeets) {
  const Plan plan = PlanOf(ReadRobot());
  int met_count = 0;
  uint64_t resolve_count = 0;
  for (const double noise : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      Workload workload = WithLostCore(static_cast<uint32_t>(seed % 9));
      workload.noise = noise;
      SCOPED_TRACE(seed);
      const Result repaired = Play(workload, &plan, seed, Repairing());
      met_count += ExpectMeetsWhatIsMet(workload, Play(workload, nullptr, seed),
                                        repaired);
      resolve_count += repaired.follow.resolve_count;
    }
  }
  EXPECT_GT(met_count, 6000);
  EXPECT_GT(resolve_count, 150u);
}

// The online policy decides while there is no new plan.
TEST(PlanRepairTest, RefusesAPlanThatIsNeverReady) {
  const Plan plan = PlanOf(ReadRobot());
  const Workload workload = WithLostCore(1);
  std::vector<std::function<void()>> kept;
  FollowerOptions options = Repairing();
  options.repair.background = [&](std::function<void()> solve) {
    kept.push_back(std::move(solve));
  };
  const Result result = Play(workload, &plan, 1, options);
  EXPECT_EQ(result.follow.resolve_count, 0u);
  EXPECT_GE(result.follow.refused_count, 5u);
  EXPECT_GE(kept.size(), result.follow.refused_count);
  ExpectMeetsWhatIsMet(workload, Play(workload, nullptr, 1), result);
  // Planning ends after the run.
  for (const auto& solve : kept) solve();
}

// Calls the follower directly: a plan comes into force after its budget.
TEST(PlanRepairTest, FollowsAPlanThatIsReadyInTime) {
  sched::Machine machine;
  machine.pools = {{"a", sched::ResourceKind::kCore, 2, -1, 0}};
  Plan plan;
  plan.modules = {{"m", ""}};
  plan.resources = {{"a#0", plan::PlannedResource::Kind::kCore, 0},
                    {"a#1", plan::PlannedResource::Kind::kCore, 0}};
  plan.jobs = {{"x#0", 0, plan::kNoDeadline, {}, "x", 0}};
  plan.operations.resize(1);
  plan.operations[0] = {"x0", 0, 0, "k", 0, 9'000'000, 1000, {0}, {}, {}};
  std::function<void()> solve;
  FollowerOptions options = Repairing();
  options.repair.background = [&](std::function<void()> given) {
    solve = std::move(given);
  };
  auto made = follow::PlanFollower::Create(plan, machine, {{"x", 0}}, options);
  ASSERT_TRUE(made.ok()) << made.status();
  follow::PlanFollower& follower = **made;
  follower.Start(0);
  EXPECT_EQ(follower.next_event_ns(), kInfiniteFuture);
  follower.OnAvailable(0, false, 10'000);
  EXPECT_TRUE(follower.is_diverged());
  EXPECT_EQ(follower.next_event_ns(), 10'000);
  EXPECT_FALSE(follower.OnTime(10'000));
  ASSERT_TRUE(solve);
  EXPECT_EQ(follower.next_event_ns(), 1'010'000);
  solve();
  EXPECT_FALSE(follower.is_repaired());
  EXPECT_TRUE(follower.OnTime(1'010'000));
  EXPECT_TRUE(follower.is_repaired());
  EXPECT_EQ(follower.report().resolve_count, 1u);
  sched::AdvisedOperation operation;
  operation.job = {0, 1};
  const sched::Prescription prescription =
      follower.Prescribe(operation, 1'010'000);
  EXPECT_EQ(prescription.resources, sched::ResourceSet::Range(1, 1));
  follower.OnStarted(operation, prescription.resources, 1'010'000);
  follower.OnStopped(operation, true, 1'011'000);
  EXPECT_TRUE(follower.is_over());
  EXPECT_EQ(follower.report().in_place_count, 1u);
}

// With one core left, most jobs would be late.
TEST(PlanRepairTest, DoesNotFollowAPlanWithLateJobs) {
  Workload workload = ReadRobot();
  const Plan plan = PlanOf(workload);
  for (uint32_t core = 0; core < 7; ++core) {
    workload.faults.push_back({kLengthNs / 2, kInfiniteFuture, core});
  }
  workload.faults.push_back({kLengthNs / 2, kInfiniteFuture, 8});  // The NPU.
  workload.streams[0].terms.deadline_ns = 10'000'000;
  const Result online = Play(workload, nullptr, 1);
  const Result result = Play(workload, &plan, 1, Repairing());
  EXPECT_EQ(result.follow.resolve_count, 0u);
  EXPECT_GT(result.follow.refused_count, 0u);
  ExpectMeetsWhatIsMet(workload, online, result);
}

TEST(PlanRepairTest, PlansOneHorizonAtATime) {
  const Plan plan = PlanOf(ReadRobot());
  const Workload workload = WithLostCore(1);
  FollowerOptions options = Repairing();
  options.repair_horizon_ns = 5'000'000;
  const Result whole = Play(workload, &plan, 1, Repairing());
  const Result result = Play(workload, &plan, 1, options);
  EXPECT_GT(result.follow.resolve_count, 2 * whole.follow.resolve_count);
  ExpectMeetsWhatIsMet(workload, Play(workload, nullptr, 1), result);
}

TEST(PlanRepairTest, TheSameSeedGivesTheSameRun) {
  const Plan plan = PlanOf(ReadRobot());
  Workload workload = WithLostCore(2);
  workload.noise = 0.3;
  const Result a = Play(workload, &plan, 5, Repairing());
  const Result b = Play(workload, &plan, 5, Repairing());
  EXPECT_EQ(a.follow.resolve_count, b.follow.resolve_count);
  for (size_t i = 0; i < a.report.streams.size(); ++i) {
    EXPECT_EQ(a.report.streams[i].responses_ns,
              b.report.streams[i].responses_ns);
  }
}

// Strict plans are kept in any case.
TEST(PlanRepairTest, DoesNotRepairStrictPlans) {
  const Plan plan = PlanOf(ReadRobot());
  FollowerOptions options = Repairing();
  options.mode = FollowMode::kStrict;
  const Result result = Play(WithLostCore(1), &plan, 1, options);
  EXPECT_GT(result.follow.violation_count, 0u);
  EXPECT_EQ(result.follow.resolve_count + result.follow.refused_count, 0u);
}

// The plan does not need that core.
TEST(PlanRepairTest, KeepsThePlanIfAnUnusedCoreIsLost) {
  const Plan plan = PlanOf(ReadRobot());
  uint32_t unused = 0;
  const auto uses = [&](const plan::PlannedOperation& operation) {
    return std::count(operation.resources.begin(), operation.resources.end(),
                      unused) > 0;
  };
  while (std::any_of(plan.operations.begin(), plan.operations.end(), uses)) {
    ++unused;
  }
  ASSERT_LT(unused, 8u);
  const Result result = Play(WithLostCore(unused), &plan, 1, Repairing());
  EXPECT_EQ(result.follow.divergence_count, 0u);
  EXPECT_EQ(result.follow.in_place_count, 10 * plan.operations.size());
}

// The plan is in step again in the period after the core was found.
TEST(PlanRepairTest, UsesACoreAgainThatIsFound) {
  const Plan plan = PlanOf(ReadRobot());
  Workload workload = ReadRobot();
  workload.faults = {{50'000'000, 75'000'000, /*resource=*/1}};
  const Result result = Play(workload, &plan, 1, Repairing());
  EXPECT_GT(result.follow.resolve_count, 3u);
  EXPECT_GT(result.follow.in_place_count, 9 * plan.operations.size());
  for (const auto& [job, is_met] : result.met) EXPECT_TRUE(is_met);
}

}  // namespace
}  // namespace takt::follow
