// The scheduler, event by event, on machines small enough to work out by hand.
#include "sched/scheduler.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sched/test_support.h"
#include "tests/support/allocation_faults.h"

namespace takt::sched {
namespace {

using testing::HasSubstr;

constexpr Criticality kHard = Criticality::kHard;
constexpr Criticality kSoft = Criticality::kSoft;
constexpr Criticality kBestEffort = Criticality::kBestEffort;

TEST(SchedulerTest, RunsTheOperationsOfAJobInOrder) {
  Shop shop(Cores(1));
  const KernelId kernel = shop.Kernel({{0, 1, 10, 0}});
  const StreamId stream =
      shop.Add(Terms(shop.Chain({kernel, kernel}), kSoft, 100));
  const JobId job = shop.Release(stream, 5);
  auto decisions = shop.Decide(5);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kStart);
  EXPECT_EQ(decisions[0].program_index, 0u);
  EXPECT_EQ(decisions[0].resources, ResourceSet::Range(0, 1));
  EXPECT_EQ(decisions[0].expected_end_ns, 15'000);
  decisions = shop.Finish(decisions[0], 15);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].program_index, 1u);
  decisions = shop.Finish(decisions[0], 30);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kJobDone);
  EXPECT_EQ(decisions[0].job, job);
  EXPECT_EQ(decisions[0].outcome, JobOutcome::kMet);
  EXPECT_EQ(decisions[0].response_ns, 25'000);
  EXPECT_EQ(shop->live_job_count(), 0u);
}

TEST(SchedulerTest, CountsAJobThatIsDoneLateAsMissed) {
  Shop shop(Cores(1));
  const StreamId stream =
      shop.Add(Terms(shop.Chain({shop.Kernel({{0, 1, 10, 0}})}), kSoft, 20));
  shop.Release(stream, 0);
  const auto start = shop.Decide(0);
  const auto done = shop.Finish(start[0], 21);
  EXPECT_EQ(done[0].outcome, JobOutcome::kMissed);
}

TEST(SchedulerTest, UrgentWorkTakesCoresAtTheEndOfATile) {
  Shop shop(Cores(1));
  const KernelId slow = shop.Kernel({{0, 1, 1000, 50}});
  const KernelId quick = shop.Kernel({{0, 1, 10, 0}});
  const StreamId back = shop.Add(Terms(shop.Chain({slow}), kBestEffort));
  const StreamId control = shop.Add(Terms(shop.Chain({quick}), kHard, 100));
  shop.Release(back, 0);
  const auto first = shop.Decide(0);
  shop.Release(control, 20);
  auto decisions = shop.Decide(20);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kYield);
  EXPECT_EQ(decisions[0].operation, first[0].operation);
  EXPECT_TRUE(shop.Decide(30).empty());  // It is asked once.
  shop->Yielded(first[0].operation, 50'000, 50'000);
  decisions = shop.Decide(50);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].stream, control);
  decisions = shop.Finish(decisions[0], 60);
  const auto again = Only(decisions, DecisionKind::kStart);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].operation, first[0].operation);
  EXPECT_EQ(again[0].done_ppm, 50'000u);
  EXPECT_EQ(again[0].expected_end_ns, 60'000 + 950'000);
}

TEST(SchedulerTest, UrgentWorkDoesNotWaitForWhatIsLate) {
  Shop shop(Cores(1));
  const StreamId back = shop.Add(
      Terms(shop.Chain({shop.Kernel({{0, 1, 1000, 50}})}), kBestEffort));
  const StreamId control =
      shop.Add(Terms(shop.Chain({shop.Kernel({{0, 1, 10, 0}})}), kHard, 100));
  shop.Release(back, 0);
  const auto first = shop.Decide(0);
  // It will end before its tile would.
  shop.Release(control, 980);
  EXPECT_TRUE(shop.Decide(980).empty());
  EXPECT_EQ(shop->next_timer_ns(), 1'020'000);
  // It is expected to need 20 us more, and then 60, which is too much.
  EXPECT_TRUE(shop.Decide(1020).empty());
  EXPECT_EQ(shop->next_timer_ns(), 1'060'000);
  const auto yields = shop.Decide(1060);
  ASSERT_EQ(yields.size(), 1u);
  EXPECT_EQ(yields[0].kind, DecisionKind::kYield);
  EXPECT_EQ(yields[0].operation, first[0].operation);
}

TEST(SchedulerTest, WorkWithoutTilesIsNotPreempted) {
  Shop shop(Cores(1));
  const StreamId back = shop.Add(
      Terms(shop.Chain({shop.Kernel({{0, 1, 1000, 0}})}), kBestEffort));
  const StreamId control =
      shop.Add(Terms(shop.Chain({shop.Kernel({{0, 1, 10, 0}})}), kHard, 100));
  shop.Release(back, 0);
  shop.Decide(0);
  shop.Release(control, 20);
  EXPECT_TRUE(shop.Decide(20).empty());
}

TEST(SchedulerTest, AnNpuRunsOneOperationAndTakesACore) {
  Shop shop(TwoClustersAndNpu());
  const KernelId kernel = shop.Kernel({{2, 1, 100, 0}});
  const StreamId stream = shop.Add(Terms(shop.Chain({kernel}), kSoft));
  shop.Release(stream, 0);
  shop.Release(stream, 0);
  auto decisions = shop.Decide(0);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_TRUE(decisions[0].resources.Contains(8));
  EXPECT_EQ(decisions[0].resources.count(), 2u);
  EXPECT_TRUE(decisions[0].resources.Intersects(ResourceSet::Range(0, 4)));
  decisions = shop.Finish(decisions[0], 100);
  EXPECT_EQ(Only(decisions, DecisionKind::kStart).size(), 1u);
}

TEST(SchedulerTest, WaitsForTheNpuOnlyIfThatPays) {
  Shop shop(TwoClustersAndNpu());
  // 100 us on the NPU or 350 on a core: the third and fourth in line would
  // wait for longer than a core takes.
  const KernelId kernel = shop.Kernel({{1, 1, 350, 0}, {2, 1, 100, 0}});
  const StreamId stream = shop.Add(Terms(shop.Chain({kernel}), kSoft));
  for (int i = 0; i < 5; ++i) shop.Release(stream, 0);
  const auto starts = Only(shop.Decide(0), DecisionKind::kStart);
  uint32_t on_npu = 0;
  uint32_t on_cores = 0;
  for (const Decision& start : starts) {
    ++(start.resources.Contains(8) ? on_npu : on_cores);
  }
  EXPECT_EQ(on_npu, 1u);
  EXPECT_EQ(on_cores, 2u);
  EXPECT_EQ(shop->waiting_count(), 2u);
}

