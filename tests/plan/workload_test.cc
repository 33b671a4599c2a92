#include "plan/workload.h"

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::plan {
namespace {

using testing::HasSubstr;

sched::Machine Board() {
  sched::Machine machine;
  machine.pools = {{"big", sched::ResourceKind::kCore, 4, -1, 0},
                   {"npu", sched::ResourceKind::kNpu, 1, 0, 1}};
  return machine;
}

constexpr char kGood[] = R"({
  "name": "w", "noise": 0.1, "npu_cores": {"npu": 2},
  "kernels": [{"name": "k", "alternatives": [
    {"pool": "big", "duration_us": 100, "tile_us": 10},
    {"pool": "big", "shards": 2, "duration_us": 60},
    {"pool": "npu", "duration_ms": 0.02}]}],
  "programs": [{"name": "p", "operations": [
    {"kernel": "k"}, {"kernel": "k", "count": 2}, {"kernel": "k", "after": [0]}]}],
  "streams": [
    {"name": "a", "program": "p", "period_ms": 5, "criticality": "hard",
     "affinity": "0-2", "pools": ["big"], "late": "drop", "priority": 7},
    {"name": "b", "program": "p", "after": "a", "probability": 0.5}],
  "faults": [{"pool": "big", "index": 3, "at_ms": 1, "length_ms": 2}],
  "speeds": [{"pool": "big", "at_s": 1, "speed": 0.5}],
  "thermal": [{"pool": "big", "time_constant_s": 5, "speed": 0.7}],
  "budgets": [{"pool": "big", "budget_ms": 4, "period_ms": 10}]
})";

