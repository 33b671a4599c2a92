#include "plan/workload_plan.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::plan {
namespace {

using testing::HasSubstr;

// Two cores and an NPU that one of them feeds.
constexpr char kHead[] = R"({
  "topology": {"clusters": [{"name": "big", "cpus": "0-1"}],
               "npus": [{"name": "npu0", "cluster": "big"}]},
  "power_mw": {"big": 1000, "npu0": 100},
  "kernels": [
    {"name": "short", "alternatives": [
      {"pool": "big", "duration_us": 100},
      {"pool": "big", "shards": 2, "duration_us": 60}]},
    {"name": "long", "alternatives": [
      {"pool": "big", "duration_us": 900},
      {"pool": "npu0", "duration_us": 300}]}],
  "programs": [
    {"name": "two", "operations": [{"kernel": "short"}, {"kernel": "long"}]},
    {"name": "one", "operations": [{"kernel": "short"}]}],
)";

absl::StatusOr<Workload> Read(const std::string& rest) {
  return ReadWorkload(absl::StrCat(kHead, rest, "}"), WorkloadSources{});
}

absl::StatusOr<WorkloadSolution> Solve(const std::string& rest) {
  const auto workload = Read(rest);
  if (!workload.ok()) return workload.status();
  solve::SolverOptions options;
  options.step_limit = 2'000;
  return PlanWorkload(*workload, options);
}

TEST(WorkloadPlanTest, UnrollsPeriodsOverTheirCommonMultiple) {
  const auto found = Solve(R"("streams": [
    {"name": "a", "program": "two", "period_ms": 2},
    {"name": "b", "program": "one", "period_ms": 3, "offset_ms": 1,
     "deadline_us": 500},
    {"name": "c", "program": "one", "after": "b", "deadline_ms": 2}])");
  ASSERT_TRUE(found.ok()) << found.status();
  const Plan& plan = found->plan;
  EXPECT_EQ(plan.period, 6'000'000);
  ASSERT_EQ(plan.jobs.size(), 3u + 2 + 2);
  EXPECT_EQ(plan.jobs[1].name, "a#1");
  EXPECT_EQ(plan.jobs[1].stream, "a");
  EXPECT_EQ(plan.jobs[1].instance, 1u);
  EXPECT_EQ(plan.jobs[1].release, 2'000'000);
  EXPECT_EQ(plan.jobs[4].release, 4'000'000);
  EXPECT_EQ(plan.jobs[4].deadline, 4'500'000);
  EXPECT_EQ(plan.operations.size(), 6u + 2 + 2);
  // The chain's second follows the first's last operation.
  EXPECT_EQ(plan.operations[8].after, std::vector<uint32_t>{6});
  EXPECT_TRUE(ValidatePlan(plan).ok());
  EXPECT_TRUE(FindPlanFaults(plan).empty());
  EXPECT_EQ(found->quality.late_count, 0u);
}

TEST(WorkloadPlanTest, ASingleShotHasTheShortestMakespan) {
  const auto found = Solve(R"("streams": [
    {"name": "a", "program": "two", "arrival": "once", "count": 2}])");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->plan.period, 0);
  EXPECT_TRUE(FindPlanFaults(found->plan).empty());
  // One on both cores, the other beside the NPU; the NPU twice.
  EXPECT_EQ(found->plan.makespan(), 660'000);
  EXPECT_LE(found->plan.lower_bound, 660'000);
}

TEST(WorkloadPlanTest, AnNpuOccupiesItsFeeder) {
  const auto found = Solve(R"("streams": [
    {"name": "a", "program": "two", "arrival": "once", "pools": ["npu0", "big"]}])");
  ASSERT_TRUE(found.ok()) << found.status();
  const PlannedOperation& last = found->plan.operations[1];
  ASSERT_EQ(last.resources.size(), 2u);
  EXPECT_EQ(last.resources[1], 2u);  // The NPU.
  EXPECT_LT(last.resources[0], 2u);
  EXPECT_TRUE(FindPlanFaults(found->plan).empty());
  Plan wrong = found->plan;
  wrong.operations[1].resources = {2};
  ASSERT_EQ(FindPlanFaults(wrong).size(), 1u);
  EXPECT_EQ(FindPlanFaults(wrong)[0].kind, PlanFault::Kind::kWidth);
}

TEST(WorkloadPlanTest, CountsJobsThatCannotBeInTime) {
  const auto found = Solve(R"("streams": [
    {"name": "a", "program": "two", "period_ms": 1, "deadline_us": 350}])");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->quality.late_count, 1u);
  EXPECT_EQ(found->quality.lateness_max, 10'000);  // 60 + 300 of 350.
}

TEST(WorkloadPlanTest, SavesEnergyWhereNothingGetsWorse) {
  const char* const streams = R"("streams": [
    {"name": "a", "program": "one", "period_ms": 1}])";
  const auto fast = Solve(streams);
  const auto frugal =
      Solve(absl::StrCat(R"("objectives": ["misses", "energy"], )", streams));
  ASSERT_TRUE(fast.ok() && frugal.ok());
  EXPECT_EQ(frugal->plan.operations[0].resources.size(), 1u);
  EXPECT_DOUBLE_EQ(frugal->quality.energy_uj, 100);
  EXPECT_LE(frugal->quality.energy_uj, fast->quality.energy_uj);
  EXPECT_TRUE(FindPlanFaults(frugal->plan).empty());
}