TEST(SchedulerTest, AJobLeaseKeepsTheNpuToTheEnd) {
  Shop shop(TwoClustersAndNpu());
  const KernelId npu = shop.Kernel({{2, 1, 100, 0}});
  const KernelId core = shop.Kernel({{1, 1, 100, 0}});
  StreamOptions terms = Terms(shop.Chain({npu, core, npu}), kSoft);
  terms.lease = LeaseScope::kJob;
  const StreamId leasing = shop.Add(terms);
  const StreamId other = shop.Add(Terms(shop.Chain({npu}), kHard, 10'000));
  shop.Release(leasing, 0);
  auto first = shop.Decide(0);
  shop.Release(other, 50);
  EXPECT_TRUE(shop.Decide(50).empty());
  auto starts = Only(shop.Finish(first[0], 100), DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);  // The core; the NPU idles for its holder.
  EXPECT_EQ(starts[0].stream, leasing);
  starts = Only(shop.Finish(starts[0], 200), DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].stream, leasing);
  starts = Only(shop.Finish(starts[0], 300), DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].stream, other);
}

TEST(SchedulerTest, KeepsToAffinityAndPools) {
  Shop shop(TwoClustersAndNpu());
  const KernelId kernel =
      shop.Kernel({{0, 1, 10, 0}, {1, 1, 10, 0}, {2, 1, 1, 0}});
  StreamOptions terms = Terms(shop.Chain({kernel}), kSoft);
  terms.affinity = ResourceSet::Range(6, 3);
  terms.pools = 0b011;  // Not the NPU.
  const StreamId stream = shop.Add(terms);
  for (int i = 0; i < 4; ++i) shop.Release(stream, 0);
  const auto starts = shop.Decide(0);
  ASSERT_EQ(starts.size(), 2u);
  for (const Decision& start : starts) {
    EXPECT_TRUE(start.resources.IsSubsetOf(ResourceSet::Range(6, 2)));
  }
}

TEST(SchedulerTest, PrefersTheShardsAskedFor) {
  Shop shop(Cores(4));
  const KernelId kernel =
      shop.Kernel({{0, 1, 100, 0}, {0, 2, 60, 0}, {0, 4, 40, 0}});
  StreamOptions terms = Terms(shop.Chain({kernel}), kSoft);
  terms.shards_preferred = 2;
  const StreamId stream = shop.Add(terms);
  shop.Release(stream, 0);
  EXPECT_EQ(shop.Decide(0)[0].shards, 2u);
}

TEST(SchedulerTest, DropsALateJobAndCancelsItsRunningOperations) {
  Shop shop(Cores(2));
  const KernelId kernel = shop.Kernel({{0, 1, 80, 10}});
  std::vector<ProgramOperation> both = {{kernel, {}}, {kernel, {}}};
  const auto program = shop->AddProgram(both);
  StreamOptions terms = Terms(*program, kSoft, 100);
  terms.late = LatePolicy::kDrop;
  const StreamId stream = shop.Add(terms);
  shop.Release(stream, 0);
  const auto starts = shop.Decide(0);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(shop->next_timer_ns(), 100'001);
  shop->Finished(starts[0].operation, 90'000);
  std::vector<Decision> decisions;
  shop->Decide(100'001, &decisions);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kCancel);
  shop->Yielded(starts[1].operation, 0, 105'000);
  decisions = shop.Decide(105);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].outcome, JobOutcome::kDropped);
}

TEST(SchedulerTest, GivesUpAJobThatCannotBeInTime) {
  Shop shop(Cores(1));
  StreamOptions terms =
      Terms(shop.Chain({shop.Kernel({{0, 1, 80, 0}})}), kSoft, 100);
  terms.late = LatePolicy::kDrop;
  const StreamId stream = shop.Add(terms);
  shop.Release(stream, 0);
  shop.Release(stream, 0);
  const auto starts = shop.Decide(0);
  ASSERT_EQ(starts.size(), 1u);
  const auto decisions = shop.Finish(starts[0], 80);
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[1].outcome, JobOutcome::kDropped);
}

TEST(SchedulerTest, AnImmediateYieldFreesResourcesAtOnce) {
  SchedulerOptions options;
  options.yields_at_once = true;
  Shop shop(Cores(2), "job-shop", options);
  const KernelId slow = shop.Kernel({{0, 1, 2000, 700}, {0, 2, 1000, 700}});
  const KernelId quick = shop.Kernel({{0, 1, 100, 0}});
  const StreamId back = shop.Add(Terms(shop.Chain({slow}), kBestEffort));
  const StreamId control = shop.Add(Terms(shop.Chain({quick}), kHard, 500));
  shop.Release(back, 0);
  const auto first = shop.Decide(0);
  ASSERT_EQ(first[0].shards, 2u);
  shop.Release(control, 20);
  // Sooner than the end of a tile.
  const auto yield = shop.Decide(20);
  ASSERT_EQ(yield.size(), 1u);
  EXPECT_EQ(yield[0].kind, DecisionKind::kYield);
  shop->Yielded(first[0].operation, 0, 20'000);
  const auto starts = shop.Decide(20);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].stream, control);
  EXPECT_EQ(starts[1].stream, back);
  EXPECT_EQ(starts[1].shards, 1u);
  // When the core is left over, it is started anew with both.
  const auto again = Only(shop.Finish(starts[0], 120), DecisionKind::kYield);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].operation, first[0].operation);
  shop->Yielded(first[0].operation, 100'000, 120'000);
  const auto wide = shop.Decide(120);
  ASSERT_EQ(wide.size(), 1u);
  EXPECT_EQ(wide[0].shards, 2u);
  EXPECT_EQ(wide[0].done_ppm, 100'000u);
  // No run of it was a whole one.
  shop.Finish(wide[0], 1000);
  EXPECT_FALSE(shop->costs().kernel(slow).alternatives[1].duration.measured());
}

TEST(SchedulerTest, AnOperationThatWaitsForAnNpuLeavesTheCoresToOthers) {
  SchedulerOptions options;
  options.yields_at_once = true;
  Machine machine = Cores(2);
  machine.pools.push_back({"npu", ResourceKind::kNpu, 1, -1, 0});
  Shop shop(machine, "job-shop", options);
  const KernelId accelerated = shop.Kernel({{1, 1, 500, 0}});
  const KernelId wide = shop.Kernel({{0, 1, 2000, 100}, {0, 2, 1000, 100}});
  const StreamId npu = shop.Add(Terms(shop.Chain({accelerated}), kBestEffort));
  const StreamId cores = shop.Add(Terms(shop.Chain({wide}), kBestEffort));
  for (int i = 0; i < 3; ++i) shop.Release(npu, 0);
  ASSERT_EQ(shop.Decide(0).size(), 1u);
  ASSERT_EQ(shop->waiting_count(), 2u);
  shop.Release(cores, 10);
  const auto starts = shop.Decide(10);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].shards, 2u);
  // It is not asked to yield to itself.
  EXPECT_TRUE(shop.Decide(10).empty());
  EXPECT_TRUE(shop.Decide(20).empty());
}

