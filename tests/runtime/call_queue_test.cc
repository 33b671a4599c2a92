#include "runtime/call_queue.h"

#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "base/block_pool.h"
#include "base/borrower.h"
#include "gtest/gtest.h"

namespace takt::runtime {
namespace {

using Where = CallQueue::Where;

// An owner that has a queue as a member, and reports its own end.
class Owner final : public Object {
 public:
  static constexpr ObjectType kType{"test.owner"};
  Owner(exec::Executor* executor, bool* gone)
      : Object(&kType), queue(this, executor), gone_(gone) {}
  CallQueue queue;

 private:
  ~Owner() override { *gone_ = true; }
  bool* const gone_;
};

struct Call final : CallQueue::Turn {
  explicit Call(std::function<void()> function) : call(std::move(function)) {}
  Progress Take() override {
    call();
    return Progress::kDone;
  }
  std::function<void()> call;
};

// Keeps the job of a queue until a test runs it.
class HeldExecutor final : public exec::Executor {
 public:
  HeldExecutor() : Executor(nullptr) {}
  const exec::Job& job() const { return *job_; }
  void RunJob() {
    exec::Worker worker;
    std::exchange(job_, nullptr)->Finish(worker);
  }

  void Shutdown() override {}
  uint32_t worker_count() const override { return 1; }
  uint32_t max_concurrency() const override { return 1; }
  void Submit(exec::Job* job) override { job_ = job; }
  uint32_t RunReady(int64_t) override { return 0; }
  void Flush() override {}
  void Trim() override {}
  absl::StatusOr<const exec::WorkerSet*> FindAffinity(const CpuSet&) override {
    return nullptr;
  }
  const exec::WorkerSet* FindWorkers(const exec::WorkerSet&) override {
    return nullptr;
  }
  exec::ExecutorStatistics statistics() const override { return {}; }
  exec::Worker* current_worker() override { return nullptr; }

 private:
  exec::Job* job_ = nullptr;
};

// A call to which something may be lent.
struct LentCall final : CallQueue::Turn {
  explicit LentCall(int32_t lane) : loan_lane(lane) {}
  Progress Take() override { return Progress::kDone; }
  int32_t LoanLane() const override { return loan_lane; }
  int32_t loan_lane;
};

// A loan of some borrower: queues look for loans only while there are any.
class SomeLoan {
 public:
  SomeLoan() {
    wait_.find_holder = [](Borrower::Wait* wait) {
      return static_cast<Wait*>(wait)->low;
    };
    wait_.low = Borrower::Create(*blocks_, {.priority = 1});
    high_->Begin(&wait_);
    high_->Review();
  }
  ~SomeLoan() { Borrower::End(&wait_); }

