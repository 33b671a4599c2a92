// Runs whose callbacks control them. tests/api/plan_run_test.c has the rest.
#include "plan_run/plan_run.h"

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mapped_file.h"
#include "base/timer_service.h"
#include "gtest/gtest.h"
#include "runtime/context.h"
#include "runtime/instance.h"
#include "runtime/module_loader.h"
#include "sched/policy.h"
#include "tests/support/allocation_faults.h"
#include "tests/support/bounded_wait.h"
#include "tests/support/notification.h"
#include "vm/module.h"
#include "vm/native_module.h"

namespace takt::plan_run {
namespace {

constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;

absl::Status Mark(void*, vm::NativeCall&) { return absl::OkStatus(); }

// A single shot of one job, which is far ahead.
plan::Plan MakePlan() {
  plan::Plan plan;
  plan.name = "plan";
  plan.modules.push_back({"module", ""});
  plan.resources.push_back({"core 0"});
  plan.jobs.push_back({"job", 0, plan::kNoDeadline, {}});
  plan::PlannedOperation operation;
  operation.name = "operation";
  operation.kernel = "kernel";
  operation.duration = 1000;
  operation.resources = {0};
  plan.operations.push_back(std::move(operation));
  return plan;
}

class PlanRunTest : public testing::Test {
 protected:
  void SetUp() override {
    vm::NativeModule::Builder builder("probe", 1);
    builder.ExportRaw("mark", "0i_v", &Mark, nullptr);
    const auto probe = std::move(builder).Build().value();
    runtime::InstanceOptions options;
    options.workers.count = 1;
    options.scheduler.emplace();
    options.scheduler->policy = sched::FindPolicy("job-shop");
    instance_ = runtime::Instance::Create(std::move(options)).value();
    shop_ = instance_->GetShop().value();
    const auto executor = instance_->GetExecutor().value();
    const std::string path = TAKT_TESTDATA_DIR "/async/jobs.vmfb";
    const auto file = MappedFile::Open(path, MappedFile::Mode::kMap).value();
    const auto jobs = runtime::LoadModule(*instance_, file->bytes(), file, path,
                                          /*accept_unknown_types=*/false)
                          .value();
    runtime::ContextOptions context;
    context.modules = {probe.get(), jobs.get()};
    context.executor = executor.get();
    context_ = runtime::Context::Create(instance_.get(), context).value();
    // Its calls fail as they start.
    function_ =
        runtime::Function::Find(context_.get(), "pinned_elsewhere").value();
    shop::StreamRequirements late;
    late.late = sched::LatePolicy::kDrop;
    late.deadline_ns = kHourNs;
    late_stream_ = shop_->AddStream(late).value();
    MakeRun({});
  }
  void TearDown() override {
    shop_->SetCallbacks(nullptr, nullptr);
    run_->Stop();
  }

  // Its first call that ends stops it.
  void MakeRun(PlanTiming timing) {
    PlanRunOptions options;
    options.timing = timing;
    MakeRun(MakePlan(), std::move(options),
            [this](const PlanJobEnd&, const absl::Status&,
                   absl::Span<const vm::Value>) {
              ++stop_count_;
              run_->Stop();
            });
  }
  void MakeRun(const plan::Plan& plan, PlanRunOptions options,
               PlanDoneCallback on_done = nullptr) {
    const vm::Value argument = vm::Value::I32(1);
    PlanBinding binding;
    binding.name = "job";
    binding.functions = {function_.get()};
    binding.arguments = {&argument, 1};
    binding.on_done = std::move(on_done);
    run_ = PlanRun::Create(*instance_, plan, {&binding, 1}, std::move(options))
               .value();
  }

  // Returns when the timers that are due by now have fired.
  void PassTimers() {
    struct Passed : TimerService::Timer {
      Notification fired;
    } passed;
    passed.fire = [](TimerService::Timer* timer) {
      static_cast<Passed*>(timer)->fired.Notify();
    };
    instance_->timers()->Arm(&passed, NowNs());
    passed.fired.WaitForNotification();
  }

  // The next function of the shop that waits for a decision stops the run: it
  // finds a late job, and reports it on its thread.
  void StopWithNextDecision() {
    shop_->SetCallbacks(
        [this](const shop::JobEnd&) {
          ++stop_count_;
          run_->Stop();
        },
        nullptr);
    const int64_t now_ns = NowNs();
    late_job_ = shop_->ReleaseJob(*late_stream_, now_ns - 2, now_ns - 1,
                                  /*is_counted=*/true);
  }
  void ExpectStopped() {
    EXPECT_EQ(stop_count_, 1);
    EXPECT_FALSE(run_->Query().is_running);
    // The end of a call comes after its callback.
    const absl::Status over = run_->Wait(NowNs() + kBoundedWaitNs);
    EXPECT_TRUE(over.ok()) << over;
  }

