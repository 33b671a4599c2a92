#include "sched/policy.h"

#include "base/clock.h"
#include "gtest/gtest.h"

namespace takt::sched {
namespace {

OperationFacts Facts(uint64_t sequence) {
  OperationFacts facts;
  facts.sequence = sequence;
  facts.deadline_ns = 1000;
  facts.tail_ns = 100;
  facts.duration_ns = 100;
  facts.planned_start_ns = kInfiniteFuture;
  return facts;
}

// Whether `policy` lets `a` go before `b`.
bool GoesFirst(const char* policy, const OperationFacts& a,
               const OperationFacts& b) {
  const Policy* found = FindPolicy(policy);
  return found->RankOf(a, {}) < found->RankOf(b, {});
}

Placement At(uint32_t pool, uint32_t shards, int64_t start_ns,
             int64_t finish_ns, bool is_free, bool is_npu = false) {
  return {0, pool, shards, start_ns, finish_ns, is_free, is_npu, 0};
}

TEST(PolicyTest, FindsEachByItsName) {
  EXPECT_EQ(PolicyNames().size(), 8u);
  for (const char* name : PolicyNames()) {
    ASSERT_NE(FindPolicy(name), nullptr) << name;
    EXPECT_STREQ(FindPolicy(name)->name(), name);
  }
  EXPECT_EQ(FindPolicy("round-robin"), nullptr);
}

TEST(PolicyTest, EachPolicyOrdersByItsName) {
  OperationFacts first = Facts(1);
  OperationFacts second = Facts(2);
  for (const char* name : PolicyNames()) {
    EXPECT_TRUE(GoesFirst(name, first, second)) << name;  // All else equal.
  }
  second.priority = 200;
  EXPECT_TRUE(GoesFirst("priority", second, first));
  EXPECT_TRUE(GoesFirst("job-shop", second, first));
  EXPECT_TRUE(GoesFirst("fifo", first, second));
  second = Facts(2);
  second.deadline_ns = 900;
  EXPECT_TRUE(GoesFirst("edf", second, first));
  EXPECT_TRUE(GoesFirst("job-shop", second, first));
  EXPECT_TRUE(GoesFirst("least-slack", second, first));
  EXPECT_TRUE(GoesFirst("priority", first, second));
  second = Facts(2);
  second.tail_ns = 200;
  EXPECT_TRUE(GoesFirst("heft", second, first));
  EXPECT_TRUE(GoesFirst("least-slack", second, first));
  EXPECT_TRUE(GoesFirst("job-shop", second, first));
  EXPECT_TRUE(GoesFirst("edf", first, second));
  second = Facts(2);
  second.duration_ns = 200;
  EXPECT_TRUE(GoesFirst("shortest-latency", second, first));
}

TEST(PolicyTest, JobShopPutsThePlanBeforeTheBandBeforeThePriority) {
  OperationFacts planned = Facts(5);
  planned.band = Band::kBestEffort;
  planned.planned_start_ns = 10;
  OperationFacts promised = Facts(4);
  promised.band = Band::kPromised;
  promised.priority = 0;
  OperationFacts hard = Facts(3);
  hard.band = Band::kHard;
  hard.priority = 255;
  OperationFacts soft = Facts(1);
  soft.deadline_ns = 0;
  EXPECT_TRUE(GoesFirst("job-shop", planned, promised));
  EXPECT_TRUE(GoesFirst("job-shop", promised, hard));
  EXPECT_TRUE(GoesFirst("job-shop", hard, soft));
}

TEST(PolicyTest, UnderOverloadJobShopServesTheLeastDemandingFirst) {
  const Policy& policy = *FindPolicy("job-shop");
  Situation overload;
  overload.densest_first = true;
  OperationFacts cheap = Facts(2);
  cheap.demand_ppm = 10;
  OperationFacts dear = Facts(1);
  dear.demand_ppm = 1000;
  dear.deadline_ns = 500;
  EXPECT_LT(policy.RankOf(cheap, overload), policy.RankOf(dear, overload));
  EXPECT_LT(policy.RankOf(dear, {}), policy.RankOf(cheap, {}));
}

TEST(PolicyTest, GreedyPoliciesTakeOnlyWhatIsFree) {
  const Placement placements[] = {At(0, 1, 50, 60, false),
                                  At(1, 1, 0, 100, true)};
  EXPECT_EQ(FindPolicy("edf")->Choose(Facts(1), {}, placements), 1);
  EXPECT_EQ(FindPolicy("heft")->Choose(Facts(1), {}, placements), 0);
  EXPECT_EQ(FindPolicy("fifo")->Choose(Facts(1), {}, {placements, 1}), -1);
}

TEST(PolicyTest, JobShopWaitsForAnNpuThatPays) {
  const Policy& policy = *FindPolicy("job-shop");
  const Placement pays[] = {At(0, 1, 0, 100, true),
                            At(2, 1, 50, 60, false, true)};
  EXPECT_EQ(policy.Choose(Facts(1), {}, pays), 1);
  const Placement queued[] = {At(0, 1, 0, 100, true),
                              At(2, 1, 95, 105, false, true)};
  EXPECT_EQ(policy.Choose(Facts(1), {}, queued), 0);
}

TEST(PolicyTest, JobShopShardsAsDeadlineAndLoadAllow) {
  const Policy& policy = *FindPolicy("job-shop");
  const Placement placements[] = {
      At(0, 1, 0, 400, true), At(0, 2, 0, 220, true), At(0, 4, 0, 130, true)};
  OperationFacts facts = Facts(1);
  Situation alone;
  alone.free_core_count = 4;
  EXPECT_EQ(policy.Choose(facts, alone, placements), 2);
  Situation crowded = alone;
  crowded.waiting_count = 9;
  EXPECT_EQ(policy.Choose(facts, crowded, placements), 0);
  facts.deadline_ns = 300;  // Only two shards or four are in time.
  EXPECT_EQ(policy.Choose(facts, crowded, placements), 1);
  facts.deadline_ns = 100;  // Nothing is; then the fastest.
  EXPECT_EQ(policy.Choose(facts, crowded, placements), 2);
}

TEST(PolicyTest, LaxityPutsCriticalJobsFirst) {
  const Policy& policy = *FindPolicy("laxity");
  OperationFacts early = Facts(1);
  early.deadline_ns = 5'000'000;
  early.tail_ns = 400'000;
  OperationFacts late = Facts(2);
  late.deadline_ns = 9'000'000;
  late.tail_ns = 4'000'000;
  // A quarter of the path, or 0.1 ms, before it must start.
  EXPECT_EQ(policy.CriticalAt(early), 5'000'000 - 400'000 - 100'000);
  EXPECT_EQ(policy.CriticalAt(late), 4'000'000);
  EXPECT_LT(policy.RankOf(early, {}), policy.RankOf(late, {}));
  EXPECT_FALSE(policy.Preempts(late, early, {}));
  late.is_critical = true;
  EXPECT_LT(policy.RankOf(late, {}), policy.RankOf(early, {}));
  EXPECT_TRUE(policy.Preempts(late, early, {}));
  EXPECT_FALSE(policy.Preempts(early, late, {}));
  // Of two critical ones the one with less to spare goes first, and neither
  // preempts the other.
  early.is_critical = true;
  EXPECT_LT(policy.RankOf(early, {}), policy.RankOf(late, {}));
  EXPECT_FALSE(policy.Preempts(early, late, {}));
  // The priority counts more, and no deadline is never critical.
  early.priority = 200;
  early.is_critical = false;
  EXPECT_LT(policy.RankOf(early, {}), policy.RankOf(late, {}));
  early.deadline_ns = kInfiniteFuture;
  EXPECT_EQ(policy.CriticalAt(early), kInfiniteFuture);
  EXPECT_EQ(FindPolicy("job-shop")->CriticalAt(late), kInfiniteFuture);
}

TEST(PolicyTest, OnlyJobShopAndLaxityPreempt) {
  OperationFacts hard = Facts(2);
  hard.band = Band::kHard;
  const OperationFacts soft = Facts(1);
  for (const char* name : PolicyNames()) {
    EXPECT_EQ(FindPolicy(name)->Preempts(hard, soft, Situation()),
              std::string("job-shop") == name || std::string("laxity") == name);
    EXPECT_FALSE(FindPolicy(name)->Preempts(soft, hard, Situation()));
  }
}

}  // namespace
}  // namespace takt::sched
