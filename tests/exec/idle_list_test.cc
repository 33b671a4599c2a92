#include "exec/idle_list.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/exec/interleavings.h"

namespace takt::exec {
namespace {

class IdleListModelTest : public ::testing::Test {
  void SetUp() override {
    if (!model::kCanRun) GTEST_SKIP() << "not with this sanitizer";
  }
};

int Any(const IdleNode&) { return 0; }
void Nothing(IdleNode&) {}

TEST(IdleListTest, TakesTheNodeThatCameLast) {
  IdleList<> list;
  IdleNode first, second;
  EXPECT_FALSE(list.HasIdle());
  EXPECT_EQ(list.Take(Any, Nothing), nullptr);
  list.Announce(first);
  list.Announce(second);
  EXPECT_EQ(list.count(), 2u);
  EXPECT_EQ(list.Take(Any, Nothing), &second);
  EXPECT_EQ(list.Take(Any, Nothing), &first);
  EXPECT_FALSE(list.HasIdle());
}

TEST(IdleListTest, NodesThatGoToTheBackAreTakenLast) {
  IdleList<> list;
  IdleNode helper, worker, other;
  helper.goes_to_back = true;
  list.Announce(worker);
  list.Announce(helper);
  list.Announce(other);
  EXPECT_EQ(list.Take(Any, Nothing), &other);
  EXPECT_EQ(list.Take(Any, Nothing), &worker);
  EXPECT_EQ(list.Take(Any, Nothing), &helper);
}

TEST(IdleListTest, TakesTheNearestNodeAndNoRefusedOne) {
  IdleList<> list;
  IdleNode near, far, refused;
  list.Announce(near);
  list.Announce(far);
  list.Announce(refused);
  const auto distance = [&](const IdleNode& node) {
    return &node == &refused ? -1 : &node == &near ? 1 : 2;
  };
  EXPECT_EQ(list.Take(distance, Nothing), &near);
  EXPECT_EQ(list.Take(distance, Nothing), &far);
  EXPECT_EQ(list.Take(distance, Nothing), nullptr);
  EXPECT_EQ(list.count(), 1u);
}

TEST(IdleListTest, WithdrawSaysWhetherItWasTaken) {
  IdleList<> list;
  IdleNode node;
  EXPECT_FALSE(list.Withdraw(node));
  list.Announce(node);
  EXPECT_TRUE(list.Withdraw(node));
  list.Announce(node);
  list.Take(Any, Nothing);
  EXPECT_FALSE(list.Withdraw(node));
}

// Sleepers and publishers as in the comment of idle_list.h. `work` is a number
// of items. `is_careful`: sleepers look a second time.
struct EventCount {
  struct Node : IdleNode {
    model::Flag flag;
  };
  IdleList<model::Atomic, model::Mutex> list;
  Node nodes[2];
  model::Atomic<uint32_t> work{0};
  int consumed = 0;
  int wakes = 0;

  bool TryConsume() {
    uint32_t have = work.load(std::memory_order_seq_cst);
    while (have > 0) {
      if (work.compare_exchange_strong(have, have - 1,
                                       std::memory_order_seq_cst)) {
        ++consumed;
        return true;
      }
    }
    return false;
  }
  void Consume(Node& node, bool is_careful) {
    while (!TryConsume()) {
      list.Announce(node);
      if (is_careful && work.load(std::memory_order_seq_cst) > 0) {
        list.Withdraw(node);
        continue;
      }
      node.flag.Sleep();
      list.Withdraw(node);
    }
  }
  void Publish() {
    uint32_t have = work.load(std::memory_order_seq_cst);
    while (!work.compare_exchange_strong(have, have + 1,
                                         std::memory_order_seq_cst)) {
    }
    if (!list.HasIdle()) return;
    if (IdleNode* node = list.Take(Any, Nothing)) {
      ++wakes;
      static_cast<Node*>(node)->flag.Raise();
    }
  }
};

model::Scheduler::Outcome RunEventCount(
    int consumers, int items, bool is_careful,
    int preemption_count_max = model::Scheduler::kNoLimit) {
  std::shared_ptr<EventCount> state;
  return model::Scheduler::RunAll(
      [&] {
        state = std::make_shared<EventCount>();
        std::vector<std::function<void()>> threads;
        for (int i = 0; i < consumers; ++i) {
          threads.push_back([s = state, i, is_careful] {
            s->Consume(s->nodes[i], is_careful);
          });
        }
        threads.push_back([s = state, items] {
          for (int i = 0; i < items; ++i) s->Publish();
        });
        return threads;
      },
      [&]() -> std::string {
        if (state->consumed != consumers) return "not all consumed";
        // No more threads are woken than there was work.
        return state->wakes > items ? "too many wakes" : "";
      },
      preemption_count_max);
}

TEST_F(IdleListModelTest, NoWakeIsLostInAnyInterleaving) {
  const auto outcome = RunEventCount(1, 1, true);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.schedule_count, 20u);
}

TEST_F(IdleListModelTest, NoWakeIsLostWithTwoSleepers) {
  const auto outcome = RunEventCount(2, 2, true, 3);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.schedule_count, 1000u);
}

TEST_F(IdleListModelTest, AWakeIsLostWithoutTheSecondLook) {
  const auto outcome = RunEventCount(1, 1, false);
  EXPECT_NE(outcome.failure, "");
}

}  // namespace
}  // namespace takt::exec
