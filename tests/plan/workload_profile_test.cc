// Workloads of functions, and the profiles that have measured them.
#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/workload.h"

namespace takt::plan {
namespace {

using testing::HasSubstr;

constexpr char kWorkload[] = R"({
  "modules": [{"name": "policy", "file": "policy.vmfb",
               "parameters": ["weights=w.irpa"]},
              {"name": "log", "file": "log.vmfb"}],
  "functions": [{"function": "policy.act", "inputs": ["1x64xf32=0.5"]}],
  "objectives": ["energy", "misses"],
  "power_mw": {"big": 900},
  "planned_quantile": "q99",
  "streams": [
    {"name": "control", "function": "policy.act", "period_ms": 5},
    {"name": "log", "function": "log.write", "arrival": "once", "count": 3,
     "offset_ms": 1, "priority": 3}]})";

constexpr char kProfile[] = R"({
  "format": "takt-profile", "version": 1,
  "topology": {"clusters": [{"name": "big", "cpus": "0-3"}],
               "npus": [{"name": "n", "cluster": "big"}]},
  "conditions": {"cpus": []},
  "modules": [{"name": "policy", "content_hash": "00000000000000ab"},
              {"name": "other", "content_hash": "00000000000000cd"}],
  "functions": [{"name": "policy.act", "attributes": {
    "takt.deadline_ns": "4000000", "takt.priority": "200",
    "takt.affinity": "0x6", "takt.resource": "cpu"}}],
  "kernels": [{"name": "policy.k 4x1x1", "module_name": "policy", "function": "k",
    "grid": [4, 1, 1], "alternatives": [
      {"pool": "big", "shards": 1, "measured": true, "q50_us": 10,
       "q90_us": 11, "q99_us": 12.5, "samples": 100, "tile_us": 3,
       "contended": {"q50_us": 20}},
      {"pool": "n", "duration_us": 4}]}],
  "programs": [{"name": "policy.act", "operations": [
    {"kernel": "policy.k 4x1x1"}, {"kernel": "policy.k 4x1x1"}]}]})";

absl::StatusOr<Workload> Read(const std::string& workload,
                              const std::string& profile) {
  return ReadWorkload(workload, WorkloadSources{nullptr, profile});
}

