// Tasks on real workers: every tile of every task is run once, whatever gives
// way to what, and from however many threads they come.
#include "shop/task.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.h"
#include "tests/shop/test_support.h"

namespace takt::shop {
namespace {

class CountedWork final : public Work {
 public:
  CountedWork(uint32_t count, std::atomic<int>* left)
      : tiles_(count), left_(left) {
    tile_count = count;
    kernel.module_hash = 3;
    kernel.grid[0] = count;
    expected_tile_ns = 2000;
  }
  uint32_t RunTiles(uint32_t begin, uint32_t end,
                    exec::Worker& worker) override {
    do {
      tiles_[begin].fetch_add(1, std::memory_order_relaxed);
    } while (++begin < end && !worker.IsToYield());
    return begin;
  }
  void Finish(exec::Worker&) override { End(false); }
  void GiveUp() override { End(true); }

  bool has_ended() const { return end_count_.load() > 0; }
  // Each at most once; all of them unless it was given up.
  void Check() const {
    EXPECT_EQ(end_count_.load(), 1);
    for (const auto& tile : tiles_) {
      EXPECT_LE(tile.load(), 1);
      EXPECT_TRUE(is_given_up_ || tile.load() == 1);
    }
  }

 private:
  void End(bool is_given_up) {
    is_given_up_ = is_given_up;
    end_count_.fetch_add(1);
    left_->fetch_sub(1);
  }

  std::vector<std::atomic<int>> tiles_;
  std::atomic<int>* const left_;
  std::atomic<int> end_count_{0};
  bool is_given_up_ = false;
};

void Play(const char* policy, uint32_t worker_count, bool drops) {
  exec::Executor::Options executor_options;
  executor_options.worker_count = worker_count;
  auto executor = Value(exec::Executor::Create(executor_options));
  JobShopOptions options;
  options.scheduler.policy = sched::FindPolicy(policy);
  options.timers = CreateTimerThread();
  auto shop = Value(JobShop::Create(executor, options));

  constexpr int kThreads = 3;
  constexpr int kJobs = 60;
  constexpr int kWorks = 3;
  std::atomic<int> left{kThreads * kJobs * kWorks};
  std::vector<std::unique_ptr<CountedWork>> works;
  Random random(worker_count);
  for (int i = 0; i < kThreads * kJobs * kWorks; ++i) {
    works.push_back(std::make_unique<CountedWork>(1 + random.Below(40), &left));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int j = 0; j < kJobs; ++j) {
        const auto priority = static_cast<uint8_t>((j * 37 + t * 11) % 256);
        auto stream = shop->StreamOf(priority, nullptr);
        auto job = shop->ReleaseJob(*stream, shop->now_ns(),
                                    shop->now_ns() + 1'000'000, j % 2 == 0);
        std::vector<CountedWork*> mine;
        for (int w = 0; w < kWorks; ++w) {
          CountedWork* const work =
              works[static_cast<size_t>((t * kJobs + j) * kWorks + w)].get();
          work->lane = exec::LaneOf(priority);
          shop->Submit(*job, work);
          mine.push_back(work);
        }
        shop->Decide();
        if (drops && j % 5 == 0) shop->Drop(*job);
        // The job is held until its work has ended.
        exec::Executor::HelpingCaller helper(*executor);
        while (true) {
          bool is_done = true;
          for (const CountedWork* work : mine) is_done &= work->has_ended();
          if (is_done) break;
          helper.WaitUntilNotified(NowNs() + 1'000'000);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(left.load(), 0);
  for (const auto& work : works) work->Check();
  shop->Run([](sched::Scheduler& scheduler, int64_t) {
    EXPECT_EQ(scheduler.live_job_count(), 0u);
    EXPECT_EQ(scheduler.waiting_count(), 0u);
  });
  executor->Shutdown();
  shop->Shutdown();
}

TEST(TaskTest, EveryTileRunsOnceWithEachPolicyAndNumberOfWorkers) {
  for (const char* policy : sched::PolicyNames()) {
    for (const uint32_t workers : {1u, 2u, 4u}) Play(policy, workers, false);
  }
}

TEST(TaskTest, WithoutWorkersWaitingCallersRunThem) {
  Play("job-shop", 0, false);
}

TEST(TaskTest, DroppedJobsEndOnce) {
  for (const uint32_t workers : {0u, 1u, 2u, 4u})
    Play("job-shop", workers, true);
}

}  // namespace
}  // namespace takt::shop
