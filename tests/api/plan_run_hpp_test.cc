// The C++ face of workloads, plans and their runs. plan_run_test.c tests their
// behaviour.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "takt/plan_run.hpp"
#include "takt/tools/workload.hpp"
#include "tests/api/lead_time.h"

namespace {

constexpr char kWorkload[] = R"({"name": "w",
  "topology": {"clusters": [{"name": "a", "cpus": "0"}]},
  "modules": [{"name": "module", "file": "m.vmfb"}],
  "functions": [{"function": "module.mul"}],
  "streams": [{"name": "s", "function": "module.mul", "arrival": "once",
               "count": 3}]})";

std::string Profile(uint64_t content) {
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx",
                static_cast<unsigned long long>(content));
  return std::string(R"({"format": "takt-profile", "version": 1,
    "modules": [{"name": "module", "content_hash": ")") +
         hash + R"("}], "functions": [{"name": "module.mul"}],
    "kernels": [{"name": "k", "module_name": "module", "alternatives":
      [{"pool": "a", "q50_us": 50, "q90_us": 50, "q99_us": 50,
        "samples": 9}]}],
    "programs": [{"name": "module.mul", "operations": [{"kernel": "k"}]}]})";
}

TEST(PlanRunHppTest, FromAWorkloadToResults) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = "job-shop";
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 2;
  options.scheduler = &scheduler;
  auto instance = takt::Instance::Create(&options).value();
  auto device = takt::Device::Create(instance, "local-task").value();
  auto module = takt::Module::Load(instance, std::string(TAKT_TESTDATA_DIR) +
                                                 "/api/simple_mul.vmfb")
                    .value();
  auto context = takt::Context::Create(instance, {module}, {device}).value();
  auto function = context.FindFunction("mul").value();

  auto workload =
      takt::Workload::Parse(kWorkload, Profile(module.content_hash())).value();
  auto plan = workload.Solve().value();
  EXPECT_FALSE(takt::Plan::Load("/nowhere").ok());

  const float values[4] = {1, 2, 3, 4};
  auto view = takt::BufferView::Copy<float>(device, std::vector<int64_t>{4},
                                            std::span<const float>(values))
                  .value();
  std::atomic<int> done{0};
  std::atomic<int> events{0};
  takt::PlanBinding binding;
  binding.stream = "s";
  binding.functions = {function};
  binding.arguments = {takt::Value(view), takt::Value(view)};
  binding.on_done = [&](const takt_plan_job_end_t& job, takt::Status status,
                        std::span<const takt_value_t> results) {
    EXPECT_TRUE(status.ok());
    EXPECT_LT(job.job, 3u);
    EXPECT_EQ(results.size(), 1u);
    ++done;
  };
  takt::PlanRunOptions how;
  how.mode = TAKT_PLAN_MODE_ADAPTIVE;
  how.on_event = [&](const takt_plan_event_t&) { ++events; };
  EXPECT_FALSE(takt::PlanRun::Create(instance, plan, {}, how).ok());
  auto run = takt::PlanRun::Create(instance, plan, {binding}, how).value();
  EXPECT_FALSE(run.Start(0).ok());
  ASSERT_TRUE(run.Start(soon_ns()).ok());
  EXPECT_TRUE(run.Wait().ok());
  EXPECT_EQ(done, 3);
  EXPECT_EQ(run.report().call_count, 3u);
  EXPECT_TRUE(run.QueryOperation(0).ok());
  EXPECT_FALSE(run.QueryOperation(3).ok());
  EXPECT_FALSE(run.Replace(plan, takt_clock_now_ns() + 1'000'000'000).ok());
  run.Stop();
}

}  // namespace