// With work that yields at once, an urgent operation takes the core of a less
// urgent one as well as the free one.
TEST(SchedulerTest, UrgentWorkTakesMoreThanTheFreeCores) {
  for (const bool at_once : {true, false}) {
    SchedulerOptions options;
    options.yields_at_once = at_once;
    Shop shop(Cores(2), "job-shop", options);
    const KernelId frame = shop.Kernel({{0, 1, 4000, 100}});
    const KernelId wide = shop.Kernel({{0, 1, 2000, 100}, {0, 2, 1000, 100}});
    const StreamId frames = shop.Add(Terms(shop.Chain({frame}), kBestEffort));
    const StreamId policy = shop.Add(Terms(shop.Chain({wide}), kSoft, 40'000));
    shop.Release(frames, 0);
    const auto running = shop.Decide(0);
    ASSERT_EQ(running.size(), 1u);
    shop.Release(policy, 10);
    const auto decisions = shop.Decide(10);
    if (!at_once) {
      // Until the end of a tile the free core would be idle.
      ASSERT_EQ(decisions.size(), 1u);
      EXPECT_EQ(decisions[0].shards, 1u);
      continue;
    }
    ASSERT_EQ(decisions.size(), 1u);
    ASSERT_EQ(decisions[0].kind, DecisionKind::kYield);
    EXPECT_EQ(decisions[0].operation, running[0].operation);
    shop->Yielded(running[0].operation, 2'500, 10'000);
    const auto starts = shop.Decide(10);
    ASSERT_EQ(starts.size(), 1u);
    EXPECT_EQ(starts[0].kernel, wide);
    EXPECT_EQ(starts[0].shards, 2u);
  }
}

TEST(SchedulerTest, UrgentWorkLeavesACoreThatGainsItLittle) {
  SchedulerOptions options;
  options.yields_at_once = true;
  Shop shop(Cores(2), "job-shop", options);
  const KernelId frame = shop.Kernel({{0, 1, 4000, 100}});
  const KernelId wide = shop.Kernel({{0, 1, 2000, 100}, {0, 2, 1700, 100}});
  const StreamId frames = shop.Add(Terms(shop.Chain({frame}), kBestEffort));
  const StreamId policy = shop.Add(Terms(shop.Chain({wide}), kSoft, 40'000));
  shop.Release(frames, 0);
  ASSERT_EQ(shop.Decide(0).size(), 1u);
  shop.Release(policy, 10);
  const auto starts = shop.Decide(10);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].shards, 1u);
}

// The operations of one job have all cores one after the other; those of two
// jobs of a band divide them.
TEST(SchedulerTest, AnOperationThatShrinksFreesCoresBeforeItsEnd) {
  SchedulerOptions options;
  options.yields_at_once = true;
  Shop shop(Cores(4), "job-shop", options);
  const KernelId wide = shop.Kernel({{0, 1, 4000, 10}, {0, 4, 1000, 10}});
  const KernelId narrow = shop.Kernel({{0, 1, 300, 10}});
  const StreamId one = shop.Add(Terms(shop.Chain({wide}), kBestEffort));
  const StreamId two = shop.Add(Terms(shop.Chain({narrow}), kBestEffort));
  shop.Release(one, 0);
  const auto first = shop.Decide(0);
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(first[0].shards, 4u);
  shop.Release(two, 500);
  EXPECT_TRUE(shop.Decide(500).empty());
  const ResourceSet freed = shop->Shrunk(first[0].operation, 2, 900'000);
  EXPECT_EQ(freed.count(), 2u);
  EXPECT_EQ((freed & first[0].resources), freed);
  // It has no work for the core that is left over.
  const auto starts = shop.Decide(900);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].stream, two);
  EXPECT_EQ((starts[0].resources & freed), starts[0].resources);
  EXPECT_EQ(shop->Shrunk(first[0].operation, 1, 950'000).count(), 1u);
  shop.Finish(first[0], 1000);
  shop.Finish(starts[0], 1200);
  EXPECT_EQ(shop->live_job_count(), 0u);
  // All cores are there again, and the duration is that of the whole run.
  shop.Release(one, 1300);
  const auto again = shop.Decide(1300);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].resources.count(), 4u);
  EXPECT_EQ(shop->costs().kernel(wide).alternatives[1].expected_ns, 1'000'000);
}

TEST(SchedulerTest, OnlyOperationsOfOtherJobsMakeOneNarrower) {
  for (const bool is_one_job : {true, false}) {
    SchedulerOptions options;
    options.yields_at_once = true;
    Shop shop(Cores(2), "job-shop", options);
    const KernelId wide = shop.Kernel({{0, 1, 2000, 100}, {0, 2, 1000, 100}});
    const StreamId one = shop.Add(
        Terms(*shop->AddProgram({{wide, {}}, {wide, {}}}), kSoft, 40'000));
    const StreamId two = shop.Add(Terms(shop.Chain({wide}), kSoft, 40'000));
    if (is_one_job) {
      shop.Release(one, 0);
    } else {
      shop.Release(two, 0);
      shop.Release(two, 0);
    }
    const auto starts = shop.Decide(0);
    ASSERT_EQ(starts.size(), is_one_job ? 1u : 2u);
    EXPECT_EQ(starts[0].shards, is_one_job ? 2u : 1u);
  }
}

TEST(SchedulerTest, AnOperationKeptNarrowByThePolicyIsNotRestarted) {
  SchedulerOptions options;
  options.yields_at_once = true;
  Machine machine = Cores(3);
  machine.pools.push_back({"npu", ResourceKind::kNpu, 1, 0, 1});
  Shop shop(machine, "job-shop", options);
  const KernelId fed = shop.Kernel({{1, 1, 500, 0}});
  const KernelId wide = shop.Kernel({{0, 1, 2000, 100}, {0, 2, 1000, 100}});
  const StreamId npu = shop.Add(Terms(shop.Chain({fed}), kBestEffort));
  const StreamId cores = shop.Add(Terms(shop.Chain({wide}), kBestEffort));
  for (int i = 0; i < 2; ++i) shop.Release(npu, 0);
  ASSERT_EQ(shop.Decide(0).size(), 1u);
  ASSERT_EQ(shop->waiting_count(), 1u);
  // What waits for the NPU will want a core as well.
  shop.Release(cores, 10);
  const auto starts = shop.Decide(10);
  ASSERT_EQ(starts.size(), 1u);
  ASSERT_EQ(starts[0].shards, 1u);
  EXPECT_TRUE(shop.Decide(20).empty());
}

TEST(SchedulerTest, IsNotStartedAnewForLittle) {
  Shop shop(Cores(2));
  const KernelId slow = shop.Kernel({{0, 1, 1000, 100}, {0, 2, 900, 100}});
  const KernelId quick = shop.Kernel({{0, 1, 10, 0}});
  const StreamId back = shop.Add(Terms(shop.Chain({slow}), kBestEffort));
  const StreamId control = shop.Add(Terms(shop.Chain({quick}), kHard, 500));
  shop.Release(control, 0);
  shop.Release(back, 0);
  const auto starts = shop.Decide(0);
  ASSERT_EQ(starts.size(), 2u);
  ASSERT_EQ(starts[1].shards, 1u);
  EXPECT_TRUE(Only(shop.Finish(starts[0], 10), DecisionKind::kYield).empty());
}

// The first runs are, with caches and pages that are cold.
TEST(SchedulerTest, ASlowFirstRunDoesNotKeepItNarrow) {
  for (const int64_t cold_us : {500, 5000, 50000}) {
    Shop shop(Cores(2));
    const KernelId kernel = shop.Kernel({{0, 1, 200, 10}, {0, 2, 100, 10}});
    const KernelId other = shop.Kernel({{0, 1, 300, 10}});
    const StreamId stream = shop.Add(Terms(shop.Chain({kernel}), kBestEffort));
    const StreamId beside = shop.Add(Terms(shop.Chain({other}), kHard, 5000));
    int64_t now_us = 0;
    uint32_t wide_count = 0;
    for (int i = 0; i < 40; ++i) {
      // Now and then it has one core only.
      std::vector<Decision> others;
      if (i % 3 == 1) {
        shop.Release(beside, now_us);
        others = shop.Decide(now_us);
      }
      shop.Release(stream, now_us);
      const auto starts = Only(shop.Decide(now_us), DecisionKind::kStart);
      ASSERT_EQ(starts.size(), 1u);
      const bool is_wide = starts[0].shards == 2;
      if (i >= 20) wide_count += is_wide;
      now_us += i == 0 ? cold_us : is_wide ? 100 : 200;
      shop.Finish(starts[0], now_us);
      for (const Decision& start : others) shop.Finish(start, now_us);
      now_us += 1;
    }
    EXPECT_EQ(wide_count, 14u) << cold_us;
  }
}

TEST(SchedulerTest, AnOperationThatYieldedMayTurnOutToBeDone) {
  SchedulerOptions options;
  options.yields_at_once = true;
  Shop shop(Cores(1), "job-shop", options);
  const KernelId slow = shop.Kernel({{0, 1, 1000, 50}});
  const KernelId quick = shop.Kernel({{0, 1, 10, 0}});
  const StreamId back = shop.Add(Terms(shop.Chain({slow}), kBestEffort));
  const StreamId control = shop.Add(Terms(shop.Chain({quick}), kHard, 100));
  shop.Release(back, 0);
  const auto first = shop.Decide(0);
  shop.Release(control, 20);
  shop.Decide(20);
  shop->Yielded(first[0].operation, 900'000, 20'000);
  const auto urgent = shop.Decide(20);
  ASSERT_EQ(urgent.size(), 1u);
  const auto done = shop.Finish(first[0], 25);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].kind, DecisionKind::kJobDone);
  EXPECT_EQ(done[0].stream, back);
  EXPECT_EQ(shop->waiting_count(), 0u);
  shop.Finish(urgent[0], 30);
  EXPECT_EQ(shop->live_job_count(), 0u);
}

TEST(SchedulerTest, AnOverdueOperationIsNotExpectedToEnd) {
  Shop shop(Cores(1));
  const KernelId slow = shop.Kernel({{0, 1, 10, 5}});  // It takes far longer.
  const KernelId quick = shop.Kernel({{0, 1, 10, 0}});
  const StreamId back = shop.Add(Terms(shop.Chain({slow}), kBestEffort));
  const StreamId control = shop.Add(Terms(shop.Chain({quick}), kHard, 100));
  shop.Release(back, 0);
  shop.Decide(0);
  shop.Release(control, 500);
  const auto decisions = shop.Decide(500);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kYield);
}

TEST(SchedulerTest, HeatMakesTheModeHot) {
  Shop shop(Cores(1));
  shop->SetHot(true, 1'000'000'000);
  int64_t now_us = 1'000'000;
  while (shop->mode() != Mode::kHot && now_us < 2'000'000) {
    shop.Decide(now_us += 10'000);
  }
  EXPECT_LE(now_us - 1'000'000, 250'000);
  shop->SetHot(false, now_us * 1000);
  for (int i = 0; i < 500; ++i) shop.Decide(now_us += 10'000);
  EXPECT_EQ(shop->mode(), Mode::kNominal);
}

TEST(SchedulerTest, DemotesALateJob) {
  Shop shop(Cores(1));
  const KernelId kernel = shop.Kernel({{0, 1, 80, 0}});
  StreamOptions terms = Terms(shop.Chain({kernel}), kHard, 100);
  terms.late = LatePolicy::kDemote;
  const StreamId hard = shop.Add(terms);
  const StreamId soft = shop.Add(Terms(shop.Chain({kernel}), kSoft));
  shop.Release(hard, 0);
  shop.Release(hard, 0);
  const auto starts = shop.Decide(0);
  shop.Release(soft, 60);
  const auto decisions = shop.Finish(starts[0], 120);
  const auto demoted = Only(decisions, DecisionKind::kDemote);
  ASSERT_EQ(demoted.size(), 2u);
  EXPECT_EQ(demoted[0].stream, hard);
  EXPECT_EQ(demoted[0].deadline_ns, 100'000);
  const auto next = Only(decisions, DecisionKind::kStart);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].stream, soft);  // The second hard job is late by now.
}

TEST(SchedulerTest, AJobThatMayMissLetsOthersGoFirst) {
  Shop shop(Cores(1));
  const ProgramId program = shop.Chain({shop.Kernel({{0, 1, 10, 0}})});
  StreamOptions terms = Terms(program, kHard, 100);
  terms.met_min = 1;
  terms.met_window = 2;
  const StreamId lenient = shop.Add(terms);
  terms = Terms(program, kHard, 200);
  const StreamId strict = shop.Add(terms);
  // Without a job in time before it, a job must not miss.
  shop.Release(lenient, 0);
  shop.Release(strict, 0);
  auto starts = Only(shop.Decide(0), DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].stream, lenient);
  auto decisions = shop.Finish(starts[0], 10);
  auto done = Only(decisions, DecisionKind::kJobDone);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_FALSE(done[0].may_miss);
  starts = Only(decisions, DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);
  shop.Finish(starts[0], 20);
  // The last one was in time, so this one may miss.
  shop.Release(lenient, 30);
  shop.Release(strict, 30);
  starts = Only(shop.Decide(30), DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].stream, strict);
  decisions = shop.Finish(starts[0], 150);
  starts = Only(decisions, DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);
  decisions = shop.Finish(starts[0], 160);
  done = Only(decisions, DecisionKind::kJobDone);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_TRUE(done[0].may_miss);
  EXPECT_EQ(done[0].outcome, JobOutcome::kMissed);
  // It missed, so the next one must not.
  shop.Release(lenient, 170);
  shop.Release(strict, 170);
  starts = Only(shop.Decide(170), DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].stream, lenient);
}

TEST(SchedulerTest, JobsInFlightCountAsMissed) {
  Shop shop(Cores(1));
  StreamOptions terms =
      Terms(shop.Chain({shop.Kernel({{0, 1, 10, 0}})}), kHard, 100);
  terms.met_min = 1;
  terms.met_window = 2;
  const StreamId stream = shop.Add(terms);
  shop.Release(stream, 0);
  shop.Finish(shop.Decide(0)[0], 10);
  shop.Release(stream, 20);
  shop.Release(stream, 20);
  auto decisions = shop.Finish(shop.Decide(20)[0], 30);
  auto done = Only(decisions, DecisionKind::kJobDone);
  ASSERT_EQ(done.size(), 1u);
  const bool first_may_miss = done[0].may_miss;
  const auto starts = Only(decisions, DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);
  done = Only(shop.Finish(starts[0], 40), DecisionKind::kJobDone);
  ASSERT_EQ(done.size(), 1u);
  // One of the two may miss, but not both.
  EXPECT_NE(first_may_miss, done[0].may_miss);
}

TEST(SchedulerTest, LatestOnlyDropsWhatHasNotStarted) {
  Shop shop(Cores(1));
  StreamOptions terms =
      Terms(shop.Chain({shop.Kernel({{0, 1, 80, 0}})}), kSoft);
  terms.late = LatePolicy::kLatestOnly;
  const StreamId stream = shop.Add(terms);
  shop.Release(stream, 0);
  const auto starts = shop.Decide(0);
  const JobId old = shop.Release(stream, 10);
  EXPECT_TRUE(shop.Decide(10).empty());
  shop.Release(stream, 20);
  const auto decisions = shop.Decide(20);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].job, old);
  EXPECT_EQ(decisions[0].outcome, JobOutcome::kDropped);
}

