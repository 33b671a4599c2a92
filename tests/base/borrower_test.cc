#include "base/borrower.h"

#include <deque>
#include <memory>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

constexpr auto kSoft = JobUrgency::Criticality::kSoft;
constexpr auto kHard = JobUrgency::Criticality::kHard;

// A wait whose holder a test sets.
struct TestWait : Borrower::Wait {
  TestWait() {
    find_holder = [](Borrower::Wait* wait) {
      return Ref<Borrower>::Retain(static_cast<TestWait*>(wait)->target);
    };
  }
  Borrower* target = nullptr;
};

// Counts what it is told.
struct Listener : Borrower::Observer {
  void OnUrgency(const JobUrgency& urgency, Borrower::Calls* after) override {
    last = urgency;
    ++count;
    after->push_back([this] { ++after_count; });
  }
  JobUrgency last;
  int count = 0;
  int after_count = 0;
};

class BorrowerTest : public testing::Test {
 protected:
  Ref<Borrower> Make(uint8_t priority, int64_t deadline_ns = kInfiniteFuture) {
    return Borrower::Create(*pool_, {kSoft, priority, deadline_ns});
  }
  // `from` waits for `to`.
  TestWait* Wait(Borrower& from, Borrower& to) {
    waits_.push_back(std::make_unique<TestWait>());
    waits_.back()->target = &to;
    from.Begin(waits_.back().get());
    if (from.ShouldLendTo(&to)) from.Review();
    return waits_.back().get();
  }

  UniqueBlockPool pool_{BlockPool::Create()};
  std::deque<std::unique_ptr<TestWait>> waits_;
};

TEST_F(BorrowerTest, OrdersUrgencies) {
  const JobUrgency soft = {kSoft, 128, 100};
  EXPECT_TRUE((JobUrgency{kHard, 0, kInfiniteFuture}).IsAbove(soft));
  EXPECT_TRUE((JobUrgency{kSoft, 129, 200}).IsAbove(soft));
  EXPECT_TRUE((JobUrgency{kSoft, 128, 99}).IsAbove(soft));
  EXPECT_FALSE(soft.IsAbove(soft));
}

TEST_F(BorrowerTest, AWaitLendsAndTakesBack) {
  const Ref<Borrower> low = Make(10), high = Make(200, 5);
  Listener listener;
  low->Observe(&listener);
  EXPECT_FALSE(Borrower::AnyHasLoan());
  TestWait* const wait = Wait(*high, *low);
  EXPECT_EQ(low->urgency(), high->own());
  EXPECT_TRUE(low->has_loan());
  EXPECT_TRUE(Borrower::AnyHasLoan());
  EXPECT_EQ(listener.last, high->own());
  Borrower::End(wait);
  EXPECT_EQ(low->urgency(), low->own());
  EXPECT_FALSE(Borrower::AnyHasLoan());
  EXPECT_EQ(listener.count, 2);
  EXPECT_EQ(listener.after_count, 2);
  Borrower::End(wait);  // No effect.
  low->Unobserve(&listener);
}

TEST_F(BorrowerTest, LessUrgentWorkLendsNothing) {
  const Ref<Borrower> low = Make(10), high = Make(200);
  TestWait* const wait = Wait(*low, *high);
  EXPECT_FALSE(high->has_loan());
  Borrower::End(wait);
}

TEST_F(BorrowerTest, ALoanPassesAlongAChain) {
  const Ref<Borrower> first = Make(1), second = Make(2), third = Make(3),
                      high = Make(250);
  // The middle of the chain waits before anything urgent comes, and after.
  TestWait* const a = Wait(*second, *first);
  TestWait* const c = Wait(*high, *third);
  TestWait* const b = Wait(*third, *second);
  for (Borrower* each : {first.get(), second.get(), third.get()}) {
    EXPECT_EQ(each->urgency(), high->own());
  }
  Borrower::End(c);
  EXPECT_EQ(third->urgency(), third->own());
  EXPECT_EQ(second->urgency(), third->own());
  EXPECT_EQ(first->urgency(), third->own());
  Borrower::End(b);
  EXPECT_EQ(first->urgency(), second->own());
  Borrower::End(a);
  EXPECT_FALSE(Borrower::AnyHasLoan());
}

