#include "hal/timeline.h"

#include <random>
#include <thread>
#include <vector>

#include "base/block_pool.h"
#include "gtest/gtest.h"

namespace takt::hal {
namespace {

struct Recorder;
struct RecordedWaiter : TimelineWaiter {
  Recorder* recorder = nullptr;
};

// Waiters that write down in which order and how they were notified.
struct Recorder {
  Recorder() { waiters.reserve(100); }
  TimelineWaiter* Make(uint64_t value) {
    RecordedWaiter& waiter = waiters.emplace_back();
    waiter.value = value;
    waiter.recorder = this;
    waiter.notify = [](TimelineWaiter* base, const absl::Status& status) {
      auto* self = static_cast<RecordedWaiter*>(base);
      self->recorder->values.push_back(self->value);
      self->recorder->statuses.push_back(status);
    };
    return &waiter;
  }
  std::vector<RecordedWaiter> waiters;
  std::vector<uint64_t> values;
  std::vector<absl::Status> statuses;
};

TEST(TimelineTest, StartsAtItsInitialValue) {
  Ref<Timeline> timeline = Timeline::Create(5);
  EXPECT_EQ(timeline->value(), 5u);
  EXPECT_FALSE(timeline->failed());
  EXPECT_TRUE(timeline->error().ok());
}

TEST(TimelineTest, SignalOnlyRaises) {
  Ref<Timeline> timeline = Timeline::Create(5);
  EXPECT_EQ(timeline->Signal(5).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(timeline->Signal(4).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(timeline->Signal(9).ok());
  EXPECT_EQ(timeline->value(), 9u);
}

TEST(TimelineTest, SignalRefusesValuesThatMeanFailure) {
  Ref<Timeline> timeline = Timeline::Create(0);
  EXPECT_EQ(timeline->Signal(Timeline::kMaxValue + 1).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(timeline->Signal(~uint64_t{0}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(timeline->Signal(Timeline::kMaxValue).ok());
}

TEST(TimelineTest, SignalWakesWaitersInValueOrder) {
  Ref<Timeline> timeline = Timeline::Create(0);
  Recorder recorder;
  absl::Status status;
  for (uint64_t value : {5, 2, 9, 2, 7, 1}) {
    ASSERT_TRUE(timeline->AddWaiter(recorder.Make(value), &status));
  }
  ASSERT_TRUE(timeline->Signal(5).ok());
  EXPECT_EQ(recorder.values, (std::vector<uint64_t>{1, 2, 2, 5}));
  ASSERT_TRUE(timeline->Signal(9).ok());
  EXPECT_EQ(recorder.values, (std::vector<uint64_t>{1, 2, 2, 5, 7, 9}));
  for (const absl::Status& each : recorder.statuses) EXPECT_TRUE(each.ok());
}

TEST(TimelineTest, AWaiterForAReachedValueIsNotRegistered) {
  Ref<Timeline> timeline = Timeline::Create(3);
  Recorder recorder;
  absl::Status status = absl::UnknownError("unset");
  EXPECT_FALSE(timeline->AddWaiter(recorder.Make(3), &status));
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(recorder.values.empty());
}

TEST(TimelineTest, FailureWakesEveryWaiterAndStays) {
  Ref<Timeline> timeline = Timeline::Create(1);
  Recorder recorder;
  absl::Status status;
  ASSERT_TRUE(timeline->AddWaiter(recorder.Make(2), &status));
  ASSERT_TRUE(timeline->AddWaiter(recorder.Make(1000), &status));
  timeline->Fail(absl::DataLossError("first"));
  timeline->Fail(absl::AbortedError("second"));
  EXPECT_EQ(recorder.statuses,
            (std::vector<absl::Status>{absl::DataLossError("first"),
                                       absl::DataLossError("first")}));
  EXPECT_EQ(timeline->error(), absl::DataLossError("first"));
  EXPECT_EQ(timeline->Signal(5), absl::DataLossError("first"));
  EXPECT_EQ(timeline->value(), 1u);
  EXPECT_FALSE(timeline->AddWaiter(recorder.Make(2), &status));
  EXPECT_EQ(status, absl::DataLossError("first"));
}

TEST(TimelineTest, ValuesReachedBeforeAFailureStayReached) {
  Ref<Timeline> timeline = Timeline::Create(4);
  timeline->Fail(absl::AbortedError("test"));
  bool reached = false;
  EXPECT_TRUE(timeline->Query(4, &reached).ok());
  EXPECT_TRUE(reached);
  EXPECT_EQ(timeline->Query(5, &reached), absl::AbortedError("test"));
  EXPECT_FALSE(reached);
}

TEST(TimelineTest, CancelTakesAWaiterBackWhereverItStands) {
  for (int cancelled = 0; cancelled < 3; ++cancelled) {
    Ref<Timeline> timeline = Timeline::Create(0);
    Recorder recorder;
    absl::Status status;
    TimelineWaiter* waiters[3];
    for (int i = 0; i < 3; ++i) {
      waiters[i] = recorder.Make(i + 1);
      ASSERT_TRUE(timeline->AddWaiter(waiters[i], &status));
    }
    EXPECT_TRUE(timeline->Cancel(waiters[cancelled]));
    EXPECT_FALSE(timeline->Cancel(waiters[cancelled]));
    ASSERT_TRUE(timeline->Signal(3).ok());
    EXPECT_EQ(recorder.values.size(), 2u);
    for (TimelineWaiter* waiter : waiters) {
      EXPECT_FALSE(timeline->Cancel(waiter));
    }
  }
}

TEST(TimelineTest, ANotificationMayRegisterAgain) {
  Ref<Timeline> timeline = Timeline::Create(0);
  struct Again : TimelineWaiter {
    Timeline* timeline;
    int count = 0;
  } waiter;
  waiter.timeline = timeline.get();
  waiter.value = 1;
  waiter.notify = [](TimelineWaiter* base, const absl::Status&) {
    auto* self = static_cast<Again*>(base);
    ++self->count;
    self->value = 2;
    absl::Status status;
    (void)self->timeline->AddWaiter(self, &status);
  };
  absl::Status status;
  ASSERT_TRUE(timeline->AddWaiter(&waiter, &status));
  ASSERT_TRUE(timeline->Signal(1).ok());
  EXPECT_EQ(waiter.count, 1);
  ASSERT_TRUE(timeline->Signal(2).ok());
  EXPECT_EQ(waiter.count, 2);
}

// Threads signal and wait in turns on one timeline; every waiter must be
// notified exactly once, and none before its value.
TEST(TimelineTest, WaitersOfAForgottenTimelineAreNotified) {
  Recorder recorder;
  Ref<Timeline> timeline = Timeline::Create(3);
  timeline->set_name("camera");
  absl::Status status;
  ASSERT_TRUE(timeline->AddWaiter(recorder.Make(5), &status));
  ASSERT_TRUE(timeline->AddWaiter(recorder.Make(7), &status));
  timeline.reset();
  ASSERT_EQ(recorder.values, (std::vector<uint64_t>{5, 7}));
  for (const absl::Status& outcome : recorder.statuses) {
    EXPECT_EQ(outcome.code(), absl::StatusCode::kAborted);
    EXPECT_NE(outcome.message().find("forgotten: timeline camera"),
              std::string::npos);
  }
}

TEST(TimelineTest, AnAnchorKeepsTheStorageOnly) {
  Recorder recorder;
  Ref<Timeline> timeline = Timeline::Create(0);
  Timeline::Anchor anchor(*timeline);
  TimelineWaiter* waiter = recorder.Make(1);
  absl::Status status;
  ASSERT_TRUE(timeline->AddWaiter(waiter, &status));
  timeline.reset();
  EXPECT_EQ(recorder.values.size(), 1u);
  EXPECT_FALSE(anchor->Cancel(waiter));
}

TEST(TimelineTest, AForgottenTimelineReturnsItsBlockToThePool) {
  UniqueBlockPool pool(BlockPool::Create());
  Ref<Timeline> timeline = Timeline::Create(0, *pool);
  Timeline* address = timeline.get();
  timeline.reset();
  Ref<Timeline> again = Timeline::Create(0, *pool);
  if (BlockPool::kRecycles) {
    EXPECT_EQ(again.get(), address);
  }
}

TEST(TimelineTest, HasANameForDiagnoses) {
  Ref<Timeline> timeline = Timeline::Create(0);
  EXPECT_EQ(timeline->name(), "");
  timeline->set_name("camera");
  EXPECT_EQ(timeline->name(), "camera");
}

TEST(TimelineTest, TheFirstSignallerOfAValueStaysUntilAnotherValueHasOne) {
  Ref<Timeline> timeline = Timeline::Create(0);
  EXPECT_EQ(timeline->FindSignaller(0), nullptr);
  EXPECT_EQ(timeline->FindSignaller(1), nullptr);
  const auto call = Signaller::Create("a call"), copy = Signaller::Create("x");
  timeline->SetSignaller(1, call);
  timeline->SetSignaller(1, copy);
  EXPECT_EQ(timeline->FindSignaller(1), call);
  EXPECT_EQ(timeline->FindSignaller(2), nullptr);
  timeline->SetSignaller(2, copy);
  EXPECT_EQ(timeline->FindSignaller(2), copy);
  EXPECT_EQ(timeline->FindSignaller(1), nullptr);
}

TEST(TimelineTest, NoWaiterIsLostBetweenThreads) {
  constexpr uint64_t kValues = 2000;
  Ref<Timeline> timeline = Timeline::Create(0);
  struct Counted : TimelineWaiter {
    Timeline* timeline;
    std::atomic<int> notified{0};
    bool was_early = false;
  };
  std::vector<Counted> waiters(2 * kValues);
  std::vector<std::thread> threads;
  std::atomic<int> reached_at_once{0};
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kValues; ++i) {
        Counted& waiter = waiters[t * kValues + i];
        waiter.timeline = timeline.get();
        waiter.value = i + 1;
        waiter.notify = [](TimelineWaiter* base, const absl::Status&) {
          auto* self = static_cast<Counted*>(base);
          if (self->timeline->value() < self->value) self->was_early = true;
          ++self->notified;
        };
        absl::Status status;
        if (!timeline->AddWaiter(&waiter, &status)) {
          ++reached_at_once;
          ++waiter.notified;
        }
      }
    });
  }
  for (uint64_t i = 1; i <= kValues; ++i) {
    ASSERT_TRUE(timeline->Signal(i).ok());
  }
  for (std::thread& thread : threads) thread.join();
  for (const Counted& waiter : waiters) {
    EXPECT_EQ(waiter.notified, 1);
    EXPECT_FALSE(waiter.was_early);
  }
}

}  // namespace
}  // namespace takt::hal
