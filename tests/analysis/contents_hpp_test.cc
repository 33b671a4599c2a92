// The C++ face of libtakt-tools; what the functions do is tested in C.
#include <string>

#include "gtest/gtest.h"
#include "takt/takt.hpp"
#include "takt/tools/module_contents.hpp"
#include "takt/tools/plan_contents.hpp"
#include "takt/tools/trace_contents.hpp"
#include "takt/tools/workload.hpp"

namespace {

TEST(TraceContentsHppTest, ReportsAreText) {
  takt::Instance instance = takt::Instance::Create().value();
  const takt::TraceContents trace =
      takt::TraceContents::Read(takt::CollectTrace(instance).value()).value();
  EXPECT_EQ(trace.info().event_count, 0u);
  EXPECT_EQ(trace.event(0).kind, nullptr);
  EXPECT_EQ(trace.track(0).name, nullptr);
  EXPECT_NE(trace.Summarize()->find("0 events"), std::string::npos);
  EXPECT_NE(trace.Summarize(true)->find("\"events\": 0"), std::string::npos);
  EXPECT_EQ(*trace.Compare(), "nothing was planned\n");
  uint64_t count = 7;
  EXPECT_EQ(*trace.Check(&count), "");
  EXPECT_EQ(count, 0u);
}

constexpr char kWorkload[] = R"({"name": "w",
  "topology": {"clusters": [{"name": "a", "cpus": "0"}]},
  "modules": [{"name": "m", "file": "m.vmfb"}],
  "functions": [{"function": "m.f"}],
  "streams": [{"name": "s", "function": "m.f", "arrival": "once",
               "count": 3}]})";
constexpr char kProfile[] = R"({"format": "takt-profile", "version": 1,
    "modules": [{"name": "m", "content_hash": "00000000000000ab"}],
    "functions": [{"name": "m.f"}],
    "kernels": [{"name": "k", "module_name": "m", "alternatives":
      [{"pool": "a", "q50_us": 50, "q90_us": 50, "q99_us": 50,
        "samples": 9}]}],
    "programs": [{"name": "m.f", "operations": [{"kernel": "k"}]}]})";

TEST(PlanContentsHppTest, FromAWorkloadToASchedule) {
  const auto workload = takt::Workload::Parse(kWorkload, kProfile).value();
  EXPECT_EQ(workload.info().stream_count, 1u);
  const auto bounds = workload.Analyse();
  ASSERT_TRUE(bounds.ok());
  ASSERT_EQ(bounds.value().size(), 1u);
  EXPECT_EQ(bounds.value()[0].stream, "s");

  const takt::Plan plan = workload.Solve().value();
  const auto contents = takt::PlanContents::Read(plan).value();
  EXPECT_EQ(contents.info().operation_count, 3u);
  EXPECT_EQ(std::string(contents.job(2).stream), "s");
  EXPECT_EQ(contents.operation(0).duration_ns, 50'000);
  EXPECT_EQ(std::string(contents.module(0).name), "m");
  EXPECT_FALSE(contents.resource(0).is_npu);
  EXPECT_EQ(takt::FindFaults(plan).value(), "");

  const std::string json = takt::ExportSchedule(plan).value();
  const takt::Plan imported = takt::ImportSchedule(json).value();
  EXPECT_EQ(takt::PlanContents::Read(imported).value().info().operation_count,
            3u);
  const std::string path = testing::TempDir() + "/contents_hpp_test.taktplan";
  ASSERT_TRUE(takt::SavePlan(plan, path).ok());
  EXPECT_EQ(takt::Plan::Load(path).value().Encode().value(),
            plan.Encode().value());
  EXPECT_FALSE(takt::SavePlan(plan, "/nowhere/plan").ok());
  EXPECT_FALSE(takt::ImportSchedule("{").ok());
  EXPECT_FALSE(takt::Workload::Parse("{").ok());
}

TEST(ModuleContentsHppTest, DescribesAndDisassembles) {
  const auto instance = takt::Instance::Create().value();
  const auto module =
      takt::Module::Load(instance, TAKT_TESTDATA_DIR "/api/counter.vmfb")
          .value();
  const auto contents = takt::ModuleContents::Read(module).value();
  EXPECT_EQ(std::string(contents.info().name), "counter");
  EXPECT_NE(contents.Disassemble(0).value().find("return"), std::string::npos);
  EXPECT_EQ(contents.Disassemble(99).status().code(), TAKT_STATUS_OUT_OF_RANGE);
  const takt::Plan plan =
      takt::Workload::Parse(kWorkload, kProfile).value().Solve().value();
  EXPECT_EQ(takt::BindModule(plan, 0, module).status().code(),
            TAKT_STATUS_FAILED_PRECONDITION);
}

}  // namespace
