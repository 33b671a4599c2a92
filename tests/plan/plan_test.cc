#include "plan/plan.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::plan {
namespace {

using ::testing::HasSubstr;
using Kind = PlanFault::Kind;

PlannedOperation Operation(const char* name, uint32_t job, int64_t start,
                           int64_t duration, std::vector<uint32_t> resources,
                           std::vector<uint32_t> after = {}) {
  PlannedOperation operation;
  operation.name = name;
  operation.job = job;
  operation.start = start;
  operation.duration = duration;
  operation.resources = std::move(resources);
  operation.after = std::move(after);
  return operation;
}

// Two cores of cluster 0, two of cluster 1, an NPU; two jobs of two operations.
Plan FourOperations() {
  Plan plan;
  plan.modules = {{"vision", "abc"}};
  for (uint32_t i = 0; i < 4; ++i) {
    plan.resources.push_back(
        {absl::StrCat("core ", i), PlannedResource::Kind::kCore, i / 2});
  }
  plan.resources.push_back({"npu 0", PlannedResource::Kind::kNpu, 0});
  plan.jobs = {{"policy", 5, 100, {0, 1}}, {"frame", 0, kNoDeadline, {}}};
  plan.operations = {
      Operation("a", 0, 5, 10, {0}), Operation("b", 0, 15, 10, {0, 1}, {0}),
      Operation("c", 1, 0, 30, {2, 3}), Operation("d", 1, 30, 5, {4}, {2})};
  plan.operations[1].alternatives = {{PlannedResource::Kind::kCore, 0, 1, 18},
                                     {PlannedResource::Kind::kCore, 0, 2, 10}};
  return plan;
}

std::string FaultsOf(const Plan& plan) {
  std::string text;
  for (const PlanFault& fault : FindPlanFaults(plan)) {
    absl::StrAppend(&text, fault.text, "\n");
  }
  return text;
}

template <typename Change>
std::string FaultsAfter(Change change) {
  Plan plan = FourOperations();
  change(plan);
  EXPECT_TRUE(ValidatePlan(plan).ok()) << ValidatePlan(plan);
  return FaultsOf(plan);
}

TEST(PlanTest, AcceptsAGoodPlan) {
  EXPECT_TRUE(ValidatePlan(FourOperations()).ok());
  EXPECT_EQ(FaultsOf(FourOperations()), "");
  EXPECT_EQ(FourOperations().makespan(), 35);
}

TEST(PlanTest, NamesEveryFault) {
  EXPECT_EQ(FaultsAfter([](Plan& p) { p.operations[3].start = 29; }),
            "precedence: \"d\" starts at 29 ns, before \"c\" ends at 30\n");
  EXPECT_EQ(FaultsAfter([](Plan& p) {
              p.operations[1].after.clear();
              p.operations[1].start = 14;
            }),
            "overlap: \"b\" is on core 0 from 14 ns, where \"a\" is until "
            "15\n");
  EXPECT_EQ(FaultsAfter([](Plan& p) { p.operations[0].start = 4; }),
            "release: \"a\" starts at 4 ns, but job \"policy\" is released at "
            "5\n");
  EXPECT_EQ(FaultsAfter([](Plan& p) { p.jobs[0].deadline = 24; }),
            "deadline: \"b\" ends at 25 ns, but job \"policy\" is due at 24\n");
  EXPECT_EQ(FaultsAfter([](Plan& p) {
              p.jobs[0].allowed = {0, 2};
            }),
            "affinity: \"b\" is on core 1, which job \"policy\" is not "
            "allowed\n");
  EXPECT_EQ(FaultsAfter([](Plan& p) { p.operations[1].duration = 9; }),
            "duration: \"b\" is given 9 ns, but takes 10\n");
  EXPECT_EQ(
      FaultsAfter([](Plan& p) { p.operations[1].alternatives.pop_back(); }),
      "width: \"b\" is on 2 of cluster 0, which is none of its "
      "alternatives\n");
  EXPECT_EQ(FaultsAfter([](Plan& p) {
              p.jobs[0].allowed.clear();
              p.operations[1].start = 40;
              p.operations[1].resources = {1, 2};
            }),
            "width: \"b\" is on core 1 and core 2, which are not of one "
            "cluster\n");
}

TEST(PlanTest, ACyclicPlanMustFitItsPeriod) {
  // 35 ns of work, repeated every 35: what ends last meets what begins first.
  EXPECT_EQ(FaultsAfter([](Plan& p) { p.period = 35; }), "");
  EXPECT_EQ(FaultsAfter([](Plan& p) { p.period = 30; }), "");  // "d" wraps.
  EXPECT_EQ(FaultsAfter([](Plan& p) { p.period = 29; }),
            "period: \"c\" takes 30 ns of a period of 29\n");
  EXPECT_THAT(FaultsAfter([](Plan& p) {
                p.period = 32;
                p.jobs[0].allowed.clear();
                p.operations[1].alternatives.clear();
                p.operations[1].start = 30;  // Wraps to [0, 8).
                p.operations[1].resources = {0, 1};
              }),
              HasSubstr("overlap: \"a\" is on core 0 from 5 ns, where \"b\" is "
                        "until 8"));
}

TEST(PlanTest, NamesMalformedItems) {
  const auto reason = [](void (*change)(Plan&)) {
    Plan plan = FourOperations();
    change(plan);
    const absl::Status status = ValidatePlan(plan);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(reason([](Plan& p) { p.operations[2].job = 2; }),
            "plan: operation 2: there is no job 2");
  EXPECT_EQ(reason([](Plan& p) { p.operations[0].module = 9; }),
            "plan: operation 0: there is no module 9");
  EXPECT_EQ(reason([](Plan& p) { p.operations[0].duration = 0; }),
            "plan: operation 0: duration is 0");
  EXPECT_EQ(reason([](Plan& p) { p.operations[0].start = -1; }),
            "plan: operation 0: start is -1");
  EXPECT_THAT(reason([](Plan& p) {
                p.operations[0].resources = {1, 0};
              }),
              HasSubstr("operation 0: has no resources"));
  EXPECT_THAT(reason([](Plan& p) { p.operations[0].resources.clear(); }),
              HasSubstr("operation 0: has no resources"));
  EXPECT_EQ(reason([](Plan& p) { p.operations[3].after = {3}; }),
            "plan: operation 3: cannot be after operation 3");
  EXPECT_EQ(reason([](Plan& p) { p.operations[3].after = {4}; }),
            "plan: operation 3: cannot be after operation 4");
  EXPECT_EQ(reason([](Plan& p) { p.operations[1].name = "a"; }),
            "plan: operation 1: \"a\" is there twice");
  EXPECT_EQ(reason([](Plan& p) { p.jobs[1].name = "policy"; }),
            "plan: job 1: \"policy\" is there twice");
  EXPECT_EQ(reason([](Plan& p) { p.jobs[0].allowed = {7}; }),
            "plan: job 0: allowed are no resources in order");
  EXPECT_EQ(reason([](Plan& p) { p.jobs[0].release = INT64_MAX; }),
            "plan: job 0: release is 9223372036854775807");
  EXPECT_THAT(
      reason([](Plan& p) { p.operations[1].alternatives[0].width = 0; }),
      HasSubstr("operation 1: has an alternative"));
  EXPECT_THAT(reason([](Plan& p) { p.period = -1; }),
              HasSubstr("period is -1"));
}

// A plan that can be carried out: each operation begins when its predecessors
// have ended and its resources are free.
Plan RandomPlan(std::mt19937& random) {
  const auto pick = [&](uint32_t from, uint32_t to) {
    return from + static_cast<uint32_t>(random() % (to - from + 1));
  };
  Plan plan;
  plan.modules = {{"m", ""}};
  const uint32_t clusters = pick(1, 2), cores = pick(1, 3);
  for (uint32_t i = 0; i < clusters * cores; ++i) {
    plan.resources.push_back(
        {absl::StrCat("core ", i), PlannedResource::Kind::kCore, i / cores});
  }
  std::vector<int64_t> free(plan.resources.size());
  const uint32_t jobs = pick(1, 3);
  for (uint32_t j = 0; j < jobs; ++j) {
    plan.jobs.push_back(
        {absl::StrCat("job ", j), pick(0, 20), kNoDeadline, {}});
    const uint32_t first = static_cast<uint32_t>(plan.operations.size());
    for (uint32_t i = 0, count = pick(1, 4); i < count; ++i) {
      PlannedOperation operation;
      operation.name = absl::StrCat("op ", first + i);
      operation.job = j;
      operation.ordinal = i;
      operation.start = plan.jobs[j].release;
      operation.duration = pick(1, 30);
      const uint32_t cluster = pick(0, clusters - 1), width = pick(1, cores);
      for (uint32_t w = 0; w < width; ++w) {
        operation.resources.push_back(cluster * cores + w);
      }
      operation.alternatives = {
          {PlannedResource::Kind::kCore, cluster, width, operation.duration}};
      if (i > 0) operation.after = {first + i - 1};
      for (const uint32_t before : operation.after) {
        operation.start =
            std::max(operation.start, plan.operations[before].start +
                                          plan.operations[before].duration);
      }
      for (const uint32_t resource : operation.resources) {
        operation.start = std::max(operation.start, free[resource]);
      }
      for (const uint32_t resource : operation.resources) {
        free[resource] = operation.start + operation.duration;
      }
      plan.operations.push_back(std::move(operation));
    }
    plan.jobs[j].deadline =
        plan.operations.back().start + plan.operations.back().duration;
  }
  return plan;
}

// Breaks one rule of a good plan, and says which; false if it has nothing to
// break that way.
bool Break(Plan& plan, Kind kind, std::mt19937& random) {
  const auto index = static_cast<uint32_t>(random() % plan.operations.size());
  PlannedOperation& operation = plan.operations[index];
  PlannedJob& job = plan.jobs[operation.job];
  switch (kind) {
    case Kind::kPrecedence: {
      if (operation.after.empty()) return false;
      const PlannedOperation& before = plan.operations[operation.after[0]];
      operation.start = before.start + before.duration - 1;
      return true;
    }
    case Kind::kOverlap: {
      const PlannedOperation& other =
          plan.operations[random() % plan.operations.size()];
      if (&other == &operation) return false;
      operation.resources = other.resources;
      operation.start = other.start + other.duration - 1;
      return true;
    }
    case Kind::kRelease:
      job.release = operation.start + 1;
      return true;
    case Kind::kDeadline:
      job.deadline = operation.start + operation.duration - 1;
      return true;
    case Kind::kAffinity:
      for (uint32_t i = 0; i < plan.resources.size(); ++i) {
        if (i != operation.resources[0]) job.allowed.push_back(i);
      }
      return !job.allowed.empty();
    case Kind::kWidth:
      operation.alternatives[0].width += 1 + random() % 3;
      return true;
    case Kind::kDuration:
      operation.alternatives[0].duration += 1 + random() % 3;
      return true;
    case Kind::kPeriod:
      plan.period = operation.duration - 1;
      return plan.period > 0;
  }
  return false;
}

TEST(PlanTest, RandomBrokenPlansAreRejectedForTheRightReason) {
  std::mt19937 random(1);
  int broken = 0;
  while (broken < 100000) {
    Plan plan = RandomPlan(random);
    ASSERT_EQ(FaultsOf(plan), "") << "after " << broken;
    const auto kind = static_cast<Kind>(random() % 8);
    if (!Break(plan, kind, random)) continue;
    ++broken;
    ASSERT_TRUE(ValidatePlan(plan).ok());
    const std::vector<PlanFault> faults = FindPlanFaults(plan);
    ASSERT_TRUE(
        std::any_of(faults.begin(), faults.end(),
                    [&](const PlanFault& fault) { return fault.kind == kind; }))
        << PlanFaultName(kind) << " in plan " << broken << ":\n"
        << FaultsOf(plan);
  }
}

}  // namespace
}  // namespace takt::plan