TEST(WorkloadPlanTest, GivesOperationsThePlannedQuantile) {
  constexpr char kProfiled[] = R"({
    "topology": {"clusters": [{"name": "big", "cpus": "0"}]},
    "planned_quantile": "%s",
    "kernels": [{"name": "k", "alternatives": [
      {"pool": "big", "q50_us": 10, "q90_us": 12, "q99_us": 15,
       "samples": 100}]}],
    "programs": [{"name": "p", "operations": [{"kernel": "k"}]}],
    "streams": [{"name": "s", "program": "p", "period_ms": 1}]})";
  for (const auto& [quantile, duration] :
       {std::pair<const char*, int64_t>{"q50", 10'000},
        {"q90", 12'000},
        {"q99", 15'000}}) {
    char text[1000];
    std::snprintf(text, sizeof(text), kProfiled, quantile);
    const auto workload = ReadWorkload(text, WorkloadSources{});
    ASSERT_TRUE(workload.ok()) << workload.status();
    const auto found = PlanWorkload(*workload, {});
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->plan.operations[0].duration, duration);
  }
}

TEST(WorkloadPlanTest, GivesOperationsTimeForTheHandover) {
  constexpr char kStreams[] =
      R"("streams": [{"name": "a", "program": "one", "period_ms": 1}])";
  const auto without = Solve(kStreams);
  const auto with = Solve(absl::StrCat(R"("handover_us": 10, )", kStreams));
  ASSERT_TRUE(without.ok() && with.ok());
  EXPECT_EQ(with->plan.operations[0].duration,
            without->plan.operations[0].duration + 10'000);
  EXPECT_THAT(
      std::string(Solve(absl::StrCat(R"("handover_us": -1, )", kStreams))
                      .status()
                      .message()),
      HasSubstr("handover_us"));
}

// The copies press with 0.4 for half of the time.
TEST(WorkloadPlanTest, GivesOperationsTimeForTheirNeighbours) {
  const auto workload = ReadWorkload(R"({
    "topology": {"clusters": [{"name": "big", "cpus": "0-1"}]},
    "kernels": [
      {"name": "sum", "alternatives": [
        {"pool": "big", "duration_us": 100, "sensitivity": 2}]},
      {"name": "copy", "alternatives": [
        {"pool": "big", "duration_us": 500, "pressure": 0.4}]}],
    "programs": [
      {"name": "sum", "operations": [{"kernel": "sum"}]},
      {"name": "copy", "operations": [{"kernel": "copy"}]}],
    "streams": [
      {"name": "sums", "program": "sum", "period_ms": 1},
      {"name": "copies", "program": "copy", "period_ms": 1}]})",
                                     WorkloadSources{});
  ASSERT_TRUE(workload.ok()) << workload.status();
  const auto unrolled = UnrollWorkload(*workload);
  ASSERT_TRUE(unrolled.ok()) << unrolled.status();
  // 1 + 2 x 0.4 x 0.5 times as long; its own pressure is not beside it.
  EXPECT_EQ(unrolled->problem.operations[0].alternatives[0].duration, 140'000);
  EXPECT_EQ(unrolled->problem.operations[1].alternatives[0].duration, 500'000);
}

TEST(WorkloadPlanTest, RejectsReleasesThatAreUnknownInAdvance) {
  const auto reason = [](const char* streams) {
    return std::string(Solve(streams).status().message());
  };
  EXPECT_THAT(reason(R"("streams": [{"name": "a", "program": "one",
      "arrival": "poisson", "period_ms": 1}])"),
              HasSubstr("stream a: its releases are not known ahead"));
  EXPECT_THAT(reason(R"("streams": [
      {"name": "a", "program": "one", "period_ms": 1},
      {"name": "b", "program": "one", "after": "a", "probability": 0.5}])"),
              HasSubstr("stream b: it comes with a probability"));
  EXPECT_THAT(reason(R"("streams": [
      {"name": "a", "program": "one", "period_ms": 1},
      {"name": "b", "program": "one", "arrival": "once"}])"),
              HasSubstr("stream b: a single shot beside periodic"));
  EXPECT_THAT(reason(R"("streams": [{"name": "a", "program": "one",
      "period_ms": 1, "offset_ms": 1}])"),
              HasSubstr("its offset is a period or more"));
  EXPECT_THAT(reason(R"("streams": [
      {"name": "a", "program": "one", "period_us": 1000.001},
      {"name": "b", "program": "one", "period_us": 1000.003}])"),
              HasSubstr("stream a: too many jobs"));
  EXPECT_THAT(reason(R"("streams": [{"name": "a", "program": "one",
      "period_ms": 1, "pools": ["npu0"]}])"),
              HasSubstr("kernel short can run on none"));
}

}  // namespace
}  // namespace takt::plan
