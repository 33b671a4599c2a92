// Goal: requests are granted in an order in which all of them are, in the end.
// Method: requests by hand for each rule, then random sets of invocations that
// hold what they got until they have all of it.
#include "cpu/memory_budget.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "tests/support/allocation_faults.h"

namespace takt::cpu {
namespace {

using Group = MemoryBudget::Group;

struct TestRequest : MemoryBudget::Request {
  TestRequest(MemoryBudget& budget_in, uint64_t bytes_in,
              Ref<Group> group_in = nullptr)
      : budget(budget_in) {
    bytes = bytes_in;
    group = std::move(group_in);
    settled = [](MemoryBudget::Request* request, const absl::Status& outcome) {
      auto* self = static_cast<TestRequest*>(request);
      EXPECT_FALSE(self->is_granted);
      EXPECT_TRUE(self->status.ok());
      self->is_granted = outcome.ok();
      self->status = outcome;
    };
    budget.Announce(*this);
  }
  void Await() {
    if (budget.Await(*this)) is_granted = true;
  }
  void GiveBack() {
    ASSERT_TRUE(is_granted);
    budget.GiveBack(bytes);
  }

  MemoryBudget& budget;
  bool is_granted = false;
  absl::Status status;  // Of one that has failed.
};

Ref<Group> MakeGroup(MemoryBudget& budget,
                     uint64_t claim = MemoryBudget::kUnknownClaim) {
  return MakeRef<Group>(budget, nullptr, claim);
}

TEST(MemoryBudgetTest, TheSecondOfTwoLargeOnesWaitsForTheFirst) {
  MemoryBudget budget(512);
  TestRequest first(budget, 400), second(budget, 400);
  first.Await();
  EXPECT_TRUE(first.is_granted);
  second.Await();
  EXPECT_FALSE(second.is_granted);
  EXPECT_EQ(budget.statistics().bytes_in_use, 400u);
  EXPECT_EQ(budget.statistics().bytes_waiting, 400u);
  EXPECT_EQ(budget.statistics().waiting_count, 1u);
  first.GiveBack();
  EXPECT_TRUE(second.is_granted);
  EXPECT_EQ(budget.statistics().waiting_count, 0u);
  EXPECT_EQ(budget.statistics().wait_count, 1u);
  second.GiveBack();
  EXPECT_EQ(budget.statistics().bytes_in_use, 0u);
}

TEST(MemoryBudgetTest, NoRequestOvertakes) {
  MemoryBudget budget(512);
  TestRequest first(budget, 400), large(budget, 500), small(budget, 10);
  first.Await();
  large.Await();
  small.Await();  // It would fit.
  EXPECT_FALSE(large.is_granted || small.is_granted);
  first.GiveBack();
  EXPECT_TRUE(large.is_granted && small.is_granted);
  large.GiveBack();
  small.GiveBack();
}

TEST(MemoryBudgetTest, AnImmediateAllocationDoesNotWait) {
  MemoryBudget budget(512);
  EXPECT_TRUE(budget.TryTake(512));
  EXPECT_FALSE(budget.TryTake(1));
  TestRequest request(budget, 100);
  request.Await();
  EXPECT_FALSE(request.is_granted);
  budget.GiveBack(512);
  EXPECT_TRUE(request.is_granted);
  EXPECT_FALSE(budget.TryTake(413));
  EXPECT_TRUE(budget.TryTake(412));
  budget.GiveBack(412);
  request.GiveBack();
}

// Two invocations that take 200 and then 300: one after the other, whatever
// the order in which their requests come.
TEST(MemoryBudgetTest, AGroupIsAdmittedAsAWhole) {
  MemoryBudget budget(512);
  Ref<Group> a = MakeGroup(budget), b = MakeGroup(budget);
  TestRequest a1(budget, 200, a), a2(budget, 300, a);
  TestRequest b1(budget, 200, b), b2(budget, 300, b);
  a->Close();
  b->Close();
  a1.Await();
  b1.Await();  // 200 are left, and kept for a2.
  EXPECT_TRUE(a1.is_granted);
  EXPECT_FALSE(b1.is_granted);
  a2.Await();
  EXPECT_TRUE(a2.is_granted);
  b2.Await();
  EXPECT_FALSE(b2.is_granted);
  a1.GiveBack();
  EXPECT_FALSE(b1.is_granted);
  a2.GiveBack();
  EXPECT_TRUE(b1.is_granted && b2.is_granted);
  b1.GiveBack();
  b2.GiveBack();
}

TEST(MemoryBudgetTest, GroupsAreAdmittedWithoutMemory) {
  MemoryBudget budget(512);
  Ref<Group> a = MakeGroup(budget, 200), b = MakeGroup(budget, 300);
  TestRequest a1(budget, 100, a), b1(budget, 100, b);
  {
    const AllocationFault armed(0, /*goes_on=*/true);
    a1.Await();
    b1.Await();
    EXPECT_FALSE(AllocationFault::is_hit());
  }
  EXPECT_TRUE(a1.is_granted && b1.is_granted);
  a->Close();
  b->Close();
  a1.GiveBack();
  b1.GiveBack();
  a1.group.reset();
  EXPECT_TRUE(a->IsUnique());
}

TEST(MemoryBudgetTest, AnOpenGroupOfUnknownNeedIsAlone) {
  MemoryBudget budget(512);
  Ref<Group> a = MakeGroup(budget), b = MakeGroup(budget);
  TestRequest a1(budget, 100, a), b1(budget, 100, b);
  a1.Await();
  b1.Await();
  EXPECT_TRUE(a1.is_granted);
  EXPECT_FALSE(b1.is_granted);
  TestRequest a2(budget, 300, a);
  a2.Await();
  EXPECT_TRUE(a2.is_granted);
  a->Close();  // Now it is known to need no more.
  EXPECT_TRUE(b1.is_granted);
  b->Close();
  for (TestRequest* request : {&a1, &a2, &b1}) request->GiveBack();
}

TEST(MemoryBudgetTest, GroupsOfKnownNeedRunTogether) {
  MemoryBudget budget(512);
  Ref<Group> a = MakeGroup(budget, 200), b = MakeGroup(budget, 300),
             c = MakeGroup(budget, 100);
  TestRequest a1(budget, 100, a), b1(budget, 100, b), c1(budget, 50, c);
  a1.Await();
  b1.Await();
  c1.Await();
  EXPECT_TRUE(a1.is_granted && b1.is_granted);
  EXPECT_FALSE(c1.is_granted);  // 12 are neither in use nor claimed.
  TestRequest a2(budget, 100, a), b2(budget, 200, b);
  b2.Await();
  a2.Await();
  EXPECT_TRUE(a2.is_granted && b2.is_granted);
  b->Close();
  b1.GiveBack();
  EXPECT_TRUE(c1.is_granted);
  a->Close();
  c->Close();
  for (TestRequest* request : {&a1, &a2, &b2, &c1}) request->GiveBack();
}

TEST(MemoryBudgetTest, AGroupThatNeedsMoreThanTheBudgetIsServedOneByOne) {
  MemoryBudget budget(512);
  Ref<Group> loop = MakeGroup(budget);
  TestRequest r1(budget, 300, loop), r2(budget, 300, loop),
      r3(budget, 300, loop), other(budget, 100);
  loop->Close();
  r1.Await();
  EXPECT_TRUE(r1.is_granted);
  other.Await();
  EXPECT_FALSE(other.is_granted);
  r1.GiveBack();
  r2.Await();
  EXPECT_TRUE(r2.is_granted);
  r2.GiveBack();
  r3.Await();
  EXPECT_TRUE(r3.is_granted && other.is_granted);
  r3.GiveBack();
  other.GiveBack();
}

TEST(MemoryBudgetTest, AParkedGroupDoesNotBlockTheGroupForWhichItWaits) {
  MemoryBudget budget(512);
  Ref<Group> parked = MakeGroup(budget);
  TestRequest mine(budget, 100, parked), other(budget, 200);
  budget.BeginWork();
  mine.Await();
  other.Await();
  parked->SetParked(true);
  EXPECT_FALSE(other.is_granted);  // Its own work may get it going again.
  budget.EndWork();
  EXPECT_TRUE(other.is_granted);  // Nothing runs: perhaps it waits for this.
  parked->SetParked(false);
  TestRequest next(budget, 300, parked);
  next.Await();
  EXPECT_FALSE(next.is_granted);
  other.GiveBack();
  EXPECT_TRUE(next.is_granted);
  parked->Close();
  mine.GiveBack();
  next.GiveBack();
}

TEST(MemoryBudgetTest, AParkedGroupIsSeenWhenItParksLast) {
  MemoryBudget budget(512);
  Ref<Group> parked = MakeGroup(budget);
  TestRequest mine(budget, 100, parked), other(budget, 200);
  mine.Await();
  other.Await();
  EXPECT_FALSE(other.is_granted);
  parked->SetParked(true);
  EXPECT_TRUE(other.is_granted);
  parked->Close();
  mine.GiveBack();
  other.GiveBack();
}

TEST(MemoryBudgetTest, AWithdrawnRequestIsNotWaitedFor) {
  MemoryBudget budget(512);
  Ref<Group> a = MakeGroup(budget);
  TestRequest a1(budget, 200, a), a2(budget, 300, a), other(budget, 200);
  a->Close();
  a1.Await();
  other.Await();
  EXPECT_FALSE(other.is_granted);
  budget.Withdraw(a2);
  EXPECT_TRUE(other.is_granted);
  a1.GiveBack();
  other.GiveBack();
}

TEST(MemoryBudgetTest, ExplainsWhyRequestsWait) {
  MemoryBudget budget(512);
  EXPECT_EQ(budget.Explain(), "");
  Ref<Group> a = MakeGroup(budget);
  TestRequest a1(budget, 200, a), a2(budget, 300, a), other(budget, 400);
  a->Close();
  budget.BeginWork();
  a1.Await();
  other.Await();
  EXPECT_EQ(budget.Explain(),
            "1 requests of 400 bytes wait for memory, the first for 400 bytes: "
            "200 of the budget of 512 bytes are in use, 300 are kept for the 1 "
            "invocations that have begun");
  budget.EndWork();
  EXPECT_NE(budget.Explain().find("no work of the device runs"),
            std::string::npos);
  a2.Await();
  a1.GiveBack();
  a2.GiveBack();
  other.GiveBack();
}

// Time that passes when the test says so.
class ManualTimer final : public TimerService {
 public:
  void Arm(Timer* timer, int64_t) override { armed_ = timer; }
  bool Cancel(Timer* timer) override {
    return std::exchange(armed_, nullptr) == timer;
  }
  bool idle() const { return armed_ == nullptr; }
  void Pass() {
    if (Timer* timer = std::exchange(armed_, nullptr)) timer->fire(timer);
  }