TEST_F(BorrowerTest, TheGreatestOfSeveralLoansCounts) {
  const Ref<Borrower> low = Make(10), some = Make(100), more = Make(200);
  TestWait* const a = Wait(*some, *low);
  TestWait* const b = Wait(*more, *low);
  EXPECT_EQ(low->urgency(), more->own());
  Borrower::End(b);
  EXPECT_EQ(low->urgency(), some->own());
  // A loan that is less than another one counts once that ends.
  TestWait* const c = Wait(*more, *low);
  Borrower::End(a);
  TestWait* const d = Wait(*some, *low);
  EXPECT_EQ(low->urgency(), more->own());
  Borrower::End(c);
  EXPECT_EQ(low->urgency(), some->own());
  Borrower::End(d);
}

TEST_F(BorrowerTest, AHolderThatIsKnownLaterBorrowsThen) {
  const Ref<Borrower> low = Make(10), high = Make(200);
  TestWait wait;
  high->Begin(&wait);
  high->Review();
  EXPECT_FALSE(low->has_loan());
  wait.target = low.get();
  EXPECT_TRUE(high->ShouldLendTo(low.get()));
  high->Review();
  EXPECT_TRUE(low->has_loan());
  Borrower::End(&wait);
}

TEST_F(BorrowerTest, ACircleEnds) {
  const Ref<Borrower> a = Make(10), b = Make(20), high = Make(200);
  TestWait* const ab = Wait(*a, *b);
  TestWait* const ba = Wait(*b, *a);
  TestWait* const ha = Wait(*high, *a);
  EXPECT_EQ(b->urgency(), high->own());
  Borrower::End(ha);
  Borrower::End(ab);
  Borrower::End(ba);
  EXPECT_FALSE(a->has_loan());
  EXPECT_FALSE(b->has_loan());
  EXPECT_FALSE(Borrower::AnyHasLoan());
}

// Random waits without circles, beside the definition: the urgency of a
// borrower is the greatest of what waits for it, directly or not.
TEST_F(BorrowerTest, RandomWaitsAgreeWithTheDefinition) {
  constexpr size_t kCount = 8;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    std::vector<Ref<Borrower>> all;
    for (size_t i = 0; i < kCount; ++i) {
      all.push_back(Make(static_cast<uint8_t>(random.Below(256))));
    }
    std::vector<std::pair<size_t, size_t>> edges;
    std::vector<TestWait*> waits;
    for (int step = 0; step < 40; ++step) {
      if (!waits.empty() && random.Below(3) == 0) {
        const size_t at = random.Below(static_cast<uint32_t>(waits.size()));
        Borrower::End(waits[at]);
        waits.erase(waits.begin() + static_cast<ptrdiff_t>(at));
        edges.erase(edges.begin() + static_cast<ptrdiff_t>(at));
      } else {
        const size_t to = random.Below(kCount - 1);
        const size_t from =
            to + 1 + random.Below(static_cast<uint32_t>(kCount - 1 - to));
        waits.push_back(Wait(*all[from], *all[to]));
        edges.emplace_back(from, to);
      }
      std::vector<JobUrgency> expected;
      for (const Ref<Borrower>& each : all) expected.push_back(each->own());
      for (size_t round = 0; round < kCount; ++round) {
        for (const auto& [from, to] : edges) {
          if (expected[from].IsAbove(expected[to]))
            expected[to] = expected[from];
        }
      }
      for (size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(all[i]->urgency(), expected[i]) << "seed " << seed;
      }
    }
    for (TestWait* wait : waits) Borrower::End(wait);
    ASSERT_FALSE(Borrower::AnyHasLoan()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace takt
