// A job that is more urgent than a long tile runs beside it, on the worker's
// backup thread.
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

class FunctionJob final : public Job {
 public:
  explicit FunctionJob(uint8_t lane_in, std::function<void()> run)
      : run_(std::move(run)) {
    lane = lane_in;
  }
  std::function<void()> finish = [] {};

 private:
  uint32_t RunTiles(uint32_t, uint32_t end, Worker&) override {
    run_();
    return end;
  }
  void Finish(Worker&) override { finish(); }

  const std::function<void()> run_;
};

class BackupThreadTest : public ::testing::Test {
 protected:
  void Start(uint32_t worker_count) {
    Executor::Options options;
    options.worker_count = worker_count;
    options.concurrency_max = worker_count;
    options.backup_threads = true;
    options.linger_ns = 0;
    executor_ = Executor::Create(options).value();
    // Until the backup threads sleep, they search by themselves.
    EXPECT_TRUE(BecomesTrue([&] {
      return executor_->statistics().backup_threads.park_count >= worker_count;
    }));
  }
  ~BackupThreadTest() override {
    if (executor_ != nullptr) executor_->Shutdown();
  }

  // Starts jobs that stay in the middle of a tile until `until` is set.
  void Occupy(uint32_t count, const Flag& until, int64_t expected_tile_ns = 0) {
    std::vector<std::unique_ptr<Flag>> began;
    for (uint32_t i = 0; i < count; ++i) {
      Flag* const begins = began.emplace_back(std::make_unique<Flag>()).get();
      Add(2, [this, begins, &until] {
        begins->Set();
        EXPECT_TRUE(until.Wait());
        Log("tile");
      })->expected_tile_ns = expected_tile_ns;
      executor_->Submit(jobs_.back().get());
      ASSERT_TRUE(begins->Wait());
    }
  }
  FunctionJob* Add(uint8_t lane, std::function<void()> run) {
    jobs_.push_back(std::make_unique<FunctionJob>(lane, std::move(run)));
    return jobs_.back().get();
  }
  void Log(const std::string& name) {
    MutexLock lock(&mutex_);
    log_.push_back(name);
  }
  std::vector<std::string> log() {
    MutexLock lock(&mutex_);
    return log_;
  }

  Ref<Executor> executor_;
  std::vector<std::unique_ptr<FunctionJob>> jobs_;

