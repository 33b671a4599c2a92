#include "sched/share_account.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace takt::sched {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLeastCountedNs =
    ShareAccount::kWindowNs - ShareAccount::kLeewayNs - ShareAccount::kSliceNs;

TEST(ShareAccountTest, WithoutAShareNothingIsBehind) {
  ShareAccount account;
  EXPECT_FALSE(account.is_set());
  EXPECT_FALSE(account.is_behind());
}

TEST(ShareAccountTest, IsBehindUntilItHadItsShareAndAgainWhenThatIsLongAgo) {
  ShareAccount account(200, 1);  // 20 ms of 100.
  EXPECT_EQ(account.core_count(), 1u);
  account.SetAsking(true, 1'000 * kMs);
  EXPECT_TRUE(account.Update(1'000 * kMs));
  EXPECT_TRUE(account.is_behind());
  EXPECT_EQ(account.next_change_ns(), kInfiniteFuture);
  // It asks for the first time, so it has until then.
  EXPECT_EQ(account.due_ns(), 1'080 * kMs);
  account.SetUsed(1, 1'000 * kMs);
  EXPECT_EQ(account.next_change_ns(), 1'020 * kMs);
  EXPECT_FALSE(account.Update(1'020 * kMs - 1));
  EXPECT_TRUE(account.Update(1'020 * kMs));
  EXPECT_FALSE(account.is_behind());
  account.SetUsed(0, 1'020 * kMs);
  // The first slice is dropped.
  EXPECT_EQ(account.next_change_ns(), 1'090 * kMs);
  EXPECT_FALSE(account.Update(1'090 * kMs - 1));
  EXPECT_TRUE(account.Update(1'090 * kMs));
  EXPECT_TRUE(account.is_behind());
  EXPECT_EQ(account.due_ns(), 1'090 * kMs);
  EXPECT_EQ(account.next_change_ns(), kInfiniteFuture);
}

TEST(ShareAccountTest, MoreThanItsCoresDoesNotCount) {
  ShareAccount account(250, 4);
  EXPECT_EQ(account.core_count(), 2u);  // One, and some to catch up.
  account.Update(0);
  account.SetUsed(4, 0);
  EXPECT_EQ(account.next_change_ns(), 50 * kMs);
}

TEST(ShareAccountTest, ALongPauseForgetsAll) {
  ShareAccount account(10, 1);
  account.SetUsed(1, 0);
  account.SetUsed(0, 50 * kMs);
  account.Update(50 * kMs);
  EXPECT_FALSE(account.is_behind());
  EXPECT_TRUE(account.Update(int64_t{1} << 60));
  EXPECT_TRUE(account.is_behind());
}

TEST(ShareAccountTest, AShortPauseIsStillAsking) {
  ShareAccount account(500, 1);
  account.SetAsking(true, 500 * kMs);
  account.Update(500 * kMs);
  account.SetUsed(1, 500 * kMs);
  account.Update(560 * kMs);
  account.SetUsed(0, 560 * kMs);
  account.SetAsking(false, 560 * kMs);
  account.SetAsking(true, 565 * kMs);
  account.Update(700 * kMs);
  EXPECT_TRUE(account.is_behind());
  EXPECT_EQ(account.due_ns(), 700 * kMs);
}

// Whatever it uses: what is behind has used less in the time that is counted
// at most, and what is not has used its share of a window.
TEST(ShareAccountTest, AgreesWithASumOverAllSlices) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const uint32_t cores = 1 + random.Below(4);
    const uint32_t permille = 1 + random.Below(800);
    const int64_t needed_ns = ShareAccount::kWindowNs / 1000 * permille * cores;
    ShareAccount account(permille, cores);
    std::vector<std::pair<int64_t, uint32_t>> uses = {{0, 0}};
    const auto used_ns = [&](int64_t begin_ns, int64_t end_ns) {
      int64_t sum_ns = 0;
      for (size_t i = 0; i < uses.size(); ++i) {
        const int64_t from_ns = std::max(begin_ns, uses[i].first);
        const int64_t to_ns =
            std::min(end_ns, i + 1 < uses.size() ? uses[i + 1].first : end_ns);
        sum_ns += std::max(to_ns - from_ns, int64_t{0}) * uses[i].second;
      }
      return sum_ns;
    };
    for (int64_t now_ns = 0; uses.size() < 300;) {
      now_ns += random.Below(7'000'000);
      now_ns = std::min(now_ns, account.next_change_ns());
      account.Update(now_ns);
      const int64_t most_ns =
          used_ns(now_ns - kLeastCountedNs - ShareAccount::kSliceNs, now_ns);
      if (account.is_behind()) {
        EXPECT_LT(used_ns(now_ns - kLeastCountedNs, now_ns), needed_ns);
      } else {
        EXPECT_GE(most_ns, needed_ns);
      }
      const uint32_t count = random.Below(account.core_count() + 1);
      account.SetUsed(count, now_ns);
      uses.push_back({now_ns, count});
    }
  }
}

TEST(ShareAccountTest, FaultsAreNamed) {
  EXPECT_EQ(CheckShare(0, 0, true), "");
  EXPECT_EQ(CheckShare(1000, 1000, false), "");
  EXPECT_EQ(CheckShare(1001, 0, false), "a share of 1001 thousandths");
  EXPECT_EQ(CheckShare(1, 0, true),
            "a hard stream goes before all shares, and has none");
  EXPECT_EQ(CheckShare(0, 1001, false), "a weight of 1001; the most is 1000");
}

}  // namespace
}  // namespace takt::sched