 private:
  Timer* armed_ = nullptr;
};

class Owner final : public Object {
 public:
  static constexpr ObjectType kType{"test.owner"};
  Owner() : Object(&kType) {}
};

TEST(MemoryBudgetTest, AStallIsReported) {
  auto timers = std::make_shared<ManualTimer>();
  Ref<Owner> owner = MakeRef<Owner>();
  MemoryBudget budget(512, 1000, timers);
  budget.SetOwner(owner.get());
  // One that needs 600 in all, and another that waits behind it.
  Ref<Group> group = MakeGroup(budget);
  TestRequest first(budget, 300, group), second(budget, 300, group),
      other(budget, 100);
  group->Close();
  budget.BeginWork();
  first.Await();
  EXPECT_TRUE(timers->idle());
  second.Await();
  other.Await();
  EXPECT_TRUE(timers->idle());  // Something runs, and may give some back.
  budget.EndWork();
  EXPECT_FALSE(timers->idle());
  budget.BeginWork();
  budget.EndWork();
  timers->Pass();  // Something has happened since.
  EXPECT_TRUE(second.status.ok() && !second.is_granted);
  EXPECT_FALSE(timers->idle());
  timers->Pass();
  EXPECT_EQ(second.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(second.status.message().find(
                "stalled: no room for 300 bytes: 300 of the budget of 512"),
            std::string::npos)
      << second.status;
  EXPECT_TRUE(other.is_granted);
  EXPECT_TRUE(timers->idle());
  EXPECT_TRUE(owner->IsUnique());
  first.GiveBack();
  other.GiveBack();
  EXPECT_EQ(budget.statistics().bytes_in_use, 0u);
}

TEST(MemoryBudgetTest, AStallIsReportedWithoutMemory) {
  auto timers = std::make_shared<ManualTimer>();
  Ref<Owner> owner = MakeRef<Owner>();
  MemoryBudget budget(512, 1000, timers);
  budget.SetOwner(owner.get());
  TestRequest first(budget, 300), second(budget, 300);
  first.Await();
  second.Await();
  {
    const AllocationFault armed(0, /*goes_on=*/true);
    timers->Pass();
  }
  EXPECT_TRUE(AllocationFault::is_hit());
  EXPECT_EQ(second.status.code(), absl::StatusCode::kResourceExhausted);
  first.GiveBack();
  EXPECT_TRUE(owner->IsUnique());
}

TEST(MemoryBudgetTest, StallsAreNotCheckedOnceRetired) {
  auto timers = std::make_shared<ManualTimer>();
  Ref<Owner> owner = MakeRef<Owner>();
  MemoryBudget budget(512, 1000, timers);
  budget.SetOwner(owner.get());
  TestRequest first(budget, 300), second(budget, 300);
  first.Await();
  second.Await();
  EXPECT_FALSE(timers->idle());
  budget.Retire();
  EXPECT_TRUE(timers->idle());
  EXPECT_TRUE(owner->IsUnique());
  first.GiveBack();
  second.GiveBack();
}

// Each invocation asks for its parts one by one, the next once it has got the
// one before, and gives all back when it has all. Steps of different
// invocations come in random order. No invocation may be left waiting.
// Groups of two requests of 1 byte each; the budget is what they all need.
struct Waiting {
  explicit Waiting(uint64_t count) : budget(2 * count) {
    for (uint64_t i = 0; i < count; ++i) {
      groups.push_back(MakeGroup(budget, 2));
      first.push_back(std::make_unique<TestRequest>(budget, 1, groups[i]));
    }
  }
  ~Waiting() {
    for (const auto& request : first) request->GiveBack();
    for (const auto& request : second) request->GiveBack();
    EXPECT_EQ(budget.statistics().bytes_in_use, 0u);
    EXPECT_EQ(budget.statistics().waiting_count, 0u);
  }
  void AnnounceSecond() {
    for (const auto& group : groups) {
      second.push_back(std::make_unique<TestRequest>(budget, 1, group));
      group->Close();
    }
  }
  // The steps in which `bytes` that come back are granted.
  uint64_t StepsOf(uint64_t bytes) {
    const uint64_t before = budget.statistics().step_count;
    budget.GiveBack(bytes);
    EXPECT_EQ(budget.statistics().waiting_count, 0u);
    return budget.statistics().step_count - before;
  }

  MemoryBudget budget;
  std::vector<Ref<Group>> groups;
  std::vector<std::unique_ptr<TestRequest>> first, second;
};

TEST(MemoryBudgetTest, AdmitsManyGroupsInFewSteps) {
  constexpr uint64_t kCount = 1000;
  Waiting waiting(kCount);
  waiting.AnnounceSecond();
  ASSERT_TRUE(waiting.budget.TryTake(2 * kCount));
  for (const auto& request : waiting.first) request->Await();
  EXPECT_LE(waiting.StepsOf(2 * kCount), 8 * kCount);
  for (const auto& request : waiting.second) request->Await();
}

TEST(MemoryBudgetTest, ManyGroupsGetTheirRestInFewSteps) {
  constexpr uint64_t kCount = 1000;
  Waiting waiting(kCount);
  for (const auto& request : waiting.first) request->Await();
  ASSERT_TRUE(waiting.budget.TryTake(kCount));
  waiting.AnnounceSecond();
  for (const auto& request : waiting.second) request->Await();
  EXPECT_LE(waiting.StepsOf(kCount), 8 * kCount);
}

TEST(MemoryBudgetTest, RandomInvocationsAllFinish) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    constexpr uint64_t kBudget = 1000;
    MemoryBudget budget(kBudget);
    struct Invocation {
      Ref<Group> group;
      std::vector<uint64_t> parts;
      std::vector<std::unique_ptr<TestRequest>> requests;
      bool is_closed = false;
      bool is_done = false;
    };
    std::vector<Invocation> invocations(12);
    for (Invocation& invocation : invocations) {
      uint64_t left = 1 + random.Below(kBudget), claim = left;
      while (left > 0 && invocation.parts.size() < 4) {
        const uint64_t part = 1 + random.Below(left);
        invocation.parts.push_back(part);
        left -= part;
      }
      invocation.group = MakeGroup(
          budget, random.Below(2) == 0 ? claim : MemoryBudget::kUnknownClaim);
    }
    // One step; false if the invocation can do none now.
    const auto step = [&](Invocation& invocation) {
      if (invocation.is_done) return false;
      auto& requests = invocation.requests;
      if (!requests.empty() && !requests.back()->is_granted) return false;
      if (requests.size() < invocation.parts.size()) {
        requests.push_back(std::make_unique<TestRequest>(
            budget, invocation.parts[requests.size()], invocation.group));
        requests.back()->Await();
      } else if (!invocation.is_closed) {
        invocation.is_closed = true;
        invocation.group->Close();
      } else {
        invocation.is_done = true;
        for (auto& request : requests) request->GiveBack();
      }
      EXPECT_LE(budget.statistics().bytes_in_use, kBudget);
      return true;
    };
    size_t done_count = 0;
    while (done_count < invocations.size()) {
      // From a random one on, the first that can do something.
      const size_t start = random.Below(invocations.size());
      bool any = false;
      for (size_t i = 0; i < invocations.size() && !any; ++i) {
        Invocation& one = invocations[(start + i) % invocations.size()];
        any = step(one);
        done_count += any && one.is_done;
      }
      ASSERT_TRUE(any) << budget.Explain();
    }
    EXPECT_EQ(budget.statistics().bytes_in_use, 0u);
    EXPECT_EQ(budget.statistics().waiting_count, 0u);
  }
}

// A request that a thread of its own waits for.
struct AwaitedRequest : MemoryBudget::Request {
  AwaitedRequest(MemoryBudget& budget, uint64_t bytes_in, Ref<Group> group_in) {
    bytes = bytes_in;
    group = std::move(group_in);
    settled = [](MemoryBudget::Request* request, const absl::Status& outcome) {
      EXPECT_TRUE(outcome.ok());
      auto* self = static_cast<AwaitedRequest*>(request);
      MutexLock lock(&self->mutex);
      self->is_settled.store(true, std::memory_order_release);
    };
    budget.Announce(*this);
  }
  void Wait(MemoryBudget& budget) {
    if (budget.Await(*this)) return;
    while (!is_settled.load(std::memory_order_acquire)) {
      std::this_thread::yield();
    }
    MutexLock lock(&mutex);  // Whoever has settled it is done with it.
  }

