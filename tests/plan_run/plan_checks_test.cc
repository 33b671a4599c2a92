#include "plan_run/plan_checks.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::plan_run {
namespace {

using testing::HasSubstr;

constexpr char kHash[] = "0123456789abcdef";

// Streams "s", released at 0 and 10, and "t", released at 5.
plan::Plan CyclicPlan() {
  plan::Plan plan;
  plan.name = "p";
  plan.period = 20;
  plan.modules = {{"m", kHash}};
  plan.resources = {
      {"core 0", plan::PlannedResource::Kind::kCore, 0},
      {"npu 0", plan::PlannedResource::Kind::kNpu, 3},
  };
  plan.jobs.resize(3);
  const struct {
    const char* name;
    const char* stream;
    int64_t release;
  } kJobs[] = {{"s#0", "s", 0}, {"t#0", "t", 5}, {"s#1", "s", 10}};
  for (uint32_t j = 0; j < 3; ++j) {
    plan.jobs[j].name = kJobs[j].name;
    plan.jobs[j].stream = kJobs[j].stream;
    plan.jobs[j].release = kJobs[j].release;
    plan::PlannedOperation operation;
    operation.name = absl::StrCat(kJobs[j].name, "/0");
    operation.job = j;
    operation.duration = 1;
    operation.resources = {0};
    plan.operations.push_back(operation);
  }
  return plan;
}

BoundStream Bound(ReleasedBy released_by, int64_t period_ns = 0) {
  BoundStream stream;
  stream.released_by = released_by;
  stream.period_ns = period_ns;
  stream.function = "m.f";
  stream.content_hash = kHash;
  return stream;
}

BoundStreams BothByRun() {
  return {{"s", Bound(ReleasedBy::kRun)}, {"t", Bound(ReleasedBy::kRun)}};
}

void ExpectError(const absl::Status& status, absl::StatusCode code,
                 const std::string& text) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

TEST(WithStreamsTest, AJobWithoutAStreamBecomesOne) {
  plan::Plan plan = CyclicPlan();
  plan.jobs[1].stream = "";
  plan.jobs[1].instance = 7;
  plan = WithStreams(std::move(plan));
  EXPECT_EQ(plan.jobs[0].stream, "s");
  EXPECT_EQ(plan.jobs[1].stream, "t#0");
  EXPECT_EQ(plan.jobs[1].instance, 0u);
  EXPECT_EQ(FirstRelease(plan, "t#0"), 5);
  EXPECT_EQ(FirstRelease(plan, "t"), -1);
}

TEST(CheckStreamsTest, EachStreamMustBeBound) {
  const plan::Plan plan = CyclicPlan();
  BoundStreams bound = BothByRun();
  EXPECT_TRUE(CheckStreams(plan, bound).ok());
  bound.erase("t");
  ExpectError(CheckStreams(plan, bound), absl::StatusCode::kInvalidArgument,
              "stream \"t\": it is not bound");
}

TEST(CheckStreamsTest, AStreamWithAClockMustHaveThePlansReleases) {
  const plan::Plan plan = CyclicPlan();
  BoundStreams bound = BothByRun();
  bound["s"] = Bound(ReleasedBy::kClock, 10);
  EXPECT_TRUE(CheckStreams(plan, bound).ok());
  bound["s"] = Bound(ReleasedBy::kClock, 8);
  ExpectError(CheckStreams(plan, bound), absl::StatusCode::kInvalidArgument,
              "period of 8 ns is not the plan's: s#1 is released at 10");
  bound["s"] = Bound(ReleasedBy::kRun);
  bound["t"] = Bound(ReleasedBy::kClock, 10);
  ExpectError(CheckStreams(plan, bound), absl::StatusCode::kInvalidArgument,
              "it releases 2 jobs in the plan's period, which has 1");
  bound["t"] = Bound(ReleasedBy::kOtherStream);
  EXPECT_TRUE(CheckStreams(plan, bound).ok());
}

TEST(CheckStreamsTest, ASingleShotIsReleasedByTheRun) {
  plan::Plan plan = CyclicPlan();
  plan.period = 0;
  BoundStreams bound = BothByRun();
  EXPECT_TRUE(CheckStreams(plan, bound).ok());
  for (const ReleasedBy by : {ReleasedBy::kClock, ReleasedBy::kOtherStream}) {
    bound["t"] = Bound(by, 20);
    ExpectError(CheckStreams(plan, bound), absl::StatusCode::kInvalidArgument,
                "a single shot is bound to functions");
  }
}

TEST(CheckModulesTest, TheContentMustBeThePlans) {
  const plan::Plan plan = CyclicPlan();
  BoundStreams bound = BothByRun();
  EXPECT_TRUE(CheckModules(plan, bound).ok());
  bound["t"].content_hash = "fedcba9876543210";
  ExpectError(CheckModules(plan, bound), absl::StatusCode::kFailedPrecondition,
              "m.f is of a module with the content fedcba9876543210");
  bound["t"].content_hash = "";
  ExpectError(CheckModules(plan, bound), absl::StatusCode::kFailedPrecondition,
              "(none)");
}

TEST(CheckModulesTest, APlanWithoutContentFitsAnyModule) {
  plan::Plan plan = CyclicPlan();
  plan.modules[0].content_hash = "";
  BoundStreams bound = BothByRun();
  bound["t"].content_hash = "fedcba9876543210";
  EXPECT_TRUE(CheckModules(plan, bound).ok());
}

TEST(CheckDevicesTest, TheContextNeedsADeviceOfThePlannedNpu) {
  plan::Plan plan = CyclicPlan();
  plan.operations[1].resources = {0, 1};
  BoundStreams bound = BothByRun();
  ExpectError(CheckDevices(plan, bound), absl::StatusCode::kFailedPrecondition,
              "operation \"t#0/0\" is planned for the NPU \"npu 0\"");
  bound["s"].npu_pools = 1u << 3;
  EXPECT_FALSE(CheckDevices(plan, bound).ok());
  bound["t"].npu_pools = 1u << 3;
  EXPECT_TRUE(CheckDevices(plan, bound).ok());
}

TEST(CheckTakeOverTest, BothPlansAreOfOneKind) {
  const plan::Plan cyclic = CyclicPlan();
  plan::Plan once = CyclicPlan();
  once.period = 0;
  const BoundStreams bound = BothByRun();
  EXPECT_TRUE(CheckTakeOver(cyclic, cyclic, bound).ok());
  EXPECT_TRUE(CheckTakeOver(once, once, bound).ok());
  ExpectError(CheckTakeOver(cyclic, once, bound),
              absl::StatusCode::kInvalidArgument,
              "a single shot cannot take over from a cyclic plan");
  ExpectError(CheckTakeOver(once, cyclic, bound),
              absl::StatusCode::kInvalidArgument,
              "a cyclic plan cannot take over from a single shot");
}

TEST(CheckTakeOverTest, AStreamWithAClockKeepsItsFirstRelease) {
  const plan::Plan current = CyclicPlan();
  plan::Plan next = CyclicPlan();
  next.jobs[1].release = 6;
  BoundStreams bound = BothByRun();
  EXPECT_TRUE(CheckTakeOver(current, next, bound).ok());
  bound["t"] = Bound(ReleasedBy::kClock, 20);
  ExpectError(CheckTakeOver(current, next, bound),
              absl::StatusCode::kInvalidArgument,
              "its first release is at 5, and of the new plan at 6");
}

}  // namespace
}  // namespace takt::plan_run
