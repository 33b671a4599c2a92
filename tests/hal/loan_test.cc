// Work that waits for a fence lends its urgency to the work that signals it.
#include <memory>
#include <thread>
#include <vector>

#include "base/borrower.h"
#include "gtest/gtest.h"
#include "hal/fence.h"
#include "tests/support/allocation_faults.h"

namespace takt::hal {
namespace {

// A piece of work with an urgency, which waits for one fence.
struct Work : FenceWaiter {
  Work(BlockPool& pool, uint8_t priority)
      : FenceWaiter([](FenceWaiter* waiter, const absl::Status&) {
          static_cast<Work*>(waiter)->is_notified = true;
        }),
        borrower(Borrower::Create(pool, {JobUrgency::Criticality::kSoft,
                                         priority, kInfiniteFuture})) {}
  bool Await(const Fence& fence) {
    const Fence* const fences[] = {&fence};
    absl::Status status;
    return Start(fences, &status, borrower.get());
  }
  void WillSignal(const Fence& fence) const {
    fence.SetSignaller(Signaller::Create("a test"), borrower.get());
  }
  int priority() const { return borrower->urgency().priority; }

  const Ref<Borrower> borrower;
  bool is_notified = false;
};

// Starts the wait while allocation number `fault` fails. Whether it waits.
bool AwaitWithFault(int64_t fault, Work& waits, const Fence& fence) {
  const AllocationFault armed(fault);
  try {
    return waits.Await(fence);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

class LoanTest : public testing::Test {
 protected:
  UniqueBlockPool pool_{BlockPool::Create()};
};

TEST_F(LoanTest, LastsFromTheWaitToTheSignal) {
  const Ref<Fence> fence = Fence::Create();
  Work low(*pool_, 10), high(*pool_, 200);
  low.WillSignal(*fence);
  ASSERT_TRUE(high.Await(*fence));
  EXPECT_EQ(low.priority(), 200);
  ASSERT_TRUE(fence->Signal().ok());
  EXPECT_TRUE(high.is_notified);
  EXPECT_EQ(low.priority(), 10);
}

TEST_F(LoanTest, ReachesASignallerThatComesLater) {
  const Ref<Fence> fence = Fence::Create();
  Work low(*pool_, 10), high(*pool_, 200);
  ASSERT_TRUE(high.Await(*fence));
  low.WillSignal(*fence);
  EXPECT_EQ(low.priority(), 200);
  fence->Fail(absl::InternalError("no"));
  EXPECT_EQ(low.priority(), 10);
}

TEST_F(LoanTest, PassesThroughAChainOfFences) {
  const Ref<Fence> first = Fence::Create();
  const Ref<Fence> second = Fence::Create();
  Work low(*pool_, 10), middle(*pool_, 20), high(*pool_, 200);
  low.WillSignal(*first);
  ASSERT_TRUE(middle.Await(*first));
  middle.WillSignal(*second);
  EXPECT_EQ(low.priority(), 20);
  ASSERT_TRUE(high.Await(*second));
  EXPECT_EQ(low.priority(), 200);
  ASSERT_TRUE(first->Signal().ok());
  EXPECT_EQ(low.priority(), 10);
  EXPECT_EQ(middle.priority(), 200);
  ASSERT_TRUE(second->Signal().ok());
  EXPECT_EQ(middle.priority(), 20);
}

TEST_F(LoanTest, IsTakenBackByACancelledWait) {
  const Ref<Fence> fence = Fence::Create();
  Work low(*pool_, 10), high(*pool_, 200);
  low.WillSignal(*fence);
  ASSERT_TRUE(high.Await(*fence));
  EXPECT_TRUE(high.Cancel());
  EXPECT_EQ(low.priority(), 10);
}

TEST_F(LoanTest, GoesToAllSignallersOfABarrier) {
  const Ref<Fence> barrier = *Fence::CreateBarrier(2);
  Work low(*pool_, 10), other(*pool_, 20), high(*pool_, 200);
  const Ref<Fence> share = *barrier->TakeShare();
  low.WillSignal(*share);
  ASSERT_TRUE(high.Await(*barrier));
  const Ref<Fence> other_share = *barrier->TakeShare();
  other.WillSignal(*other_share);
  EXPECT_EQ(low.priority(), 200);
  EXPECT_EQ(other.priority(), 200);
  ASSERT_TRUE(share->Signal().ok());
  EXPECT_EQ(low.priority(), 10);
  EXPECT_EQ(other.priority(), 200);
  ASSERT_TRUE(other_share->Signal().ok());
}

TEST_F(LoanTest, GoesToTheNextSignallerOfATimeline) {
  const Ref<Timeline> timeline = Timeline::Create(0);
  std::vector<Ref<Fence>> fences;
  for (uint64_t value = 1; value <= 3; ++value) {
    const TimelinePoint point = {timeline, value};
    fences.push_back(*Fence::FromPoints({&point, 1}));
  }
  Work one(*pool_, 1), two(*pool_, 2), three(*pool_, 3), high(*pool_, 200);
  one.WillSignal(*fences[0]);
  two.WillSignal(*fences[1]);
  three.WillSignal(*fences[2]);
  ASSERT_TRUE(high.Await(*fences[1]));
  EXPECT_EQ(one.priority(), 1);
  EXPECT_EQ(two.priority(), 200);
  EXPECT_EQ(three.priority(), 3);
  ASSERT_TRUE(timeline->Signal(2).ok());
  EXPECT_EQ(two.priority(), 2);
}

TEST_F(LoanTest, WithoutMemoryForTheLoanTheWaitBeginsAndEnds) {
  bool is_hit = true;
  for (int64_t fault = 0; is_hit; ++fault) {
    const Ref<Fence> first = Fence::Create();
    const Ref<Fence> second = *Fence::CreateBarrier(3);
    Work low(*pool_, 10), middle(*pool_, 20);
    low.WillSignal(*first);
    middle.WillSignal(**second->TakeShare());
    ASSERT_TRUE(middle.Await(*first));
    auto high = std::make_unique<Work>(*pool_, 200);
    const bool waits = AwaitWithFault(fault, *high, *second);
    is_hit = AllocationFault::is_hit();
    // A wait that has not begun may be destroyed.
    if (!waits) high.reset();
    EXPECT_TRUE(waits || is_hit);
    for (const TimelinePoint& point : second->points()) {
      ASSERT_TRUE(point.timeline->Signal(point.value).ok());
    }
    EXPECT_TRUE(!waits || high->is_notified);
    ASSERT_TRUE(first->Signal().ok());
    EXPECT_TRUE(middle.is_notified);
    EXPECT_EQ(low.priority(), 10) << fault;
    EXPECT_EQ(middle.priority(), 20) << fault;
    EXPECT_FALSE(Borrower::AnyHasLoan());
  }
}

TEST_F(LoanTest, WithoutMemoryToTakeItBackTheWaitEnds) {
  bool is_hit = true;
  for (int64_t fault = 0; is_hit; ++fault) {
    const Ref<Fence> first = Fence::Create();
    const Ref<Fence> second = Fence::Create();
    Work low(*pool_, 10), middle(*pool_, 20), high(*pool_, 200);
    low.WillSignal(*first);
    middle.WillSignal(*second);
    ASSERT_TRUE(middle.Await(*first));
    ASSERT_TRUE(high.Await(*second));
    {
      const AllocationFault armed(fault);
      EXPECT_TRUE(second->Signal().ok());
    }
    is_hit = AllocationFault::is_hit();
    EXPECT_TRUE(high.is_notified) << fault;
    EXPECT_EQ(middle.priority(), 20) << fault;
    ASSERT_TRUE(first->Signal().ok());
    EXPECT_TRUE(middle.is_notified) << fault;
    EXPECT_EQ(low.priority(), 10) << fault;
    EXPECT_FALSE(Borrower::AnyHasLoan());
  }
}

TEST_F(LoanTest, WithoutMemoryASignallerIsStillNamed) {
  bool is_hit = true;
  for (int64_t fault = 0; is_hit; ++fault) {
    const Ref<Fence> fence = Fence::Create();
    const Ref<const Signaller> signaller = Signaller::Create("a test");
    Work low(*pool_, 10), other(*pool_, 11);
    std::vector<std::unique_ptr<Work>> high;
    for (int i = 0; i < 4; ++i) {
      high.push_back(std::make_unique<Work>(*pool_, 200));
      ASSERT_TRUE(high.back()->Await(*fence));
    }
    const TimelinePoint& point = fence->points()[0];
    {
      const AllocationFault armed(fault);
      point.timeline->SetSignaller(point.value, signaller, low.borrower.get());
      point.timeline->SetSignaller(point.value + 1, signaller,
                                   other.borrower.get());
    }
    is_hit = AllocationFault::is_hit();
    EXPECT_EQ(point.timeline->FindSignaller(point.value + 1), signaller);
    ASSERT_TRUE(fence->Signal().ok());
    for (const auto& each : high) EXPECT_TRUE(each->is_notified);
    EXPECT_EQ(low.priority(), 10) << fault;
    EXPECT_FALSE(Borrower::AnyHasLoan());
  }
}

TEST_F(LoanTest, NoLoanIsLeftWhenThreadsWaitSignalAndCancel) {
  for (int round = 0; round < 300; ++round) {
    const Ref<Fence> first = Fence::Create();
    const Ref<Fence> second = Fence::Create();
    Work low(*pool_, 10), middle(*pool_, 20), high(*pool_, 200);
    bool middle_waits = false;
    bool high_waits = false;
    std::thread signals([&] {
      low.WillSignal(*first);
      first->Signal().IgnoreError();
      middle.WillSignal(*second);
      second->Signal().IgnoreError();
    });
    std::thread waits([&] { middle_waits = middle.Await(*first); });
    high_waits = high.Await(*second);
    if (high_waits && round % 2 == 0) high.Cancel();
    signals.join();
    waits.join();
    EXPECT_EQ(low.priority(), 10);
    EXPECT_EQ(middle.priority(), 20);
    EXPECT_FALSE(Borrower::AnyHasLoan());
  }
}

}  // namespace
}  // namespace takt::hal
