// The order of claims on cores, in virtual time.
#include "exec/core_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace takt::exec {
namespace {

constexpr uint32_t kUrgentShare = 7;

CoreClaims Claim(uint32_t lane, uint32_t count,
                 int64_t deadline_ns = kInfiniteFuture) {
  CoreClaims claims;
  claims.deadlines_ns.fill(kInfiniteFuture);
  claims.counts[lane] = count;
  claims.deadlines_ns[lane] = deadline_ns;
  return claims;
}

uint32_t LimitOf(const std::vector<CoreClaims>& claims, size_t own,
                 uint32_t core_count, int64_t now_ns = 0) {
  return ShareCores(claims, own, core_count, now_ns).limit;
}

TEST(CoreShareTest, OneAloneHasNoLimit) {
  EXPECT_EQ(LimitOf({Claim(1, 4)}, 0, 4), CoreGrant::kNoLimit);
  EXPECT_EQ(LimitOf({CoreClaims()}, 0, 4), CoreGrant::kNoLimit);
}

TEST(CoreShareTest, UrgentWorkTakesTheCores) {
  const std::vector<CoreClaims> claims = {Claim(1, 4), Claim(kUrgentShare, 3)};
  EXPECT_EQ(LimitOf(claims, 0, 4), 1u);
  EXPECT_EQ(LimitOf(claims, 1, 4), CoreGrant::kNoLimit);
  EXPECT_EQ(LimitOf({Claim(1, 4), Claim(kUrgentShare, 99)}, 0, 4), 0u);
}

TEST(CoreShareTest, TheEarlierDeadlineGoesFirst) {
  const std::vector<CoreClaims> claims = {Claim(4, 2, 200), Claim(4, 2, 100)};
  EXPECT_EQ(LimitOf(claims, 0, 2), 0u);
  EXPECT_EQ(LimitOf(claims, 1, 2), CoreGrant::kNoLimit);
}

TEST(CoreShareTest, EqualsDivideAndTakeTurns) {
  const std::vector<CoreClaims> claims = {Claim(4, 8), Claim(4, 8)};
  EXPECT_EQ(LimitOf(claims, 0, 8), 4u);
  EXPECT_EQ(LimitOf(claims, 1, 8), 4u);
  uint32_t sums[2] = {};
  for (int turn = 0; turn < 10; ++turn) {
    for (size_t own = 0; own < 2; ++own) {
      sums[own] += LimitOf(claims, own, 3, turn * kCoreTurnNs);
    }
  }
  EXPECT_EQ(sums[0], 15u);
  EXPECT_EQ(sums[1], 15u);
  // What one does not want is the other's.
  EXPECT_EQ(LimitOf({Claim(4, 1), Claim(4, 8)}, 1, 8), 7u);
}

TEST(CoreShareTest, TheLaneIsTheMostUrgentThatLacksCores) {
  CoreClaims own = Claim(1, 4);
  own.counts[6] = 2;
  const std::vector<CoreClaims> claims = {own, Claim(4, 1)};
  EXPECT_EQ(ShareCores(claims, 0, 4, 0), (CoreGrant{3, 1}));
  // It can use one core only, so lane 6 lacks none.
  EXPECT_EQ(ShareCores(claims, 0, 1, 0), (CoreGrant{1, 1}));
  EXPECT_EQ(ShareCores({own, Claim(kUrgentShare, 1)}, 0, 2, 0),
            (CoreGrant{1, 6}));
}

TEST(CoreShareTest, ItsOwnCoresComeFirst) {
  CoreClaims other = Claim(kUrgentShare, 3);
  other.outside_count = 2;
  EXPECT_EQ(LimitOf({Claim(1, 4), other}, 0, 4), 3u);
}

TEST(CoreShareTest, AShareGoesBeforeBestEffortAndNotBeforeMore) {
  CoreClaims share = Claim(0, 2);
  share.standing = CoreStanding::kBehind;
  EXPECT_EQ(LimitOf({share, Claim(1, 2)}, 1, 2), 0u);
  EXPECT_EQ(LimitOf({share, Claim(4, 2)}, 0, 2), 0u);
  share = Claim(kUrgentShare, 2);
  share.standing = CoreStanding::kOver;
  EXPECT_EQ(LimitOf({share, Claim(1, 2)}, 1, 2), 1u);
  EXPECT_EQ(LimitOf({share, Claim(4, 2)}, 0, 2), 0u);
}

// No core is given twice, none is kept from a process that wants it, and no
// process has one that more urgent work lacks.
TEST(CoreShareTest, RandomClaims) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    const uint32_t core_count = 1 + random() % 16;
    std::vector<CoreClaims> all(1 + random() % 6);
    std::vector<uint32_t> wanted(all.size());
    uint32_t wanted_sum = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      for (uint32_t lane = 0; lane < kLaneCount; ++lane) {
        all[i].counts[lane] = random() % 3 == 0 ? random() % 20 : 0;
        all[i].deadlines_ns[lane] = random() % 3;
        wanted[i] += std::min(all[i].counts[lane], core_count);
      }
      all[i].standing = static_cast<CoreStanding>(random() % 3);
      wanted_sum += wanted[i];
    }
    const auto now_ns = static_cast<int64_t>(random());
    uint32_t granted_sum = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const uint32_t limit = LimitOf(all, i, core_count, now_ns);
      granted_sum += std::min(limit, wanted[i]);
    }
    EXPECT_EQ(granted_sum, std::min(core_count, wanted_sum));
  }
}

TEST(CoreShareTest, AQuotaIsUsedUpAndComesBack) {
  CoreQuota quota(/*permille=*/250, /*core_count=*/4);  // One core.
  EXPECT_EQ(quota.Update(0, 0), CoreStanding::kBehind);
  // Two cores use up the bucket of 100 ms within 100 ms.
  EXPECT_EQ(quota.Update(2, 90'000'000), CoreStanding::kBehind);
  EXPECT_EQ(quota.Update(2, 100'000'000), CoreStanding::kOver);
  EXPECT_EQ(quota.Update(0, 105'000'000), CoreStanding::kOver);
  EXPECT_EQ(quota.Update(0, 110'000'000), CoreStanding::kBehind);
  // Long use and long rest count for one window only.
  EXPECT_EQ(quota.Update(4, 9'000'000'000), CoreStanding::kOver);
  EXPECT_EQ(quota.Update(0, 9'110'000'000), CoreStanding::kBehind);
  EXPECT_EQ(CoreQuota(0, 4).Update(4, 5), CoreStanding::kNoShare);
}

// Against best effort that always wants all, a quota gets what it says.
TEST(CoreShareTest, AQuotaGetsItsPart) {
  CoreQuota quota(/*permille=*/300, /*core_count=*/2);
  int64_t used_ns = 0;
  uint32_t running = 0;
  constexpr int64_t kStepNs = 50'000;
  constexpr int64_t kEndNs = 10'000'000'000;
  for (int64_t now_ns = 0; now_ns < kEndNs; now_ns += kStepNs) {
    CoreClaims own = Claim(1, 2);
    own.standing = quota.Update(running, now_ns);
    const std::vector<CoreClaims> claims = {own, Claim(2, 2), Claim(1, 2)};
    running = std::min(2u, LimitOf(claims, 0, 2, now_ns));
    used_ns += running * kStepNs;
  }
  // It goes before lane 1, but beside lane 2 it has to share.
  EXPECT_GT(used_ns, 2 * kEndNs * 27 / 100);
  EXPECT_LT(used_ns, 2 * kEndNs * 33 / 100);
}

}  // namespace
}  // namespace takt::exec
