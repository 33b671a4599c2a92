// Workers with a real-time priority are ordinary threads while they run jobs
// that are not urgent. Tiles ask the system for the class of their thread. A
// process without the right to such priorities skips most tests.
#include <sched.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "exec/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/bounded_wait.h"

namespace takt::exec {
namespace {

using ::testing::ElementsAre;

constexpr uint8_t kUrgent = kNormalLane + 2;
constexpr uint8_t kBackground = 1;

class TileByTileJob final : public Job {
 public:
  TileByTileJob(uint8_t lane_in, uint32_t tiles, std::function<void()> run)
      : run_(std::move(run)) {
    lane = lane_in;
    tile_count = tiles;
  }
  Flag ended;

 private:
  // A tile at a time, like code that looks whether an urgent job waits.
  uint32_t RunTiles(uint32_t begin, uint32_t, Worker&) override {
    run_();
    return begin + 1;
  }
  void Finish(Worker&) override { ended.Set(); }

  const std::function<void()> run_;
};

class RealTimeTest : public ::testing::Test {
 protected:
  // False: the process has no right to the priority.
  bool Start(uint32_t worker_count, bool backup_threads) {
    Executor::Options options;
    options.worker_count = worker_count;
    options.concurrency_max = worker_count;
    options.fifo_priority = 1;
    options.backup_threads = backup_threads;
    options.on_thread = [this](const WorkerThread::Report& report) {
      errors_ += report.priority_error != 0 ? 1 : 0;
      ++reports_;
    };
    executor_ = Executor::Create(options).value();
    const int thread_count =
        static_cast<int>(worker_count) * (backup_threads ? 2 : 1);
    EXPECT_TRUE(BecomesTrue([&] { return reports_ >= thread_count; }));
    return errors_.load() == 0;
  }
  ~RealTimeTest() override {
    if (executor_ != nullptr) executor_->Shutdown();
  }

  TileByTileJob* Submit(uint8_t lane, uint32_t tiles,
                        std::function<void()> run) {
    auto owned = std::make_unique<TileByTileJob>(lane, tiles, std::move(run));
    TileByTileJob* const job = owned.get();
    {
      MutexLock lock(&mutex_);  // Jobs submit jobs.
      jobs_.push_back(std::move(owned));
    }
    executor_->Submit(job);
    return job;
  }
  void LogPolicy(const std::string& name) {
    const int policy = sched_getscheduler(0);
    MutexLock lock(&mutex_);
    log_.push_back(name + (policy == SCHED_FIFO ? ": FIFO" : ": ordinary"));
  }
  std::vector<std::string> log() {
    MutexLock lock(&mutex_);
    return log_;
  }

  Ref<Executor> executor_;
  std::vector<std::unique_ptr<TileByTileJob>> jobs_;
  std::atomic<int> reports_{0};
  std::atomic<int> errors_{0};