 private:
  Mutex mutex_;
  std::vector<std::string> log_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(BackupThreadTest, AnUrgentJobRunsBesideALongTile) {
  Start(1);
  Flag done, all;
  Occupy(1, done);
  // This one is as urgent as the tile, so it has to wait.
  executor_->Submit(Add(2, [&] {
    Log("equal");
    all.Set();
  }));
  executor_->Submit(Add(4, [&] {
    Log("urgent");
    done.Set();
  }));
  EXPECT_TRUE(all.Wait());
  executor_->Shutdown();
  EXPECT_THAT(log(), ElementsAre("urgent", "tile", "equal"));
  const ExecutorStatistics statistics = executor_->statistics();
  EXPECT_EQ(statistics.backup_threads.job_count, 1u);
  EXPECT_EQ(statistics.backup_threads.tile_count, 1u);
  EXPECT_EQ(statistics.workers[0].counts.job_count, 2u);
}

TEST_F(BackupThreadTest, TheJobsThatFollowRunThereToo) {
  Start(1);
  Flag done;
  Occupy(1, done);
  Flag all;
  FunctionJob* const third = Add(4, [&] {
    Log("third");
    done.Set();
  });
  FunctionJob* const second = Add(4, [&] { Log("second"); });
  FunctionJob* const first = Add(4, [&] { Log("first"); });
  first->finish = [&] { executor_->Submit(second); };
  second->finish = [&] { executor_->Submit(third); };
  third->finish = [&] { all.Set(); };
  executor_->Submit(first);
  EXPECT_TRUE(all.Wait());
  executor_->Shutdown();
  EXPECT_THAT(log(), ElementsAre("first", "second", "third", "tile"));
}

TEST_F(BackupThreadTest, EachWorkerHasOne) {
  Start(2);
  EXPECT_EQ(executor_->statistics().backup_count, 2u);
  Flag done;
  Occupy(2, done);
  // Two jobs that wait for each other.
  Flag first, second, ended;
  executor_->Submit(Add(5, [&] {
    first.Set();
    EXPECT_TRUE(second.Wait());
    ended.Set();
  }));
  executor_->Submit(Add(5, [&] {
    second.Set();
    EXPECT_TRUE(first.Wait());
  }));
  EXPECT_TRUE(ended.Wait());
  done.Set();
  executor_->Shutdown();
  EXPECT_EQ(executor_->statistics().backup_threads.job_count, 2u);
}

// The last tiles of the job end before another thread would come.
TEST_F(BackupThreadTest, NoneJoinsInForAShortRest) {
  Start(2);
  Flag until;
  Occupy(2, until);
  Flag done;
  std::atomic<int> running{0};
  std::atomic<int> running_max{0};
  FunctionJob* const urgent = Add(4, [&] {
    const int now = running.fetch_add(1) + 1;
    running_max = std::max(running_max.load(), now);
    // Long enough for another thread, if one were woken.
    const int64_t end_ns = NowNs() + 5'000'000;
    while (NowNs() < end_ns && running_max.load() == 1) {
    }
    running.fetch_sub(1);
  });
  urgent->tile_count = 3;
  urgent->expected_tile_ns = 20'000;
  urgent->finish = [&] { done.Set(); };
  executor_->Submit(urgent);
  EXPECT_TRUE(done.Wait());
  EXPECT_EQ(running_max.load(), 1);
  until.Set();
  executor_->Shutdown();
}

TEST_F(BackupThreadTest, RunsOnlyJobsThatItsWorkerMayRun) {
  Start(2);
  Flag done;
  Occupy(2, done);
  WorkerSet only;
  only.Add(1);
  Flag ended;
  FunctionJob* const urgent = Add(6, [&] {
    EXPECT_EQ(executor_->current_worker()->index, 1u);
    ended.Set();
  });
  urgent->allowed = executor_->FindWorkers(only);
  executor_->Submit(urgent);
  EXPECT_TRUE(ended.Wait());
  done.Set();
  executor_->Shutdown();
}

TEST_F(BackupThreadTest, AnUrgentJobWaitsForTheEndOfAShortTile) {
  Start(1);
  Flag go;
  Occupy(1, go, /*expected_tile_ns=*/1000);
  Flag ended;
  executor_->Submit(Add(7, [&] { ended.Set(); }));
  go.Set();
  EXPECT_TRUE(ended.Wait());
  executor_->Shutdown();
  EXPECT_EQ(executor_->statistics().backup_threads.job_count, 0u);
}

TEST_F(BackupThreadTest, AJobOnItMayDropTheLastReferenceToTheExecutor) {
  Start(1);
  Flag done;
  Occupy(1, done);
  Flag ended;
  Executor* const executor = executor_.get();
  FunctionJob* const last = Add(7, [&, executor] {
    done.Set();
    executor->Shutdown();
    executor_.reset();
  });
  last->finish = [&] { ended.Set(); };
  executor->Submit(last);
  EXPECT_TRUE(ended.Wait());
}

TEST_F(BackupThreadTest, ThreadsOfAnApplicationHaveNone) {
  static std::atomic<int> asked;
  asked = 0;
  Executor::Options options;
  options.worker_count = 2;
  options.backup_threads = true;
  options.hooks.create = [](void*, uint32_t, const char*, void (*run)(void*),
                            void* argument, void** thread) {
    ++asked;
    *thread = new std::thread(run, argument);
    return true;
  };
  options.hooks.join = [](void*, void* thread) {
    auto* const started = static_cast<std::thread*>(thread);
    started->join();
    delete started;
  };
  executor_ = Executor::Create(options).value();
  executor_->Shutdown();
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(executor_->backup_count(), 0u);
}

}  // namespace
}  // namespace takt::exec