  Ref<runtime::Instance> instance_;
  Ref<shop::JobShop> shop_;
  Ref<runtime::Context> context_;
  Ref<runtime::Function> function_;
  Ref<PlanRun> run_;
  Ref<shop::ScheduledStream> late_stream_;
  Ref<shop::ScheduledJob> late_job_;
  int stop_count_ = 0;
};

TEST_F(PlanRunTest, ACallbackMayStopARunThatIsBeingStopped) {
  ASSERT_TRUE(run_->Start(NowNs() + kHourNs).ok());
  StopWithNextDecision();
  run_->Stop();
  ExpectStopped();
}

TEST_F(PlanRunTest, ACallbackMayStopARunThatIsBeingStarted) {
  StopWithNextDecision();
  const absl::Status status = run_->Start(NowNs() + kHourNs);
  EXPECT_TRUE(status.ok()) << status;
  ExpectStopped();
  EXPECT_EQ(run_->Start(NowNs() + kHourNs).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(PlanRunTest, ACallbackMayStopARunWhosePlanIsBeingReplaced) {
  ASSERT_TRUE(run_->Start(NowNs() + kHourNs).ok());
  StopWithNextDecision();
  run_->Replace(MakePlan(), NowNs() + 2 * kHourNs).status().IgnoreError();
  ExpectStopped();
}

// The call is due at once, so it fails on the thread that starts the run.
TEST_F(PlanRunTest, ACallThatEndsAtOnceMayStopTheRun) {
  PlanTiming timing;
  timing.lead_ns = 2 * kHourNs;
  MakeRun(timing);
  ASSERT_TRUE(run_->Start(NowNs() + kHourNs).ok());
  ExpectStopped();
  EXPECT_EQ(run_->Query().failed_count, 1u);
}

TEST_F(PlanRunTest, ARunThatFindsNoMemoryLeavesTheInstanceToTheNext) {
  bool is_hit = true;
  for (int64_t first = 0; is_hit; ++first) {
    MakeRun({});
    absl::Status status;
    {
      const AllocationFault armed(first);
      status = run_->Start(NowNs() + kHourNs);
      is_hit = AllocationFault::is_hit();
    }
    if (!status.ok()) {
      EXPECT_TRUE(is_hit) << status;
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    }
    run_->Stop();
  }
}

// Two jobs, of which the second is released long after the first.
plan::Plan MakeLongPlan() {
  plan::Plan plan = MakePlan();
  plan.jobs.push_back({"later", 2 * kHourNs, plan::kNoDeadline, {}});
  plan.jobs.back().instance = 1;
  plan.operations.push_back(plan.operations.front());
  plan.operations.back().name = "later operation";
  plan.operations.back().job = 1;
  plan.operations.back().start = 2 * kHourNs;
  for (plan::PlannedJob& job : plan.jobs) job.stream = "job";
  return plan;
}

TEST_F(PlanRunTest, APlanGoesOnWhereThereIsNoMemoryToReplaceIt) {
  // A plan that takes over learns that the core is lost, and reports it.
  ASSERT_TRUE(shop_->SetAvailable(0, false).ok());
  const plan::Plan next = MakePlan();
  bool is_hit = true;
  for (int64_t first = 0; is_hit; ++first) {
    SCOPED_TRACE(first);
    PlanRunOptions options;
    options.mode = follow::FollowMode::kAdaptive;
    options.timing.lead_ns = kHourNs + kHourNs / 2;
    options.on_event = [](const follow::PlanEvent&) {};
    MakeRun(MakeLongPlan(), std::move(options));
    ASSERT_TRUE(run_->Start(NowNs() + kHourNs).ok());
    ASSERT_EQ(run_->Query().call_count, 1u);
    absl::StatusOr<int64_t> at_ns;
    {
      const AllocationFault armed(first);
      at_ns = run_->Replace(next, NowNs() + 2 * kHourNs);
      is_hit = AllocationFault::is_hit();
    }
    PassTimers();
    EXPECT_TRUE(run_->Query().is_running);
    if (!at_ns.ok()) {
      EXPECT_TRUE(is_hit) << at_ns.status();
      EXPECT_EQ(at_ns.status().code(), absl::StatusCode::kResourceExhausted);
      at_ns = run_->Replace(next, NowNs() + 2 * kHourNs);
      EXPECT_TRUE(at_ns.ok()) << at_ns.status();
    }
    run_->Stop();
  }
}

}  // namespace
}  // namespace takt::plan_run