TEST(WorkloadProfileTest, FunctionsGetTheirProgramsFromTheProfile) {
  const auto workload = Read(kWorkload, kProfile);
  ASSERT_TRUE(workload.ok()) << workload.status();
  EXPECT_EQ(workload->modules[0].file, "policy.vmfb");
  EXPECT_EQ(workload->modules[0].parameters[0], "weights=w.irpa");
  EXPECT_EQ(workload->modules[0].content_hash, "00000000000000ab");
  EXPECT_EQ(workload->modules[1].content_hash, "");
  ASSERT_EQ(workload->functions.size(), 2u);
  EXPECT_EQ(workload->functions[1].name, "log.write");
  EXPECT_EQ(workload->functions[1].module, 1u);
  EXPECT_EQ(workload->topology_hash.size(), 16u);
  EXPECT_EQ(workload->profile_hash.size(), 16u);
  EXPECT_EQ(workload->objectives,
            (std::vector<Objective>{Objective::kEnergy, Objective::kMisses}));
  EXPECT_EQ(workload->power_mw, (std::vector<double>{900, 0}));
  EXPECT_EQ(workload->planned_quantile, sched::Quantile::k99);
  const auto& ways = workload->kernels[0].alternatives;
  EXPECT_EQ(workload->kernels[0].module, 0);
  EXPECT_EQ(ways[0].guess_ns, 10'000);
  EXPECT_EQ(ways[0].q99_ns, 12'500);
  EXPECT_EQ(ways[0].sample_count, 100u);
  EXPECT_EQ(ways[1].sample_count, 0u);  // An estimate.
  const WorkloadStream& control = workload->streams[0];
  EXPECT_EQ(control.terms.program, 0u);
  EXPECT_EQ(control.function, 0);
  const WorkloadStream& log = workload->streams[1];
  EXPECT_EQ(log.arrival, Arrival::kOnce);
  EXPECT_EQ(log.count, 3u);
  EXPECT_EQ(log.terms.program, sched::kNoProgram);
  EXPECT_THAT(std::string(workload->RequirePrograms().message()),
              HasSubstr("stream log: no profile has log.write"));
}

TEST(WorkloadProfileTest, AnnotationsAreTheDefaultsOfAStream) {
  const auto workload = Read(kWorkload, kProfile);
  ASSERT_TRUE(workload.ok()) << workload.status();
  const sched::StreamOptions& terms = workload->streams[0].terms;
  EXPECT_EQ(terms.deadline_ns, 4'000'000);
  EXPECT_EQ(terms.priority, 200);
  EXPECT_EQ(terms.affinity, sched::ResourceSet::Range(1, 2));
  EXPECT_EQ(terms.pools, 1u);
  std::string said = kWorkload;
  said.replace(said.find("\"period_ms\": 5"), 14,
               "\"period_ms\": 5, \"deadline_ms\": 3, \"priority\": 7");
  const auto other = Read(said, kProfile);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->streams[0].terms.deadline_ns, 3'000'000);
  EXPECT_EQ(other->streams[0].terms.priority, 7);
}

// The error for the texts with `good` replaced by `bad`.
std::string FaultOfEither(const std::string& good, const std::string& bad) {
  std::string texts[] = {kWorkload, kProfile};
  bool is_found = false;
  for (std::string& text : texts) {
    const size_t at = text.find(good);
    if (is_found || at == std::string::npos) continue;
    text.replace(at, good.size(), bad);
    is_found = true;
  }
  EXPECT_TRUE(is_found) << good;
  const auto workload = Read(texts[0], texts[1]);
  EXPECT_EQ(workload.status().code(), absl::StatusCode::kInvalidArgument)
      << bad;
  return std::string(workload.status().message());
}

TEST(WorkloadProfileTest, NamesThePlaceOfTheFault) {
  EXPECT_THAT(FaultOfEither("\"file\": \"policy.vmfb\",", ""),
              HasSubstr("modules[0]: \"file\" is missing"));
  EXPECT_THAT(FaultOfEither("\"name\": \"log\", \"file\"",
                            "\"name\": \"policy\", \"file\""),
              HasSubstr("modules[1].name: a second policy"));
  EXPECT_THAT(
      FaultOfEither("\"function\": \"log.write\"", "\"function\": \"x.y\""),
      HasSubstr("expected \"module.function\" of a module listed"));
  EXPECT_THAT(
      FaultOfEither("\"function\": \"log.write\"", "\"function\": \"log.\""),
      HasSubstr("streams[1].function"));
  EXPECT_THAT(FaultOfEither("[\"1x64xf32=0.5\"]", "[5]"),
              HasSubstr("functions[0].inputs[0]: expected text"));
  EXPECT_THAT(FaultOfEither("\"energy\", \"misses\"", "\"beauty\""),
              HasSubstr("got \"beauty\""));
  EXPECT_THAT(FaultOfEither("{\"big\": 900}", "{\"huge\": 900}"),
              HasSubstr("no pool \"huge\""));
  EXPECT_THAT(FaultOfEither("\"q99\"", "\"q98\""), HasSubstr("q90, q50, q99"));
  EXPECT_THAT(FaultOfEither("\"count\": 3", "\"count\": 0"),
              HasSubstr("streams[1].count"));
  EXPECT_THAT(FaultOfEither("takt-profile", "something"),
              HasSubstr("profile.format: expected \"takt-profile\""));
  EXPECT_THAT(FaultOfEither("\"version\": 1", "\"version\": 2"),
              HasSubstr("version 1 is read, this is 2"));
  EXPECT_THAT(FaultOfEither("\"q99_us\": 12.5", "\"q99_us\": 10.5"),
              HasSubstr("kernels[0]: kernel: alternative 0: quantiles"));
  EXPECT_THAT(FaultOfEither("\"cpus\": \"0-3\"", "\"cpus\": \"none\""),
              HasSubstr("topology"));
  EXPECT_THAT(
      FaultOfEither("\"takt.priority\": \"200\"", "\"takt.priority\": \"2e2\""),
      HasSubstr("attribute takt.priority of policy.act"));
  EXPECT_THAT(FaultOfEither("\"takt.affinity\": \"0x6\"",
                            "\"takt.affinity\": \"0x600\""),
              HasSubstr("attribute takt.affinity"));
  EXPECT_THAT(FaultOfEither("\"arrival\": \"once\"", "\"program\": \"p\""),
              HasSubstr("a program and a function"));
}

TEST(WorkloadProfileTest, WithoutAMachineThereIsNoWorkload) {
  const auto workload = ReadWorkload(kWorkload, WorkloadSources{});
  EXPECT_THAT(std::string(workload.status().message()),
              HasSubstr("no \"topology\""));
}

// A fault that does not depend on the machine is reported first.
TEST(WorkloadProfileTest, ReportsAnUnknownMemberBeforeAMissingMachine) {
  const auto fault = [](absl::string_view json) {
    return std::string(
        ReadWorkload(json, WorkloadSources{}).status().message());
  };
  EXPECT_THAT(fault(R"({"streams": [{"name": "a"}, {"periods_us": 5}]})"),
              HasSubstr("streams[1]: unknown member \"periods_us\""));
  EXPECT_THAT(
      fault(R"({"kernels": [{"name": "k", "alternatives": [{"poll": "a"}]}]})"),
      HasSubstr("kernels[0].alternatives[0]: unknown member \"poll\""));
  EXPECT_THAT(fault(R"({"programs": 5})"),
              HasSubstr("programs: expected a list"));
  EXPECT_THAT(fault(R"({"streams": [{"name": "a"}]})"),
              HasSubstr("no \"topology\""));
}

// Damaged bytes give an error or a workload.
TEST(WorkloadProfileTest, SurvivesDamage) {
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string texts[] = {kWorkload, kProfile};
    std::string& text = texts[random.Below(2)];
    for (uint32_t n = 1 + random.Below(4); n > 0; --n) {
      const uint32_t at = random.Below(static_cast<uint32_t>(text.size()));
      if (random.Below(2) == 0) {
        text[at] = static_cast<char>(random.Below(256));
      } else {
        text.erase(at, random.Below(8));
      }
    }
    const auto workload = Read(texts[0], texts[1]);
    if (!workload.ok()) {
      EXPECT_EQ(workload.status().code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

}  // namespace
}  // namespace takt::plan