TEST(SchedulerTest, ALongWaitRaisesAnOperation) {
  SchedulerOptions options;
  options.aging_ns = 1'000'000;
  Shop shop(Cores(1), "job-shop", options);
  const KernelId kernel = shop.Kernel({{0, 1, 100, 0}});
  const StreamId back = shop.Add(Terms(shop.Chain({kernel}), kBestEffort));
  const StreamId hard = shop.Add(Terms(shop.Chain({kernel}), kHard, 100'000));
  shop.Release(hard, 0);
  auto starts = shop.Decide(0);
  shop.Release(back, 0);
  int64_t now_us = 0;
  while (starts[0].stream != back) {
    now_us += 100;
    ASSERT_LT(now_us, 10'000);
    shop.Release(hard, now_us);
    starts = Only(shop.Finish(starts[0], now_us), DecisionKind::kStart);
    ASSERT_EQ(starts.size(), 1u);
  }
  // Two bands up takes two times of aging; then its missing deadline comes
  // after those of hard jobs.
  EXPECT_GE(now_us, 2000);
}

TEST(SchedulerTest, AFailedOperationFailsItsJobOnly) {
  Shop shop(Cores(1));
  const KernelId kernel = shop.Kernel({{0, 1, 10, 0}});
  const StreamId stream = shop.Add(Terms(shop.Chain({kernel, kernel}), kSoft));
  shop.Release(stream, 0);
  shop.Release(stream, 0);
  const auto starts = shop.Decide(0);
  shop->Failed(starts[0].operation, 5'000);
  const auto decisions = shop.Decide(5);
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[0].outcome, JobOutcome::kFailed);
  EXPECT_EQ(decisions[1].kind, DecisionKind::kStart);
}

TEST(SchedulerTest, MovesWorkOffALostResource) {
  Shop shop(TwoClustersAndNpu());
  const KernelId kernel = shop.Kernel({{1, 1, 1000, 0}, {2, 1, 100, 0}});
  const StreamId stream = shop.Add(Terms(shop.Chain({kernel}), kSoft));
  shop.Release(stream, 0);
  shop.Release(stream, 0);
  const auto starts = shop.Decide(0);
  ASSERT_EQ(starts.size(), 1u);  // The other waits for the NPU.
  shop->SetAvailable(8, false, 50'000);
  auto decisions = shop.Decide(50);
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kCancel);
  EXPECT_EQ(decisions[1].kind, DecisionKind::kStart);
  EXPECT_EQ(decisions[1].pool, 1u);
  shop->Yielded(starts[0].operation, 0, 51'000);
  decisions = shop.Decide(51);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].operation, starts[0].operation);
  EXPECT_EQ(decisions[0].pool, 1u);
  shop->SetAvailable(8, true, 60'000);
  shop.Release(stream, 60);
  EXPECT_EQ(shop.Decide(60)[0].pool, 2u);
}

TEST(SchedulerTest, ARunIsCancelledOnce) {
  Shop shop(Cores(2));
  const KernelId kernel = shop.Kernel({{0, 2, 100, 0}});
  const StreamId stream = shop.Add(Terms(shop.Chain({kernel}), kSoft));
  const JobId job = shop.Release(stream, 0);
  const auto starts = shop.Decide(0);
  ASSERT_EQ(starts.size(), 1u);
  const auto count_cancels = [&](int64_t now_us) {
    return Only(shop.Decide(now_us), DecisionKind::kCancel).size();
  };
  // It loses both of its cores, and comes to nothing then.
  shop->SetAvailable(0, false, 10'000);
  shop->SetAvailable(1, false, 10'000);
  EXPECT_EQ(count_cancels(10), 1u);
  shop->Drop(job, 11'000);
  EXPECT_EQ(count_cancels(11), 0u);
  shop->Yielded(starts[0].operation, 0, 12'000);
  EXPECT_EQ(Only(shop.Decide(12), DecisionKind::kJobDone).size(), 1u);
  // Each run may be.
  shop->SetAvailable(0, true, 20'000);
  shop->SetAvailable(1, true, 20'000);
  shop.Release(stream, 20);
  for (int64_t now_us = 20; now_us < 50; now_us += 10) {
    const auto again = Only(shop.Decide(now_us), DecisionKind::kStart);
    ASSERT_EQ(again.size(), 1u);
    shop->SetAvailable(1, false, (now_us + 1) * 1000);
    EXPECT_EQ(count_cancels(now_us + 1), 1u);
    shop->Yielded(again[0].operation, 0, (now_us + 2) * 1000);
    shop->SetAvailable(1, true, (now_us + 3) * 1000);
  }
}

// Also of jobs that end long before they would be late or critical.
TEST(SchedulerTest, TakesNoMemoryOnceWarm) {
  Shop shop(Cores(1), "laxity");
  const KernelId kernel = shop.Kernel({{0, 1, 100, 0}});
  constexpr int64_t kYearUs = 31'536'000'000'000;
  StreamOptions terms = Terms(shop.Chain({kernel}), kSoft, kYearUs);
  terms.late = LatePolicy::kDrop;
  const StreamId stream = shop.Add(terms);
  std::vector<Decision> decisions;
  decisions.reserve(16);
  int64_t now_ns = 0;
  const auto run_jobs = [&](int count) {
    for (int i = 0; i < count; ++i) {
      shop->Release(stream, now_ns, 0, now_ns);
      shop->Release(stream, now_ns, 0, now_ns);  // Waits for the other.
      for (int each = 0; each < 2; ++each) {
        decisions.clear();
        shop->Decide(now_ns, &decisions);
        ASSERT_EQ(decisions.back().kind, DecisionKind::kStart);
        now_ns += 100'000;
        shop->Finished(decisions.back().operation, now_ns);
      }
      decisions.clear();
      shop->Decide(now_ns, &decisions);
    }
  };
  run_jobs(200);
  const AllocationFault fault(0, /*goes_on=*/true);
  run_jobs(5000);
  EXPECT_FALSE(AllocationFault::is_hit());
}

// Durations come from profiles, which may say anything.
TEST(SchedulerTest, AQueueOfAbsurdLengthIsLong) {
  Machine machine;
  machine.pools = {{"wide", ResourceKind::kCore, 8, -1, 0},
                   {"narrow", ResourceKind::kCore, 1, -1, 0}};
  Shop shop(machine, "heft");
  const auto absurd = shop->AddKernel({9, 0, {1, 1, 1}},
                                      {{{0, 8, DurationEstimate::kMaxNs, 0}}});
  ASSERT_TRUE(absurd.ok()) << absurd.status();
  const StreamId long_ones = shop.Add(Terms(shop.Chain({*absurd}), kSoft));
  const StreamId quick = shop.Add(
      Terms(shop.Chain({shop.Kernel({{0, 1, 1, 0}, {1, 1, 5, 0}})}), kSoft));
  shop.Release(long_ones, 0);
  shop.Release(long_ones, 0);
  ASSERT_EQ(Only(shop.Decide(0), DecisionKind::kStart).size(), 1u);
  shop.Release(quick, 1);
  const auto starts = Only(shop.Decide(1), DecisionKind::kStart);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(starts[0].pool, 1u);
}

TEST(SchedulerTest, ScalesExpectationsBySpeed) {
  Shop shop(Cores(1));
  const StreamId stream =
      shop.Add(Terms(shop.Chain({shop.Kernel({{0, 1, 100, 0}})}), kSoft));
  shop->SetSpeed(0, 500, 0);
  shop.Release(stream, 0);
  const auto starts = shop.Decide(0);
  EXPECT_EQ(starts[0].expected_end_ns, 200'000);
  shop.Finish(starts[0], 200);
  // What was learned is the time at nominal speed.
  EXPECT_EQ(shop->costs().kernel(0).alternatives[0].duration.q50_ns(), 100'000);
}

TEST(SchedulerTest, FewestClustersKeepsOneIdleWhileDeadlinesAllow) {
  SchedulerOptions options;
  options.set_fewest_clusters(true);
  Shop shop(TwoClustersAndNpu(), "job-shop", options);
  const KernelId kernel = shop.Kernel({{0, 1, 100, 0}, {1, 1, 90, 0}});
  const StreamId stream = shop.Add(Terms(shop.Chain({kernel}), kSoft, 10'000));
  shop.Release(stream, 0);
  const uint32_t pool = shop.Decide(0)[0].pool;
  for (int i = 0; i < 3; ++i) {
    shop.Release(stream, 1);
    EXPECT_EQ(shop.Decide(1)[0].pool, pool);
  }
  const StreamId urgent = shop.Add(Terms(shop.Chain({kernel}), kSoft, 120));
  shop.Release(urgent, 2);
  EXPECT_NE(shop.Decide(2)[0].pool, pool);
}

// An operation that no allowed resource can run costs its stream nothing of its
// weight.
TEST(SchedulerTest, AnOperationWithoutAPlaceKeepsItsStreamsTurn) {
  Shop shop(TwoClustersAndNpu());
  const KernelId kernel = shop.Kernel({{0, 4, 10, 0}});
  const KernelId elsewhere = shop.Kernel({{1, 1, 10, 0}});
  StreamOptions terms = Terms(kNoProgram, kBestEffort);
  terms.weight = 1;
  terms.pools = 1;  // "big"
  const StreamId first = shop.Add(terms);
  const StreamId second = shop.Add(terms);
  const StreamId third = shop.Add(terms);
  const JobId lost = shop.Release(first, 20'000);
  shop->OperationReady(lost, elsewhere, 20'000'000);
  EXPECT_TRUE(shop.Decide(20'000).empty());
  shop->Drop(lost, 20'000'000);
  shop.Decide(20'000);
  // Two wait for the third, and start in the order in which they came.
  const auto add = [&](StreamId stream) {
    shop->OperationReady(shop.Release(stream, 20'001), kernel, 20'001'000);
  };
  add(third);
  const auto starts = shop.Decide(20'001);
  ASSERT_EQ(starts.size(), 1u);
  add(first);
  add(second);
  EXPECT_TRUE(shop.Decide(20'001).empty());
  const auto next = shop.Finish(starts[0], 20'011);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].stream, first);
}

TEST(SchedulerTest, FindsOperationsAsTheyBecomeReady) {
  Shop shop(Cores(2));
  const KernelId kernel = shop.Kernel({{0, 1, 10, 0}});
  const StreamId stream = shop.Add(Terms(kNoProgram, kSoft));
  for (int run = 0; run < 2; ++run) {
    const JobId job = shop.Release(stream, run * 100);
    EXPECT_TRUE(shop.Decide(run * 100).empty());
    shop->OperationReady(job, kernel, run * 100'000);
    auto starts = shop.Decide(run * 100);
    ASSERT_EQ(starts.size(), 1u);
    EXPECT_EQ(starts[0].program_index, 0u);
    EXPECT_TRUE(shop.Finish(starts[0], run * 100 + 10).empty());
    shop->EndJob(job, run * 100'000 + 10'000);
    const auto done = shop.Decide(run * 100 + 10);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].kind, DecisionKind::kJobDone);
  }
}

TEST(SchedulerTest, RefusesContradictoryTerms) {
  Shop shop(TwoClustersAndNpu());
  const ProgramId program = shop.Chain({shop.Kernel({{0, 4, 100, 0}})});
  const auto fault = [&](StreamOptions terms) {
    const auto id = shop->AddStream(terms);
    EXPECT_FALSE(id.ok());
    return std::string(id.status().message());
  };
  EXPECT_THAT(fault(Terms(7, kSoft)), HasSubstr("there is no program 7"));
  EXPECT_THAT(fault(Terms(program, kHard)), HasSubstr("needs a deadline"));
  StreamOptions terms = Terms(program, kSoft);
  terms.late = LatePolicy::kDrop;
  EXPECT_THAT(fault(terms), HasSubstr("late policy needs a deadline"));
  terms = Terms(program, kSoft);
  terms.deadline_ns = 0;
  EXPECT_THAT(fault(terms), HasSubstr("a deadline 0 ns after"));
  terms = Terms(program, kSoft);
  terms.period_ns = -1;
  EXPECT_THAT(fault(terms), HasSubstr("a period of -1 ns"));
  terms = Terms(program, kSoft);
  terms.met_min = 2;
  EXPECT_THAT(fault(terms), HasSubstr("2 of 0 jobs in time"));
  terms.met_window = 2;
  EXPECT_THAT(fault(terms), HasSubstr("2 of 2 jobs in time"));
  terms.met_window = 65;
  EXPECT_THAT(fault(terms), HasSubstr("a window of 65 jobs"));
  terms.met_window = 64;
  EXPECT_THAT(fault(terms), HasSubstr("in time needs a deadline"));
  terms = Terms(program, kHard, 100);
  terms.share_permille = 1;
  EXPECT_THAT(fault(terms), HasSubstr("a hard stream goes before all shares"));
  terms = Terms(program, kSoft);
  terms.weight = 1001;
  EXPECT_THAT(fault(terms), HasSubstr("a weight of 1001"));
  terms = Terms(program, kSoft);
  terms.affinity = ResourceSet::Range(100, 5);
  EXPECT_THAT(fault(terms), HasSubstr("leave no resource"));
  terms.affinity = ResourceSet::Range(0, 3);  // It needs four.
  EXPECT_THAT(fault(terms), HasSubstr("operation 0 of its program can run"));
  terms = Terms(program, kSoft);
  terms.pools = 0b110;
  EXPECT_THAT(fault(terms), HasSubstr("can run nowhere"));
  EXPECT_EQ(shop->stream_count(), 0u);
}

TEST(SchedulerTest, SharesMustFitBesideEachOther) {
  Shop shop(Cores(4));
  StreamOptions terms =
      Terms(shop.Chain({shop.Kernel({{0, 1, 10, 0}})}), kSoft);
  terms.share_permille = 600;
  const StreamId first = shop.Add(terms);
  terms.share_permille = 401;
  const auto refused = shop->AddStream(terms);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("4004 thousandths of a core; there are 4000"));
  terms.affinity = ResourceSet::Range(0, 1);
  shop.Add(terms);
  shop->RemoveStream(first);
  terms.affinity = ResourceSet::All();
  shop.Add(terms);
}

// It has had nothing yet, so it goes before soft work of any priority and after
// hard work, but only on as many cores as its share is.
TEST(SchedulerTest, AStreamThatIsBehindTakesTheCoresOfItsShare) {
  Shop shop(Cores(4));
  const ProgramId program = shop.Chain({shop.Kernel({{0, 1, 1000, 50}})});
  const StreamId hard = shop.Add(Terms(program, kHard, 100'000));
  StreamOptions terms = Terms(program, kSoft, 500);
  terms.priority = 255;
  const StreamId soft = shop.Add(terms);
  terms = Terms(program, kBestEffort);
  terms.share_permille = 400;
  const StreamId shared = shop.Add(terms);
  shop.Release(hard, 0);
  for (int i = 0; i < 6; ++i) shop.Release(soft, 0);
  EXPECT_EQ(Only(shop.Decide(0), DecisionKind::kStart).size(), 4u);
  for (int i = 0; i < 6; ++i) shop.Release(shared, 2);
  auto decisions = shop.Decide(2);
  for (int64_t now_us = 50; now_us <= 100; now_us += 50) {
    const auto yields = Only(decisions, DecisionKind::kYield);
    ASSERT_EQ(yields.size(), 1u);
    EXPECT_EQ(yields[0].stream, soft);
    shop->Yielded(yields[0].operation, 50'000, now_us * 1000);
    decisions = shop.Decide(now_us);
    ASSERT_GE(decisions.size(), 1u);
    EXPECT_EQ(decisions[0].kind, DecisionKind::kStart);
    EXPECT_EQ(decisions[0].stream, shared);
  }
  // It has two cores, and takes no third.
  EXPECT_EQ(decisions.size(), 1u);
}

TEST(SchedulerTest, RefusesImpossibleOptions) {
  SchedulerOptions options;
  options.aging_ns = -1;
  EXPECT_FALSE(Scheduler::Create(Cores(1), options).ok());
  options = {};
  options.modes[0].guard_permille = 100'000;
  EXPECT_FALSE(Scheduler::Create(Cores(1), options).ok());
  EXPECT_FALSE(Scheduler::Create(Machine(), {}).ok());
}

// The urgency of a stream's jobs.
Loan Urgency(Band band, uint8_t priority = 128,
             int64_t deadline_us = kInfiniteFuture) {
  return {band, priority,
          deadline_us == kInfiniteFuture ? deadline_us : deadline_us * 1000};
}

// One core. A low job runs, and a high one waits for it; middle jobs come
// without end.
class InversionTest : public testing::Test {
 protected:
  // Counts the middle jobs that are done before the low one is.
  int CountMiddleBeforeLow(bool lends) {
    const KernelId slow = shop_.Kernel({{0, 1, 100, 10}});
    const StreamId low = shop_.Add(Terms(shop_.Chain({slow}), kBestEffort));
    const StreamId middle =
        shop_.Add(Terms(shop_.Chain({shop_.Kernel({{0, 1, 40, 10}})}), kSoft));
    const JobId holder = shop_.Release(low, 0);
    Decision running = shop_.Decide(0).at(0);
    int64_t now_us = 10;
    uint32_t done_ppm = 0;
    shop_.Release(middle, now_us);
    if (lends) shop_->SetLoan(holder, Urgency(Band::kHard), now_us * 1000);
    for (int count = 0; count < 20;) {
      std::vector<Decision> decisions = shop_.Decide(now_us);
      for (const Decision& decision : decisions) {
        if (decision.kind != DecisionKind::kYield) continue;
        done_ppm = 100'000;
        shop_->Yielded(running.operation, done_ppm, now_us * 1000);
        decisions = shop_.Decide(now_us);
        break;
      }
      for (const Decision& decision : Only(decisions, DecisionKind::kStart)) {
        running = decision;
      }
      now_us = running.expected_end_ns / 1000;
      shop_->Finished(running.operation, now_us * 1000);
      if (running.stream == low) return count;
      ++count;
      shop_.Release(middle, now_us);  // The next one is there at once.
    }
    return 20;
  }

  Shop shop_{Cores(1)};
};

TEST_F(InversionTest, MiddleJobsHoldTheLowOneUpWithoutALoan) {
  EXPECT_EQ(CountMiddleBeforeLow(false), 20);
}

TEST_F(InversionTest, NoMiddleJobGoesBeforeAJobWithALoan) {
  EXPECT_EQ(CountMiddleBeforeLow(true), 0);
}

TEST(SchedulerTest, ALoanTakesBackCoresFromLessUrgentWork) {
  Shop shop(Cores(1));
  const KernelId slow = shop.Kernel({{0, 1, 100, 10}});
  const StreamId low = shop.Add(Terms(shop.Chain({slow}), kBestEffort));
  const StreamId middle = shop.Add(Terms(shop.Chain({slow}), kSoft));
  shop.Release(middle, 0);
  const auto first = shop.Decide(0);
  const JobId holder = shop.Release(low, 1);
  EXPECT_TRUE(shop.Decide(1).empty());
  shop->SetLoan(holder, Urgency(Band::kHard), 2'000);
  const auto yields = shop.Decide(2);
  ASSERT_EQ(yields.size(), 1u);
  EXPECT_EQ(yields[0].kind, DecisionKind::kYield);
  EXPECT_EQ(yields[0].operation, first[0].operation);
  shop->Yielded(first[0].operation, 100'000, 10'000);
  EXPECT_EQ(shop.Decide(10).at(0).job, holder);
}

TEST(SchedulerTest, ALoanIsGivenBack) {
  Shop shop(Cores(1));
  const KernelId slow = shop.Kernel({{0, 1, 100, 10}});
  const StreamId low = shop.Add(Terms(shop.Chain({slow}), kBestEffort));
  const StreamId middle = shop.Add(Terms(shop.Chain({slow}), kSoft));
  const JobId holder = shop.Release(low, 0);
  const auto first = shop.Decide(0);
  shop->SetLoan(holder, Urgency(Band::kHard), 0);
  shop.Release(middle, 1);
  EXPECT_TRUE(shop.Decide(1).empty());
  EXPECT_EQ(shop->UrgencyOf(holder).band, Band::kHard);
  shop->SetLoan(holder, Loan(), 2'000);
  EXPECT_EQ(shop->UrgencyOf(holder).band, Band::kBestEffort);
  const auto yields = shop.Decide(2);
  ASSERT_EQ(yields.size(), 1u);
  EXPECT_EQ(yields[0].operation, first[0].operation);
}

TEST(SchedulerTest, ALoanReachesOperationsThatBecomeReadyLater) {
  Shop shop(Cores(1));
  const KernelId quick = shop.Kernel({{0, 1, 10, 0}});
  const StreamId low = shop.Add(Terms(shop.Chain({quick, quick}), kBestEffort));
  const StreamId middle = shop.Add(Terms(shop.Chain({quick}), kSoft));
  const JobId holder = shop.Release(low, 0);
  const auto first = shop.Decide(0);
  shop.Release(middle, 1);
  shop->SetLoan(holder, Urgency(Band::kHard, 7, 50), 2'000);
  const auto second = shop.Finish(first[0], 10);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].job, holder);
  // A chain: what the holder can lend is what was lent to it.
  EXPECT_EQ(shop->UrgencyOf(holder), Urgency(Band::kHard, 7, 50));
}

TEST(SchedulerTest, AnExpectationIsOfItsStreamOnly) {
  Shop shop(Cores(1));
  const KernelId quick = shop.Kernel({{0, 1, 10, 0}});
  StreamOptions terms = Terms(kNoProgram, kHard, 5'000);
  terms.period_ns = 10'000'000;
  const StreamId stream = shop.Add(terms);
  EXPECT_EQ(shop->AssessStream(stream).verdict, Verdict::kMightNot);
  EXPECT_TRUE(shop->SetExpected(stream, {{quick, {}}}).ok());
  EXPECT_EQ(shop->AssessStream(stream).verdict, Verdict::kWillFit);
  const KernelId slow = shop.Kernel({{0, 1, 10'000, 0}});
  EXPECT_TRUE(shop->SetExpected(stream, {{slow, {}}}).ok());
  EXPECT_EQ(shop->AssessStream(stream).verdict, Verdict::kCannot);
  EXPECT_FALSE(shop->SetExpected(stream, {}).ok());
  EXPECT_EQ(shop->AssessStream(stream).verdict, Verdict::kCannot);
  // It is no program, of which each is kept for ever.
  EXPECT_EQ(shop.Chain({quick}), 0u);
}

TEST(SchedulerTest, ALoanNeverGoesBeforeAPromise) {
  Shop shop(Cores(1));
  const KernelId quick = shop.Kernel({{0, 1, 10, 0}});
  const StreamId low = shop.Add(Terms(shop.Chain({quick}), kBestEffort));
  StreamOptions terms = Terms(shop.Chain({quick}), kHard, 5'000);
  terms.period_ns = 10'000'000;
  const StreamId promised = shop.Add(terms);
  ASSERT_EQ(shop->Admit(promised).verdict, Verdict::kWillFit);
  const JobId holder = shop.Release(low, 0);
  shop->SetLoan(holder, Urgency(Band::kPromised, 255, 1), 0);
  EXPECT_EQ(shop->UrgencyOf(holder).band, Band::kHard);
  shop.Release(promised, 0);
  EXPECT_EQ(shop.Decide(0).at(0).stream, promised);
}

TEST(SchedulerTest, AgedWorkIsNotHeldUpByHigherPriorities) {
  SchedulerOptions options;
  options.aging_ns = 1'000'000;
  Shop shop(Cores(1), "job-shop", options);
  const KernelId kernel = shop.Kernel({{0, 1, 400, 0}});
  StreamOptions least = Terms(shop.Chain({kernel}), kBestEffort);
  least.priority = 0;
  StreamOptions most = Terms(shop.Chain({kernel}), kHard, 10'000);
  most.priority = 254;
  const StreamId hog = shop.Add(most);
  const StreamId aged = shop.Add(least);
  shop.Release(aged, 0);
  shop.Release(hog, 0);
  std::vector<Decision> decisions = shop.Decide(0);
  int64_t now_us = 0;
  while (decisions.at(0).stream != aged) {
    now_us += 400;
    // Two bands take two times of aging, and then the job that runs ends.
    ASSERT_LE(now_us, 2'000 + 2 * 400);
    shop.Release(hog, now_us);
    decisions = Only(shop.Finish(decisions[0], now_us), DecisionKind::kStart);
  }
}

// A timer is set for that; no event is needed.
TEST(SchedulerTest, AWaitingJobBecomesCritical) {
  Shop shop(Cores(1), "laxity");
  const StreamId first =
      shop.Add(Terms(shop.Chain({shop.Kernel({{0, 1, 5000, 20}})}),
                     Criticality::kHard, 12900));
  const StreamId second =
      shop.Add(Terms(shop.Chain({shop.Kernel({{0, 1, 2000, 20}})}),
                     Criticality::kHard, 13000));
  shop.Release(first, 0);
  shop.Release(second, 0);
  const auto started = shop.Decide(0);
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].stream, first);
  // The first takes longer than expected.
  EXPECT_TRUE(shop.Decide(10'499).empty());
  EXPECT_EQ(shop->next_timer_ns(), 10'500'000);
  const auto decisions = shop.Decide(10'500);
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kYield);
  EXPECT_EQ(decisions[0].stream, first);
  shop->Yielded(started[0].operation, 900'000, 10'520'000);
  EXPECT_EQ(shop.Decide(10'520)[0].stream, second);
  EXPECT_TRUE(shop.Decide(12'000).empty());
}

}  // namespace
}  // namespace takt::sched
