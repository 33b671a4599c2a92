#include "base/memory_account.h"

#include <memory>
#include <utility>

#include "base/block_pool.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

using testing::HasSubstr;

class MemoryAccountTest : public testing::Test {
 protected:
  Ref<MemoryAccount> Account(uint64_t limit) {
    return MemoryAccount::Create(*pool_, limit);
  }
  UniqueBlockPool pool_{BlockPool::Create()};
};

TEST_F(MemoryAccountTest, AChargeIsGivenBackWhenItDies) {
  const Ref<MemoryAccount> account = Account(100);
  {
    const auto charge = MemoryCharge::Take(account.get(), 60);
    ASSERT_TRUE(charge.ok());
    EXPECT_EQ(account->used(), 60u);
  }
  EXPECT_EQ(account->used(), 0u);
}

TEST_F(MemoryAccountTest, ReportsTheRequestAndTheRest) {
  const Ref<MemoryAccount> account = Account(100);
  const auto first = MemoryCharge::Take(account.get(), 60);
  const auto second = MemoryCharge::Take(account.get(), 41);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("asked for 41 bytes, 40 of 100 are left"));
  EXPECT_FALSE(account->Take(~uint64_t{0}).ok());
  EXPECT_EQ(account->used(), 60u);
}

TEST_F(MemoryAccountTest, AChargeGrowsAndNeverShrinks) {
  const Ref<MemoryAccount> account = Account(100);
  auto charge = MemoryCharge::Take(account.get(), 10);
  EXPECT_TRUE(charge->GrowTo(70).ok());
  EXPECT_TRUE(charge->GrowTo(5).ok());
  EXPECT_EQ(account->used(), 70u);
  EXPECT_FALSE(charge->GrowTo(101).ok());
  EXPECT_EQ(account->used(), 70u);
}

TEST_F(MemoryAccountTest, AMovedChargeIsGivenBackOnce) {
  const Ref<MemoryAccount> account = Account(100);
  auto charge = MemoryCharge::Take(account.get(), 10);
  {
    MemoryCharge other = *std::move(charge);
    EXPECT_EQ(account->used(), 10u);
    MemoryCharge third;
    third = std::move(other);
  }
  EXPECT_EQ(account->used(), 0u);
}

TEST_F(MemoryAccountTest, WithoutAnAccountNothingIsBounded) {
  auto charge = MemoryCharge::Take(nullptr, MemoryAccount::kUnlimited);
  ASSERT_TRUE(charge.ok());
  EXPECT_TRUE(charge->GrowTo(MemoryAccount::kUnlimited).ok());
}

TEST_F(MemoryAccountTest, TheDefaultIsHalfOfTheMachinesMemory) {
  EXPECT_GT(MemoryAccount::DefaultLimit(), uint64_t{16} << 20);
  EXPECT_LT(MemoryAccount::DefaultLimit(), uint64_t{1} << 50);
}

}  // namespace
}  // namespace takt
