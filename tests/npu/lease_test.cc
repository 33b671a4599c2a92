// Order and exclusion of leases. Threads that wait are seen by the count of
// waiters, so no test depends on how long anything takes.
#include "npu/lease.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace takt::npu {
namespace {

// Has threads ask one after the other while the lease is held, then returns in
// which order they got it.
class Queue {
 public:
  Queue() { lease_.Acquire(Urgency()); }

  void Ask(int name, Urgency urgency) {
    const uint32_t before = lease_.statistics().waiting_count;
    threads_.emplace_back([this, name, urgency] {
      lease_.Acquire(urgency);
      order_.push_back(name);  // Protected by the lease.
      lease_.Release();
    });
    while (lease_.statistics().waiting_count == before) {
      std::this_thread::yield();
    }
  }
  std::vector<int> Run() {
    lease_.Release();
    for (std::thread& thread : threads_) thread.join();
    return order_;
  }
  Lease& lease() { return lease_; }

 private:
  Lease lease_;
  std::vector<int> order_;
  std::vector<std::thread> threads_;
};

TEST(LeaseTest, GoesToTheMostUrgentFirst) {
  Queue queue;
  queue.Ask(1, {.priority = 100});
  queue.Ask(2, {.priority = 200});
  queue.Ask(3, {.priority = 128});
  EXPECT_EQ(queue.Run(), (std::vector<int>{2, 3, 1}));
}

TEST(LeaseTest, EarlierDeadlinesGoFirstWithinAPriority) {
  Queue queue;
  queue.Ask(1, {.deadline_ns = 300});
  queue.Ask(2, {});
  queue.Ask(3, {.deadline_ns = 100});
  queue.Ask(4, {.priority = 129});
  EXPECT_EQ(queue.Run(), (std::vector<int>{4, 3, 1, 2}));
}

TEST(LeaseTest, EqualsGoInTheOrderTheyCame) {
  Queue queue;
  for (int i = 0; i < 5; ++i) queue.Ask(i, {});
  EXPECT_EQ(queue.Run(), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(LeaseTest, ARequestPassedOverTooOftenGoesFirst) {
  Queue queue;
  queue.Ask(0, {.priority = 0});
  // Enough of the urgent that, one after the other, they pass it over.
  const int count = Lease::kPassedOverMax + 5;
  for (int i = 1; i <= count; ++i) queue.Ask(i, {.priority = 255});
  const std::vector<int> order = queue.Run();
  ASSERT_EQ(order.size(), static_cast<size_t>(count + 1));
  EXPECT_EQ(order[Lease::kPassedOverMax], 0);
  EXPECT_EQ(queue.lease().statistics().aging_count, 1u);
}

TEST(LeaseTest, CountsTheTurnsThatWouldGoBefore) {
  Lease idle;
  EXPECT_EQ(idle.CountAhead({.priority = 0}), 0u);
  Queue queue;
  const Lease& lease = queue.lease();
  EXPECT_EQ(lease.CountAhead({.priority = 255}), 1u);  // Who has it.
  queue.Ask(1, {.priority = 100});
  queue.Ask(2, {.priority = 200});
  EXPECT_EQ(lease.CountAhead({.priority = 255}), 1u);
  EXPECT_EQ(lease.CountAhead({.priority = 200}), 2u);  // Equals came before.
  EXPECT_EQ(lease.CountAhead({.priority = 150}), 2u);
  EXPECT_EQ(lease.CountAhead({.priority = 100}), 3u);
  queue.Run();
  EXPECT_EQ(lease.CountAhead({.priority = 0}), 0u);
}

TEST(LeaseTest, OneAtATimeHasIt) {
  Lease lease;
  std::atomic<int> holders{0};
  std::atomic<int> most{0};
  int turns = 0;  // Protected by the lease.
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        lease.Acquire({.priority = static_cast<uint8_t>(t * 30)});
        const int now = ++holders;
        if (now > most) most = now;
        ++turns;
        --holders;
        lease.Release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, 8 * 500);
  EXPECT_EQ(lease.statistics().grant_count, 8u * 500u);
  EXPECT_EQ(lease.statistics().waiting_count, 0u);
}

TEST(LeaseTest, TryAcquireFailsWhileAnotherHasIt) {
  Lease lease;
  EXPECT_TRUE(lease.TryAcquire());
  EXPECT_FALSE(lease.TryAcquire());
  lease.Release();
  EXPECT_TRUE(lease.TryAcquire());
  lease.Release();
}

}  // namespace
}  // namespace takt::npu
