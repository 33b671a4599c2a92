// NPUs as resources of the job shop: who has one next, and what may run there
// or on cores.
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "shop/job_shop.h"
#include "tests/shop/test_support.h"

namespace takt::shop {
namespace {

class NpuPoolTest : public JobShopTest {
 protected:
  void MakeShopWithNpu(uint32_t worker_count, bool is_on_caller = false) {
    MakeShop(worker_count);
    npu_ = Value(shop().AddNpu({"npu", is_on_caller}));
    npu_executor_ = Ref<ManualExecutor>::Adopt(new ManualExecutor(1));
  }
  // Work for the NPU alone.
  void MakeForNpu(TestWork& work) {
    work.pools = 1u << npu_;
    work.executor = npu_executor_.get();
    work.kernel.module_hash = 8;
  }
  // Work that takes so long on the NPU, or on one core.
  void MakeForBoth(TestWork& work, int64_t npu_ns, int64_t core_ns) {
    work.pools = 1u << npu_ | shop().core_pools();
    work.npu_ns = npu_ns;
    work.expected_tile_ns = core_ns / work.tile_count;
    work.kernel.module_hash = 9;
  }
  Ref<ScheduledJob> ReleaseJob(uint8_t priority) {
    streams_.push_back(shop().StreamOf(priority, nullptr));
    return shop().ReleaseJob(*streams_.back(), 0, kInfiniteFuture, false);
  }

