// An executor, a clock and timers that do nothing by themselves.
#ifndef TAKT_TESTS_SHOP_TEST_SUPPORT_H_
#define TAKT_TESTS_SHOP_TEST_SUPPORT_H_

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "base/timer_heap.h"
#include "exec/executor.h"
#include "gtest/gtest.h"
#include "shop/job_shop.h"

#define TAKT_ASSERT_OK(expression)             \
  do {                                         \
    const absl::Status ok_status = expression; \
    ASSERT_TRUE(ok_status.ok()) << ok_status;  \
  } while (false)
#define TAKT_EXPECT_OK(expression)             \
  do {                                         \
    const absl::Status ok_status = expression; \
    EXPECT_TRUE(ok_status.ok()) << ok_status;  \
  } while (false)

namespace takt::shop {

template <typename T>
T Value(absl::StatusOr<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.status();
    std::abort();
  }
  return *std::move(result);
}

// Keeps jobs until a test runs them, the most urgent lane first.
class ManualExecutor final : public exec::Executor {
 public:
  explicit ManualExecutor(uint32_t worker_count)
      : Executor(nullptr), worker_count_(worker_count) {}

  size_t size() const { return jobs_.size(); }
  const exec::Job& newest() const { return *jobs_.back(); }
  void RunNext() {
    auto next = jobs_.begin();
    for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
      if ((*it)->lane > (*next)->lane) next = it;
    }
    exec::Job* const job = *next;
    jobs_.erase(next);
    exec::Worker worker;
    uint32_t begin = 0;
    while (begin < job->tile_count) {
      begin = job->RunTiles(begin, job->tile_count, worker);
    }
    job->Finish(worker);
  }
  void RunAll() {
    while (!jobs_.empty()) RunNext();
  }

  void Shutdown() override {}
  uint32_t worker_count() const override { return worker_count_; }
  uint32_t max_concurrency() const override { return worker_count_; }
  void Submit(exec::Job* job) override { jobs_.push_back(job); }
  uint32_t RunReady(int64_t) override { return 0; }
  void Flush() override {}
  void Trim() override {}
  absl::StatusOr<const exec::WorkerSet*> FindAffinity(const CpuSet&) override {
    return nullptr;
  }
  const exec::WorkerSet* FindWorkers(const exec::WorkerSet& workers) override {
    sets_.push_back(std::make_unique<exec::WorkerSet>(workers));
    return sets_.back().get();
  }
  exec::ExecutorStatistics statistics() const override {
    exec::ExecutorStatistics result;
    for (uint32_t i = 0; i < worker_count_; ++i) {
      exec::ExecutorStatistics::Worker worker;
      worker.placement.Add(i);
      result.workers.push_back(worker);
    }
    return result;
  }
  exec::Worker* current_worker() override { return nullptr; }

  // What is to run next, for a look at how it stands.
  const exec::Job& front() const { return *jobs_.front(); }

 private:
  const uint32_t worker_count_;
  std::deque<exec::Job*> jobs_;
  std::vector<std::unique_ptr<exec::WorkerSet>> sets_;
};

class ManualTimers final : public TimerService {
 public:
  void Arm(Timer* timer, int64_t deadline_ns) override {
    heap_.Push(timer, deadline_ns);
  }
  bool Cancel(Timer* timer) override { return heap_.Remove(timer); }
  int64_t next_deadline_ns() const { return heap_.next_deadline_ns(); }
  void FireDue(int64_t now_ns) {
    while (Timer* const timer = heap_.PopDue(now_ns)) timer->fire(timer);
  }

 private:
  TimerHeap heap_;
};

// Work that tells what became of it.
class TestWork final : public Work {
 public:
  explicit TestWork(uint32_t count) {
    tile_count = count;
    kernel.module_hash = 7;
    kernel.export_ordinal = 0;
    kernel.grid[0] = count;
  }
  uint32_t RunTiles(uint32_t begin, uint32_t end,
                    exec::Worker& worker) override {
    do {
      if (on_tile) on_tile(begin);
      ++tiles_run;
    } while (++begin < end && !worker.IsToYield());
    return begin;
  }
  void Finish(exec::Worker&) override {
    is_finished = true;
    order = next_order++;
    if (on_finish) on_finish();
  }
  void GiveUp() override { is_given_up = true; }
  void OnPlaced(bool on_npu) override { places.push_back(on_npu); }

  std::vector<bool> places;  // Of each start: whether it was an NPU.
  std::function<void(uint32_t)> on_tile;
  std::function<void()> on_finish;
  uint32_t tiles_run = 0;
  bool is_finished = false;
  bool is_given_up = false;
  uint32_t order = 0;

 private:
  static inline uint32_t next_order = 1;
};

class JobShopTest : public ::testing::Test {
 protected:
  JobShopTest() { clock_ns = 1'000'000'000; }
  ~JobShopTest() override {
    if (shop_ != nullptr) shop_->Shutdown();
  }

  void MakeShop(uint32_t worker_count, const char* policy = "job-shop") {
    if (shop_ != nullptr) shop_->Shutdown();
    executor_ = Ref<ManualExecutor>::Adopt(new ManualExecutor(worker_count));
    timers_ = std::make_shared<ManualTimers>();
    JobShopOptions options;
    options.scheduler.policy = sched::FindPolicy(policy);
    options.scheduler.aging_ns = 0;
    options.timers = timers_;
    options.now_ns = [] {
      if (auto call = std::exchange(at_next_time, nullptr)) call();
      return clock_ns;
    };
    shop_ = Value(JobShop::Create(executor_, options));
  }

  // Jobs of two streams: the second has the higher priority.
  struct TwoJobs {
    Ref<ScheduledJob> low;
    Ref<ScheduledJob> high;
  };
  TwoJobs ReleaseTwoJobs() {
    const Ref<ScheduledStream> low = shop_->StreamOf(64, nullptr);
    const Ref<ScheduledStream> high = shop_->StreamOf(200, nullptr);
    return {shop_->ReleaseJob(*low, 0, kInfiniteFuture, false),
            shop_->ReleaseJob(*high, 0, kInfiniteFuture, false)};
  }

  JobShop& shop() { return *shop_; }
  ManualExecutor& executor() { return *executor_; }
  ManualTimers& timers() { return *timers_; }
  std::shared_ptr<TimerService> shared_timers() { return timers_; }
  static int64_t now() { return clock_ns; }
  static void Advance(int64_t duration_ns) { clock_ns += duration_ns; }
  // Calls `call` as soon as the shop reads the clock on this thread.
  static void AtNextTime(std::function<void()> call) {
    at_next_time = std::move(call);
  }

 private:
  static inline int64_t clock_ns = 0;
  static inline thread_local std::function<void()> at_next_time;
  Ref<ManualExecutor> executor_;
  std::shared_ptr<ManualTimers> timers_;
  Ref<JobShop> shop_;
};

}  // namespace takt::shop

#endif  // TAKT_TESTS_SHOP_TEST_SUPPORT_H_
