#include "hal/fence.h"

#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "gtest/gtest.h"
#include "hal/deferred.h"

namespace takt::hal {
namespace {

bool IsReached(const Fence& fence) {
  bool reached = false;
  return fence.Query(&reached).ok() && reached;
}

Ref<Fence> MakeFence(std::vector<TimelinePoint> points) {
  auto fence = Fence::FromPoints(points);
  EXPECT_TRUE(fence.ok()) << fence.status();
  return *fence;
}

TEST(FenceTest, CreateIsReachedByOneSignal) {
  Ref<Fence> fence = Fence::Create();
  EXPECT_FALSE(IsReached(*fence));
  EXPECT_TRUE(fence->Signal().ok());
  EXPECT_TRUE(IsReached(*fence));
  EXPECT_EQ(fence->Signal().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(FenceTest, IsSettledOnceByAnOutcome) {
  const absl::Status error = absl::AbortedError("lost");
  bool reached = false;
  const Ref<Fence> fence = Fence::Create();
  fence->Settle(absl::OkStatus());
  fence->Settle(error);
  fence->Settle(absl::OkStatus());
  EXPECT_TRUE(IsReached(*fence));
  const Ref<Fence> failed = Fence::Create();
  failed->Settle(error);
  failed->Settle(absl::OkStatus());
  EXPECT_EQ(failed->Query(&reached), error);
}

TEST(FenceTest, CreateInAPool) {
  UniqueBlockPool pool(BlockPool::Create());
  Ref<Fence> fence = Fence::Create(*pool);
  pool.reset();  // The fence's blocks keep it.
  EXPECT_TRUE(fence->Signal().ok());
}

TEST(FenceTest, IsReachedWhenAllPointsAre) {
  Ref<Timeline> a = Timeline::Create(0), b = Timeline::Create(0);
  Ref<Fence> fence = MakeFence({{a, 2}, {b, 1}});
  ASSERT_TRUE(b->Signal(5).ok());
  ASSERT_TRUE(a->Signal(1).ok());
  EXPECT_FALSE(IsReached(*fence));
  ASSERT_TRUE(a->Signal(2).ok());
  EXPECT_TRUE(IsReached(*fence));
}

TEST(FenceTest, WithoutPointsIsReached) {
  Ref<Fence> fence = MakeFence({});
  EXPECT_TRUE(IsReached(*fence));
  EXPECT_TRUE(fence->Signal().ok());
  EXPECT_TRUE(fence->Wait(0).ok());
}

TEST(FenceTest, ATimelineTwiceCountsWithTheGreaterValue) {
  Ref<Timeline> timeline = Timeline::Create(0);
  Ref<Fence> fence = MakeFence({{timeline, 3}, {timeline, 7}, {timeline, 5}});
  ASSERT_EQ(fence->points().size(), 1u);
  EXPECT_EQ(fence->points()[0].value, 7u);
}

TEST(FenceTest, RefusesValuesThatMeanFailureAndNullTimelines) {
  Ref<Timeline> timeline = Timeline::Create(0);
  EXPECT_EQ(
      Fence::FromPoints({{timeline, Timeline::kMaxValue + 1}}).status().code(),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Fence::FromPoints({{nullptr, 1}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(FenceTest, JoinSkipsNullAndMergesPoints) {
  EXPECT_EQ(Fence::Join({}), nullptr);
  EXPECT_EQ(Fence::Join({nullptr, nullptr}), nullptr);
  Ref<Timeline> shared = Timeline::Create(0);
  Ref<Fence> a = MakeFence({{shared, 1}});
  Ref<Fence> b = MakeFence({{shared, 2}, {Timeline::Create(0), 1}});
  EXPECT_EQ(Fence::Join({nullptr, a.get()}), a);
  Ref<Fence> joined = Fence::Join({a.get(), nullptr, b.get()});
  ASSERT_EQ(joined->points().size(), 2u);
  EXPECT_EQ(joined->points()[0].value, 2u);
}

TEST(FenceTest, AFenceOfAPoolHasItsPointsThere) {
  if (!BlockPool::kRecycles) GTEST_SKIP() << "sanitizers: blocks are freed";
  const UniqueBlockPool pool(BlockPool::Create());
  std::vector<Ref<Fence>> fences;
  std::vector<Fence*> list;
  for (int i = 0; i < 5; ++i) {
    fences.push_back(Fence::Create(*pool));
    list.push_back(fences.back().get());
  }
  const Fence* const first = Fence::Join(list, pool.get()).get();
  const Ref<Fence> again = Fence::Join(list, pool.get());
  EXPECT_EQ(again.get(), first);  // The block of the one that is gone.
  ASSERT_EQ(again->points().size(), 5u);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(again->points()[i].timeline, list[i]->points()[0].timeline);
  }
  EXPECT_EQ(static_cast<const void*>(again->points().data()), again.get() + 1);
}

TEST(FenceTest, JoinOfManyPointsMergesThem) {
  std::vector<TimelinePoint> points;
  for (int i = 0; i < 100; ++i) points.push_back({Timeline::Create(0), 1});
  for (int i = 0; i < 100; ++i) points.push_back({points[i].timeline, 2});
  Ref<Fence> fence = MakeFence(points);
  ASSERT_EQ(fence->points().size(), 100u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(fence->points()[i].timeline, points[i].timeline);
    EXPECT_EQ(fence->points()[i].value, 2u);
  }
}

TEST(FenceTest, ABarrierIsReachedWhenAllSignallersAreDone) {
  Ref<Fence> barrier = *Fence::CreateBarrier(3);
  EXPECT_TRUE(barrier->is_barrier());
  ASSERT_TRUE(barrier->Signal().ok());
  EXPECT_EQ(barrier->shares_taken(), 1u);
  Ref<Fence> second = *barrier->TakeShare();
  Ref<Fence> third = *barrier->TakeShare();
  EXPECT_FALSE(second->is_barrier());
  ASSERT_TRUE(third->Signal().ok());
  EXPECT_FALSE(IsReached(*barrier));
  ASSERT_TRUE(second->Signal().ok());
  EXPECT_TRUE(IsReached(*barrier));
}

TEST(FenceTest, ABarrierHasNoShareBeyondItsSignallers) {
  Ref<Fence> barrier = *Fence::CreateBarrier(1);
  Ref<Fence> share = *barrier->TakeShare();
  EXPECT_EQ(barrier->TakeShare().status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(barrier->Signal().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(IsReached(*barrier));
  EXPECT_FALSE(IsReached(*share));
}

TEST(FenceTest, ABarrierWithoutSignallersIsReached) {
  EXPECT_TRUE(IsReached(**Fence::CreateBarrier(0)));
  EXPECT_EQ(Fence::CreateBarrier(Fence::kSignallersMax + 1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(FenceTest, ABarrierFailsWithItsFirstSignaller) {
  Ref<Fence> barrier = *Fence::CreateBarrier(2);
  barrier->Fail(absl::DataLossError("one"));
  bool reached = true;
  EXPECT_EQ(barrier->Query(&reached), absl::DataLossError("one"));
  // The other signaller does not notice.
  EXPECT_TRUE(barrier->Signal().ok());
  EXPECT_EQ(barrier->Query(&reached), absl::DataLossError("one"));
}

TEST(FenceTest, ABarrierWithAllSharesTakenCanStillBeFailed) {
  Ref<Fence> barrier = *Fence::CreateBarrier(1);
  Ref<Fence> share = *barrier->TakeShare();
  barrier->Fail(absl::CancelledError("all"));
  EXPECT_EQ(share->Signal(), absl::CancelledError("all"));
}

TEST(FenceTest, AnOrdinaryFenceIsItsOwnShare) {
  Ref<Fence> fence = Fence::Create();
  EXPECT_EQ(*fence->TakeShare(), fence);
  EXPECT_EQ(*fence->TakeShare(), fence);
  EXPECT_EQ(fence->shares_taken(), 0u);
}

TEST(FenceTest, ABarrierIsSignaledFromManyThreads) {
  constexpr int kThreadCount = 4, kSignalsEach = 250;
  Ref<Fence> barrier = *Fence::CreateBarrier(kThreadCount * kSignalsEach);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreadCount; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kSignalsEach; ++j) {
        ASSERT_TRUE(barrier->Signal().ok());
      }
    });
  }
  EXPECT_TRUE(barrier->Wait(kInfiniteFuture).ok());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(barrier->Signal().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(FenceTest, FailsWithTheFirstErrorOfAnyPoint) {
  Ref<Timeline> a = Timeline::Create(0), b = Timeline::Create(0);
  Ref<Fence> fence = MakeFence({{a, 1}, {b, 1}});
  b->Fail(absl::DataLossError("b"));
  bool reached = true;
  EXPECT_EQ(fence->Query(&reached), absl::DataLossError("b"));
  EXPECT_FALSE(reached);
  EXPECT_EQ(fence->Wait(kInfiniteFuture), absl::DataLossError("b"));
  // The other timeline is raised all the same.
  EXPECT_EQ(fence->Signal(), absl::DataLossError("b"));
  EXPECT_EQ(a->value(), 1u);
}

TEST(FenceTest, WaitPastItsDeadline) {
  Ref<Fence> fence = Fence::Create();
  EXPECT_EQ(fence->Wait(0).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(fence->Wait(NowNs() + 1'000'000).code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(fence->Signal().ok());
  EXPECT_TRUE(fence->Wait(0).ok());
}

TEST(FenceTest, WaitSleepsUntilAnotherThreadSignals) {
  for (int i = 0; i < 100; ++i) {
    Ref<Timeline> a = Timeline::Create(0), b = Timeline::Create(0);
    Ref<Fence> fence = MakeFence({{a, 1}, {b, 1}});
    std::thread signaler([a, b, i] {
      ASSERT_TRUE((i % 2 == 0 ? a : b)->Signal(1).ok());
      ASSERT_TRUE((i % 2 == 0 ? b : a)->Signal(1).ok());
    });
    EXPECT_TRUE(fence->Wait(kInfiniteFuture).ok());
    signaler.join();
  }
}

TEST(FenceTest, OnReachedRunsOnceWhateverTheOutcome) {
  int ok_count = 0, error_count = 0;
  const auto count = [&](const absl::Status& status) {
    ++(status.ok() ? ok_count : error_count);
  };
  Ref<Fence> reached = Fence::Create();
  reached->OnReached(count);
  EXPECT_EQ(ok_count, 0);
  ASSERT_TRUE(reached->Signal().ok());
  EXPECT_EQ(ok_count, 1);
  reached->OnReached(count);
  EXPECT_EQ(ok_count, 2);
  Ref<Fence> failed = Fence::Create();
  failed->OnReached(count);
  failed->Fail(absl::AbortedError("test"));
  failed->OnReached(count);
  EXPECT_EQ(error_count, 2);
}

TEST(FenceTest, AForgottenFenceFailsItsWaiters) {
  absl::Status outcome;
  Ref<Fence> fence = Fence::Create();
  fence->OnReached([&](const absl::Status& status) { outcome = status; });
  fence.reset();
  EXPECT_EQ(outcome.code(), absl::StatusCode::kAborted);
}

TEST(FenceTest, OneForgottenPointFailsTheWholeWait) {
  Ref<Timeline> kept = Timeline::Create(0), lost = Timeline::Create(0);
  int call_count = 0;
  absl::Status outcome;
  MakeFence({{kept, 1}, {lost, 1}})->OnReached([&](const absl::Status& status) {
    ++call_count;
    outcome = status;
  });
  EXPECT_EQ(call_count, 0);
  lost.reset();
  EXPECT_EQ(outcome.code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(kept->Signal(1).ok());
  EXPECT_EQ(call_count, 1);
}

TEST(FenceTest, ForgettingRacesWithSignalAndCancel) {
  // The first thread decides; the waiter is notified once or not at all.
  struct Waiter final : FenceWaiter {
    Waiter() : FenceWaiter(&Waiter::Notify) {}
    static void Notify(FenceWaiter* base, const absl::Status&) {
      ++static_cast<Waiter*>(base)->call_count;
    }
    std::atomic<int> call_count{0};
  };
  for (int i = 0; i < 300; ++i) {
    Ref<Timeline> a = Timeline::Create(0), b = Timeline::Create(0);
    Waiter waiter;
    bool cancelled = false;
    absl::Status status;
    {
      Ref<Fence> fence = MakeFence({{a, 1}, {b, 1}});
      const Fence* const fences[] = {fence.get()};
      ASSERT_TRUE(waiter.Start(fences, &status));
    }
    std::thread forget([a = std::move(a)]() mutable { a.reset(); });
    std::thread signal([b = std::move(b), i] {
      if (i % 2 == 0) {
        ASSERT_TRUE(b->Signal(1).ok());
      }
    });
    cancelled = waiter.Cancel();
    forget.join();
    signal.join();
    EXPECT_EQ(waiter.call_count, cancelled ? 0 : 1);
  }
}

TEST(FenceTest, AChainOfCallbacksNeedsNoStack) {
  constexpr int kLength = 200'000;
  std::vector<Ref<Fence>> fences;
  for (int i = 0; i <= kLength; ++i) fences.push_back(Fence::Create());
  for (int i = 0; i < kLength; ++i) {
    fences[i]->OnReached([next = fences[i + 1]](const absl::Status& status) {
      ASSERT_TRUE(next->Signal().ok());
    });
  }
  ASSERT_TRUE(fences[0]->Signal().ok());
  EXPECT_TRUE(IsReached(*fences[kLength]));
}

TEST(FenceTest, CloneIsTheSameOnlyWhenReached) {
  CloneMap clones;
  Ref<Fence> fence = Fence::Create();
  EXPECT_EQ(Fence::kType.clone(*fence, clones), nullptr);
  ASSERT_TRUE(fence->Signal().ok());
  Ref<Object> clone = Ref<Object>::Adopt(Fence::kType.clone(*fence, clones));
  EXPECT_EQ(clone.get(), fence.get());
  Ref<Fence> failed = Fence::Create();
  failed->Fail(absl::AbortedError("test"));
  EXPECT_EQ(Fence::kType.clone(*failed, clones), nullptr);
}

// ---- FenceWaiter.

struct CountingWaiter : FenceWaiter {
  CountingWaiter() : FenceWaiter(&CountingWaiter::OnNotify) {}
  static void OnNotify(FenceWaiter* waiter, const absl::Status& status) {
    auto* self = static_cast<CountingWaiter*>(waiter);
    self->status = status;
    ++self->count;
  }
  bool Start(std::vector<const Fence*> fences) {
    return FenceWaiter::Start(fences, &start_status);
  }
  std::atomic<int> count{0};
  absl::Status status;
  absl::Status start_status;
};

TEST(FenceWaiterTest, DoesNotStartWhenTheOutcomeIsKnown) {
  CountingWaiter waiter;
  EXPECT_FALSE(waiter.Start({}));
  EXPECT_FALSE(waiter.Start({nullptr}));
  EXPECT_TRUE(waiter.start_status.ok());
  Ref<Fence> reached = Fence::Create(), failed = Fence::Create(),
             pending = Fence::Create();
  ASSERT_TRUE(reached->Signal().ok());
  failed->Fail(absl::AbortedError("test"));
  EXPECT_FALSE(waiter.Start({reached.get()}));
  EXPECT_TRUE(waiter.start_status.ok());
  EXPECT_FALSE(waiter.Start({pending.get(), failed.get()}));
  EXPECT_EQ(waiter.start_status, absl::AbortedError("test"));
  EXPECT_EQ(waiter.count, 0);
}

TEST(FenceWaiterTest, NotifiesOnceAfterAllOfSeveralFences) {
  CountingWaiter waiter;
  Ref<Fence> a = Fence::Create(), b = Fence::Create(), c = Fence::Create();
  ASSERT_TRUE(waiter.Start({a.get(), nullptr, b.get(), c.get()}));
  ASSERT_TRUE(b->Signal().ok());
  ASSERT_TRUE(a->Signal().ok());
  EXPECT_EQ(waiter.count, 0);
  ASSERT_TRUE(c->Signal().ok());
  EXPECT_EQ(waiter.count, 1);
  EXPECT_TRUE(waiter.status.ok());
  // Ready for another wait.
  Ref<Fence> d = Fence::Create();
  ASSERT_TRUE(waiter.Start({d.get()}));
  ASSERT_TRUE(d->Signal().ok());
  EXPECT_EQ(waiter.count, 2);
}

TEST(FenceWaiterTest, TheFirstFailureNotifiesAtOnce) {
  CountingWaiter waiter;
  Ref<Fence> a = Fence::Create(), b = Fence::Create(), c = Fence::Create();
  ASSERT_TRUE(waiter.Start({a.get(), b.get(), c.get()}));
  b->Fail(absl::DataLossError("b"));
  EXPECT_EQ(waiter.count, 1);
  EXPECT_EQ(waiter.status, absl::DataLossError("b"));
  c->Fail(absl::AbortedError("c"));
  ASSERT_TRUE(a->Signal().ok());
  EXPECT_EQ(waiter.count, 1);
}

TEST(FenceWaiterTest, CancelTakesAllOfItBack) {
  CountingWaiter waiter;
  Ref<Fence> a = Fence::Create(), b = Fence::Create();
  ASSERT_TRUE(waiter.Start({a.get(), b.get()}));
  ASSERT_TRUE(a->Signal().ok());
  EXPECT_TRUE(waiter.Cancel());
  EXPECT_FALSE(waiter.Cancel());
  ASSERT_TRUE(b->Signal().ok());
  EXPECT_EQ(waiter.count, 0);
}

// A cancellation comes while one part of the wait is being notified and another
// is not reached. The notification must not say that all are reached.
TEST(FenceWaiterTest, AWaitCancelledInPartIsNotReached) {
  CountingWaiter waiter;
  Ref<Fence> a = Fence::Create(), b = Fence::Create();
  ASSERT_TRUE(waiter.Start({a.get(), b.get()}));
  {
    DeferScope telling;  // a's notification is under way until the end of it.
    ASSERT_TRUE(a->Signal().ok());
    EXPECT_FALSE(waiter.Cancel(absl::CancelledError("mine")));
    EXPECT_EQ(waiter.count, 0);
  }
  EXPECT_EQ(waiter.count, 1);
  EXPECT_EQ(waiter.status, absl::CancelledError("mine"));
  ASSERT_TRUE(b->Signal().ok());
  EXPECT_EQ(waiter.count, 1);
}

// If all parts are being notified, the cancellation is too late.
TEST(FenceWaiterTest, ACancellationThatComesTooLateChangesNothing) {
  CountingWaiter waiter;
  Ref<Fence> a = Fence::Create(), b = Fence::Create();
  ASSERT_TRUE(waiter.Start({a.get(), b.get()}));
  {
    DeferScope telling;
    ASSERT_TRUE(a->Signal().ok());
    ASSERT_TRUE(b->Signal().ok());
    EXPECT_FALSE(waiter.Cancel());
  }
  EXPECT_EQ(waiter.count, 1);
  EXPECT_TRUE(waiter.status.ok());
}

// Signals, failures and a cancellation race: either Cancel() succeeds or
// Notify comes, never both and never neither.
TEST(FenceWaiterTest, EitherCancelledOrNotified) {
  for (int i = 0; i < 500; ++i) {
    Ref<Fence> a = Fence::Create(), b = Fence::Create();
    auto waiter = std::make_unique<CountingWaiter>();
    std::thread first([&a, i] {
      if (i % 3 == 0) {
        a->Fail(absl::AbortedError("a"));
      } else {
        ASSERT_TRUE(a->Signal().ok());
      }
    });
    std::thread second([&b] { ASSERT_TRUE(b->Signal().ok()); });
    const bool started = waiter->Start({a.get(), b.get()});
    const bool cancelled = started && waiter->Cancel();
    first.join();
    second.join();
    EXPECT_EQ(waiter->count, started && !cancelled ? 1 : 0);
  }
}

TEST(FenceWaiterTest, NotifyMayDestroyTheWaiter) {
  struct SelfDestroying : FenceWaiter {
    SelfDestroying()
        : FenceWaiter([](FenceWaiter* waiter, const absl::Status&) {
            delete static_cast<SelfDestroying*>(waiter);
          }) {}
  };
  for (bool fails : {false, true}) {
    Ref<Fence> a = Fence::Create(), b = Fence::Create();
    const Fence* fences[] = {a.get(), b.get()};
    absl::Status status;
    ASSERT_TRUE((new SelfDestroying)->Start(fences, &status));
    if (fails) {
      a->Fail(absl::AbortedError("test"));
    } else {
      ASSERT_TRUE(a->Signal().ok());
    }
    // The waiter's references are not the only ones to the timelines.
    ASSERT_TRUE(b->Signal().ok());
  }
}

}  // namespace
}  // namespace takt::hal