  uint32_t npu_ = 0;
  Ref<ManualExecutor> npu_executor_;
  std::vector<Ref<ScheduledStream>> streams_;
};

TEST_F(NpuPoolTest, OneOperationHasItAtATimeTheMostUrgentNext) {
  MakeShopWithNpu(2);
  const auto low = ReleaseJob(16), middle = ReleaseJob(128),
             high = ReleaseJob(240);
  TestWork first(1), of_low(1), of_middle(1), of_high(1);
  for (TestWork* work : {&first, &of_low, &of_middle, &of_high}) {
    MakeForNpu(*work);
  }
  shop().Submit(*low, &first);
  shop().Decide();
  ASSERT_EQ(npu_executor_->size(), 1u);
  EXPECT_EQ(executor().size(), 0u);
  shop().Submit(*low, &of_low);
  shop().Submit(*middle, &of_middle);
  shop().Submit(*high, &of_high);
  shop().Decide();
  // What has it keeps it: no NPU stops between tiles.
  for (TestWork* next : {&first, &of_high, &of_middle, &of_low}) {
    ASSERT_EQ(npu_executor_->size(), 1u);
    npu_executor_->RunNext();
    EXPECT_TRUE(next->is_finished);
    EXPECT_EQ(next->places, std::vector<bool>{true});
  }
  EXPECT_EQ(npu_executor_->size(), 0u);
  EXPECT_EQ(executor().size(), 0u);
}

TEST_F(NpuPoolTest, CoresWorkBesideIt) {
  MakeShopWithNpu(1);
  const auto job = ReleaseJob(128);
  TestWork on_npu(1), on_core(1);
  MakeForNpu(on_npu);
  shop().Submit(*job, &on_npu);
  shop().Submit(*job, &on_core);
  shop().Decide();
  EXPECT_EQ(npu_executor_->size(), 1u);
  EXPECT_EQ(executor().size(), 1u);
  executor().RunAll();
  EXPECT_TRUE(on_core.is_finished);
  EXPECT_EQ(on_core.places, std::vector<bool>{false});
  npu_executor_->RunAll();
  EXPECT_TRUE(on_npu.is_finished);
}

TEST_F(NpuPoolTest, OneThatIsOnTheCallersThreadTakesACore) {
  MakeShopWithNpu(1, /*is_on_caller=*/true);
  const auto job = ReleaseJob(128);
  TestWork on_npu(1), on_core(1);
  MakeForNpu(on_npu);
  on_npu.executor = nullptr;
  shop().Submit(*job, &on_npu);
  shop().Decide();
  shop().Submit(*job, &on_core);
  shop().Decide();
  ASSERT_EQ(executor().size(), 1u);
  executor().RunNext();
  EXPECT_TRUE(on_npu.is_finished);
  EXPECT_FALSE(on_core.is_finished);
  executor().RunAll();
  EXPECT_TRUE(on_core.is_finished);
}

TEST_F(NpuPoolTest, WorkOfBothRunsWhereItEndsFirst) {
  MakeShopWithNpu(1);
  const auto job = ReleaseJob(128);
  TestWork fast_on_npu(4);
  MakeForBoth(fast_on_npu, 100'000, 1'000'000);
  shop().Submit(*job, &fast_on_npu);
  shop().Decide();
  EXPECT_EQ(fast_on_npu.places, std::vector<bool>{true});
  executor().RunAll();
  // On an NPU one thread runs all tiles.
  EXPECT_TRUE(fast_on_npu.is_finished);
  EXPECT_EQ(fast_on_npu.tiles_run, 4u);

  TestWork fast_on_core(4);
  MakeForBoth(fast_on_core, 1'000'000, 100'000);
  fast_on_core.kernel.module_hash = 10;
  shop().Submit(*job, &fast_on_core);
  shop().Decide();
  EXPECT_EQ(fast_on_core.places, std::vector<bool>{false});
  executor().RunAll();
  EXPECT_TRUE(fast_on_core.is_finished);
}

TEST_F(NpuPoolTest, ButNotWhereItWouldWaitForLonger) {
  MakeShopWithNpu(1);
  const auto job = ReleaseJob(128);
  TestWork before(1), either(4);
  MakeForNpu(before);
  before.expected_tile_ns = 5'000'000;
  MakeForBoth(either, 100'000, 1'000'000);
  shop().Submit(*job, &before);
  shop().Decide();
  shop().Submit(*job, &either);
  shop().Decide();
  // The NPU has 5 ms to do.
  EXPECT_EQ(either.places, std::vector<bool>{false});
  executor().RunAll();
  EXPECT_TRUE(either.is_finished);
  npu_executor_->RunAll();
}

TEST_F(NpuPoolTest, OneThatComesServesStreamsThatWereThere) {
  MakeShop(1);
  const auto job = ReleaseJob(128);
  TestWork first(1);
  shop().Submit(*job, &first);
  shop().Decide();
  executor().RunAll();
  npu_ = Value(shop().AddNpu({"npu", false}));
  npu_executor_ = Ref<ManualExecutor>::Adopt(new ManualExecutor(1));
  TestWork work(1);
  MakeForNpu(work);
  shop().Submit(*job, &work);
  shop().Decide();
  npu_executor_->RunAll();
  EXPECT_TRUE(work.is_finished);
}

TEST_F(NpuPoolTest, NamesakesGetNumbersAndPlacesAreUsedAgain) {
  MakeShop(1);
  const uint32_t first = Value(shop().AddNpu({"sim", false}));
  const uint32_t second = Value(shop().AddNpu({"sim", false}));
  EXPECT_NE(first, second);
  EXPECT_EQ(Value(shop().FindPool("sim")), first);
  EXPECT_EQ(Value(shop().FindPool("sim 2")), second);
  EXPECT_FALSE(shop().FindPool("sim 3").ok());
  shop().RemoveNpu(first);
  EXPECT_EQ(Value(shop().AddNpu({"sim", false})), first);
  const auto resources = shop().resources();
  ASSERT_EQ(resources.size(), 3u);
  EXPECT_EQ(resources[2].pool, "sim 2");
  EXPECT_EQ(resources[2].kind, sched::ResourceKind::kNpu);
  EXPECT_TRUE(resources[2].is_available);
}

// A callback runs on the thread of whatever function has waited for a decision.
TEST_F(NpuPoolTest, CallbacksMayAskForNpusToo) {
  MakeShop(1);
  StreamRequirements requirements;
  requirements.deadline_ns = 1000;
  requirements.late = sched::LatePolicy::kDrop;
  const auto stream = Value(shop().AddStream(requirements));
  int call_count = 0;
  shop().SetCallbacks(
      [&](const JobEnd&) {
        ++call_count;
        shop().RemoveNpu(Value(shop().AddNpu({"inner", false})));
        EXPECT_EQ(shop().gone().count(), 1u);
      },
      nullptr);
  const auto release_late = [&] {
    return shop().ReleaseJob(*stream, now() - 2, now() - 1,
                             /*is_counted=*/true);
  };
  const auto first = release_late();
  EXPECT_EQ(shop().gone().count(), 0u);
  EXPECT_EQ(call_count, 1);
  const auto second = release_late();
  EXPECT_TRUE(shop().AddNpu({"outer", false}).ok());
  EXPECT_EQ(call_count, 2);
}

// A callback runs between what the shop does: here the unit is well again
// before the report that it is not has come back.
TEST_F(NpuPoolTest, TheLastReportOfItsHealthHolds) {
  MakeShopWithNpu(1);
  StreamRequirements requirements;
  requirements.deadline_ns = 1'000'000;
  requirements.late = sched::LatePolicy::kDrop;
  const auto stream = Value(shop().AddStream(requirements));
  const auto late = shop().ReleaseJob(*stream, now(), now() + 1'000'000,
                                      /*is_counted=*/true);
  shop().Decide();
  bool is_told = false;
  shop().SetCallbacks(
      [&](const JobEnd&) {
        is_told = true;
        shop().SetNpuWorks(npu_, true);
      },
      nullptr);
  Advance(2'000'000);
  shop().SetNpuWorks(npu_, false);
  EXPECT_TRUE(is_told);
  EXPECT_TRUE(shop().resources().back().is_available);
  const auto job = ReleaseJob(128);
  TestWork work(1);
  MakeForNpu(work);
  shop().Submit(*job, &work);
  shop().Decide();
  npu_executor_->RunAll();
  EXPECT_TRUE(work.is_finished);
}

TEST_F(NpuPoolTest, TooManyAreRefused) {
  MakeShop(1);
  for (uint32_t i = 1; i < sched::Machine::kMaxPools; ++i) {
    ASSERT_TRUE(shop().AddNpu({"sim", false}).ok()) << i;
  }
  EXPECT_EQ(shop().AddNpu({"sim", false}).status().code(),
            absl::StatusCode::kInvalidArgument);
  // The others go on.
  EXPECT_EQ(shop().resources().size(), sched::Machine::kMaxPools);
}

}  // namespace
}  // namespace takt::shop
