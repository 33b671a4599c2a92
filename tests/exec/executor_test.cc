// The tests run with several numbers of workers, each as if it had a processor
// of its own: 0 (helping callers run everything), 1, 2, 4 and 64.
#include "exec/executor.h"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "gtest/gtest.h"
#include "tests/support/bounded_wait.h"

namespace takt::exec {
namespace {

// Counts the runs of each tile, and notifies a helping caller at its end.
class CountingJob : public Job {
 public:
  explicit CountingJob(uint32_t count,
                       Executor::HelpingCaller* helper = nullptr)
      : caller_(helper), runs_(count) {
    tile_count = count;
  }
  uint32_t RunTiles(uint32_t begin, uint32_t end, Worker& worker) override {
    EXPECT_LT(begin, end);
    EXPECT_LE(end, tile_count);
    EXPECT_GE(worker.local_bytes, local_bytes);
    for (uint32_t i = begin; i < end; ++i) ++runs_[i];
    return end;
  }
  void Finish(Worker& worker) override {
    for (const auto& runs : runs_) EXPECT_EQ(runs, 1);
    ++finished;
    if (caller_ != nullptr) caller_->Notify();
  }
  // Prepares another run; `finished` counts on.
  void Reset() {
    for (auto& runs : runs_) runs = 0;
  }
  std::atomic<int> finished{0};