 private:
  struct Wait : Borrower::Wait {
    Ref<Borrower> low;
  };
  const UniqueBlockPool blocks_{BlockPool::Create()};
  const Ref<Borrower> high_ = Borrower::Create(*blocks_, {.priority = 2});
  Wait wait_;
};

Ref<exec::Executor> CreateExecutor(uint32_t worker_count) {
  exec::Executor::Options options;
  options.worker_count = worker_count;
  return exec::Executor::Create(options).value();
}

TEST(CallQueueTest, TakesTurnsInOrderOfPosting) {
  bool gone = false;
  auto owner = Ref<Owner>::Adopt(new Owner(nullptr, &gone));
  std::vector<int> order;
  Call second([&] { order.push_back(2); });
  Call third([&] { order.push_back(3); });
  Call first([&] {
    owner->queue.Post(&second, Where::kWorker);
    owner->queue.Post(&third, Where::kHere);
    order.push_back(1);  // The others come when this one has left.
  });
  owner->queue.Post(&first, Where::kHere);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(CallQueueTest, ATurnMayBePostedAgainFromWithin) {
  bool gone = false;
  auto owner = Ref<Owner>::Adopt(new Owner(nullptr, &gone));
  int count = 0;
  Call call([] {});
  call.call = [&] {
    if (++count < 1000) owner->queue.Post(&call, Where::kWorker);
  };
  owner->queue.Post(&call, Where::kWorker);
  EXPECT_EQ(count, 1000);
}

// A program that is interrupted some times.
struct InterruptedCall final : CallQueue::Turn {
  InterruptedCall(int interruptions, std::vector<int>* taken, uint8_t first = 0)
      : left(interruptions), order(taken) {
    traits.lane = 3;
    first_lane = first;
  }
  Progress Take() override {
    order->push_back(left);
    return left-- > 0 ? Progress::kInterrupted : Progress::kDone;
  }
  int left;
  std::vector<int>* const order;
};

TEST(CallQueueTest, ATurnBeginsInItsFirstLaneAndGoesOnInItsOwn) {
  bool gone = false;
  const auto executor = MakeRef<HeldExecutor>();
  auto owner = Ref<Owner>::Adopt(new Owner(executor.get(), &gone));
  std::vector<int> order;
  InterruptedCall low(1, &order, 6);
  owner->queue.Post(&low, Where::kWorker);
  EXPECT_EQ(executor->job().lane, 6);
  EXPECT_EQ(executor->job().core_lane(), 3u);  // For other processes.
  executor->RunJob();
  EXPECT_EQ(executor->job().lane, 3);
  executor->RunJob();
  EXPECT_EQ(order, (std::vector<int>{1, 0}));
}

TEST(CallQueueTest, AnInterruptedTurnIsTakenAgainBeforeOthers) {
  bool gone = false;
  const auto executor = MakeRef<HeldExecutor>();
  auto owner = Ref<Owner>::Adopt(new Owner(executor.get(), &gone));
  std::vector<int> order;
  Call second([&] { order.push_back(-1); });
  InterruptedCall first(2, &order);
  owner->queue.Post(&first, Where::kHere);
  EXPECT_EQ(order, (std::vector<int>{2}));
  EXPECT_FALSE(owner->queue.RunsHere());
  EXPECT_EQ(executor->job().lane, 3);
  owner->queue.Post(&second, Where::kHere);
  executor->RunJob();
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
  executor->RunJob();
  EXPECT_EQ(order, (std::vector<int>{2, 1, 0, -1}));
}

TEST(CallQueueTest, RunsTheCallersOwnTurnHereAndOthersOnWorkers) {
  bool gone = false;
  Ref<exec::Executor> executor = CreateExecutor(1);
  auto owner = Ref<Owner>::Adopt(new Owner(executor.get(), &gone));
  const auto here = std::this_thread::get_id();
  std::thread::id first_ran, second_ran;
  std::promise<void> has_run;
  Call second([&] {
    second_ran = std::this_thread::get_id();
    has_run.set_value();
  });
  Call first([&] {
    first_ran = std::this_thread::get_id();
    owner->queue.Post(&second, Where::kHere);
  });
  owner->queue.Post(&first, Where::kHere);
  has_run.get_future().wait();  // Shutdown() may run what is left here.
  EXPECT_EQ(first_ran, here);
  EXPECT_NE(second_ran, here);
  EXPECT_NE(second_ran, std::thread::id());
  executor->Shutdown();
}

TEST(CallQueueTest, ATurnMayBeTakenBackWhileTheHolderLeaves) {
  bool gone = false;
  auto owner = Ref<Owner>::Adopt(new Owner(nullptr, &gone));
  std::atomic<bool> is_done = false;
  int taken_back = 0, run = 0;
  std::thread other([&] {
    for (int i = 0; i < 20'000; ++i) {
      std::atomic<bool> has_run = false;
      Call call([&] { has_run = true; });
      owner->queue.Post(&call, Where::kHere);
      bool is_taken = false;
      owner->queue.TakeQueued(
          [&](CallQueue::Turn* turn) { return is_taken |= turn == &call; });
      if (is_taken) {
        ++taken_back;
        continue;
      }
      while (!has_run) std::this_thread::yield();
      ++run;
    }
    is_done = true;
  });
  while (!is_done) {
    BlockingWait thread(nullptr);
    ASSERT_TRUE(owner->queue.Enter(thread));
    owner->queue.Leave();
  }
  other.join();
  EXPECT_EQ(taken_back + run, 20'000);
}

TEST(CallQueueTest, KeepsItsOwnerWhileTurnsAreTaken) {
  bool gone = false;
  auto owner = Ref<Owner>::Adopt(new Owner(nullptr, &gone));
  Call second([&] { EXPECT_FALSE(gone); });
  Call first([&] {
    owner->queue.Post(&second, Where::kHere);
    owner.reset();
    EXPECT_FALSE(gone);
  });
  owner->queue.Post(&first, Where::kHere);
  EXPECT_TRUE(gone);
}

TEST(CallQueueTest, NeverRunsTwoAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 500;
  bool gone = false;
  Ref<exec::Executor> executor = CreateExecutor(2);
  auto owner = Ref<Owner>::Adopt(new Owner(executor.get(), &gone));
  std::atomic<int> running{0};
  int count = 0;  // The queue guards it.
  const auto part = [&] {
    EXPECT_EQ(running.fetch_add(1), 0);
    ++count;
    EXPECT_EQ(running.fetch_sub(1), 1);
  };
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < kThreads * kTurns; ++i) {
    calls.push_back(std::make_unique<Call>(part));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTurns; ++i) {
        owner->queue.Post(calls[t * kTurns + i].get(),
                          i % 2 != 0 ? Where::kHere : Where::kWorker);
        BlockingWait thread(executor.get());
        ASSERT_TRUE(owner->queue.Enter(thread));
        part();
        owner->queue.Leave();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  executor->Shutdown();
  EXPECT_EQ(count, 2 * kThreads * kTurns);
}

TEST(CallQueueTest, IsAsUrgentAsTheMostUrgentLoanOfItsTurns) {
  const SomeLoan some;
  bool gone = false;
  const auto executor = Ref<HeldExecutor>::Adopt(new HeldExecutor);
  auto owner = Ref<Owner>::Adopt(new Owner(executor.get(), &gone));
  LentCall first(6), second(9);
  owner->queue.Post(&first, Where::kWorker);
  EXPECT_EQ(executor->job().lane_now(), 6u);
  owner->queue.Post(&second, Where::kWorker);
  EXPECT_EQ(executor->job().lane_now(), 9u);
  // A loan of one turn takes nothing from another one.
  first.loan_lane = 5;
  owner->queue.ReviewLoans();
  EXPECT_EQ(executor->job().lane_now(), 9u);
  second.loan_lane = exec::Job::kNotRaised;
  owner->queue.ReviewLoans();
  EXPECT_EQ(executor->job().lane_now(), 5u);
  executor->RunJob();
}

TEST(CallQueueTest, AThreadThatHoldsItDoesNotEnterAgain) {
  bool gone = false;
  auto owner = Ref<Owner>::Adopt(new Owner(nullptr, &gone));
  BlockingWait thread(nullptr);
  ASSERT_TRUE(owner->queue.Enter(thread));
  EXPECT_FALSE(owner->queue.Enter(thread));
  owner->queue.Leave();
  Call call([&] { EXPECT_FALSE(owner->queue.Enter(thread)); });
  owner->queue.Post(&call, Where::kHere);
  EXPECT_TRUE(owner->queue.Enter(thread));
  owner->queue.Leave();
}

TEST(CallQueueTest, TakesQueuedTurnsOutOfTheLine) {
  bool gone = false;
  auto owner = Ref<Owner>::Adopt(new Owner(nullptr, &gone));
  std::vector<int> order;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(std::make_unique<Call>([&, i] { order.push_back(i); }));
  }
  Call first([&] {
    for (auto& call : calls) owner->queue.Post(call.get(), Where::kWorker);
    std::vector<CallQueue::Turn*> taken;
    owner->queue.TakeQueued([&](CallQueue::Turn* turn) {
      const bool wanted = turn == calls[1].get() || turn == calls[4].get();
      if (wanted) taken.push_back(turn);
      return wanted;
    });
    EXPECT_EQ(taken,
              (std::vector<CallQueue::Turn*>{calls[1].get(), calls[4].get()}));
  });
  owner->queue.Post(&first, Where::kHere);
  EXPECT_EQ(order, (std::vector<int>{0, 2, 3}));

  // All of them: the queue is free afterwards.
  Call last([&] {
    owner->queue.Post(calls[0].get(), Where::kWorker);
    owner->queue.TakeQueued([](CallQueue::Turn*) { return true; });
  });
  owner->queue.Post(&last, Where::kHere);
  owner->queue.Post(calls[4].get(), Where::kHere);
  EXPECT_EQ(order, (std::vector<int>{0, 2, 3, 4}));
}

}  // namespace
}  // namespace takt::runtime
