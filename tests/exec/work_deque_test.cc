#include "exec/work_deque.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/exec/interleavings.h"

namespace takt::exec {
namespace {

class WorkDequeModelTest : public ::testing::Test {
  void SetUp() override {
    if (!model::kCanRun) GTEST_SKIP() << "not with this sanitizer";
  }
};

TEST(WorkDequeTest, OwnerPopsTheNewestThievesTakeTheOldest) {
  WorkDeque<int, 4> deque;
  int items[3];
  EXPECT_EQ(deque.Pop(), nullptr);
  EXPECT_EQ(deque.Steal(), nullptr);
  for (int& item : items) EXPECT_TRUE(deque.Push(&item));
  EXPECT_FALSE(deque.LooksEmpty());
  EXPECT_EQ(deque.Steal(), &items[0]);
  EXPECT_EQ(deque.Pop(), &items[2]);
  EXPECT_EQ(deque.Pop(), &items[1]);
  EXPECT_EQ(deque.Pop(), nullptr);
  EXPECT_TRUE(deque.LooksEmpty());
}

TEST(WorkDequeTest, RefusesAnItemThatDoesNotFit) {
  WorkDeque<int, 4> deque;
  int items[6];
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(deque.Push(&items[i]));
  EXPECT_FALSE(deque.Push(&items[4]));
  EXPECT_EQ(deque.Steal(), &items[0]);
  EXPECT_TRUE(deque.Push(&items[5]));  // Around the end.
  EXPECT_EQ(deque.Pop(), &items[5]);
}

TEST(WorkDequeTest, PopIfTakesBackOnlyTheNewest) {
  WorkDeque<int, 4> deque;
  int items[2];
  EXPECT_FALSE(deque.PopIf(&items[0]));
  deque.Push(&items[0]);
  deque.Push(&items[1]);
  EXPECT_FALSE(deque.PopIf(&items[0]));
  EXPECT_TRUE(deque.PopIf(&items[1]));
  EXPECT_EQ(deque.Steal(), &items[0]);
  EXPECT_FALSE(deque.PopIf(&items[0]));
}

// Runs an owner that pops and thieves that each try to steal `steals` times in
// every interleaving. Each of `item_count` items is taken exactly once.
model::Scheduler::Outcome RunOwnerAgainstThieves(
    int item_count, int thieves, int steals, bool takes_back,
    int preemption_count_max = model::Scheduler::kNoLimit) {
  struct State {
    WorkDeque<int, 2, model::Atomic> deque;
    int items[2] = {0, 0};
  };
  std::shared_ptr<State> state;
  const auto scenario = [&] {
    state = std::make_shared<State>();
    for (int i = 0; i < item_count; ++i) state->deque.Push(&state->items[i]);
    std::vector<std::function<void()>> threads;
    threads.push_back([s = state, takes_back, item_count] {
      if (takes_back) {
        int* const last = &s->items[item_count - 1];
        if (s->deque.PopIf(last)) ++*last;
        return;
      }
      for (int i = 0; i < item_count; ++i) {
        if (int* item = s->deque.Pop()) ++*item;
      }
    });
    for (int i = 0; i < thieves; ++i) {
      threads.push_back([s = state, steals] {
        for (int n = 0; n < steals; ++n) {
          if (int* item = s->deque.Steal()) ++*item;
        }
      });
    }
    return threads;
  };
  const auto check = [&]() -> std::string {
    while (int* item = state->deque.Steal()) ++*item;
    for (int i = 0; i < item_count; ++i) {
      if (state->items[i] == 1) continue;
      return "item " + std::to_string(i) + " is taken " +
             std::to_string(state->items[i]) + " times";
    }
    return "";
  };
  return model::Scheduler::RunAll(scenario, check, preemption_count_max);
}

TEST_F(WorkDequeModelTest, EveryInterleavingWithOneThiefIsRight) {
  const auto outcome = RunOwnerAgainstThieves(2, 1, 2, false);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.schedule_count, 1000u);
}

TEST_F(WorkDequeModelTest, EveryInterleavingWithTwoThievesIsRight) {
  const auto outcome = RunOwnerAgainstThieves(1, 2, 1, false, 4);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.schedule_count, 1000u);
}

TEST_F(WorkDequeModelTest, EveryInterleavingOfPopIfIsRight) {
  for (int item_count : {1, 2}) {
    const auto outcome = RunOwnerAgainstThieves(item_count, 1, 2, true);
    EXPECT_EQ(outcome.failure, "");
    EXPECT_GT(outcome.schedule_count, 50u);
  }
}

// Shows that the method finds a fault: a Pop() without its compare-exchange.
TEST_F(WorkDequeModelTest, FindsTheRaceOfACarelessPop) {
  struct Careless {
    model::Atomic<int64_t> top{0}, bottom{1};
    int taken = 0;
  };
  std::shared_ptr<Careless> state;
  const auto order = std::memory_order_seq_cst;
  const auto outcome = model::Scheduler::RunAll(
      [&] {
        state = std::make_shared<Careless>();
        return std::vector<std::function<void()>>{
            [s = state, order] {
              s->bottom.store(0, order);
              if (s->top.load(order) <= 0) ++s->taken;
            },
            [s = state, order] {
              int64_t top = s->top.load(order);
              if (top < s->bottom.load(order) &&
                  s->top.compare_exchange_strong(top, top + 1, order)) {
                ++s->taken;
              }
            }};
      },
      [&]() -> std::string { return state->taken == 1 ? "" : "twice"; });
  EXPECT_NE(outcome.failure, "");
}

TEST(WorkDequeTest, RealThreadsTakeEachItemOnce) {
  constexpr int kItems = 20'000;
  WorkDeque<std::atomic<int>, 64> deque;
  std::vector<std::atomic<int>> items(kItems);
  std::atomic<bool> done{false};
  std::vector<std::thread> thieves;
  for (int i = 0; i < 2; ++i) {
    thieves.emplace_back([&] {
      while (!done.load()) {
        if (std::atomic<int>* item = deque.Steal()) ++*item;
      }
    });
  }
  for (int i = 0; i < kItems;) {
    if (deque.Push(&items[i])) {
      ++i;
    } else if (std::atomic<int>* item = deque.Pop()) {
      ++*item;
    }
    if (i % 3 == 0) {
      if (std::atomic<int>* item = deque.Pop()) ++*item;
    }
  }
  while (std::atomic<int>* item = deque.Pop()) ++*item;
  done = true;
  for (std::thread& thief : thieves) thief.join();
  for (const std::atomic<int>& item : items) ASSERT_EQ(item, 1);
}

}  // namespace
}  // namespace takt::exec