TEST(WorkloadTest, ReadsEveryMember) {
  const auto workload = ReadWorkload(kGood, Board());
  ASSERT_TRUE(workload.ok()) << workload.status();
  EXPECT_EQ(workload->name, "w");
  EXPECT_EQ(workload->noise, 0.1);
  EXPECT_EQ(workload->machine.pools[1].feeder_count, 2u);
  ASSERT_EQ(workload->kernels.size(), 1u);
  EXPECT_EQ(workload->kernels[0].alternatives[0].tile_ns, 10'000);
  EXPECT_EQ(workload->kernels[0].alternatives[2].guess_ns, 20'000);
  const auto& operations = workload->programs[0].operations;
  ASSERT_EQ(operations.size(), 4u);
  EXPECT_TRUE(operations[0].after.empty());
  EXPECT_EQ(operations[2].after, std::vector<uint32_t>{1});
  EXPECT_EQ(operations[3].after, std::vector<uint32_t>{0});
  const WorkloadStream& a = workload->streams[0];
  EXPECT_EQ(a.terms.deadline_ns, 5'000'000);
  EXPECT_EQ(a.terms.affinity, sched::ResourceSet::Range(0, 3));
  EXPECT_EQ(a.terms.pools, 1u);
  EXPECT_EQ(a.terms.priority, 7);
  EXPECT_EQ(a.terms.late, sched::LatePolicy::kDrop);
  EXPECT_EQ(a.terms.criticality, sched::Criticality::kHard);
  EXPECT_EQ(workload->streams[1].arrival, Arrival::kAfter);
  EXPECT_EQ(workload->faults[0].resource, 3u);
  EXPECT_EQ(workload->speed_steps[0].permille, 500u);
  EXPECT_EQ(workload->thermal_models[0].permille, 700u);
  EXPECT_EQ(workload->budgets[0].budget_ns, 4'000'000);
  EXPECT_EQ(workload->budgets[0].period_ns, 10'000'000);
}

// The error for kGood with `good` replaced by `bad`.
std::string Fault(const std::string& good, const std::string& bad) {
  std::string text = kGood;
  const size_t at = text.find(good);
  EXPECT_NE(at, std::string::npos) << good;
  text.replace(at, good.size(), bad);
  const auto workload = ReadWorkload(text, Board());
  EXPECT_EQ(workload.status().code(), absl::StatusCode::kInvalidArgument)
      << bad;
  return std::string(workload.status().message());
}

TEST(WorkloadTest, NamesThePlaceOfTheFault) {
  EXPECT_THAT(Fault("\"noise\": 0.1", "\"noise\": -1"),
              HasSubstr("workload.noise: expected a number from 0 to 2"));
  EXPECT_THAT(Fault("\"noise\"", "\"nose\""),
              HasSubstr("unknown member \"nose\""));
  EXPECT_THAT(Fault("{\"npu\": 2}", "{\"npu\": 5}"),
              HasSubstr("takes 5 cores of big, which has 4"));
  EXPECT_THAT(Fault("{\"npu\": 2}", "{\"gpu\": 1}"), HasSubstr("no NPU gpu"));
  EXPECT_THAT(Fault("\"pool\": \"big\", \"duration_us\"",
                    "\"pool\": \"huge\", \"duration_us\""),
              HasSubstr("kernels[0].alternatives[0].pool: the machine has no"));
  EXPECT_THAT(Fault("\"duration_us\": 100", "\"duration_us\": \"x\""),
              HasSubstr("alternatives[0].duration_us: expected a number"));
  EXPECT_THAT(Fault("\"duration_us\": 100, ", ""),
              HasSubstr("\"duration_us\" is missing"));
  EXPECT_THAT(Fault("\"shards\": 2", "\"shards\": 5"),
              HasSubstr("1 to 4 shards on big, got 5"));
  EXPECT_THAT(Fault("{\"kernel\": \"k\"}", "{\"kernel\": \"q\"}"),
              HasSubstr("operations[0].kernel: there is no kernel \"q\""));
  EXPECT_THAT(Fault("[0]", "[3]"), HasSubstr("in a cycle"));
  EXPECT_THAT(Fault("[0]", "[9]"), HasSubstr("there is no operation 9"));
  EXPECT_THAT(Fault("[0]", "[-1]"), HasSubstr("expected indexes"));
  EXPECT_THAT(
      Fault("\"program\": \"p\", \"period_ms\": 5", "\"program\": \"p\""),
      HasSubstr("streams[0]: \"period_ms\" is missing"));
  EXPECT_THAT(
      Fault("\"hard\"", "\"tough\""),
      HasSubstr("expected one of soft, hard, best-effort, got \"tough\""));
  EXPECT_THAT(Fault("\"0-2\"", "\"0-9\""), HasSubstr("no resource 5"));
  EXPECT_THAT(Fault("\"0-2\"", "\"zero\""), HasSubstr("streams[0].affinity"));
  EXPECT_THAT(Fault("[\"big\"]", "[7]"), HasSubstr("streams[0].pools"));
  EXPECT_THAT(Fault("\"after\": \"a\"", "\"after\": \"c\""),
              HasSubstr("no stream \"c\" stands above"));
  EXPECT_THAT(Fault("\"name\": \"b\"", "\"name\": \"a\""),
              HasSubstr("streams[1].name: a second a"));
  EXPECT_THAT(Fault("\"index\": 3", "\"index\": 4"),
              HasSubstr("faults[0].index"));
  EXPECT_THAT(Fault("\"speed\": 0.5", "\"speed\": 0"),
              HasSubstr("speeds[0].speed"));
  EXPECT_THAT(Fault("\"time_constant_s\": 5", "\"time_constant_s\": 0"),
              HasSubstr("must be above 0"));
}

TEST(WorkloadTest, RejectsOtherTexts) {
  for (const char* text : {"", "[]", "{", "{}", "3", "{\"streams\": 5}",
                           "{\"kernels\": {}}", "{\"programs\": [{}]}"}) {
    EXPECT_FALSE(ReadWorkload(text, Board()).ok()) << text;
  }
  EXPECT_THAT(
      std::string(
          ReadWorkload(std::string(100, '['), Board()).status().message()),
      HasSubstr("nested too deep"));
}

// Damaged bytes give an error or a workload.
TEST(WorkloadTest, SurvivesDamage) {
  Random random(5);
  for (int i = 0; i < 3000; ++i) {
    std::string text = kGood;
    for (uint32_t n = 1 + random.Below(4); n > 0; --n) {
      const uint32_t at = random.Below(static_cast<uint32_t>(text.size()));
      switch (random.Below(3)) {
        case 0:
          text[at] = static_cast<char>(random.Below(256));
          break;
        case 1:
          text.erase(at, random.Below(8));
          break;
        default:
          text.insert(at, text.substr(at / 2, random.Below(16)));
          break;
      }
    }
    const auto workload = ReadWorkload(text, Board());
    if (!workload.ok()) {
      EXPECT_EQ(workload.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

// Two kernels; the first is known to profiles.
absl::StatusOr<Workload> Keyed(const std::string& key) {
  return ReadWorkload(R"({
    "kernels": [{"name": "a", )" +
                          key + R"("alternatives": [
      {"pool": "big", "duration_us": 100, "tile_us": 10},
      {"pool": "big", "shards": 2, "duration_us": 60}]},
      {"name": "b", "alternatives": [{"pool": "big", "duration_us": 5}]}],
    "programs": [{"name": "p", "operations": [{"kernel": "a"}]}],
    "streams": [{"name": "s", "program": "p", "period_ms": 5}]})",
                      Board());
}

TEST(WorkloadTest, TakesDurationsFromAProfile) {
  auto workload =
      Keyed(R"("module": "0123456789abcdef", "export": 4, "grid": [7, 2],)");
  ASSERT_TRUE(workload.ok()) << workload.status();
  const sched::KernelKey key = workload->KeyOf(0);
  EXPECT_EQ(key, (sched::KernelKey{0x0123456789abcdef, 4, {7, 2, 1}}));
  EXPECT_EQ(workload->KeyOf(1), (sched::KernelKey{0, 1, {1, 1, 1}}));

  // The profile has the first kernel on one core, and another kernel.
  const sched::Machine board = Board();
  sched::CostModel costs(&board);
  ASSERT_TRUE(costs.Add(key, {{.guess_ns = 1}, {.shards = 3}}).ok());
  ASSERT_TRUE(costs.Add({1, 1, {1, 1, 1}}, {{.guess_ns = 1}}).ok());
  for (int i = 0; i < 50; ++i) {
    costs.Observe(0, 0, 7000);
    costs.Observe(0, 1, 3000);
    costs.Observe(1, 0, 9000);
  }
  const auto report = workload->ApplyProfile(sched::WriteProfile(costs));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->applied_count, 1u);
  EXPECT_EQ(report->unknown_count, 2u);
  EXPECT_EQ(workload->kernels[0].alternatives[0].guess_ns, 7000);
  EXPECT_EQ(workload->kernels[0].alternatives[0].tile_ns, 7000);
  EXPECT_EQ(workload->kernels[0].alternatives[1].guess_ns, 60'000);
  EXPECT_EQ(workload->kernels[1].alternatives[0].guess_ns, 5000);
}

TEST(WorkloadTest, RejectsDamagedProfilesAndKeys) {
  auto workload = Keyed("");
  ASSERT_TRUE(workload.ok());
  EXPECT_EQ(workload->ApplyProfile("no profile").status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(workload->kernels[0].alternatives[0].guess_ns, 100'000);
  EXPECT_THAT(Keyed(R"("module": "xyz",)").status().message(),
              HasSubstr("kernels[0].module"));
  EXPECT_THAT(
      Keyed(R"("module": "1", "grid": [1, 2, 3, 4],)").status().message(),
      HasSubstr("kernels[0].grid[3]"));
  EXPECT_THAT(Keyed(R"("module": "1", "grid": [-1],)").status().message(),
              HasSubstr("kernels[0].grid[0]"));
  EXPECT_THAT(Keyed(R"("module": "1", "export": 1e10,)").status().message(),
              HasSubstr("kernels[0].export"));
}

TEST(WorkloadTest, LoadSpreadsWorkOverAlternatives) {
  auto workload = ReadWorkload(kGood, Board());
  ASSERT_TRUE(workload.ok());
  workload->machine.pools[1].feeder_count = 0;
  // 6 kernels' work every 5 ms (the second stream comes every other time), 100
  // us on one of four cores or 20 us on the NPU. x on the NPU: 20x = 25(6 - x).
  EXPECT_NEAR(workload->Load(), 20 * (6 * 25.0 / 45) / 5000, 0.0005);
  const double before = workload->Load();
  workload->Scale(2);
  EXPECT_NEAR(workload->Load(), 2 * before, 0.0005);
}

}  // namespace
}  // namespace takt::plan