  Mutex mutex;
  std::atomic<bool> is_settled{false};
};

// Invocations of several threads, each of two requests that come one after the
// other: with half of the budget each, any two of them would block each other
// if requests were granted singly.
TEST(MemoryBudgetTest, ManyThreads) {
  constexpr uint64_t kBudget = 1000;
  MemoryBudget budget(kBudget);
  std::atomic<uint64_t> in_use{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random random(t);
      for (int i = 0; i < 500; ++i) {
        const uint64_t first = 1 + random.Below(500);
        const uint64_t second = 1 + random.Below(500);
        const uint64_t claim =
            random.Below(2) == 0 ? MemoryBudget::kUnknownClaim : first + second;
        Ref<Group> group = MakeGroup(budget, claim);
        AwaitedRequest a(budget, first, group);
        a.Wait(budget);
        EXPECT_LE(in_use.fetch_add(first) + first, kBudget);
        AwaitedRequest b(budget, second, group);
        if (i % 2 == 0) group->Close();
        b.Wait(budget);
        EXPECT_LE(in_use.fetch_add(second) + second, kBudget);
        if (i % 2 != 0) group->Close();
        in_use.fetch_sub(first + second);
        budget.GiveBack(first);
        budget.GiveBack(second);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.statistics().bytes_in_use, 0u);
  EXPECT_EQ(budget.statistics().waiting_count, 0u);
}

}  // namespace
}  // namespace takt::cpu