 private:
  Executor::HelpingCaller* const caller_;
  std::vector<std::atomic<int>> runs_;
};

Ref<Executor> MakeExecutor(uint32_t worker_count) {
  Executor::Options options;
  options.worker_count = worker_count;
  options.concurrency_max = worker_count + 1;
  auto executor = Executor::Create(options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

class ExecutorTest : public ::testing::TestWithParam<uint32_t> {
 protected:
  ExecutorTest() : executor_(MakeExecutor(GetParam())) {}
  ~ExecutorTest() override { executor_->Shutdown(); }
  const Ref<Executor> executor_;
};

TEST_P(ExecutorTest, RunsEveryTileOnceThenFinishes) {
  for (uint32_t count : {1u, 2u, 3u, 64u, 10'000u}) {
    for (int64_t tile_ns : {0, 10, 100'000}) {
      Executor::HelpingCaller helper(*executor_);
      CountingJob job(count, &helper);
      job.expected_tile_ns = tile_ns;
      executor_->Submit(&job);
      EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
      EXPECT_EQ(job.finished, 1);
    }
  }
}

// Its tiles take no time, so the ranges become as long as they may.
TEST_P(ExecutorTest, ARangeOfAVeryLargeJobHasATile) {
  class LargeJob final : public Job {
   public:
    explicit LargeJob(Executor::HelpingCaller* helper) : caller_(helper) {
      tile_count = UINT32_MAX;
    }
    uint32_t RunTiles(uint32_t begin, uint32_t end, Worker&) override {
      if (begin == end) ++empty_count;
      return end;
    }
    void Finish(Worker&) override { caller_->Notify(); }
    std::atomic<int> empty_count{0};

   private:
    Executor::HelpingCaller* const caller_;
  };
  Executor::HelpingCaller helper(*executor_);
  LargeJob job(&helper);
  executor_->Submit(&job);
  EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
  EXPECT_EQ(job.empty_count, 0);
}

TEST_P(ExecutorTest, TilesHaveTheLocalMemoryThatTheirJobAsksFor) {
  Executor::HelpingCaller helper(*executor_);
  CountingJob job(100, &helper);
  job.local_bytes = 10'000;
  executor_->Submit(&job);
  EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(ExecutorTest, SequentialTilesRunInOrderOneAtATime) {
  class InOrder final : public Job {
   public:
    explicit InOrder(Executor::HelpingCaller* helper) : caller_(helper) {
      tile_count = 1000;
      sequential = true;
    }
    uint32_t RunTiles(uint32_t begin, uint32_t end, Worker&) override {
      EXPECT_EQ(begin, next_);
      next_ = end;
      return end;
    }
    void Finish(Worker&) override {
      EXPECT_EQ(next_, 1000u);
      caller_->Notify();
    }

   private:
    Executor::HelpingCaller* const caller_;
    uint32_t next_ = 0;  // Not atomic: one at a time.
  };
  Executor::HelpingCaller helper(*executor_);
  InOrder job(&helper);
  executor_->Submit(&job);
  EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(ExecutorTest, AFinishedJobMaySubmitItselfAgain) {
  class Chain final : public Job {
   public:
    Chain(Executor& executor, Executor::HelpingCaller* helper)
        : executor_(executor), caller_(helper) {
      tile_count = 3;
    }
    uint32_t RunTiles(uint32_t begin, uint32_t end, Worker&) override {
      tiles += end - begin;
      return end;
    }
    void Finish(Worker&) override {
      if (++rounds_ == 1000) {
        caller_->Notify();
      } else {
        executor_.Submit(this);
      }
    }
    std::atomic<uint32_t> tiles{0};

   private:
    Executor& executor_;
    Executor::HelpingCaller* const caller_;
    int rounds_ = 0;
  };
  Executor::HelpingCaller helper(*executor_);
  Chain chain(*executor_, &helper);
  executor_->Submit(&chain);
  EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
  EXPECT_EQ(chain.tiles, 3000u);
}

TEST_P(ExecutorTest, AHelpingCallerWaitsUntilItsDeadlineAtMost) {
  Executor::HelpingCaller helper(*executor_);
  EXPECT_FALSE(helper.WaitUntilNotified(0));
  EXPECT_FALSE(helper.WaitUntilNotified(NowNs() + 1'000'000));
  helper.Notify();
  EXPECT_TRUE(helper.WaitUntilNotified(0));
  EXPECT_FALSE(helper.WaitUntilNotified(0));
}

TEST_P(ExecutorTest, HelpingCallersNest) {
  Executor::HelpingCaller outer(*executor_);
  CountingJob first(10, &outer);
  executor_->Submit(&first);
  {
    Executor::HelpingCaller inner(*executor_);
    CountingJob second(10, &inner);
    executor_->Submit(&second);
    EXPECT_TRUE(inner.WaitUntilNotified(kInfiniteFuture));
  }
  EXPECT_TRUE(outer.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(ExecutorTest, AWaitForAnotherExecutorDelaysNoJob) {
  if (GetParam() == 0) GTEST_SKIP() << "no other thread could run the job";
  Ref<Executor> other = MakeExecutor(1);
  const auto submit_and_wait_for_it_elsewhere = [&](bool is_before) {
    Executor::HelpingCaller here(*executor_);
    // Small, so it is left to the helping caller.
    struct NotifyJob final : Job {
      uint32_t RunTiles(uint32_t, uint32_t end, Worker&) override {
        return end;
      }
      void Finish(Worker&) override {
        ASSERT_TRUE(BecomesTrue([this] { return helper.load() != nullptr; }));
        helper.load()->Notify();
      }
      std::atomic<Executor::HelpingCaller*> helper{nullptr};
    };
    NotifyJob job;
    if (is_before) executor_->Submit(&job);
    Executor::HelpingCaller elsewhere(*other);
    job.helper = &elsewhere;
    if (!is_before) executor_->Submit(&job);
    EXPECT_TRUE(elsewhere.WaitUntilNotified(kInfiniteFuture));
  };
  submit_and_wait_for_it_elsewhere(true);
  submit_and_wait_for_it_elsewhere(false);
  other->Shutdown();
}

TEST_P(ExecutorTest, JobsRunThoughTheHelpingCallerDoesNotWaitForThem) {
  CountingJob jobs[3] = {CountingJob(1), CountingJob(1), CountingJob(1)};
  {
    Executor::HelpingCaller helper(*executor_);
    for (CountingJob& job : jobs) executor_->Submit(&job);
  }
  executor_->Shutdown();
  for (const CountingJob& job : jobs) EXPECT_EQ(job.finished, 1);
}

TEST_P(ExecutorTest, OnlyHelpingCallersAndWorkersHaveAWorker) {
  EXPECT_EQ(executor_->current_worker(), nullptr);
  Ref<Executor> other = MakeExecutor(0);
  {
    Executor::HelpingCaller helper(*executor_);
    ASSERT_NE(executor_->current_worker(), nullptr);
    EXPECT_EQ(executor_->current_worker()->index, GetParam());
    EXPECT_EQ(other->current_worker(), nullptr);
    Executor::HelpingCaller inner(*other);
    EXPECT_NE(executor_->current_worker(), nullptr);
    EXPECT_NE(other->current_worker(), nullptr);
  }
  EXPECT_EQ(executor_->current_worker(), nullptr);
  other->Shutdown();
}

TEST_P(ExecutorTest, TilesSeeTheWorkerOfTheirThread) {
  class Looks final : public Job {
   public:
    Looks(Executor& executor, Executor::HelpingCaller* helper)
        : executor_(executor), caller_(helper) {
      tile_count = 200;
    }
    uint32_t RunTiles(uint32_t, uint32_t end, Worker& worker) override {
      EXPECT_EQ(executor_.current_worker(), &worker);
      EXPECT_LE(worker.index, executor_.worker_count());
      return end;
    }
    void Finish(Worker&) override { caller_->Notify(); }

   private:
    Executor& executor_;
    Executor::HelpingCaller* const caller_;
  };
  Executor::HelpingCaller helper(*executor_);
  Looks job(*executor_, &helper);
  executor_->Submit(&job);
  EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(ExecutorTest, SeveralThreadsSubmitAndHelp) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        Executor::HelpingCaller helper(*executor_);
        CountingJob job(1 + (i * 7 + t) % 50, &helper);
        executor_->Submit(&job);
        ASSERT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ExecutorTest, JobsOfAThreadThatDoesNotHelpRunToo) {
  std::vector<std::unique_ptr<CountingJob>> jobs;
  for (int i = 0; i < 100; ++i) {
    jobs.push_back(std::make_unique<CountingJob>(1 + i % 5));
    executor_->Submit(jobs.back().get());
  }
  executor_->Flush();
  executor_->Shutdown();
  for (const auto& job : jobs) EXPECT_EQ(job->finished, 1);
}

TEST_P(ExecutorTest, FlushRunsJobsThatWereLeftToAHelpingCaller) {
  Executor::HelpingCaller helper(*executor_);
  Executor::HelpingCaller other(*executor_);
  CountingJob job(1, &other);
  executor_->Submit(&job);
  executor_->Flush();
  if (GetParam() == 0) {
    EXPECT_EQ(job.finished, 1);
  }
  EXPECT_TRUE(other.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(ExecutorTest, ShutdownRunsAllJobsAndLaterOnesRunOnTheirSubmitter) {
  CountingJob before(1000);
  executor_->Submit(&before);
  executor_->Shutdown();
  EXPECT_EQ(before.finished, 1);
  CountingJob after(1000);
  executor_->Submit(&after);
  EXPECT_EQ(after.finished, 1);
  executor_->Shutdown();
  Executor::HelpingCaller helper(*executor_);
  CountingJob helped(10, &helper);
  executor_->Submit(&helped);
  EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
}

TEST_P(ExecutorTest, ShutdownRunsAChainToItsEnd) {
  // Each run submits the next one, also while the executor shuts down.
  class Chain final : public Job {
   public:
    explicit Chain(Executor& executor) : executor_(executor) { tile_count = 2; }
    uint32_t RunTiles(uint32_t, uint32_t end, Worker&) override { return end; }
    void Finish(Worker&) override {
      if (++rounds < 2000) executor_.Submit(this);
    }
    int rounds = 0;

   private:
    Executor& executor_;
  };
  Chain chain(*executor_);
  executor_->Submit(&chain);
  executor_->Shutdown();
  EXPECT_EQ(chain.rounds, 2000);
}

INSTANTIATE_TEST_SUITE_P(Workers, ExecutorTest,
                         ::testing::Values(0, 1, 2, 4, 64));

TEST(ExecutorShutdownTest, AWorkerMayShutItsExecutorDown) {
  class LastReference final : public Job {
   public:
    LastReference(Ref<Executor> executor, std::atomic<bool>* done)
        : executor_(std::move(executor)), done_(done) {}
    uint32_t RunTiles(uint32_t, uint32_t end, Worker&) override {
      EXPECT_TRUE(is_submitted.Wait());
      return end;
    }
    void Finish(Worker&) override {
      executor_->Shutdown();
      executor_.reset();
      done_->store(true);
      done_->notify_one();
      delete this;
    }

    Flag is_submitted;

   private:
    Ref<Executor> executor_;
    std::atomic<bool>* const done_;
  };
  for (uint32_t workers : {1, 3}) {
    std::atomic<bool> done{false};
    Ref<Executor> executor = MakeExecutor(workers);
    Executor* submitter = executor.get();
    auto* job = new LastReference(std::move(executor), &done);
    job->expected_tile_ns = 1'000'000;
    submitter->Submit(job);
    job->is_submitted.Set();
    done.wait(false);
  }
}

TEST(ExecutorCreateTest, NamesItsThreads) {
  class Reads final : public Job {
   public:
    uint32_t RunTiles(uint32_t, uint32_t end, Worker& worker) override {
      char text[16];
      pthread_getname_np(pthread_self(), text, sizeof(text));
      name = text;
      return end;
    }
    void Finish(Worker&) override {
      is_over.store(true);
      is_over.notify_all();
    }
    std::string name;
    std::atomic<bool> is_over{false};
  };
  Executor::Options options;
  options.worker_count = 1;
  options.name = "quite-a-long-name";
  auto executor = Executor::Create(options);
  ASSERT_TRUE(executor.ok());
  Reads job;
  (*executor)->Submit(&job);
  job.is_over.wait(false);  // Shutdown() would run it on this thread.
  (*executor)->Shutdown();
  EXPECT_EQ(job.name, "quite-a-long-na");
}

TEST(ExecutorCreateTest, CreateFailsIfNoThreadStarts) {
  Executor::Options options;
  options.worker_count = 2;
  options.stack_bytes = size_t{1} << 50;
  auto executor = Executor::Create(options);
  EXPECT_EQ(executor.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(ExecutorCreateTest, ConcurrencyIsLimitedByProcessors) {
  Executor::Options options;
  options.worker_count = 4;
  options.concurrency_max = 2;
  auto executor = Executor::Create(options);
  ASSERT_TRUE(executor.ok());
  EXPECT_EQ((*executor)->worker_count(), 4u);
  EXPECT_EQ((*executor)->max_concurrency(), 2u);
  EXPECT_GE(Executor::AvailableConcurrency(), 1u);
  for (int i = 0; i < 200; ++i) {
    Executor::HelpingCaller helper(**executor);
    CountingJob job(100, &helper);
    (*executor)->Submit(&job);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
  }
  (*executor)->Shutdown();
}

// Timers that fire only when a thread calls FireAnywhere().
class PassiveTimers final : public TimerService {
 public:
  void Arm(Timer*, int64_t) override {}
  bool Cancel(Timer*) override { return false; }
  bool FireAnywhere(int64_t) override {
    if (!is_due.exchange(false)) return false;
    EXPECT_NE(executor->current_worker(), nullptr);
    executor->Submit(job);
    return true;
  }

  bool FireOverdue() override { return FireAnywhere(0); }

  std::atomic<bool> is_due{false};
  Executor* executor = nullptr;
  Job* job = nullptr;
};

// The only worker is in the middle of a job when the timer is overdue.
class MissedTimerJob final : public Job {
 public:
  MissedTimerJob(PassiveTimers* timers, const CountingJob* urgent)
      : timers_(timers), urgent_(urgent) {
    tile_count = 1000;
  }
  uint32_t RunTiles(uint32_t begin, uint32_t end, Worker& worker) override {
    for (uint32_t i = begin; i < end;) {
      if (i == 10) timers_->is_due = true;
      if (urgent_->finished == 0) ++tiles_before;
      if (++i < end && worker.IsPreempted()) return i;
    }
    return end;
  }
  void Finish(Worker&) override { is_finished = true; }

  uint32_t tiles_before = 0;  // Those that ran before the urgent job's end.
  std::atomic<bool> is_finished{false};

 private:
  PassiveTimers* const timers_;
  const CountingJob* const urgent_;
};

TEST(ExecutorTimersTest, AWorkerFiresAnOverdueTimerBetweenTiles) {
  const auto timers = std::make_shared<PassiveTimers>();
  Executor::Options options;
  options.worker_count = options.concurrency_max = 1;
  options.backup_threads = false;
  options.timers = timers;
  auto executor = Executor::Create(options);
  ASSERT_TRUE(executor.ok());
  CountingJob urgent(1);
  urgent.lane = kLaneCount - 1;
  timers->executor = executor->get();
  timers->job = &urgent;
  MissedTimerJob job(timers.get(), &urgent);
  job.lane = 0;
  job.expected_tile_ns = 10'000;
  (*executor)->Submit(&job);
  EXPECT_TRUE(BecomesTrue([&] { return job.is_finished.load(); }));
  EXPECT_EQ(urgent.finished, 1);
  EXPECT_LT(job.tiles_before, 20u);
  (*executor)->Shutdown();
}

// The thread that fires a timer runs the job that this submits, however short
// its search may be.
TEST(ExecutorTimersTest, WorkersThatSearchFireDueTimers) {
  const auto timers = std::make_shared<PassiveTimers>();
  Executor::Options options;
  options.worker_count = 2;
  options.concurrency_max = 3;
  options.spin_ns = options.linger_ns = 1'000;
  options.timers = timers;
  CountingJob job(1), left(1);
  {
    auto executor = Executor::Create(options);
    ASSERT_TRUE(executor.ok());
    options.timers = nullptr;
    timers->executor = executor->get();
    timers->job = &left;
    for (int i = 1; i <= 200; ++i) {
      timers->is_due = true;
      // After each job the workers search, and may fire the timer.
      EXPECT_TRUE(BecomesTrue([&] {
        if (left.finished >= i) return true;
        const int before = job.finished;
        (*executor)->Submit(&job);
        EXPECT_TRUE(BecomesTrue([&] { return job.finished != before; }));
        job.Reset();
        return left.finished >= i;
      }));
      left.Reset();
    }
    (*executor)->Shutdown();
    EXPECT_EQ(timers.use_count(), 1)
        << "the executor holds the timers after Shutdown()";
  }
}

// The thread of a caller has a purpose of its own.
TEST(ExecutorTimersTest, HelpingCallersFireNoTimers) {
  const auto timers = std::make_shared<PassiveTimers>();
  Executor::Options options;
  options.spin_ns = options.linger_ns = 1'000'000;
  options.timers = timers;
  CountingJob left(1);
  auto executor = Executor::Create(options);
  ASSERT_TRUE(executor.ok());
  timers->executor = executor->get();
  timers->job = &left;
  timers->is_due = true;
  {
    Executor::HelpingCaller helper(**executor);
    EXPECT_FALSE(helper.WaitUntilNotified(NowNs() + 2'000'000));
  }
  EXPECT_TRUE(timers->is_due);
  (*executor)->Shutdown();
}

}  // namespace
}  // namespace takt::exec
