#include "follow/plan_alignment.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::follow {
namespace {

using plan::FindPlanFaults;
using plan::kNoDeadline;
using plan::Plan;
using plan::PlannedResource;
using sched::ResourceKind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kCore = PlannedResource::Kind::kCore;
constexpr auto kNpu = PlannedResource::Kind::kNpu;

Plan TwoCoresAndNpu(const std::string& cores) {
  Plan plan;
  plan.name = "p";
  plan.modules = {{"m", ""}};
  plan.resources = {
      {cores + "#0", kCore, 0}, {cores + "#1", kCore, 0}, {"npu#0", kNpu, 1}};
  plan.jobs = {{"j", 0, kNoDeadline, {0, 1, 2}, "s", 0}};
  plan.operations.resize(2);
  plan.operations[0] = {"a", 0,  0,      "k", 0,
                        0,   10, {0, 1}, {},  {{kCore, 0, 2, 10, 0}}};
  plan.operations[1] = {"b", 0, 0,   "k", 1,
                        10,  5, {2}, {0}, {{kNpu, 1, 1, 5, 0}}};
  return plan;
}

TEST(PlanAlignmentTest, MatchesResourcesByName) {
  const sched::Machine machine{{{"little", ResourceKind::kCore, 2, -1, 0},
                                {"big", ResourceKind::kCore, 2, -1, 0},
                                {"npu", ResourceKind::kNpu, 1, -1, 0}}};
  const auto plan = AlignPlan(TwoCoresAndNpu("big"), machine);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->resources.size(), 5u);
  EXPECT_THAT(plan->operations[0].resources, ElementsAre(2, 3));
  EXPECT_THAT(plan->operations[1].resources, ElementsAre(4));
  EXPECT_THAT(plan->jobs[0].allowed, ElementsAre(2, 3, 4));
  EXPECT_EQ(plan->operations[0].alternatives[0].cluster, 1u);
  EXPECT_EQ(plan->operations[1].alternatives[0].cluster, 2u);
  EXPECT_TRUE(FindPlanFaults(*plan).empty());
}

TEST(PlanAlignmentTest, MatchesClustersToPoolsWithRoom) {
  const sched::Machine machine{{{"one", ResourceKind::kCore, 1, -1, 0},
                                {"cores", ResourceKind::kCore, 4, -1, 0},
                                {"engine", ResourceKind::kNpu, 1, -1, 0}}};
  const auto plan = AlignPlan(TwoCoresAndNpu("a"), machine);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->operations[0].resources, ElementsAre(1, 2));
  EXPECT_THAT(plan->operations[1].resources, ElementsAre(5));
}

TEST(PlanAlignmentTest, DoesNotUseLostResources) {
  const sched::Machine machine{{{"a", ResourceKind::kCore, 2, -1, 0},
                                {"npu", ResourceKind::kNpu, 1, -1, 0},
                                {"other", ResourceKind::kNpu, 1, -1, 0}}};
  const auto moved =
      AlignPlan(TwoCoresAndNpu("a"), machine, sched::ResourceSet::Range(2, 1));
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_THAT(moved->operations[1].resources, ElementsAre(3));
  const auto refused =
      AlignPlan(TwoCoresAndNpu("a"), machine, sched::ResourceSet::Range(2, 2));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("NPU \"npu#0\": no pool has room for the 1 of its "
                        "cluster; there are 2 of a, 0 of npu, 0 of other"));
}

TEST(PlanAlignmentTest, RejectsMachinesThatDoNotFit) {
  const auto reason = [](const Plan& plan, const sched::Machine& machine) {
    return std::string(AlignPlan(plan, machine).status().message());
  };
  EXPECT_THAT(
      reason(TwoCoresAndNpu("a"), {{{"cores", ResourceKind::kCore, 4, -1, 0}}}),
      HasSubstr("NPU \"npu#0\""));
  EXPECT_THAT(
      reason(TwoCoresAndNpu("a"), {{{"x", ResourceKind::kCore, 1, -1, 0},
                                    {"y", ResourceKind::kCore, 1, -1, 0},
                                    {"npu", ResourceKind::kNpu, 1, -1, 0}}}),
      HasSubstr("no pool has room for the 2 of its cluster; there are "
                "1 of x, 1 of y, 1 of npu"));
  Plan split = TwoCoresAndNpu("a");
  split.resources[1].cluster = 7;
  EXPECT_THAT(reason(split, {{{"x", ResourceKind::kCore, 1, -1, 0},
                              {"y", ResourceKind::kCore, 1, -1, 0},
                              {"npu", ResourceKind::kNpu, 1, -1, 0}}}),
              HasSubstr("operation \"a\" takes cores of two pools"));
}

}  // namespace
}  // namespace takt::follow
