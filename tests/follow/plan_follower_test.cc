// Goal: plans are carried out exactly, or adapted when the machine departs from
// them. Method: the scheduler follows plans of real workloads in virtual time,
// with noise and a lost core.
#include "follow/plan_follower.h"

#include <set>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/follow/plan_play.h"

namespace takt::follow {
namespace {

using plan::Plan;
using testing::HasSubstr;

Result PlayMode(const Workload& workload, const Plan* plan, FollowMode mode,
                uint64_t seed, bool falls_back = false) {
  FollowerOptions follower;
  follower.mode = mode;
  follower.falls_back = falls_back;
  return follow::Play(workload, plan, seed, std::move(follower));
}

TEST(PlanFollowerTest, StrictStartsEachOperationAsPlanned) {
  const Workload workload = ReadRobot();
  const Plan plan = PlanOf(workload);
  const Result result = PlayMode(workload, &plan, FollowMode::kStrict, 1);
  EXPECT_EQ(result.follow.start_error_max_ns, 0);
  EXPECT_EQ(result.follow.violation_count, 0u);
  // Ten repetitions of all.
  EXPECT_EQ(result.follow.started_count, 10 * plan.operations.size());
  EXPECT_EQ(result.follow.in_place_count, result.follow.started_count);
  for (const auto& [job, is_met] : result.met) EXPECT_TRUE(is_met);
}

TEST(PlanFollowerTest, AdaptiveUsesSlack) {
  Workload workload = ReadRobot();
  const Plan plan = PlanOf(workload);
  // Every operation takes half of its planned time.
  workload.Scale(0.5);
  const Result strict = PlayMode(workload, &plan, FollowMode::kStrict, 1);
  const Result adaptive = PlayMode(workload, &plan, FollowMode::kAdaptive, 1);
  EXPECT_EQ(strict.follow.start_error_max_ns, 0);
  EXPECT_LT(adaptive.report.streams[0].mean_ns(),
            strict.report.streams[0].mean_ns());
  EXPECT_EQ(adaptive.follow.divergence_count, 0u);
  for (const auto& [job, is_met] : adaptive.met) EXPECT_TRUE(is_met);
}

// Two cores and calls that are all released once, together.
constexpr char kTogether[] = R"({
  "topology": {"clusters": [{"name": "cores", "cpus": "0-1"}]},
  "kernels": [
    {"name": "layer", "alternatives": [
      {"pool": "cores", "duration_us": 1600, "tile_us": 50},
      {"pool": "cores", "shards": 2, "duration_us": 800, "tile_us": 50}]},
    {"name": "head", "alternatives": [
      {"pool": "cores", "duration_us": 300, "tile_us": 25},
      {"pool": "cores", "shards": 2, "duration_us": 170, "tile_us": 25}]},
    {"name": "product", "alternatives": [
      {"pool": "cores", "duration_us": 1200, "tile_us": 90},
      {"pool": "cores", "shards": 2, "duration_us": 1000, "tile_us": 90}]},
    {"name": "act", "alternatives": [
      {"pool": "cores", "duration_us": 12, "tile_us": 5}]}],
  "programs": [
    {"name": "detect", "operations": [
      {"kernel": "head", "count": 3}, {"kernel": "layer", "count": 6}]},
    {"name": "project", "operations": [{"kernel": "product"}]},
    {"name": "control", "operations": [{"kernel": "act", "count": 3}]}],
  "streams": [
    {"name": "camera", "program": "detect", "arrival": "once"},
    {"name": "arm", "program": "project", "arrival": "once", "count": 2},
    {"name": "policy", "program": "control", "arrival": "once", "count": 4}]})";

// Compares means of many runs: with a plan, a seed gives other durations.
TEST(PlanFollowerTest, AdaptiveWithNoiseIsAboutAsFastAsTheOnlinePolicy) {
  auto workload = plan::ReadWorkload(kTogether, plan::WorkloadSources{});
  ASSERT_TRUE(workload.ok()) << workload.status();
  const Plan plan = PlanOf(*workload);
  for (const double noise : {0.0, 0.05, 0.1, 0.2, 0.3, 0.5}) {
    workload->noise = noise;
    double planned_ns = 0;
    double online_ns = 0;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const auto makespan_ns = [](const Result& result) {
        return static_cast<double>(result.report.makespan_ns);
      };
      planned_ns +=
          makespan_ns(PlayMode(*workload, &plan, FollowMode::kAdaptive, seed));
      online_ns += makespan_ns(follow::Play(*workload, nullptr, seed));
    }
    EXPECT_LE(planned_ns, online_ns * 1.02) << "noise " << noise;
  }
}

