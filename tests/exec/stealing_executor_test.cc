// The order of jobs by urgency, affinity, threads that the system refuses, and
// random work on pretended machines. executor_test.cc tests that every job runs
// once.
#include "exec/stealing_executor.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/allocation_faults.h"
#include "tests/support/bounded_wait.h"

namespace takt::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Executor::Options OptionsOf(uint32_t worker_count) {
  Executor::Options options;
  options.worker_count = worker_count;
  options.concurrency_max = worker_count + 1;
  return options;
}

Ref<Executor> Make(const Executor::Options& options) {
  auto executor = Executor::Create(options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

// Placements on CPUs 0, 1, 2 ...; they need not exist.
std::vector<CpuSet> OneEach(uint32_t count) {
  std::vector<CpuSet> result(count);
  for (uint32_t i = 0; i < count; ++i) result[i].Add(i);
  return result;
}

// A job of functions.
class FunctionsJob final : public Job {
 public:
  std::function<uint32_t(uint32_t, uint32_t, Worker&)> run =
      [](uint32_t, uint32_t end, Worker&) { return end; };
  std::function<void(Worker&)> finish = [](Worker&) {};

 private:
  uint32_t RunTiles(uint32_t begin, uint32_t end, Worker& worker) override {
    return run(begin, end, worker);
  }
  void Finish(Worker& worker) override { finish(worker); }
};

// The jobs that a test waits for.
class Countdown {
 public:
  explicit Countdown(uint32_t count) : left_(count) {}
  ~Countdown() { MutexLock lock(&mutex_); }  // The last Drop() may hold it.

  // A job has ended.
  void Drop() {
    MutexLock lock(&mutex_);
    if (--left_ == 0 && helper_ != nullptr) helper_->Notify();
  }
  // Runs jobs until all have ended.
  [[nodiscard]] bool Wait(Executor& executor) {
    Executor::HelpingCaller helper(executor);
    {
      MutexLock lock(&mutex_);
      if (left_ == 0) return true;
      helper_ = &helper;
    }
    return helper.WaitUntilNotified(kInfiniteFuture);
  }
  uint32_t left() const {
    MutexLock lock(&mutex_);
    return left_;
  }

 private:
  mutable Mutex mutex_;
  uint32_t left_ ABSL_GUARDED_BY(mutex_);
  Executor::HelpingCaller* helper_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

// A thread that searches does not sleep. There are more processors than threads
// can fill, so it does not sleep for sharing one either.
Ref<Executor> MakeLingering() {
  const absl::StatusOr<topology::Topology> topology =
      topology::Topology::FromJson(R"({"clusters":[{"cpus":"0-63"}]})");
  EXPECT_TRUE(topology.ok()) << topology.status();
  Executor::Options options = OptionsOf(1);
  options.linger_ns = kBoundedWaitNs;
  options.topology = &*topology;
  return Make(options);
}

TEST(SeriesTest, AThreadSearchesUntilTheSeriesEnds) {
  const Ref<Executor> executor = MakeLingering();
  executor->BeginSeries(kNormalLane);
  EXPECT_TRUE(BecomesTrue([&] { return executor->IsSearching(kNormalLane); }));
  EXPECT_TRUE(executor->IsSearching(0)) << "a worker takes jobs of all lanes";
  executor->EndSeries();
  EXPECT_TRUE(BecomesTrue([&] { return !executor->IsSearching(kNormalLane); }));
  executor->Shutdown();
}

// The job takes less time than the wake-up of a thread.
TEST(SeriesTest, AThreadThatSearchesHelpsWithASmallJob) {
  const Ref<Executor> executor = MakeLingering();
  Countdown countdown(1);
  Flag begun[2];
  FunctionsJob shared;
  shared.tile_count = 2;
  shared.expected_tile_ns = 4'000;
  shared.run = [&](uint32_t begin, uint32_t end, Worker&) {
    for (uint32_t tile = begin; tile < end; ++tile) {
      begun[tile].Set();
      EXPECT_TRUE(begun[1 - tile].Wait()) << "one thread runs both tiles";
    }
    return end;
  };
  shared.finish = [&](Worker&) { countdown.Drop(); };
  // The thread that ends a job runs the next one itself.
  FunctionsJob first;
  first.finish = [&](Worker&) {
    EXPECT_TRUE(
        BecomesTrue([&] { return executor->IsSearching(kNormalLane); }));
    executor->Submit(&shared);
  };
  executor->BeginSeries(kNormalLane);
  executor->Submit(&first);
  EXPECT_TRUE(countdown.Wait(*executor));
  executor->EndSeries();
  executor->Shutdown();
}

// One helping caller runs all jobs, so the order is the executor's.
class UrgencyTest : public ::testing::Test {
 protected:
  ~UrgencyTest() override { executor_->Shutdown(); }

  void Add(const std::string& name, uint8_t lane) {
    jobs_.push_back(std::make_unique<FunctionsJob>());
    jobs_.back()->lane = lane;
    jobs_.back()->finish = [this, name](Worker&) { order_.push_back(name); };
    executor_->Submit(jobs_.back().get());
  }
  void RunAll() {
    FunctionsJob last;
    Executor::HelpingCaller helper(*executor_);
    last.lane = 0;
    last.finish = [&](Worker&) { helper.Notify(); };
    executor_->Submit(&last);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
  }

  Ref<Executor> executor_ = Make(OptionsOf(0));
  std::vector<std::unique_ptr<FunctionsJob>> jobs_;
  std::vector<std::string> order_;
};

TEST(StealingExecutorTest, ItsMembersAreOnTheirOwnCacheLines) {
  for (int i = 0; i < 8; ++i) {
    const Ref<Executor> executor = Make(OptionsOf(0));
    EXPECT_EQ(
        reinterpret_cast<uintptr_t>(executor.get()) % alignof(StealingExecutor),
        0u);
    executor->Shutdown();
  }
}

// Holds a thread in a handler of SIGUSR1, for as long as this lives or up to
// `until_ns`.
class HeldThread {
 public:
  explicit HeldThread(uint64_t thread_id, int64_t until_ns = kInfiniteFuture) {
    until_ns_ = until_ns;
    is_held_ = true;
    is_in_handler_ = false;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      is_in_handler_ = true;
      const timespec moment = {0, 100'000};
      while (is_held_ && NowNs() < until_ns_) nanosleep(&moment, nullptr);
    };
    sigaction(SIGUSR1, &action, nullptr);
    syscall(SYS_tgkill, getpid(), static_cast<pid_t>(thread_id), SIGUSR1);
    EXPECT_TRUE(BecomesTrue([] { return is_in_handler_.load(); }));
  }
  ~HeldThread() { is_held_ = false; }

 private:
  static std::atomic<bool> is_held_, is_in_handler_;
  static std::atomic<int64_t> until_ns_;
};
std::atomic<bool> HeldThread::is_held_{false};
std::atomic<bool> HeldThread::is_in_handler_{false};
std::atomic<int64_t> HeldThread::until_ns_{kInfiniteFuture};

int CpuCountOf(uint64_t thread_id) {
  cpu_set_t cpus;
  return sched_getaffinity(static_cast<pid_t>(thread_id), sizeof(cpus),
                           &cpus) == 0
             ? CPU_COUNT(&cpus)
             : 0;
}

TEST(StealingExecutorTest, AWorkerThatDoesNotBeginIsMovedAway) {
  const int cpu_count = CpuCountOf(0);
  if (cpu_count < 2) GTEST_SKIP() << "there is one processor";
  const Ref<Executor> executor = Make(OptionsOf(1));
  ASSERT_TRUE(BecomesTrue(
      [&] { return executor->statistics().workers[0].counts.park_count > 0; }));
  const uint64_t id = executor->statistics().workers[0].thread.thread_id;
  {
    const HeldThread held(id);
    FunctionsJob job;
    job.tile_count = 100'000;
    job.expected_tile_ns = 20'000;
    job.run = [&](uint32_t, uint32_t end, Worker&) {
      const int64_t end_ns = NowNs() + 20'000;
      while (CpuCountOf(id) == cpu_count && NowNs() < end_ns) continue;
      return end;
    };
    Executor::HelpingCaller helper(*executor);
    job.finish = [&](Worker&) { helper.Notify(); };
    executor->Submit(&job);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
    EXPECT_EQ(CpuCountOf(id), cpu_count - 1);
  }
  // Once it runs, it may go everywhere again.
  EXPECT_TRUE(BecomesTrue([&] { return CpuCountOf(id) == cpu_count; }));
  executor->Shutdown();
}

// A caller's memory would otherwise be left when the library is unloaded.
TEST(StealingExecutorTest, TheLastOneFreesTheMemoryOfCallers) {
  const auto grow = [](Executor& executor) {
    Worker* here = nullptr;
    Executor::HelpingCaller helper(executor);
    FunctionsJob job;
    job.local_bytes = 10'000;
    job.run = [&](uint32_t, uint32_t end, Worker& worker) {
      here = &worker;
      return end;
    };
    job.finish = [&](Worker&) { helper.Notify(); };
    executor.Submit(&job);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
    EXPECT_GE(here->local_bytes, 10'000u);
    return here;
  };
  Ref<Executor> first = Make(OptionsOf(0));
  Ref<Executor> last = Make(OptionsOf(0));
  std::thread([&] { grow(*first); }).join();  // Its end frees what it has.
  Worker* const worker = grow(*first);
  first.reset();
  EXPECT_NE(worker->local_memory, nullptr);
  last.reset();
  EXPECT_EQ(worker->local_memory, nullptr);
  EXPECT_EQ(worker->local_bytes, 0u);
  const Ref<Executor> next = Make(OptionsOf(0));
  EXPECT_EQ(grow(*next), worker);
  std::thread([&] { grow(*next); }).join();
}

// The worker leaves a job, with a ticket for it in its deque, for one that is
// due. The job must not wait for that one, once its last tile has run.
TEST(StealingExecutorTest, AJobDoesNotWaitForAWorkerThatHasLeftIt) {
  const Ref<Executor> executor = Make(OptionsOf(1));
  Flag is_due_running, may_due_end, is_job_done;
  FunctionsJob due;
  due.deadline_ns = 10;
  due.run = [&](uint32_t, uint32_t end, Worker&) {
    is_due_running.Set();
    EXPECT_TRUE(may_due_end.Wait());
    return end;
  };
  FunctionsJob job;
  job.tile_count = 2;
  bool is_first = true;
  job.run = [&](uint32_t begin, uint32_t, Worker&) {
    if (std::exchange(is_first, false)) executor->Submit(&due);
    return begin + 1;
  };
  job.finish = [&](Worker&) { is_job_done.Set(); };
  FunctionsJob before;
  before.finish = [&](Worker&) { executor->Submit(&job); };
  executor->Submit(&before);
  ASSERT_TRUE(is_due_running.Wait());
  EXPECT_FALSE(is_job_done.is_set());
  EXPECT_EQ(executor->RunReady(/*deadline_ns=*/0), 1u);  // The other tile.
  EXPECT_TRUE(is_job_done.is_set());
  may_due_end.Set();
  executor->Shutdown();
}

// A thread is stopped somewhere within Submit(), often after it has looked
// whether the executor stops. Then the executor stops.
TEST(StealingExecutorTest, NoJobIsLostThatIsSubmittedDuringTheShutdown) {
  constexpr uint32_t kRounds = 30, kCount = 1000;
  for (uint32_t round = 0; round < kRounds; ++round) {
    std::vector<Ref<Executor>> executors;
    std::vector<FunctionsJob> jobs(kCount);
    std::atomic<uint32_t> done_count{0};
    for (FunctionsJob& job : jobs) {
      job.finish = [&](Worker&) { ++done_count; };
      executors.push_back(Make(OptionsOf(0)));
    }
    std::atomic<uint64_t> thread_id{0};
    Flag ends;
    std::thread thread([&] {
      thread_id = static_cast<uint64_t>(syscall(SYS_gettid));
      for (uint32_t i = 0; i < kCount; ++i) executors[i]->Submit(&jobs[i]);
      EXPECT_TRUE(ends.Wait());
    });
    ASSERT_TRUE(BecomesTrue([&] { return thread_id != 0; }));
    {
      // It may be in a lock that Shutdown() takes.
      const HeldThread held(thread_id, NowNs() + 20'000'000);
      for (const Ref<Executor>& executor : executors) executor->Shutdown();
    }
    ends.Set();
    thread.join();
    EXPECT_EQ(done_count, kCount);
  }
}

TEST(StealingExecutorTest, AJobThatFollowsAfterTheShutdownRuns) {
  const Ref<Executor> executor = Make(OptionsOf(0));
  FunctionsJob next;
  bool is_done = false;
  next.finish = [&](Worker&) { is_done = true; };
  FunctionsJob job;
  job.finish = [&](Worker&) {
    executor->Shutdown();
    executor->Submit(&next);
  };
  executor->Submit(&job);
  executor->RunReady(/*deadline_ns=*/0);
  EXPECT_TRUE(is_done);
}

TEST_F(UrgencyTest, HigherLanesRunFirstAndEqualJobsInOrder) {
  Executor::HelpingCaller helper(*executor_);  // Or they would run at once.
  Add("low", 1);
  Add("normal", 4);
  Add("urgent", 7);
  Add("normal too", 4);
  RunAll();
  EXPECT_THAT(order_, ElementsAre("urgent", "normal", "normal too", "low"));
}

TEST_F(UrgencyTest, NoTileWaitsForMoreThanOneTileOfALessUrgentJob) {
  // The second tile makes urgent jobs ready, which run before the third. A job
  // as urgent as the tiles waits for all of them.
  FunctionsJob job;
  job.tile_count = 5;
  job.run = [&](uint32_t begin, uint32_t end, Worker& worker) {
    do {
      order_.push_back("tile " + std::to_string(begin));
      if (begin == 1) {
        Add("equal", 4);
        Add("urgent", 5);
        Add("most urgent", 7);
      }
    } while (++begin < end && !worker.IsPreempted());
    return begin;
  };
  Executor::HelpingCaller helper(*executor_);
  executor_->Submit(&job);
  RunAll();
  EXPECT_THAT(order_, ElementsAre("tile 0", "tile 1", "most urgent", "urgent",
                                  "tile 2", "tile 3", "tile 4", "equal"));
}

TEST_F(UrgencyTest, AnInterruptedJobMayBeInterruptedAgainWithinTheInterrupt) {
  FunctionsJob middle;
  middle.lane = 5;
  middle.tile_count = 2;
  middle.run = [&](uint32_t begin, uint32_t, Worker&) {
    order_.push_back("middle " + std::to_string(begin));
    if (begin == 0) Add("top", 6);
    return begin + 1;
  };
  FunctionsJob low;
  low.lane = 2;
  low.tile_count = 2;
  low.run = [&](uint32_t begin, uint32_t, Worker&) {
    order_.push_back("low " + std::to_string(begin));
    if (begin == 0) executor_->Submit(&middle);
    return begin + 1;
  };
  Executor::HelpingCaller helper(*executor_);
  executor_->Submit(&low);
  RunAll();
  EXPECT_THAT(order_,
              ElementsAre("low 0", "middle 0", "top", "middle 1", "low 1"));
}

TEST_F(UrgencyTest, ARaisedJobGoesBeforeTheJobsOfItsNewLane) {
  Executor::HelpingCaller helper(*executor_);
  FunctionsJob low;
  low.lane = 0;
  low.can_be_raised = true;
  low.finish = [this](Worker&) { order_.push_back("low"); };
  Add("middle", 4);
  executor_->Submit(&low);
  Add("middle too", 4);
  Add("urgent", 6);
  executor_->Raise(&low, 4);
  RunAll();
  ASSERT_EQ(order_.size(), 4u);
  EXPECT_EQ(order_[0], "urgent");
  EXPECT_EQ(order_[1], "low");
}

TEST_F(UrgencyTest, ALoanThatIsTakenBackLeavesAJobWhereItWas) {
  Executor::HelpingCaller helper(*executor_);
  FunctionsJob low;
  low.lane = 1;
  low.can_be_raised = true;
  low.finish = [this](Worker&) { order_.push_back("low"); };
  executor_->Submit(&low);
  Add("middle", 4);
  executor_->Raise(&low, 6);
  executor_->Raise(&low, Job::kNotRaised);
  RunAll();
  EXPECT_THAT(order_, ElementsAre("middle", "low"));
}

TEST_F(UrgencyTest, AnInterruptedJobThatIsRaisedInterruptsInTurn) {
  // The classic inversion, on one thread: the low job is interrupted by a
  // middle one of many tiles, during which something urgent comes to wait for
  // it.
  FunctionsJob low;
  FunctionsJob middle;
  middle.lane = 5;
  middle.tile_count = 4;
  middle.expected_tile_ns = 1'000'000;  // So a thread claims one at a time.
  middle.run = [&](uint32_t begin, uint32_t, Worker&) {
    order_.push_back("middle " + std::to_string(begin));
    if (begin == 1) executor_->Raise(&low, 6);
    return begin + 1;
  };
  low.lane = 2;
  low.tile_count = 2;
  low.can_be_raised = true;
  low.run = [&](uint32_t begin, uint32_t, Worker&) {
    order_.push_back("low " + std::to_string(begin));
    if (begin == 0) executor_->Submit(&middle);
    return begin + 1;
  };
  Executor::HelpingCaller helper(*executor_);
  executor_->Submit(&low);
  RunAll();
  EXPECT_THAT(order_, ElementsAre("low 0", "middle 0", "middle 1", "low 1",
                                  "middle 2", "middle 3"));
}

TEST_F(UrgencyTest, TheNewestJobRunsFirstButNoOtherStarves) {
  // A chain that does not end by itself. A job that waits in its lane has its
  // turn all the same.
  bool waiting_has_run = false;
  int rounds = 0;
  FunctionsJob chain;
  chain.finish = [&](Worker&) {
    ++rounds;
    if (!waiting_has_run && rounds < 100'000) executor_->Submit(&chain);
  };
  FunctionsJob waiting;
  waiting.finish = [&](Worker&) { waiting_has_run = true; };
  Executor::HelpingCaller helper(*executor_);
  executor_->Submit(&chain);
  executor_->Submit(&waiting);
  RunAll();
  EXPECT_LT(rounds, 1000);
}

TEST_F(UrgencyTest, ALaneRunsTheEarliestDeadlineFirst) {
  Executor::HelpingCaller helper(*executor_);
  const auto add = [&](const char* name, int64_t deadline_ns) {
    jobs_.push_back(std::make_unique<FunctionsJob>());
    jobs_.back()->deadline_ns = deadline_ns;
    jobs_.back()->finish = [this, name](Worker&) { order_.push_back(name); };
    executor_->Submit(jobs_.back().get());
  };
  // A job that ends makes them ready. Without deadlines, the last of them would
  // run next.
  FunctionsJob first;
  first.finish = [&](Worker&) {
    add("late", 30);
    add("early", 10);
    add("none", kInfiniteFuture);
    add("middle", 20);
    add("none too", kInfiniteFuture);
  };
  executor_->Submit(&first);
  RunAll();
  EXPECT_THAT(order_,
              ElementsAre("early", "middle", "late", "none", "none too"));
}

TEST_F(UrgencyTest, AThreadLeavesAJobForOneThatIsDueEarlier) {
  FunctionsJob job;
  job.tile_count = 3;
  FunctionsJob due;
  due.deadline_ns = 10;
  due.finish = [this](Worker&) { order_.push_back("due"); };
  job.run = [&](uint32_t begin, uint32_t, Worker&) {
    order_.push_back("tile " + std::to_string(begin));
    if (begin == 0) executor_->Submit(&due);
    return begin + 1;
  };
  Executor::HelpingCaller helper(*executor_);
  executor_->Submit(&job);
  RunAll();
  EXPECT_THAT(order_, ElementsAre("tile 0", "due", "tile 1", "tile 2"));
}

TEST(MayRunTest, AHelpingCallerRunsOnlyJobsOfItsLaneOrAbove) {
  Ref<Executor> executor = Make(OptionsOf(1));
  Worker* worker = nullptr;
  {
    const Executor::HelpingCaller helper(*executor, /*lane=*/5);
    worker = executor->current_worker();
    EXPECT_FALSE(worker->MayRun({.lane = 4}));
    EXPECT_TRUE(worker->MayRun({.lane = 5}));
    WorkerSet first;
    first.Add(0);
    EXPECT_FALSE(worker->MayRun({.lane = 5, .allowed = &first}));
    const Executor::HelpingCaller inner(*executor);
    EXPECT_TRUE(worker->MayRun({.lane = 0}));
  }
  EXPECT_TRUE(worker->MayRun({.lane = 0}));
  executor->Shutdown();
}

TEST(HelpingCallerTest, AHelpingCallerLeavesLessUrgentJobsAlone) {
  // The only worker is kept busy. The helping caller waits for its own job, and
  // runs none of a lower lane.
  Ref<Executor> executor = Make(OptionsOf(1));
  std::atomic<int> step{0};
  FunctionsJob blocks;
  blocks.run = [&](uint32_t, uint32_t end, Worker&) {
    step.store(1);
    step.notify_all();
    step.wait(1);
    return end;
  };
  executor->Submit(&blocks);
  step.wait(0);
  FunctionsJob low;
  low.lane = 1;
  std::atomic<bool> low_ran{false};
  low.finish = [&](Worker&) { low_ran = true; };
  executor->Submit(&low);
  {
    Executor::HelpingCaller helper(*executor, /*lane=*/6);
    FunctionsJob mine;
    mine.lane = 6;
    mine.finish = [&](Worker&) { helper.Notify(); };
    executor->Submit(&mine);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
    EXPECT_FALSE(helper.WaitUntilNotified(NowNs()));
    EXPECT_FALSE(low_ran);
  }
  step.store(2);
  step.notify_all();
  executor->Shutdown();
  EXPECT_TRUE(low_ran);
}

class AffinityTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(AffinityTest, JobsRunOnAllowedWorkersOnly) {
  const uint32_t workers = GetParam();
  Executor::Options options = OptionsOf(workers);
  options.placement = OneEach(workers);
  Ref<Executor> executor = Make(options);
  const auto cpus = CpuSet::Parse("1," + std::to_string(workers - 1));
  const auto allowed = executor->FindAffinity(*cpus);
  ASSERT_TRUE(allowed.ok()) << allowed.status();
  ASSERT_NE(*allowed, nullptr);
  EXPECT_EQ(*executor->FindAffinity(*cpus), *allowed);  // Made once.
  Countdown jobs_left(300);
  std::atomic<uint64_t> tiles{0};
  std::atomic<uint64_t> wrong{0};
  std::vector<std::unique_ptr<FunctionsJob>> jobs;
  for (int i = 0; i < 300; ++i) {
    auto job = std::make_unique<FunctionsJob>();
    job->finish = [&](Worker&) { jobs_left.Drop(); };
    job->allowed = i % 3 == 0 ? nullptr : *allowed;
    job->tile_count = 1 + i % 40;
    job->lane = static_cast<uint8_t>(i % kLaneCount);
    job->run = [&, limited = job->allowed](uint32_t begin, uint32_t end,
                                           Worker& worker) {
      tiles += end - begin;
      if (limited != nullptr && !limited->Contains(worker.index)) ++wrong;
      return end;
    };
    executor->Submit(job.get());
    jobs.push_back(std::move(job));
  }
  EXPECT_TRUE(jobs_left.Wait(*executor));
  uint64_t expected = 0;
  for (int i = 0; i < 300; ++i) expected += 1 + i % 40;
  EXPECT_EQ(tiles, expected);
  EXPECT_EQ(wrong, 0u);
  executor->Shutdown();
}
INSTANTIATE_TEST_SUITE_P(Workers, AffinityTest, ::testing::Values(3, 4, 8, 70));

// Two callers that help leave no place for workers, so those park; but not
// while there are jobs that only they may run.
TEST(WaitingCallersTest, AWorkerRunsJobsThatOnlyItMayRun) {
  Executor::Options options = OptionsOf(2);
  options.placement = OneEach(2);
  options.concurrency_max = 2;
  Ref<Executor> executor = Make(options);
  const WorkerSet* const sets[] = {
      *executor->FindAffinity(CpuSet::FromMask(1)),
      *executor->FindAffinity(CpuSet::FromMask(2))};
  std::atomic<int> lost{0};
  const auto call = [&](int caller) {
    for (int i = 0; i < 20'000 && lost == 0; ++i) {
      Executor::HelpingCaller helper(*executor);
      FunctionsJob job;
      job.allowed = sets[(i / 7 + caller) % 2];
      job.tile_count = 1 + i % 5;
      job.lane = static_cast<uint8_t>((i / 3 + caller) % 2);
      job.run = [](uint32_t, uint32_t end, Worker&) { return end; };
      job.finish = [&helper](Worker&) { helper.Notify(); };
      executor->Submit(&job);
      if (!helper.WaitUntilNotified(NowNs() + 60'000'000'000)) {
        ++lost;
        helper.WaitUntilNotified(kInfiniteFuture);
      }
    }
  };
  std::thread other(call, 1);
  call(0);
  other.join();
  EXPECT_EQ(lost, 0);
  executor->Shutdown();
}

TEST(FindAffinityTest, ItsErrorNamesTheCpusOfTheWorkers) {
  Executor::Options options = OptionsOf(2);
  options.placement = OneEach(2);
  Ref<Executor> executor = Make(options);
  const auto none = executor->FindAffinity(CpuSet::FromMask(0x30));
  EXPECT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("affinity 4-5"));
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("0, 1"));
  const auto all = executor->FindAffinity(CpuSet::FromMask(3));
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, nullptr);
  executor->Shutdown();
}

// However many affinities there are: those that name the same workers share
// what the executor keeps of them.
TEST(FindAffinityTest, KeepsOneSetForTheSameWorkers) {
  Executor::Options options = OptionsOf(2);
  options.placement = OneEach(2);
  Ref<Executor> executor = Make(options);
  CpuSet cpus = CpuSet::FromMask(1);
  const auto expected = executor->FindAffinity(cpus);
  ASSERT_TRUE(expected.ok());
  std::vector<CpuSet> affinities;
  for (uint32_t cpu = 2; cpu < 100; ++cpu) {
    cpus.Add(cpu);
    affinities.push_back(cpus);
  }
  const AllocationFault fault(0);
  for (const CpuSet& affinity : affinities) {
    const auto found = executor->FindAffinity(affinity);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, *expected);
  }
  EXPECT_FALSE(AllocationFault::is_hit());
  executor->Shutdown();
}

TEST(FindAffinityTest, TheFirstAffinityPinsAllWorkers) {
  const CpuSet cpus = topology::AllowedCpus();
  if (cpus.count() < 2) GTEST_SKIP() << "one CPU";
  Ref<Executor> executor = Make(OptionsOf(2));
  CpuSet first;
  first.Add(static_cast<uint32_t>(cpus.Next(0)));
  ASSERT_TRUE(executor->FindAffinity(first).ok());
  executor->Shutdown();
  for (const auto& worker : executor->statistics().workers) {
    EXPECT_EQ(worker.thread.cpus.ToString(), worker.placement.ToString());
    EXPECT_EQ(worker.thread.cpus.count(), 1u);
  }
}

TEST(FindAffinityTest, PinsAllWorkersThoughMemoryRanOutBefore) {
  const CpuSet cpus = topology::AllowedCpus();
  if (cpus.count() < 2) GTEST_SKIP() << "one CPU";
  CpuSet first;
  first.Add(static_cast<uint32_t>(cpus.Next(0)));
  bool is_hit = true;
  for (int64_t n = 0; is_hit; ++n) {
    Ref<Executor> executor = Make(OptionsOf(2));
    try {
      const AllocationFault fault(n);
      (void)executor->FindAffinity(first);
    } catch (const std::bad_alloc&) {
    }
    is_hit = AllocationFault::is_hit();
    EXPECT_TRUE(executor->FindAffinity(first).ok());
    executor->Shutdown();
    for (const auto& worker : executor->statistics().workers) {
      // It was pinned, but there was no memory for the report.
      if (worker.thread.affinity_error == ENOMEM) continue;
      EXPECT_EQ(worker.thread.cpus.ToString(), worker.placement.ToString())
          << "allocation " << n;
    }
  }
}

TEST(ClosureTest, RunsOnceAndMayBePostedAgain) {
  struct Step : Closure {
    Step(Executor& its_executor, Executor::HelpingCaller& its_helper)
        : Closure(&Step::Run), executor(its_executor), helper(its_helper) {}
    static void Run(Closure* closure, Worker&) {
      auto* self = static_cast<Step*>(closure);
      if (++self->count < 100) {
        self->executor.Submit(self);
      } else {
        self->helper.Notify();
      }
    }
    Executor& executor;
    Executor::HelpingCaller& helper;
    int count = 0;
  };
  for (uint32_t workers : {0, 2}) {
    Ref<Executor> executor = Make(OptionsOf(workers));
    {
      Executor::HelpingCaller helper(*executor);
      Step step(*executor, helper);
      executor->Submit(&step);
      EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
      EXPECT_EQ(step.count, 100);
    }
    executor->Shutdown();
  }
}

// So that a thread finds more of what it wrote before in its cache.
TEST(ClaimTest, ThreadsOnTheUpperHalfOfTheCpusBeginAtTheEnd) {
  const CpuSet usable = topology::AllowedCpus();
  if (usable.count() < 2) GTEST_SKIP() << "needs two CPUs";
  Executor::Options options = OptionsOf(0);
  options.concurrency_max = 2;
  Ref<Executor> executor = Make(options);
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  const auto run_on = [&](uint32_t cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    std::vector<uint32_t> order;
    Executor::HelpingCaller helper(*executor);
    FunctionsJob job;
    job.tile_count = 8;
    job.expected_tile_ns = 1'000'000;
    job.run = [&](uint32_t begin, uint32_t end, Worker&) {
      for (uint32_t tile = begin; tile < end; ++tile) order.push_back(tile);
      return end;
    };
    job.finish = [&](Worker&) { helper.Notify(); };
    executor->Submit(&job);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
    return order;
  };
  uint32_t last = 0;
  usable.ForEach([&](uint32_t cpu) { last = cpu; });
  EXPECT_THAT(run_on(static_cast<uint32_t>(usable.Next(0))),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(run_on(last), ElementsAre(7, 6, 5, 4, 3, 2, 1, 0));
  EXPECT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  executor->Shutdown();
}

// The kernel may leave two threads on one processor for some ms, while another
// one is free.
TEST(MoveTest, AJobLeavesAProcessorThatTwoThreadsShare) {
  const CpuSet usable = topology::AllowedCpus();
  if (usable.count() < 2) GTEST_SKIP() << "needs two CPUs";
  Executor::Options options = OptionsOf(usable.count() + 1);
  options.concurrency_max = usable.count();
  Ref<Executor> executor = Make(options);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<uint32_t>(usable.Next(0)), &one);
  std::atomic<bool> moved{false};
  std::atomic<int> left{2};
  // Each begins on a worker that is pinned, so that the worker is seen there.
  // One of them asks whether to move, and is continued elsewhere.
  struct Stage {
    FunctionsJob job;
    bool is_over = false;
    std::thread::id thread;
  };
  Stage stages[2];
  for (Stage& stage : stages) {
    const bool asks = &stage == &stages[1];
    stage.job.run = [&, asks](uint32_t, uint32_t end, Worker&) {
      thread_local bool is_pinned = false;
      const std::thread::id here = std::this_thread::get_id();
      if (stage.thread != std::thread::id() && stage.thread != here) {
        moved.store(true);
      } else if (!is_pinned) {
        EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
        is_pinned = true;
        return end;
      } else {
        while (!moved.load() && !(asks && executor->EndRange(stage.job))) {
          std::this_thread::yield();
        }
        if (asks) stage.thread = here;
      }
      stage.is_over = moved.load();
      return end;
    };
    stage.job.finish = [&](Worker&) {
      if (!stage.is_over) {
        executor->Submit(&stage.job);
      } else {
        left.fetch_sub(1);
        left.notify_all();
      }
    };
  }
  for (Stage& stage : stages) executor->Submit(&stage.job);
  for (int value = left.load(); value != 0; value = left.load()) {
    left.wait(value);
  }
  EXPECT_FALSE(executor->EndRange(stages[0].job));  // Not a thread of it.
  executor->Shutdown();
}

// The kernel may let a woken worker wait for the processor of its waker.
TEST(MoveTest, AJobOfManyRangesMovesAWorkerThatDoesNotBegin) {
  const CpuSet usable = topology::AllowedCpus();
  if (usable.count() < 2) GTEST_SKIP() << "needs two CPUs";
  const auto first = static_cast<uint32_t>(usable.Next(0));
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(first, &here);
  cpu_set_t there;
  CPU_ZERO(&there);
  CPU_SET(static_cast<uint32_t>(usable.Next(first + 1)), &there);
  cpu_set_t both;
  CPU_OR(&both, &here, &there);
  Ref<Executor> executor = Make(OptionsOf(1));
  ASSERT_TRUE(
      BecomesTrue([&] { return executor->statistics().awake_count == 0; }));
  const auto worker =
      static_cast<pid_t>(executor->statistics().workers[0].thread.thread_id);
  // Both processors are busy, and the worker comes after ordinary threads.
  const sched_param none{};
  ASSERT_EQ(sched_setscheduler(worker, SCHED_IDLE, &none), 0);
  ASSERT_EQ(sched_setaffinity(worker, sizeof(both), &both), 0);
  std::atomic<bool> is_over{false};
  std::thread hog([&] {
    EXPECT_EQ(sched_setaffinity(0, sizeof(there), &there), 0);
    while (!is_over.load()) {
    }
  });
  bool is_moved = false;
  std::thread waker([&] {
    EXPECT_EQ(sched_setaffinity(0, sizeof(here), &here), 0);
    for (int attempt = 0; attempt < 50 && !is_moved; ++attempt) {
      Executor::HelpingCaller helper(*executor);
      FunctionsJob shared;
      shared.tile_count = 2;
      FunctionsJob ranges;
      ranges.sequential = true;
      ranges.run = [&](uint32_t, uint32_t end, Worker&) {
        executor->Submit(&shared);
        const auto begin = std::chrono::steady_clock::now();
        while (!is_moved && std::chrono::steady_clock::now() - begin <
                                std::chrono::milliseconds(20)) {
          (void)executor->EndRange(ranges);
          cpu_set_t now;
          EXPECT_EQ(sched_getaffinity(worker, sizeof(now), &now), 0);
          is_moved = CPU_EQUAL(&now, &there) != 0;
        }
        return end;
      };
      shared.finish = [&](Worker&) { helper.Notify(); };
      executor->Submit(&ranges);
      EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
    }
    is_over.store(true);
  });
  waker.join();
  hog.join();
  EXPECT_TRUE(is_moved);
  executor->Shutdown();
}

TEST(TrimTest, IdleWorkersGiveTheirMemoryBack) {
  Ref<Executor> executor = Make(OptionsOf(1));
  std::atomic<bool> done{false};
  FunctionsJob job;
  job.local_bytes = 100'000;
  job.finish = [&](Worker&) {
    done.store(true);
    done.notify_all();
  };
  executor->Submit(&job);
  done.wait(false);
  EXPECT_GE(executor->statistics().workers[0].local_bytes, 100'000u);
  executor->Trim();
  EXPECT_TRUE(BecomesTrue(
      [&] { return executor->statistics().workers[0].local_bytes == 0; }));
  executor->Shutdown();
}

TEST(StatisticsTest, EveryJobAndTileIsCounted) {
  for (uint32_t workers : {0, 1, 4}) {
    Ref<Executor> executor = Make(OptionsOf(workers));
    std::vector<std::unique_ptr<FunctionsJob>> jobs;
    for (int i = 0; i < 64; ++i) {
      jobs.push_back(std::make_unique<FunctionsJob>());
      jobs.back()->tile_count = 10;
      executor->Submit(jobs.back().get());
    }
    executor->Shutdown();
    const ExecutorStatistics statistics = executor->statistics();
    uint64_t job_count = statistics.helping_callers.job_count;
    uint64_t tile_count = statistics.helping_callers.tile_count;
    ASSERT_EQ(statistics.workers.size(), workers);
    for (const auto& worker : statistics.workers) {
      job_count += worker.counts.job_count;
      tile_count += worker.counts.tile_count;
      EXPECT_TRUE(worker.thread.is_running);
    }
    EXPECT_EQ(job_count, 64u);
    EXPECT_EQ(tile_count, 640u);
  }
}

TEST(WakeTest, AHelpingCallerThatLeavesWakesAWorkerForTheRest) {
  Executor::Options options = OptionsOf(1);
  options.concurrency_max = 1;
  Ref<Executor> executor = Make(options);
  std::atomic<bool> done{false};
  FunctionsJob left;
  left.finish = [&](Worker&) {
    done.store(true);
    done.notify_all();
  };
  {
    Executor::HelpingCaller helper(*executor);
    FunctionsJob mine;
    // `left` is submitted while the helping caller is the one thread that may
    // be active, and the caller is notified before it comes to `left`.
    mine.finish = [&](Worker&) {
      std::thread([&] { executor->Submit(&left); }).join();
      helper.Notify();
    };
    executor->Submit(&mine);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
    done.wait(false);
  }
  executor->Shutdown();
}

TEST(WakeTest, SmallJobsOfAHelpingCallerWakeNoThread) {
  Ref<Executor> executor = Make(OptionsOf(4));
  uint64_t parks = 0;
  // While all sleep, nothing but the jobs below has a reason to wake one.
  ASSERT_TRUE(
      BecomesTrue([&] { return executor->statistics().awake_count == 0; }));
  for (const auto& worker : executor->statistics().workers) {
    parks += worker.counts.park_count;
  }
  for (int i = 0; i < 100; ++i) {
    Executor::HelpingCaller helper(*executor);
    FunctionsJob job;
    job.finish = [&](Worker&) { helper.Notify(); };
    executor->Submit(&job);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
  }
  const ExecutorStatistics statistics = executor->statistics();
  EXPECT_EQ(statistics.helping_callers.job_count, 100u);
  EXPECT_EQ(statistics.helping_callers.wake_count, 0u);
  uint64_t parks_after = 0;
  for (const auto& worker : statistics.workers) {
    parks_after += worker.counts.park_count;
  }
  EXPECT_LE(parks_after, parks + 4);  // The last may only just have parked.
  executor->Shutdown();
}

// A job that a helping caller runs stops between two tiles once the caller is
// notified.
TEST(HelpingCallerTest, ANotifiedCallerStopsAJobBetweenTwoTiles) {
  Executor::Options options = OptionsOf(0);
  const auto executor = Make(options);
  uint32_t tiles_until_notified = 0;
  FunctionsJob job;
  job.tile_count = 10;
  job.sequential = true;
  {
    Executor::HelpingCaller helper(*executor);
    job.run = [&](uint32_t begin, uint32_t end, Worker& worker) {
      if (begin > 0) return end;
      helper.Notify();
      EXPECT_TRUE(worker.IsPreempted());
      EXPECT_TRUE(worker.IsToYield());
      tiles_until_notified = 1;
      return begin + 1;
    };
    executor->Submit(&job);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
    // The request ends with the wait.
    FunctionsJob other;
    other.run = [&](uint32_t, uint32_t end, Worker& worker) {
      EXPECT_FALSE(worker.IsPreempted());
      helper.Notify();
      return end;
    };
    executor->Submit(&other);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
  }
  EXPECT_EQ(tiles_until_notified, 1u);
  executor->Shutdown();
}

TEST(HelpingCallerTest, ACallerLeavesALongJobAtItsDeadline) {
  const auto executor = Make(OptionsOf(0));
  std::atomic<uint32_t> ran{0};
  const int64_t deadline_ns = NowNs() + 1'000'000;
  FunctionsJob job;
  job.tile_count = 1000;
  job.run = [&](uint32_t begin, uint32_t end, Worker&) {
    // The second tile ends after the deadline, however long the first takes.
    while (begin > 0 && NowNs() < deadline_ns) std::this_thread::yield();
    ran += end - begin;
    return end;
  };
  {
    Executor::HelpingCaller helper(*executor);
    executor->Submit(&job);
    EXPECT_FALSE(helper.WaitUntilNotified(deadline_ns));
  }
  EXPECT_LT(ran, 1000u);
  const uint32_t before = ran;
  {
    Executor::HelpingCaller helper(*executor);
    EXPECT_FALSE(helper.WaitUntilNotified(deadline_ns));
  }
  EXPECT_GT(ran, before);  // It has no time, and yet the job goes on.
  executor->Shutdown();
  EXPECT_EQ(ran, 1000u);
}

// Its end, which others may wait for, comes before more urgent work that never
// pauses.
TEST(PreemptionTest, AJobWithoutTilesLeftEndsBeforeMoreUrgentJobs) {
  for (const uint32_t tile_count : {1u, 8u}) {
    const auto executor = Make(OptionsOf(1));
    constexpr int kUrgentRuns = 1000;
    int urgent_runs = 0;
    int before_end = -1;
    Countdown both(2);
    FunctionsJob urgent;
    urgent.lane = 6;
    urgent.finish = [&](Worker&) {
      if (++urgent_runs < kUrgentRuns) return executor->Submit(&urgent);
      both.Drop();
    };
    FunctionsJob job;
    job.lane = 1;
    job.tile_count = tile_count;
    uint32_t tiles_left = tile_count;  // One worker runs all.
    job.run = [&](uint32_t begin, uint32_t end, Worker&) {
      tiles_left -= end - begin;
      if (tiles_left == 0) {
        std::thread([&] { executor->Submit(&urgent); }).join();
      }
      return end;
    };
    job.finish = [&](Worker&) {
      before_end = urgent_runs;
      both.Drop();
    };
    executor->Submit(&job);
    while (both.left() > 0) std::this_thread::yield();
    EXPECT_EQ(before_end, 0);
    executor->Shutdown();
  }
}

TEST(MustInterruptTest, WorkStopsForTheDeadlineOfItsThreadAndForUrgentJobs) {
  const auto executor = Make(OptionsOf(0));
  EXPECT_FALSE(executor->MustInterrupt({}));  // An ordinary thread.
  FunctionsJob urgent;
  urgent.lane = 7;
  FunctionsJob other;
  other.finish = [&](Worker&) {
    EXPECT_FALSE(executor->MustInterrupt({.lane = 3}));
    std::thread([&] { executor->Submit(&urgent); }).join();
    EXPECT_TRUE(executor->MustInterrupt({.lane = 3}));
    EXPECT_FALSE(executor->MustInterrupt({.lane = 7}));
  };
  FunctionsJob last;
  const int64_t deadline_ns = NowNs() + 1'000'000;
  last.finish = [&](Worker&) {
    while (!HasPassed(deadline_ns)) std::this_thread::yield();
    EXPECT_TRUE(executor->MustInterrupt({.lane = 7}));
  };
  {
    Executor::HelpingCaller helper(*executor);
    urgent.finish = [&](Worker&) { helper.Notify(); };
    executor->Submit(&other);
    EXPECT_TRUE(helper.WaitUntilNotified(kInfiniteFuture));
    executor->Submit(&last);
    EXPECT_FALSE(helper.WaitUntilNotified(deadline_ns));
  }
  executor->Shutdown();
}

// Threads of an application, which has only `limit` of them.
struct Threads {
  uint32_t limit = 0;
  uint32_t created = 0;
  uint32_t joined = 0;
  static bool Create(void* user_data, uint32_t, const char*, void (*run)(void*),
                     void* argument, void** thread) {
    auto* self = static_cast<Threads*>(user_data);
    if (self->created == self->limit) return false;
    ++self->created;
    *thread = new std::thread(run, argument);
    return true;
  }
  static void Join(void* user_data, void* thread) {
    ++static_cast<Threads*>(user_data)->joined;
    auto* own = static_cast<std::thread*>(thread);
    own->join();
    delete own;
  }
};

TEST(HooksTest, WorkersRunOnTheApplicationsThreads) {
  for (uint32_t limit : {1, 3, 5}) {
    Threads threads{limit};
    Executor::Options options = OptionsOf(5);
    options.hooks = {&threads, &Threads::Create, &Threads::Join};
    Ref<Executor> executor = Make(options);
    // The threads that started do the work of all.
    EXPECT_EQ(executor->worker_count(), limit);
    Countdown jobs_left(1);
    FunctionsJob job;
    job.finish = [&](Worker&) { jobs_left.Drop(); };
    job.tile_count = 1000;
    std::atomic<uint32_t> tiles{0};
    job.run = [&](uint32_t begin, uint32_t end, Worker& worker) {
      EXPECT_LE(worker.index, limit);
      tiles += end - begin;
      return end;
    };
    executor->Submit(&job);
    EXPECT_TRUE(jobs_left.Wait(*executor));
    EXPECT_EQ(tiles, 1000u);
    executor->Shutdown();
    EXPECT_EQ(threads.joined, limit);
  }
}

TEST(HooksTest, CreateFailsIfTheApplicationHasNoThread) {
  Threads threads;
  Executor::Options options = OptionsOf(2);
  options.hooks = {&threads, &Threads::Create, &Threads::Join};
  EXPECT_EQ(Executor::Create(options).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(threads.joined, 0u);
}

TEST(PlacementTest, APlacementNeedsOneEntryForEachWorker) {
  Executor::Options options = OptionsOf(2);
  options.placement = OneEach(3);
  EXPECT_EQ(Executor::Create(options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(PlacementTest, ARefusedPlacementIsReportedAndTheOthersHold) {
  Executor::Options options = OptionsOf(2);
  options.placement.resize(2);
  options.placement[0].Add(CpuSet::kMaxCpus - 1);
  options.placement[1].Add(
      static_cast<uint32_t>(topology::AllowedCpus().Next(0)));
  Ref<Executor> executor = Make(options);
  Countdown jobs_left(1);
  FunctionsJob job;
  job.finish = [&](Worker&) { jobs_left.Drop(); };
  job.tile_count = 100;
  executor->Submit(&job);
  EXPECT_TRUE(jobs_left.Wait(*executor));
  executor->Shutdown();
  const ExecutorStatistics statistics = executor->statistics();
  EXPECT_NE(statistics.workers[0].thread.affinity_error, 0);
  EXPECT_EQ(statistics.workers[1].thread.affinity_error, 0);
  EXPECT_EQ(statistics.workers[1].thread.cpus.ToString(),
            options.placement[1].ToString());
}

// A random graph: each node a job of some tiles, lane and affinity, that is
// submitted by the last of its predecessors to finish. Checks that each tile
// runs once, after all that the node depends on, and where it may.
class Graph {
 public:
  Graph(Executor& executor, uint64_t seed, uint32_t node_count,
        const std::vector<const WorkerSet*>& affinities)
      : nodes_left(node_count), executor_(executor) {
    Random random(seed);
    for (uint32_t i = 0; i < node_count; ++i) {
      auto node = std::make_unique<Node>(*this, i);
      node->tile_count = 1 + random.Below(random.Below(8) == 0 ? 200 : 4);
      node->lane = static_cast<uint8_t>(random.Below(kLaneCount));
      node->expected_tile_ns = random.Below(3) == 0 ? 0 : random.Below(30'000);
      node->sequential = random.Below(6) == 0;
      node->local_bytes = random.Below(5000);
      node->allowed =
          affinities[random.Below(static_cast<uint32_t>(affinities.size()))];
      nodes_.push_back(std::move(node));
      for (uint32_t n = random.Below(4); n > 0 && i > 0; --n) {
        nodes_[random.Below(i)]->successors.push_back(i);
        ++nodes_[i]->predecessors_left;
      }
    }
  }

  void Run() {
    std::vector<Node*> roots;
    for (auto& node : nodes_) {
      if (node->predecessors_left == 0) roots.push_back(node.get());
    }
    for (Node* root : roots) executor_.Submit(root);
  }
  void Check() const {
    EXPECT_EQ(nodes_left.left(), 0u);
    for (const auto& node : nodes_) {
      ASSERT_EQ(node->tiles_run, node->tile_count);
      ASSERT_EQ(node->finished, 1);
      ASSERT_EQ(node->wrong, 0);
    }
  }

  Countdown nodes_left;
  std::atomic<bool> may_run_anywhere{false};

 private:
  struct Node final : Job {
    Node(Graph& its_graph, uint32_t) : graph(its_graph) {}
    uint32_t RunTiles(uint32_t begin, uint32_t end, Worker& worker) override {
      if (predecessors_left != 0 || finished != 0) ++wrong;
      if (worker.local_bytes < local_bytes) ++wrong;
      if (allowed != nullptr && !allowed->Contains(worker.index) &&
          !graph.may_run_anywhere) {
        ++wrong;
      }
      do ++tiles_run;
      while (++begin < end && !worker.IsPreempted());
      return begin;
    }
    void Finish(Worker&) override {
      ++finished;
      for (const uint32_t successor : successors) {
        Node& next = *graph.nodes_[successor];
        if (next.predecessors_left.fetch_sub(1) == 1) {
          graph.executor_.Submit(&next);
        }
      }
      graph.nodes_left.Drop();
    }
    Graph& graph;
    std::vector<uint32_t> successors;
    std::atomic<int> predecessors_left{0};
    std::atomic<uint32_t> tiles_run{0};
    std::atomic<int> finished{0};
    std::atomic<int> wrong{0};
  };
  Executor& executor_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

struct Machine {
  const char* json;  // Null: no topology.
  uint32_t workers;
  int64_t spin_ns = 0;
  bool backup_threads = false;
};
class StressTest : public ::testing::TestWithParam<Machine> {};

TEST_P(StressTest, RandomGraphsOnPretendedMachines) {
  const Machine& machine = GetParam();
  Executor::Options options = OptionsOf(machine.workers);
  options.spin_ns = machine.spin_ns;
  options.backup_threads = machine.backup_threads;
  absl::StatusOr<topology::Topology> topology;
  if (machine.json != nullptr) {
    topology = topology::Topology::FromJson(machine.json);
    ASSERT_TRUE(topology.ok()) << topology.status();
    options.topology = &*topology;
    options.placement = OneEach(machine.workers);
  }
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Ref<Executor> executor = Make(options);
    std::vector<const WorkerSet*> affinities = {nullptr, nullptr};
    if (machine.workers > 1 && machine.json != nullptr) {
      affinities.push_back(*executor->FindAffinity(CpuSet::FromMask(1)));
      affinities.push_back(*executor->FindAffinity(
          CpuSet::FromMask((1ull << machine.workers / 2) - 1)));
    }
    Graph first(*executor, seed, 400, affinities);
    Graph second(*executor, seed + 100, 300, affinities);
    std::thread other([&] {
      second.Run();
      EXPECT_TRUE(second.nodes_left.Wait(*executor));
    });
    first.Run();
    if (seed % 3 == 0) {  // In the middle of everything.
      other.join();
      first.may_run_anywhere = true;  // What is left then.
      executor->Shutdown();
    } else {
      EXPECT_TRUE(first.nodes_left.Wait(*executor));
      other.join();
    }
    first.Check();
    second.Check();
    executor->Shutdown();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Machines, StressTest,
    ::testing::Values(Machine{nullptr, 0}, Machine{nullptr, 1},
                      Machine{nullptr, 2}, Machine{nullptr, 2, 100'000},
                      Machine{R"({"clusters":[{"cpus":"0-3"},{"cpus":"4-7"}]})",
                              8},
                      Machine{R"({"clusters":[{"cpus":"0-1","numa_node":0},
                                {"cpus":"2-3","numa_node":1,"package":1}]})",
                              4},
                      Machine{nullptr, 2, 0, true},
                      Machine{R"({"clusters":[{"cpus":"0-3"}]})", 4, 0, true}));

TEST(StressTest, ShutdownWhileOthersSubmit) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Ref<Executor> executor = Make(OptionsOf(1 + seed % 4));
    Graph graph(*executor, seed, 100, {nullptr});
    std::thread submits([&] { graph.Run(); });
    executor->Shutdown();
    submits.join();
    EXPECT_TRUE(graph.nodes_left.Wait(*executor));
    graph.Check();
  }
}

}  // namespace
}  // namespace takt::exec