 private:
  Mutex mutex_;
  std::vector<std::string> log_ ABSL_GUARDED_BY(mutex_);
};

#define START_OR_SKIP(workers, backup_threads) \
  if (!Start(workers, backup_threads))         \
  GTEST_SKIP() << "no right to "               \
                  "SCHED_FIFO"

TEST_F(RealTimeTest, EachLaneHasItsSchedulingClass) {
  START_OR_SKIP(1, false);
  for (uint8_t lane = 0; lane < kLaneCount; ++lane) {
    TileByTileJob* const job =
        Submit(lane, 1, [this, lane] { LogPolicy(std::to_string(lane)); });
    EXPECT_TRUE(job->ended.Wait());
  }
  EXPECT_THAT(log(), ElementsAre("0: ordinary", "1: ordinary", "2: ordinary",
                                 "3: ordinary", "4: FIFO", "5: FIFO", "6: FIFO",
                                 "7: FIFO"));
}

TEST_F(RealTimeTest, AWorkerRunsUrgentJobsAsARealTimeThread) {
  START_OR_SKIP(1, false);
  int tile = 0;
  TileByTileJob* const background = Submit(kBackground, 2, [&] {
    LogPolicy("background");
    if (tile++ == 0) Submit(kUrgent, 1, [this] { LogPolicy("urgent"); });
  });
  EXPECT_TRUE(background->ended.Wait());
  EXPECT_THAT(log(), ElementsAre("background: ordinary", "urgent: FIFO",
                                 "background: ordinary"));
}

TEST_F(RealTimeTest, ABackupThreadIsARealTimeThread) {
  START_OR_SKIP(1, true);
  Flag began;
  Flag may_end;
  TileByTileJob* const background = Submit(kBackground, 1, [&] {
    LogPolicy("background");
    began.Set();
    EXPECT_TRUE(may_end.Wait());
    LogPolicy("background");
  });
  EXPECT_TRUE(began.Wait());
  TileByTileJob* const urgent =
      Submit(kUrgent, 1, [this] { LogPolicy("urgent"); });
  EXPECT_TRUE(urgent->ended.Wait());
  may_end.Set();
  EXPECT_TRUE(background->ended.Wait());
  EXPECT_THAT(log(), ElementsAre("background: ordinary", "urgent: FIFO",
                                 "background: ordinary"));
}

// A short tile of an ordinary thread may take long all the same, if other
// threads have its processor.
TEST_F(RealTimeTest, AnUrgentJobWaitsForNoTileOfAnOrdinaryThread) {
  START_OR_SKIP(1, true);
  Flag began;
  Flag may_end;
  jobs_.push_back(std::make_unique<TileByTileJob>(kBackground, 1, [&] {
    began.Set();
    EXPECT_TRUE(may_end.Wait());
  }));
  TileByTileJob* const background = jobs_.back().get();
  background->expected_tile_ns = 1000;
  executor_->Submit(background);
  EXPECT_TRUE(began.Wait());
  TileByTileJob* const urgent =
      Submit(kUrgent, 1, [this] { LogPolicy("urgent"); });
  EXPECT_TRUE(urgent->ended.Wait());
  may_end.Set();
  EXPECT_TRUE(background->ended.Wait());
  EXPECT_THAT(log(), ElementsAre("urgent: FIFO"));
}

TEST_F(RealTimeTest, ManyJobsOfBothClassesEndOnSeveralWorkers) {
  START_OR_SKIP(2, true);
  std::atomic<int> wrong{0};
  const auto expect = [&wrong](int policy) {
    if (sched_getscheduler(0) != policy) ++wrong;
  };
  for (int i = 0; i < 500; ++i) {
    Submit(kBackground, 3, [&] { expect(SCHED_OTHER); });
    Submit(kUrgent, 2, [&] { expect(SCHED_FIFO); });
  }
  for (const auto& job : jobs_) EXPECT_TRUE(job->ended.Wait());
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(RealTimeTest, ARefusedPriorityIsReportedAndJobsRun) {
  (void)Start(1, false);
  EXPECT_TRUE(Submit(kBackground, 1, [] {})->ended.Wait());
  EXPECT_TRUE(Submit(kUrgent, 1, [] {})->ended.Wait());
  const auto report = executor_->statistics().workers[0].thread;
  EXPECT_EQ(report.fifo_priority == 1, report.priority_error == 0);
}

// A backup thread would come after its worker, and never run beside it.
TEST_F(RealTimeTest, WorkersWithABudgetHaveNoBackupThreads) {
  Executor::Options options;
  options.worker_count = 1;
  options.reservation = {10'000'000, 20'000'000};
  options.backup_threads = true;
  executor_ = Executor::Create(options).value();
  std::atomic<int> policy{-1};
  const auto job = Submit(kUrgent, 1, [&policy] {
    policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  });
  EXPECT_TRUE(job->ended.Wait());
  const ExecutorStatistics statistics = executor_->statistics();
  EXPECT_EQ(statistics.backup_threads.park_count, 0u);
  const auto& report = statistics.workers[0].thread;
  EXPECT_EQ(report.reservation.is_set(), report.reservation_error == 0);
  EXPECT_EQ(policy.load(),
            report.reservation_error == 0 ? SCHED_DEADLINE : SCHED_OTHER);
}

}  // namespace
}  // namespace takt::exec
