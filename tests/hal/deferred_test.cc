#include "hal/deferred.h"

#include <functional>
#include <new>
#include <vector>

#include "gtest/gtest.h"

namespace takt::hal {
namespace {

struct Call : Deferred {
  explicit Call(std::function<void()> function) : call(std::move(function)) {
    run = [](Deferred* deferred) { static_cast<Call*>(deferred)->call(); };
  }
  std::function<void()> call;
};

TEST(DeferredTest, RunsAListInOrder) {
  std::vector<int> order;
  Call a([&] { order.push_back(1); }), b([&] { order.push_back(2); });
  a.next = &b;
  RunOrDefer(&a);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(DeferredTest, CallsDeferredMeanwhileRunAfterwards) {
  std::vector<int> order;
  Call last([&] { order.push_back(3); });
  Call a([&] {
    RunOrDefer(&last);
    order.push_back(1);
  });
  Call b([&] { order.push_back(2); });
  a.next = &b;
  RunOrDefer(&a);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(DeferredTest, InAScopeItWaitsForTheEndOfTheOutermost) {
  std::vector<int> order;
  Call a([&] { order.push_back(1); }), b([&] { order.push_back(2); });
  {
    DeferScope scope;
    RunOrDefer(&a);
    {
      DeferScope inner;
      RunOrDefer(&b);
    }
    order.push_back(0);
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  Call c([&] { order.push_back(3); });
  RunOrDefer(&c);  // The thread is as it was.
  EXPECT_EQ(order.back(), 3);
}

TEST(DeferredTest, WhileAThreadWaitsCallsRunAtOnce) {
  std::vector<int> order;
  Call before([&] { order.push_back(1); });
  Call meanwhile([&] { order.push_back(2); });
  Call after([&] { order.push_back(4); });
  Call outer([&] {
    RunOrDefer(&before);
    {
      DeferredWaitScope scope;
      EXPECT_EQ(order, (std::vector<int>{1}));
      RunOrDefer(&meanwhile);
      EXPECT_EQ(order, (std::vector<int>{1, 2}));
    }
    RunOrDefer(&after);
    order.push_back(3);
  });
  RunOrDefer(&outer);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(DeferredTest, AfterACallThatThrowsTheThreadRunsTheOthers) {
  int count = 0;
  Call a([] { throw std::bad_alloc(); }), b([&] { ++count; });
  a.next = &b;
  EXPECT_THROW(RunOrDefer(&a), std::bad_alloc);
  Call c([&] { ++count; });
  RunOrDefer(&c);
  EXPECT_EQ(count, 2);
}

TEST(DeferredTest, AScopeWithinARunLeavesItToThat) {
  std::vector<int> order;
  Call late([&] { order.push_back(3); });
  Call outer([&] {
    {
      DeferScope scope;
      RunOrDefer(&late);
    }
    order.push_back(1);
  });
  Call second([&] { order.push_back(2); });
  outer.next = &second;
  RunOrDefer(&outer);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(DeferredTest, HasDeferredIsTrueIfMoreCallsFollow) {
  std::vector<bool> answers;
  Call a([&] { answers.push_back(HasDeferred()); });
  Call b([&] { answers.push_back(HasDeferred()); });
  a.next = &b;
  RunOrDefer(&a);
  answers.push_back(HasDeferred());
  EXPECT_EQ(answers, (std::vector<bool>{true, false, false}));
}

TEST(DeferredTest, RunDeferredRunsItFromWithin) {
  std::vector<int> order;
  Call inner([&] { order.push_back(1); });
  Call outer([&] {
    RunOrDefer(&inner);
    RunDeferred();
    order.push_back(2);
  });
  RunOrDefer(&outer);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  RunDeferred();  // Nothing is left.
  EXPECT_EQ(order.size(), 2u);
}

TEST(DeferredTest, ACallMayDestroyItself) {
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    Call* call = nullptr;
    call = new Call([&] { ++count; });
    call->run = [](Deferred* deferred) {
      auto* self = static_cast<Call*>(deferred);
      self->call();
      delete self;
    };
    RunOrDefer(call);
  }
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace takt::hal
