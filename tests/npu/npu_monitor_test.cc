// A unit whose driver says what a test wants, watched for a shop whose clock
// and threads are the test's.
#include "npu/npu_monitor.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/shop/test_support.h"
#include "tests/support/allocation_faults.h"

namespace takt::npu {
namespace {

using shop::JobShop;
using shop::ManualExecutor;

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

// What the driver's open() is given as a number in text.
struct FakeUnit {
  takt_npu_result_t result = TAKT_NPU_RESULT_OK;  // Of all batches.
  takt_npu_result_t reset_result = TAKT_NPU_RESULT_OK;
  int64_t frequency_hz = 1'000'000'000;
  int64_t throttled_ns = 0;
  bool fills = true;
};

takt_npu_result_t Open(const takt_npu_host_t*, const char* options,
                       void** out_unit, char*, size_t) {
  *out_unit = reinterpret_cast<void*>(std::stoull(options));
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t Submit(void* unit, const takt_npu_batch_t* batch) {
  const auto& fake = *static_cast<FakeUnit*>(unit);
  for (size_t i = 0; fake.fills && i < batch->operation_count; ++i) {
    const takt_npu_fill_t& fill = batch->operations[i].fill;
    auto* const words = reinterpret_cast<uint32_t*>(fill.out.data);
    for (int64_t w = 0; w < fill.size1; ++w) words[w] = fill.pattern;
  }
  batch->complete(batch->user_data, batch->id, fake.result);
  return TAKT_NPU_RESULT_OK;
}

takt_npu_driver_t FakeDriver() {
  takt_npu_driver_t driver;
  std::memset(&driver, 0, sizeof(driver));
  driver.struct_size = sizeof(driver);
  driver.version = TAKT_NPU_DRIVER_VERSION;
  driver.name = "fake";
  driver.open = &Open;
  driver.close = [](void*) {};
  driver.query = [](void*, takt_npu_capabilities_t* out) {
    out->kinds = 1u << TAKT_NPU_KIND_FILL;
    out->flags = TAKT_NPU_HOST_MEMORY;
    return TAKT_NPU_RESULT_OK;
  };
  driver.submit = &Submit;
  driver.cancel = [](void*, uint64_t) { return TAKT_NPU_RESULT_OK; };
  driver.reset = [](void* unit) {
    return static_cast<FakeUnit*>(unit)->reset_result;
  };
  driver.telemetry = [](void* unit, takt_npu_telemetry_t* out) {
    const auto& fake = *static_cast<FakeUnit*>(unit);
    out->frequency_hz = fake.frequency_hz;
    out->throttled_ns = fake.throttled_ns;
    return TAKT_NPU_RESULT_OK;
  };
  return driver;
}

class NpuMonitorTest : public shop::JobShopTest {
 protected:
  static constexpr int64_t kStepNs = 10'000'000;
  static constexpr int64_t kQuarantineNs = 300'000'000;

  NpuMonitorTest() {
    MakeShop(1);
    pool_ = shop::Value(shop().AddNpu({"fake", false}));
    prober_ = Ref<ManualExecutor>::Adopt(new ManualExecutor(1));
    NpuUnit::Options options;
    options.driver_options =
        std::to_string(reinterpret_cast<uintptr_t>(&fake_));
    options.policy.quarantine_after = 1;
    options.policy.quarantine_ns = kQuarantineNs;
    options.time = time_;
    unit_ = shop::Value(NpuUnit::Open(&driver_, options));
    watch_ = NpuMonitor::Start(unit_, Ref<JobShop>::Retain(&shop()), pool_,
                               prober_, shared_timers());
  }
  ~NpuMonitorTest() override {
    if (watch_ != nullptr) watch_->Stop();
  }

  // Time passes, for the unit as well. What throttles it does so all along.
  void Pass(int64_t duration_ns, bool is_throttled = false) {
    for (int64_t passed = 0; passed < duration_ns; passed += kStepNs) {
      Advance(kStepNs);
      time_->Pass(kStepNs);
      if (is_throttled) fake_.throttled_ns += kStepNs;
      timers().FireDue(now());
    }
  }
  // Until the mode is `mode`; how long it took.
  int64_t AwaitMode(sched::Mode mode, bool is_throttled = false) {
    const int64_t start_ns = now();
    while (shop().mode() != mode && now() - start_ns < 20'000'000'000) {
      Pass(kStepNs, is_throttled);
    }
    EXPECT_EQ(shop().mode(), mode);
    return now() - start_ns;
  }
  shop::ResourceState npu() { return shop().resources().back(); }
  // Has the unit do something, which goes as fake_.result says.
  absl::Status Run() {
    uint32_t words[16];
    takt_npu_operation_t operation;
    std::memset(&operation, 0, sizeof(operation));
    operation.kind = TAKT_NPU_KIND_FILL;
    operation.fill.out = {reinterpret_cast<uint8_t*>(words), 0, 0,
                          sizeof(words)};
    operation.fill.size0 = 1;
    operation.fill.size1 = 16;
    operation.fill.stride0 = 16;
    operation.fill.stride1 = 1;
    return unit_->Run({&operation, 1}, NpuRequest());
  }

  FakeUnit fake_;
  const takt_npu_driver_t driver_ = FakeDriver();
  const std::shared_ptr<VirtualTime> time_ = std::make_shared<VirtualTime>();
  uint32_t pool_ = 0;
  Ref<ManualExecutor> prober_;
  Ref<NpuUnit> unit_;
  Ref<NpuMonitor> watch_;
};

TEST_F(NpuMonitorTest, HeatReachesTheSchedulerWithin250Ms) {
  EXPECT_EQ(npu().speed_permille, 1000u);
  fake_.frequency_hz = 900'000'000;  // Slower, but not slow: it counts as hot.
  EXPECT_LE(AwaitMode(sched::Mode::kHot, /*is_throttled=*/true), 250'000'000);
  EXPECT_EQ(npu().speed_permille, 900u);
  EXPECT_EQ(shop().resources()[0].speed_permille, 1000u);
  fake_.frequency_hz = 400'000'000;
  Pass(100'000'000, /*is_throttled=*/true);
  EXPECT_EQ(npu().speed_permille, 400u);
  fake_.frequency_hz = 1'000'000'000;
  AwaitMode(sched::Mode::kNominal);
  EXPECT_EQ(npu().speed_permille, 1000u);
}

TEST_F(NpuMonitorTest, AnIdleUnitThatSavesPowerIsNotSlow) {
  fake_.frequency_hz = 200'000'000;
  Pass(1'000'000'000);
  EXPECT_EQ(npu().speed_permille, 1000u);
  EXPECT_EQ(shop().mode(), sched::Mode::kNominal);
}

TEST_F(NpuMonitorTest, WhereHeatIsNotKnownTheFrequencySaysIt) {
  fake_.throttled_ns = kUnknown;
  Pass(100'000'000);
  fake_.frequency_hz = 500'000'000;
  Pass(100'000'000);
  EXPECT_EQ(npu().speed_permille, 500u);
  fake_.frequency_hz = kUnknown;  // Then nothing does.
  Pass(2'000'000'000);
  EXPECT_EQ(npu().speed_permille, 500u);
}

TEST_F(NpuMonitorTest, AUnitOnTheEdgeDoesNotFlap) {
  fake_.frequency_hz = 600'000'000;
  AwaitMode(sched::Mode::kHot, /*is_throttled=*/true);
  const uint64_t changes = shop().statistics().mode_change_count;
  for (int i = 0; i < 30; ++i) {
    fake_.frequency_hz = i % 2 == 0 ? 1'000'000'000 : 600'000'000;
    Pass(150'000'000, /*is_throttled=*/true);
    EXPECT_EQ(npu().speed_permille, 600u);
  }
  EXPECT_EQ(shop().statistics().mode_change_count, changes);
  // What it has been at the least for a second is what it is told to be.
  fake_.frequency_hz = 800'000'000;
  Pass(600'000'000, /*is_throttled=*/true);
  fake_.frequency_hz = 1'000'000'000;
  Pass(600'000'000, /*is_throttled=*/true);
  EXPECT_EQ(npu().speed_permille, 800u);
}

TEST_F(NpuMonitorTest, AFailedNpuIsUnavailableUntilAProbeSucceeds) {
  fake_.result = TAKT_NPU_RESULT_FAILED;
  EXPECT_FALSE(Run().ok());
  EXPECT_TRUE(npu().is_available);
  EXPECT_LE(AwaitMode(sched::Mode::kDegraded), 250'000'000);
  EXPECT_FALSE(npu().is_available);
  Pass(kQuarantineNs);
  ASSERT_EQ(prober_->size(), 1u);  // One, however long it waits.
  Pass(kQuarantineNs);
  ASSERT_EQ(prober_->size(), 1u);
  prober_->RunAll();
  Pass(100'000'000);
  EXPECT_FALSE(npu().is_available);
  EXPECT_EQ(unit_->statistics().probe_count, 1u);
  fake_.result = TAKT_NPU_RESULT_OK;
  Pass(2 * kQuarantineNs);  // It is left alone for longer each time.
  ASSERT_EQ(prober_->size(), 1u);
  prober_->RunAll();
  Pass(100'000'000);
  EXPECT_TRUE(npu().is_available);
  EXPECT_TRUE(Run().ok());
  AwaitMode(sched::Mode::kNominal);
}

TEST_F(NpuMonitorTest, WithoutMemoryTheReportsComeLater) {
  bool is_hit = true;
  for (int64_t fault = 0; is_hit; ++fault) {
    fake_.frequency_hz = 500'000'000;
    fake_.result = TAKT_NPU_RESULT_FAILED;
    EXPECT_FALSE(Run().ok());
    Advance(100'000'000);
    time_->Pass(100'000'000);
    fake_.throttled_ns += 100'000'000;
    {
      const AllocationFault armed(fault, /*goes_on=*/true);
      timers().FireDue(now());
    }
    is_hit = AllocationFault::is_hit();
    Pass(200'000'000, /*is_throttled=*/true);
    EXPECT_FALSE(npu().is_available);
    EXPECT_EQ(npu().speed_permille, 500u);
    fake_.frequency_hz = 1'000'000'000;
    fake_.result = TAKT_NPU_RESULT_OK;
    Pass(20 * kQuarantineNs);
    prober_->RunAll();
    Pass(2'000'000'000);
    EXPECT_TRUE(npu().is_available);
    EXPECT_EQ(npu().speed_permille, 1000u);
  }
}

TEST_F(NpuMonitorTest, WithoutMemoryItIsProbedAllTheSame) {
  fake_.result = TAKT_NPU_RESULT_FAILED;
  EXPECT_FALSE(Run().ok());
  fake_.result = TAKT_NPU_RESULT_OK;
  Pass(kQuarantineNs - kStepNs);
  ASSERT_EQ(prober_->size(), 0u);
  Advance(100'000'000);
  time_->Pass(100'000'000);
  {
    const AllocationFault armed(0, /*goes_on=*/true);
    timers().FireDue(now());
  }
  ASSERT_EQ(prober_->size(), 1u);
  prober_->RunAll();
  Pass(100'000'000);
  EXPECT_TRUE(npu().is_available);
}

TEST_F(NpuMonitorTest, ALostUnitComesBackAfterAReset) {
  fake_.result = TAKT_NPU_RESULT_LOST;
  fake_.reset_result = TAKT_NPU_RESULT_LOST;
  EXPECT_FALSE(Run().ok());
  Pass(100'000'000);
  EXPECT_FALSE(npu().is_available);
  fake_.result = TAKT_NPU_RESULT_OK;
  fake_.reset_result = TAKT_NPU_RESULT_OK;
  Pass(kQuarantineNs);
  prober_->RunAll();
  Pass(100'000'000);
  EXPECT_TRUE(npu().is_available);
}

TEST_F(NpuMonitorTest, WorkForTheNpuAloneGoesToItEvenIfItFails) {
  const Ref<shop::ScheduledStream> stream = shop().StreamOf(128, nullptr);
  const Ref<shop::ScheduledJob> job =
      shop().ReleaseJob(*stream, now(), kInfiniteFuture, false);
  const auto executor = Ref<ManualExecutor>::Adopt(new ManualExecutor(1));
  shop::TestWork running(1), waiting(1), later(1), either(1);
  for (shop::TestWork* work : {&running, &waiting, &later, &either}) {
    work->pools = 1u << pool_;
    work->executor = executor.get();
  }
  either.pools |= shop().core_pools();
  either.npu_ns = 1000;
  either.expected_tile_ns = 1'000'000;
  either.kernel.module_hash = 9;
  shop().Submit(*job, &running);
  shop().Submit(*job, &waiting);
  shop().Decide();
  EXPECT_EQ(executor->size(), 1u);
  fake_.result = TAKT_NPU_RESULT_FAILED;
  EXPECT_FALSE(Run().ok());
  Pass(100'000'000);
  shop().Submit(*job, &later);
  shop().Submit(*job, &either);
  shop().Decide();
  executor->RunAll();
  EXPECT_TRUE(running.is_finished);
  EXPECT_TRUE(waiting.is_finished);
  EXPECT_TRUE(later.is_finished);
  EXPECT_EQ(either.places, std::vector<bool>{false});
  executor->RunAll();
}

TEST_F(NpuMonitorTest, ForTheNextOneThePoolIsAsGoodAsNew) {
  fake_.frequency_hz = 500'000'000;
  fake_.result = TAKT_NPU_RESULT_FAILED;
  EXPECT_FALSE(Run().ok());
  Pass(200'000'000, /*is_throttled=*/true);
  EXPECT_FALSE(npu().is_available);
  EXPECT_EQ(npu().speed_permille, 500u);
  watch_->Stop();
  watch_ = nullptr;
  EXPECT_TRUE(npu().is_available);
  EXPECT_EQ(npu().speed_permille, 1000u);
}

}  // namespace
}  // namespace takt::npu
