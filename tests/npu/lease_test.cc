// Order and exclusion of leases. Threads that wait are seen by the count of
// waiters, so no test depends on how long anything takes.
#include "npu/lease.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
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
  const int count = kPassedOverMax + 5;
  for (int i = 1; i <= count; ++i) queue.Ask(i, {.priority = 255});
  const std::vector<int> order = queue.Run();
  ASSERT_EQ(order.size(), static_cast<size_t>(count + 1));
  EXPECT_EQ(order[kPassedOverMax], 0);
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

// Among processes: two leases of one process stand for two processes.

class SharedTest : public ::testing::Test {
 protected:
  SharedTest()
      : path_(::testing::TempDir() + "/takt_shared_" +
              std::to_string(getpid())) {
    unlink(path_.c_str());
    for (Lease* lease : {&a_, &b_}) {
      auto shared = SharedLease::Join(path_, int64_t{10'000'000'000});
      EXPECT_TRUE(shared.ok()) << shared.status();
      lease->Share(*std::move(shared));
    }
  }
  ~SharedTest() override { unlink(path_.c_str()); }

  const std::string path_;
  Lease a_, b_;
};

TEST_F(SharedTest, ThreadsOfAllProcessesExcludeEachOther) {
  std::atomic<int> holders{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      Lease& lease = i % 2 == 0 ? a_ : b_;
      for (int turn = 0; turn < 100; ++turn) {
        lease.Acquire({.priority = static_cast<uint8_t>(i)});
        EXPECT_EQ(holders.fetch_add(1), 0);
        holders.fetch_sub(1);
        lease.Release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(a_.statistics().grant_count + b_.statistics().grant_count, 600u);
  EXPECT_EQ(a_.statistics().waiting_count, 0u);
}

// While a low request of this process waits for the other process, a high one
// of this process comes. The high one is next, before it and before the
// middle one of the other process.
TEST_F(SharedTest, AWaitingProcessHasTheUrgencyOfItsMostUrgentRequest) {
  std::vector<int> order;
  std::vector<std::thread> threads;
  a_.Acquire({});
  const auto ask = [&](Lease& lease, int name, uint8_t priority) {
    threads.emplace_back([&, name, priority] {
      lease.Acquire({.priority = priority});
      order.push_back(name);
      lease.Release();
    });
  };
  ask(b_, 1, 10);
  while (!a_.shared()->ShouldYieldTo({.priority = 10})) {
    std::this_thread::yield();
  }
  ask(a_, 2, 100);
  while (a_.statistics().waiting_count == 0) std::this_thread::yield();
  ask(b_, 3, 200);
  while (!a_.shared()->ShouldYieldTo({.priority = 199})) {
    std::this_thread::yield();
  }
  a_.Release();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1}));
}

TEST_F(SharedTest, AProcessServesItsOwnMoreUrgentRequestsFirst) {
  std::vector<int> order;
  std::vector<std::thread> threads;
  a_.Acquire({});
  threads.emplace_back([&] {
    b_.Acquire({.priority = 100});
    order.push_back(1);
    b_.Release();
  });
  while (!a_.shared()->ShouldYieldTo({.priority = 99})) {
    std::this_thread::yield();
  }
  threads.emplace_back([&] {
    a_.Acquire({.priority = 200});
    order.push_back(2);
    a_.Release();
  });
  while (a_.statistics().waiting_count == 0) std::this_thread::yield();
  const uint64_t before = a_.shared()->statistics().grant_count;
  a_.Release();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
  EXPECT_EQ(a_.shared()->statistics().grant_count, before);
}

}  // namespace
}  // namespace takt::npu
