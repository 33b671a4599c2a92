#include "plan/xpu_rt_schedule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::plan {
namespace {

using ::testing::HasSubstr;

// Times are milliseconds; entries are not in the order of their starts.
const char kSchedule[] = R"({
  "dot_file": "ignored",
  "dispatches": {
    "frame_1": {"id": 1, "ordinal": 1, "total": 1,
                "dependencies": ["frame_0"],
                "hardware_target": "NPU#0", "start_time": 0.241,
                "duration": 6.19, "job_name": "frame",
                "module_name": "vision$async_dispatch_1_matmul",
                "time_dependency": "frame_0"},
    "frame_0": {"id": 0, "dependencies": [],
                "hardware_target": "CPU_P#1+CPU_P#0", "start_time": -0.0,
                "duration": 0.241, "job_name": "frame",
                "module_name": "vision$async_dispatch_0_elementwise"},
    "act_0": {"hardware_target": "CPU_E#0", "start_time": 0.1,
              "duration": 0.059, "job_name": "act",
              "module_name": "policy"}
  }
})";

TEST(XpuRtScheduleTest, BecomesAPlan) {
  const absl::StatusOr<Plan> plan = ImportLooseSchedule(kSchedule);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->operations.size(), 3u);
  const PlannedOperation& first = plan->operations[0];
  EXPECT_EQ(first.name, "frame_0");
  EXPECT_EQ(first.start, 0);
  EXPECT_EQ(first.duration, 241000);
  EXPECT_EQ(first.kernel, "vision$async_dispatch_0_elementwise");
  ASSERT_EQ(first.resources.size(), 2u);
  EXPECT_EQ(plan->resources[first.resources[0]].name, "CPU_P#1");
  EXPECT_EQ(plan->operations[1].name, "act_0");
  const PlannedOperation& last = plan->operations[2];
  EXPECT_EQ(last.name, "frame_1");
  EXPECT_EQ(last.ordinal, 1u);
  EXPECT_EQ(last.after, std::vector<uint32_t>{0});
  const PlannedResource& npu = plan->resources[last.resources[0]];
  EXPECT_EQ(npu.kind, PlannedResource::Kind::kNpu);
  EXPECT_EQ(plan->modules[0].name, "vision");
  EXPECT_EQ(plan->modules[1].name, "policy");
  EXPECT_EQ(plan->jobs[last.job].name, "frame");
  // Each kind is a cluster.
  EXPECT_EQ(plan->resources[0].cluster, plan->resources[1].cluster);
  EXPECT_NE(plan->resources[0].cluster, npu.cluster);
  EXPECT_TRUE(FindPlanFaults(*plan).empty());
}

TEST(XpuRtScheduleTest, RoundTrips) {
  const Plan plan = *ImportLooseSchedule(kSchedule);
  const absl::StatusOr<Plan> again =
      ImportLooseSchedule(ExportLooseSchedule(plan));
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(again->operations.size(), plan.operations.size());
  for (size_t i = 0; i < plan.operations.size(); ++i) {
    EXPECT_EQ(again->operations[i].name, plan.operations[i].name);
    EXPECT_EQ(again->operations[i].start, plan.operations[i].start);
    EXPECT_EQ(again->operations[i].duration, plan.operations[i].duration);
    EXPECT_EQ(again->operations[i].after, plan.operations[i].after);
    EXPECT_EQ(again->operations[i].kernel, plan.operations[i].kernel);
    EXPECT_EQ(again->operations[i].resources.size(),
              plan.operations[i].resources.size());
  }
}

std::string ImportError(const std::string& json) {
  const absl::StatusOr<Plan> plan = ImportLooseSchedule(json);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << json;
  return std::string(plan.status().message());
}

// A schedule of one entry with that member in the place of a good one.
std::string With(const char* member, const char* value) {
  std::string json = R"({"dispatches": {"d": {)";
  const std::pair<const char*, const char*> good[] = {
      {"hardware_target", "\"CPU#0\""},
      {"start_time", "1"},
      {"duration", "1"},
      {"job_name", "\"j\""},
      {"module_name", "\"m\""},
      {"dependencies", "[]"},
      {"id", "0"}};
  for (const auto& [name, text] : good) {
    const bool is_other = std::string(name) == member;
    json += std::string("\"") + name + "\": " + (is_other ? value : text) + ",";
  }
  json.back() = '}';
  return json + "}}";
}

TEST(XpuRtScheduleTest, RejectsDeepNesting) {
  const size_t depth = 1'000'000;
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  EXPECT_EQ(ImportError(With("dependencies", ("[" + deep + "]").c_str())),
            "schedule: document: nested too deep");
}

TEST(XpuRtScheduleTest, FaultsAreNamed) {
  EXPECT_TRUE(ImportLooseSchedule(With("", "")).ok());
  EXPECT_THAT(ImportError(""), HasSubstr("is not JSON"));
  EXPECT_THAT(ImportError("[1, 2]"), HasSubstr("\"dispatches\""));
  EXPECT_THAT(ImportError(R"({"dispatches": {"d": 3}})"),
              HasSubstr("\"d\": start_time: expected a number"));
  EXPECT_THAT(ImportError(With("start_time", "-1")),
              HasSubstr("start_time: is -1"));
  EXPECT_THAT(ImportError(With("start_time", "1e300")),
              HasSubstr("start_time"));
  EXPECT_THAT(ImportError(With("duration", "0")), HasSubstr("duration: is 0"));
  EXPECT_THAT(ImportError(With("duration", "\"1\"")), HasSubstr("duration"));
  EXPECT_THAT(ImportError(With("job_name", "4")),
              HasSubstr("job_name: expected"));
  EXPECT_THAT(ImportError(With("module_name", "null")),
              HasSubstr("module_name"));
  EXPECT_THAT(ImportError(With("hardware_target", "\"CPU\"")),
              HasSubstr("expected KIND#number, got \"CPU\""));
  EXPECT_THAT(ImportError(With("hardware_target", "\"#1\"")),
              HasSubstr("KIND#"));
  EXPECT_THAT(ImportError(With("hardware_target", "\"CPU#x\"")),
              HasSubstr("KIND#"));
  EXPECT_THAT(ImportError(With("hardware_target", "\"CPU#0+CPU#0\"")),
              HasSubstr("\"CPU#0\" is there twice"));
  EXPECT_THAT(ImportError(With("dependencies", "[\"e\"]")),
              HasSubstr("there is no dispatch \"e\""));
  EXPECT_THAT(ImportError(With("dependencies", "[7]")),
              HasSubstr("no dispatch 7"));
  EXPECT_THAT(ImportError(With("dependencies", "{}")), HasSubstr("a list"));
  EXPECT_THAT(ImportError(With("dependencies", "[\"d\"]")),
              HasSubstr("cannot be after operation 0"));
  EXPECT_THAT(ImportError(With("id", "-1")), HasSubstr("id: expected"));
}

}  // namespace
}  // namespace takt::plan
