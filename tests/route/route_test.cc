#include "route/route.h"

#include "gtest/gtest.h"
#include "route/dual_recording.h"
#include "tests/route/test_support.h"

namespace takt::route {
namespace {

using cpu::RouteTarget;

// The route of a dispatch: one workgroup on the resource, four on the CPU.
class RouteTest : public RecordingTest {
 protected:
  RouteTest() : recording_(Record(*exclusive_, {1, 1, 1})) {
    EXPECT_EQ(PairRecordings(*recording_, Record(*on_cpu_, {4, 1, 1}), nullptr),
              1u);
  }

  const Route& route() const {
    return *static_cast<const Route*>(DispatchOf(*recording_).route());
  }
  void LearnExclusive(int64_t duration_ns) {
    route()
        .CommandFor(RouteTarget::kExclusive)
        .cost()
        .alone.Add(duration_ns, 1);
  }
  // One thread ran all four workgroups.
  void LearnCpu(int64_t workgroup_ns) {
    route().CommandFor(RouteTarget::kCpu).cost().alone.Add(4 * workgroup_ns, 4);
  }
  RouteTarget Choose(uint32_t core_count = 1) const {
    return route().Choose(exec::JobTraits(), core_count);
  }

  Ref<cpu::CpuCommandBuffer> recording_;
};

TEST_F(RouteTest, TriesEachTargetBeforeItCompares) {
  EXPECT_FALSE(route().IsMeasured());
  EXPECT_EQ(Choose(), RouteTarget::kExclusive);
  LearnExclusive(1'000);
  EXPECT_FALSE(route().IsMeasured());
  EXPECT_EQ(Choose(), RouteTarget::kCpu);
  LearnCpu(1'500);
  EXPECT_TRUE(route().IsMeasured());
  EXPECT_EQ(resource_.counts[0], 1u);
  EXPECT_EQ(resource_.counts[1], 1u);
}

TEST_F(RouteTest, ChoosesTheTargetThatFinishesFirst) {
  LearnExclusive(1'000);
  LearnCpu(1'500);
  EXPECT_EQ(route().Estimate(1).exclusive_ns, 1'000);
  EXPECT_EQ(route().Estimate(1).cpu_ns, 6'000);
  EXPECT_EQ(Choose(), RouteTarget::kExclusive);
  // More threads help until each has one workgroup.
  EXPECT_EQ(route().Estimate(2).cpu_ns, 3'000);
  EXPECT_EQ(route().Estimate(8).cpu_ns, 1'500);
  // Others have the resource.
  resource_.wait_ns = 400;
  EXPECT_EQ(Choose(8), RouteTarget::kExclusive);
  resource_.wait_ns = 600;
  EXPECT_EQ(Choose(8), RouteTarget::kCpu);
}

TEST_F(RouteTest, TriesTheSlowerTargetAgainOncePerPeriod) {
  LearnExclusive(1'000);
  LearnCpu(500);
  for (uint32_t i = 0; i < 4 * kRetrialPeriod; ++i) {
    const bool is_retrial = i % kRetrialPeriod == kRetrialPeriod - 1;
    EXPECT_EQ(Choose(),
              is_retrial ? RouteTarget::kCpu : RouteTarget::kExclusive)
        << i;
  }
}

TEST_F(RouteTest, NeverRetriesATargetThatTakesFarTooLong) {
  LearnExclusive(1'000);
  LearnCpu(1'000'000);
  for (uint32_t i = 0; i < 2 * kRetrialPeriod; ++i) {
    EXPECT_EQ(Choose(), RouteTarget::kExclusive) << i;
  }
}

TEST_F(RouteTest, DoesNotWaitForAResourceThatIsOutOfOrder) {
  LearnExclusive(1'000);
  LearnCpu(1'500);
  resource_.wait_ns = kInfiniteFuture;
  for (uint32_t i = 0; i < 2 * kRetrialPeriod; ++i) {
    EXPECT_EQ(Choose(), RouteTarget::kCpu) << i;
  }
}

// Work that only shows what it was prepared with.
class FakeWork final : public shop::Work {
 public:
  uint32_t RunTiles(uint32_t, uint32_t end, exec::Worker&) override {
    return end;
  }
  void Finish(exec::Worker&) override {}
  void GiveUp() override {}
};

TEST_F(RouteTest, OffersAShopBothPoolsAsAKernelOfItsOwn) {
  LearnExclusive(1'000);
  FakeWork work;
  work.kernel.module_hash = kCpuHash;
  const sched::KernelKey on_cpu = work.kernel;
  route().Offer(/*exclusive_pools=*/4, /*core_pools=*/3, &work);
  EXPECT_EQ(work.pools, 7u);
  EXPECT_EQ(work.npu_ns, 1'000);
  EXPECT_NE(work.kernel, on_cpu);
  EXPECT_NE(work.kernel, on_cpu.OnPools(4));
  EXPECT_EQ(work.kernel, on_cpu.OrElse(kExclusiveHash, 4));
}

}  // namespace
}  // namespace takt::route