TEST(PlanFollowerTest, AdaptiveLeavesOutSmallOperations) {
  auto workload = plan::ReadWorkload(kTogether, plan::WorkloadSources{});
  ASSERT_TRUE(workload.ok()) << workload.status();
  const Plan plan = PlanOf(*workload);
  FollowerOptions follower;
  follower.mode = FollowMode::kAdaptive;
  follower.small_ns = 20'000;
  const Result result = follow::Play(*workload, &plan, 1, follower);
  // But for three of each of four calls.
  EXPECT_EQ(result.follow.started_count, plan.operations.size() - 12);
  EXPECT_EQ(result.met.size(), 7u);
  // A strict plan has all of them.
  follower.mode = FollowMode::kStrict;
  EXPECT_EQ(follow::Play(*workload, &plan, 1, follower).follow.started_count,
            plan.operations.size());
}

// The scheduler sees the first and the last operation of a dynamic job. The
// second has run unseen, and nothing waits for it.
TEST(PlanFollowerTest, AdaptiveDoesNotWaitForUnseenOperations) {
  auto workload = plan::ReadWorkload(R"({
  "topology": {"clusters": [{"name": "cores", "cpus": "0"}]},
  "kernels": [{"name": "k", "alternatives": [
      {"pool": "cores", "duration_us": 100}]}],
  "programs": [{"name": "p", "operations": [{"kernel": "k", "count": 3}]}],
  "streams": [{"name": "s", "program": "p", "arrival": "once"}]})",
                                     plan::WorkloadSources{});
  ASSERT_TRUE(workload.ok()) << workload.status();
  const Plan plan = PlanOf(*workload);
  FollowerOptions options;
  options.mode = FollowMode::kAdaptive;
  const auto follower = PlanFollower::Create(plan, workload->machine,
                                             {{"s", 0}}, std::move(options));
  ASSERT_TRUE(follower.ok()) << follower.status();
  (*follower)->Start(0);
  const sched::JobId job{0, 1};
  (*follower)->NotifyReleased({job, 0, 0, kInfiniteFuture});
  sched::AdvisedOperation first{job};
  const sched::ResourceSet core = sched::ResourceSet::Range(0, 1);
  EXPECT_EQ((*follower)->Prescribe(first, 0).resources, core);
  (*follower)->OnStarted(first, core, 0);
  (*follower)->OnStopped(first, true, 100'000);
  sched::AdvisedOperation last = first;
  last.program_index = 2;
  last.unseen_count = 1;
  const sched::Prescription now = (*follower)->Prescribe(last, 110'000);
  EXPECT_EQ(now.resources, core);
  EXPECT_LE(now.not_before_ns, 110'000);
  (*follower)->OnStarted(last, core, 110'000);
  EXPECT_FALSE((*follower)->is_over());
  (*follower)->OnStopped(last, true, 210'000);
  EXPECT_TRUE((*follower)->is_over());
}

TEST(PlanFollowerTest, NothingWaitsForAJobThatIsOver) {
  auto workload = plan::ReadWorkload(kTogether, plan::WorkloadSources{});
  ASSERT_TRUE(workload.ok()) << workload.status();
  const Plan plan = PlanOf(*workload);
  for (const FollowMode mode : {FollowMode::kAdaptive, FollowMode::kStrict}) {
    FollowerOptions options;
    options.mode = mode;
    const auto follower = PlanFollower::Create(
        plan, workload->machine, {{"camera", 0}, {"arm", 1}, {"policy", 2}},
        std::move(options));
    ASSERT_TRUE(follower.ok()) << follower.status();
    (*follower)->Start(0);
    for (uint32_t j = 0; j < plan.jobs.size(); ++j) {
      const uint32_t stream = j == 0 ? 0 : j < 3 ? 1 : 2;
      EXPECT_FALSE((*follower)->is_over());
      (*follower)->NotifyReleased({{j, 1}, stream, 0, kInfiniteFuture});
      (*follower)->NotifyOver({j, 1});
    }
    // A strict plan reports in time that they are missing.
    EXPECT_EQ((*follower)->is_over(), mode == FollowMode::kAdaptive);
  }
}

TEST(PlanFollowerTest, StrictReportsEachViolationOnce) {
  Workload workload = ReadRobot();
  const Plan plan = PlanOf(workload);
  for (const bool falls_back : {false, true}) {
    for (const double noise : {0.1, 0.3, 0.5}) {
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        workload.noise = noise;
        workload.faults = {{kLengthNs / 2, kInfiniteFuture, /*resource=*/1}};
        const Result result =
            PlayMode(workload, &plan, FollowMode::kStrict, seed, falls_back);
        EXPECT_GT(result.violations.size(), 0u);
        EXPECT_EQ(result.violations.size(), result.follow.violation_count);
        std::set<std::tuple<PlanEvent::Kind, uint32_t, uint64_t>> told;
        bool has_lost = false;
        for (const PlanEvent& violation : result.violations) {
          EXPECT_TRUE(told.insert({violation.kind, violation.operation,
                                   violation.cycle})
                          .second)
              << PlanEventName(violation.kind) << " of operation "
              << violation.operation << " in " << violation.cycle << ", seed "
              << seed;
          has_lost |= violation.kind == PlanEvent::Kind::kLost;
        }
        const bool uses_core = std::any_of(
            plan.operations.begin(), plan.operations.end(), [](const auto& o) {
              return std::count(o.resources.begin(), o.resources.end(), 1u);
            });
        EXPECT_EQ(has_lost, uses_core);
        // All jobs end in any case.
        for (const sim::StreamReport& stream : result.report.streams) {
          EXPECT_EQ(stream.released, stream.met + stream.missed);
        }
      }
    }
  }
}

TEST(PlanFollowerTest, AdaptiveMeetsTheDeadlinesThatTheOnlinePolicyMeets) {
  Workload workload = ReadRobot();
  const Plan plan = PlanOf(workload);
  int met_count = 0;
  for (const double noise : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      workload.noise = noise;
      workload.faults = {
          {kLengthNs / 2, kInfiniteFuture, static_cast<uint32_t>(seed % 5)}};
      const Result online =
          PlayMode(workload, nullptr, FollowMode::kAdaptive, seed);
      const Result adaptive =
          PlayMode(workload, &plan, FollowMode::kAdaptive, seed);
      SCOPED_TRACE(seed);
      met_count += ExpectMeetsWhatIsMet(workload, online, adaptive);
    }
  }
  EXPECT_GT(met_count, 3000);
}

TEST(PlanFollowerTest, BestEffortFillsHolesOnly) {
  Workload workload = ReadRobot();
  const Plan plan = PlanOf(workload);
  plan::WorkloadStream log;
  log.name = "log";
  log.terms.program = 3;
  log.terms.criticality = sched::Criticality::kBestEffort;
  log.arrival = plan::Arrival::kClosed;
  workload.streams.push_back(log);
  const Result result = PlayMode(workload, &plan, FollowMode::kStrict, 1);
  EXPECT_EQ(result.follow.start_error_max_ns, 0);
  for (const PlanEvent& violation : result.violations) {
    ADD_FAILURE() << PlanEventName(violation.kind) << ": "
                  << plan.operations[violation.operation].name << " in "
                  << violation.cycle << " by " << violation.by_ns
                  << ", planned at "
                  << plan.operations[violation.operation].start;
  }
  EXPECT_GT(result.report.streams[3].met, 100u);
}

TEST(PlanFollowerTest, RejectsPlansOfOtherMachines) {
  const Workload workload = ReadRobot();
  const Plan plan = PlanOf(workload);
  const auto reason = [&](const Plan& wrong, bool has_streams) {
    HashMap<std::string, sched::StreamId> streams;
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

// Calls the follower directly: one operation never becomes ready.
TEST(PlanFollowerTest, DoesNotWaitForMissingOperations) {
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
  std::vector<PlanEvent> violations;
  FollowerOptions options;
  options.patience_ns = 10'000;
  options.on_violation = [&](const PlanEvent& violation) {
    violations.push_back(violation);
  };
  auto follower =
      PlanFollower::Create(plan, machine, {{"x", 0}, {"y", 1}}, options);
  ASSERT_TRUE(follower.ok()) << follower.status();
  (*follower)->Start(5'000);
  sched::AdvisedOperation y;
  y.job = {1, 1};
  y.stream = 1;
  y.release_ns = 5'000;
  EXPECT_EQ((*follower)->Prescribe(y, 5'000).not_before_ns, 25'000);
  const sched::Prescription prescription = (*follower)->Prescribe(y, 25'000);
  EXPECT_LE(prescription.not_before_ns, 25'000);
  EXPECT_TRUE(prescription.resources.Contains(0));
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].kind, PlanEvent::Kind::kMissing);
  EXPECT_EQ(violations[0].operation, 0u);
  (*follower)->OnStarted(y, sched::ResourceSet::Range(0, 1), 25'000);
  EXPECT_EQ(violations.size(), 2u);  // Late.
  EXPECT_EQ(violations[1].by_ns, 19'000);
  (*follower)->OnStopped(y, true, 25'900);
  EXPECT_EQ(violations.size(), 2u);
}

}  // namespace
}  // namespace takt::follow
