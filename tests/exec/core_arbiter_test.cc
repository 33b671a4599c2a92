// Cores among processes: which process gets them, and what happens when a
// process dies, hangs, or damages the file. Arbiters and executors of one
// process stand for processes where none has to die.
#include "exec/core_arbiter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "exec/executor.h"
#include "topology/topology.h"

namespace takt::exec {
namespace {

constexpr int64_t kLimitNs = 20'000'000'000;
constexpr uint32_t kUrgentLane = 7;

bool WaitFor(const std::function<bool()>& condition) {
  const int64_t limit_ns = NowNs() + kLimitNs;
  while (!condition()) {
    if (NowNs() > limit_ns) return false;
    usleep(100);
  }
  return true;
}

class CoreArbiterTest : public ::testing::Test {
 protected:
  CoreArbiterTest()
      : path_(::testing::TempDir() + "/takt_cores_" +
              std::to_string(getpid())) {
    unlink(path_.c_str());
  }
  ~CoreArbiterTest() override { unlink(path_.c_str()); }

  std::unique_ptr<CoreArbiter> Join(uint64_t cpus = 3, uint32_t share = 0) {
    return Join(CpuSet::FromMask(cpus), share);
  }
  std::unique_ptr<CoreArbiter> Join(const CpuSet& cpus, uint32_t share = 0) {
    auto arbiter = CoreArbiter::Join(path_, cpus, share);
    EXPECT_TRUE(arbiter.ok()) << arbiter.status();
    return arbiter.ok() ? *std::move(arbiter) : nullptr;
  }
  Ref<Executor> MakeExecutor(uint32_t worker_count) {
    Executor::Options options;
    options.worker_count = worker_count;
    options.cores_path = path_;
    auto executor = Executor::Create(options);
    EXPECT_TRUE(executor.ok()) << executor.status();
    return *executor;
  }
  // Waits until `a` may run so many threads, while all keep their claims.
  static bool WaitForLimit(uint32_t limit, CoreArbiter& a,
                           const std::vector<CoreArbiter*>& others = {}) {
    return WaitFor([&] {
      for (CoreArbiter* const other : others) other->Poll(1);
      a.Poll(1);
      return a.limit() == limit;
    });
  }

  const std::string path_;
};

TEST_F(CoreArbiterTest, UrgentClaimsTakeCoresAndGiveThemBack) {
  const auto vision = Join();
  const auto policy = Join();
  vision->Add(1, 2, kInfiniteFuture);
  EXPECT_TRUE(WaitForLimit(CoreGrant::kNoLimit, *vision, {policy.get()}));
  policy->Add(kUrgentLane, 1, kInfiniteFuture);
  EXPECT_TRUE(WaitForLimit(1, *vision, {policy.get()}));
  EXPECT_EQ(vision->lane(), 1u);
  EXPECT_EQ(policy->limit(), CoreGrant::kNoLimit);
  EXPECT_EQ(vision->statistics().peer_count, 1u);
  policy->Add(kUrgentLane, 1, kInfiniteFuture);
  EXPECT_TRUE(WaitForLimit(0, *vision, {policy.get()}));
  policy->Remove(kUrgentLane, 2);
  policy->BecomeIdle();
  EXPECT_TRUE(WaitForLimit(CoreGrant::kNoLimit, *vision));
  vision->Remove(1, 2);
}

TEST_F(CoreArbiterTest, OtherCoresAreNoMatter) {
  const auto a = Join(/*cpus=*/3);
  const auto b = Join(/*cpus=*/12);
  const auto c = Join(/*cpus=*/6);
  a->Add(1, 2, kInfiniteFuture);
  b->Add(kUrgentLane, 2, kInfiniteFuture);
  c->Add(kUrgentLane, 2, kInfiniteFuture);
  // `c` finds one of its two cores outside of those of `a`.
  EXPECT_TRUE(WaitForLimit(1, *a, {b.get(), c.get()}));
}

TEST_F(CoreArbiterTest, AShareGoesBeforeBestEffort) {
  const auto shared = Join(/*cpus=*/3, /*share=*/500);
  const auto other = Join();
  shared->Add(0, 2, kInfiniteFuture);
  other->Add(1, 2, kInfiniteFuture);
  EXPECT_TRUE(WaitForLimit(0, *other, {shared.get()}));
  // Two threads use up a share of one core.
  EXPECT_TRUE(WaitFor([&] {
    shared->Poll(2);
    other->Poll(1);
    return other->limit() == CoreGrant::kNoLimit;
  }));
  shared->Remove(0, 2);
}

TEST_F(CoreArbiterTest, AProcessThatDiesOrHangsLosesItsCores) {
  for (const bool dies : {true, false}) {
    const auto arbiter = Join();
    arbiter->Add(1, 2, kInfiniteFuture);
    const pid_t child = fork();
    if (child == 0) {
      auto own = CoreArbiter::Join(path_, CpuSet::FromMask(3), 0);
      if (!own.ok()) _exit(1);
      (*own)->Add(kUrgentLane, 2, kInfiniteFuture);
      while (true) {
        (*own)->Poll(1);
        usleep(500);
      }
    }
    EXPECT_TRUE(WaitForLimit(0, *arbiter));
    const uint64_t before = arbiter->statistics().taken_back_count;
    kill(child, dies ? SIGKILL : SIGSTOP);
    EXPECT_TRUE(WaitForLimit(CoreGrant::kNoLimit, *arbiter));
    EXPECT_GE(arbiter->statistics().taken_back_count, before + 1);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST_F(CoreArbiterTest, NobodyIsKeptFromAllCoresForever) {
  const auto greedy = Join();
  const auto arbiter = Join();
  greedy->Add(kUrgentLane, 100, kInfiniteFuture);
  arbiter->Add(1, 2, kInfiniteFuture);
  EXPECT_TRUE(WaitForLimit(0, *arbiter, {greedy.get()}));
  EXPECT_TRUE(WaitForLimit(1, *arbiter, {greedy.get()}));
  EXPECT_TRUE(WaitForLimit(0, *arbiter, {greedy.get()}));
}

// Counts the tiles that run now.
class RunningTilesJob : public Job {
 public:
  RunningTilesJob(Executor& executor, uint32_t tiles, uint8_t job_lane,
                  std::function<void()> tile)
      : executor_(executor), tile_(std::move(tile)) {
    lane = job_lane;
    tile_count = tiles;
    expected_tile_ns = 100'000;
  }
  uint32_t RunTiles(uint32_t begin, uint32_t end, Worker&) override {
    for (uint32_t i = begin; i < end; ++i) {
      running.fetch_add(1);
      tile_();
      running.fetch_sub(1);
      tiles_done.fetch_add(1);
    }
    return end;
  }
  void Finish(Worker&) override { is_done.store(true); }
  void Start() {
    is_done = false;
    executor_.Submit(this);
  }
  bool Wait() {
    return WaitFor([&] { return is_done.load(); });
  }

  std::atomic<int> running{0};
  std::atomic<uint64_t> tiles_done{0};
  std::atomic<bool> is_done{false};

 private:
  Executor& executor_;
  const std::function<void()> tile_;
};

void Spin(int64_t ns) {
  const int64_t end_ns = NowNs() + ns;
  while (NowNs() < end_ns) {
  }
}

TEST_F(CoreArbiterTest, AnExecutorGivesItsCoresToUrgentWorkOfAnother) {
  const uint32_t count = Executor::AvailableConcurrency();
  const Ref<Executor> vision = MakeExecutor(count);
  const Ref<Executor> policy = MakeExecutor(count);
  std::atomic<bool> ends{false};
  RunningTilesJob frames(*vision, 1'000'000, 1, [&] {
    if (!ends) Spin(100'000);
  });
  frames.Start();
  ASSERT_TRUE(WaitFor([&] { return frames.tiles_done > 10; }));
  std::atomic<bool> had_all{false};
  RunningTilesJob control(*policy, 64, kUrgentLane, [&] {
    const int64_t end_ns = NowNs() + 1'000'000;
    while (NowNs() < end_ns && !had_all) {
      if (frames.running == 0) had_all = true;
    }
  });
  EXPECT_TRUE(WaitFor([&] {
    control.Start();
    EXPECT_TRUE(control.Wait());
    return had_all && vision->statistics().cores.yield_count > 0;
  }));
  EXPECT_EQ(vision->statistics().cores.peer_count, 1u);
  // Vision goes on when policy is idle.
  const uint64_t before = frames.tiles_done;
  EXPECT_TRUE(WaitFor([&] { return frames.tiles_done > before + 10; }));
  ends = true;
  EXPECT_TRUE(frames.Wait());
  vision->Shutdown();
  policy->Shutdown();
}

// Another process has all cores but one, as long as `has` is true.
void HoldAllCoresButOne(CoreArbiter& arbiter, const std::atomic<bool>& has) {
  const uint32_t count = Executor::AvailableConcurrency() - 1;
  arbiter.Add(kUrgentLane, count, kInfiniteFuture);
  while (has) {
    arbiter.Poll(count);
    usleep(1000);
  }
  arbiter.Remove(kUrgentLane, count);
  arbiter.BecomeIdle();
}

TEST_F(CoreArbiterTest, JobsWakeNoThreadsThatHaveNoCore) {
  const uint32_t count = Executor::AvailableConcurrency();
  if (count < 2) {
    GTEST_SKIP() << "needs two cores";
  }
  const auto urgent = Join(topology::AllowedCpus());
  std::atomic<bool> has_cores{true};
  std::thread process([&] { HoldAllCoresButOne(*urgent, has_cores); });
  const Ref<Executor> vision = MakeExecutor(count);
  RunningTilesJob layer(*vision, 8, 1, [] { Spin(20'000); });
  // Some threads yield at the beginning, or where the machine stops the other
  // process. If a job woke them all, every round would have a yield for a job.
  EXPECT_TRUE(WaitFor([&] {
    const uint64_t before = vision->statistics().cores.yield_count;
    for (int i = 0; i < 100; ++i) {
      layer.Start();
      EXPECT_TRUE(layer.Wait());
    }
    return vision->statistics().cores.yield_count - before < 20;
  }));

  // Threads that were held back come when their cores are free.
  std::atomic<bool> ends{false};
  std::atomic<bool> had_all{false};
  RunningTilesJob frames(*vision, 1'000'000, 1, [&] {
    if (!ends) Spin(100'000);
    if (frames.running == static_cast<int>(count)) had_all = true;
  });
  frames.Start();
  EXPECT_TRUE(WaitFor([&] { return frames.tiles_done > 100; }));
  had_all = false;
  has_cores = false;
  EXPECT_TRUE(WaitFor([&] { return had_all.load(); }));
  ends = true;
  EXPECT_TRUE(frames.Wait());
  process.join();
  vision->Shutdown();
}

// Runs until the executor wants its thread for something else.
class OwnRangesJob : public Job {
 public:
  OwnRangesJob(Executor& executor, uint8_t job_lane) : executor_(executor) {
    lane = job_lane;
  }
  uint32_t RunTiles(uint32_t, uint32_t end, Worker&) override {
    is_running.store(true);
    while (!ends && !executor_.EndRange(*this)) Spin(20'000);
    return end;
  }
  void Finish(Worker&) override { is_done.store(true); }

  std::atomic<bool> is_running{false};
  std::atomic<bool> is_done{false};
  std::atomic<bool> ends{false};

 private:
  Executor& executor_;
};

TEST_F(CoreArbiterTest, AJobThatRunsItsTilesByItselfGivesItsCoreAway) {
  const auto urgent = Join(topology::AllowedCpus());
  const Ref<Executor> vision = MakeExecutor(1);
  OwnRangesJob layer(*vision, 1);
  vision->Submit(&layer);
  EXPECT_TRUE(WaitFor([&] { return layer.is_running.load(); }));
  const uint32_t count = Executor::AvailableConcurrency();
  urgent->Add(kUrgentLane - 1, count, kInfiniteFuture);
  const auto gives_way = [&] {
    urgent->Poll(count);
    return layer.is_done.load();
  };
  EXPECT_TRUE(WaitFor(gives_way));
  layer.ends = true;
  EXPECT_TRUE(WaitFor(gives_way));

  // But not below what is less urgent.
  OwnRangesJob control(*vision, kUrgentLane);
  vision->Submit(&control);
  EXPECT_TRUE(WaitFor([&] { return control.is_running.load(); }));
  for (int i = 0; i < 100; ++i) {
    urgent->Poll(count);
    Spin(20'000);
  }
  EXPECT_FALSE(control.is_done);
  control.ends = true;
  EXPECT_TRUE(WaitFor([&] { return control.is_done.load(); }));
  urgent->Remove(kUrgentLane - 1, count);
  vision->Shutdown();
}

// A program that runs until it is interrupted.
class LongProgram : public Closure {
 public:
  LongProgram(Executor& executor, uint8_t program_lane)
      : Closure(&LongProgram::Run), executor_(executor) {
    lane = program_lane;
  }

  std::atomic<bool> is_running{false};
  std::atomic<bool> is_done{false};
  std::atomic<bool> ends{false};

 private:
  static void Run(Closure* closure, Worker&) {
    auto& self = *static_cast<LongProgram*>(closure);
    self.is_running = true;
    while (!self.ends && !self.executor_.MustInterrupt(self)) Spin(20'000);
    self.is_done = true;
  }

  Executor& executor_;
};

TEST_F(CoreArbiterTest, AProgramClaimsItsCoreUntilItEnds) {
  const auto vision = Join(topology::AllowedCpus());
  const Ref<Executor> robot = MakeExecutor(1);
  LongProgram planner(*robot, kUrgentLane);
  robot->Submit(&planner);
  EXPECT_TRUE(WaitFor([&] { return planner.is_running.load(); }));
  const uint32_t count = Executor::AvailableConcurrency();
  vision->Add(1, count, kInfiniteFuture);
  // Beyond the time for which claims stay after their jobs.
  Spin(10 * CoreArbiter::kHoldNs);
  EXPECT_TRUE(WaitForLimit(count - 1, *vision));
  EXPECT_FALSE(planner.is_done);
  planner.ends = true;
  EXPECT_TRUE(WaitForLimit(CoreGrant::kNoLimit, *vision));
  vision->Remove(1, count);
  robot->Shutdown();
}

TEST_F(CoreArbiterTest, AProgramGivesItsCoreAway) {
  const auto urgent = Join(topology::AllowedCpus());
  const Ref<Executor> robot = MakeExecutor(1);
  LongProgram logger(*robot, 1);
  robot->Submit(&logger);
  EXPECT_TRUE(WaitFor([&] { return logger.is_running.load(); }));
  const uint32_t count = Executor::AvailableConcurrency();
  urgent->Add(kUrgentLane, count, kInfiniteFuture);
  EXPECT_TRUE(WaitFor([&] {
    urgent->Poll(count);
    return logger.is_done.load();
  }));
  logger.ends = true;
  urgent->Remove(kUrgentLane, count);
  robot->Shutdown();
}

// As work does that its stream's share has raised.
TEST_F(CoreArbiterTest, AJobThatGoesFirstInItsProcessDisplacesNoOther) {
  const uint32_t count = Executor::AvailableConcurrency();
  const auto soft = Join(topology::AllowedCpus());
  soft->Add(4, count, kInfiniteFuture);
  const Ref<Executor> logs = MakeExecutor(1);
  std::atomic<bool> ends{false};
  RunningTilesJob tiles(*logs, 1'000'000, 6, [&] {
    if (!ends) Spin(20'000);
  });
  tiles.core_lane_max = 1;
  for (const uint32_t lent : {4u, 6u, 7u}) {
    tiles.SetRaised(static_cast<int32_t>(lent));
    EXPECT_EQ(tiles.core_lane(), lent);
    EXPECT_EQ(tiles.lane_now(), std::max(lent, 6u));
  }
  tiles.SetRaised(Job::kNotRaised);
  tiles.Start();
  ASSERT_TRUE(WaitFor([&] {
    soft->Poll(count);
    return logs->statistics().cores.peer_count == 1;
  }));
  for (int i = 0; i < 100; ++i) {
    Spin(2 * CoreArbiter::kLookNs);
    soft->Poll(count);
    EXPECT_EQ(soft->limit(), CoreGrant::kNoLimit);
  }
  EXPECT_TRUE(WaitFor([&] {
    soft->Poll(count);
    return tiles.is_done || logs->statistics().cores.yield_count > 0;
  }));
  EXPECT_FALSE(tiles.is_done);
  ends = true;
  soft->Remove(4, count);
  soft->BecomeIdle();
  EXPECT_TRUE(tiles.Wait());

  OwnRangesJob layer(*logs, 6);
  layer.core_lane_max = 1;
  logs->Submit(&layer);
  EXPECT_TRUE(WaitFor([&] { return layer.is_running.load(); }));
  soft->Add(4, count, kInfiniteFuture);
  EXPECT_TRUE(WaitFor([&] {
    soft->Poll(count);
    return layer.is_done.load();
  }));
  layer.ends = true;
  soft->Remove(4, count);
  logs->Shutdown();
}

TEST_F(CoreArbiterTest, ACallerThatHelpsGivesItsCoreAway) {
  const Ref<Executor> vision = MakeExecutor(0);
  const Ref<Executor> policy = MakeExecutor(1);
  std::atomic<bool> ends{false};
  std::atomic<bool> yielded{false};
  std::thread caller([&] {
    RunningTilesJob frames(*vision, 1'000'000, 1, [&] {
      if (!ends) Spin(100'000);
      yielded = yielded || vision->statistics().cores.yield_count > 0;
    });
    Executor::HelpingCaller wait(*vision);
    frames.Start();
    while (!frames.is_done) wait.WaitUntilNotified(NowNs() + 1'000'000);
  });
  RunningTilesJob control(*policy, 64, kUrgentLane, [] { Spin(200'000); });
  EXPECT_TRUE(WaitFor([&] {
    control.Start();
    EXPECT_TRUE(control.Wait());
    // One worker leaves room if there are more cores.
    return yielded || Executor::AvailableConcurrency() > 1;
  }));
  ends = true;
  caller.join();
  policy->Shutdown();
}

// Runs jobs of random lanes, one after the other, for ever or until `ends`.
void RunJobs(const std::string& path, uint32_t seed,
             const std::atomic<bool>* ends, std::atomic<uint64_t>* job_count) {
  Executor::Options options;
  options.worker_count = 2;
  options.cores_path = path;
  options.cores_share_permille = seed % 2 == 0 ? 0 : 300;
  auto executor = Executor::Create(options);
  if (!executor.ok()) {
    ADD_FAILURE() << executor.status();
    return;
  }
  std::mt19937 random(seed);
  while (ends == nullptr || !ends->load()) {
    RunningTilesJob job(**executor, 1 + random() % 30,
                        static_cast<uint8_t>(random() % kLaneCount),
                        [] { Spin(20'000); });
    job.can_be_raised = random() % 4 == 0;
    if (random() % 3 == 0) job.deadline_ns = NowNs() + random() % 1'000'000;
    job.Start();
    if (job.can_be_raised) (*executor)->Raise(&job, kUrgentLane);
    const int64_t begin_ns = NowNs();
    if (!job.Wait()) {
      ADD_FAILURE() << "a job has not ended after "
                    << (NowNs() - begin_ns) / 1'000'000 << " ms";
      return;
    }
    job_count->fetch_add(1);
  }
  (*executor)->Shutdown();
}

// A peer that writes anything into the file, or cuts it off, delays the others
// and does no more.
TEST_F(CoreArbiterTest, ADamagedFileDelaysAndNoMore) {
  std::atomic<bool> ends{false};
  std::atomic<uint64_t> job_counts[2] = {};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] { RunJobs(path_, i, &ends, &job_counts[i]); });
  }
  EXPECT_TRUE(WaitFor([&] { return job_counts[0] > 0 && job_counts[1] > 0; }));
  const int fd = open(path_.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  std::mt19937_64 random(11);
  for (int i = 0; i < 2000; ++i) {
    uint64_t word = random() % 2 == 0 ? random() : ~uint64_t{0};
    if (random() % 3 == 0) word = static_cast<uint64_t>(NowNs());
    const auto at =
        static_cast<off_t>(random() % ((64 + sizeof(CoreFile::Slots)) / 8) * 8);
    if (random() % 50 == 0) {
      ASSERT_EQ(ftruncate(fd, at), 0);
    } else {
      ASSERT_EQ(pwrite(fd, &word, sizeof(word), at), 8);
    }
    if (i % 10 == 0) usleep(500);
  }
  close(fd);
  for (std::atomic<uint64_t>& job_count : job_counts) {
    const uint64_t before = job_count;
    EXPECT_TRUE(WaitFor([&] { return job_count > before + 3; }));
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

// Processes that are killed or stopped at any time. TAKT_STRESS_SECONDS: how
// long.
class CoreArbiterStressTest : public CoreArbiterTest,
                              public testing::WithParamInterface<int> {};

TEST_P(CoreArbiterStressTest, ProcessesAreKilledAtRandom) {
  const char* const given = std::getenv("TAKT_STRESS_SECONDS");
  const int64_t end_ns =
      NowNs() + (given != nullptr ? std::atoll(given) : 1) * 1'000'000'000;
  const int process_count = GetParam();
  auto* const job_counts = static_cast<std::atomic<uint64_t>*>(
      mmap(nullptr, sizeof(std::atomic<uint64_t>) * process_count,
           PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(job_counts, MAP_FAILED);
  std::mt19937 random(5);
  std::vector<pid_t> children(process_count, 0);
  const auto start = [&](int i) {
    const auto seed = static_cast<uint32_t>(random());
    children[i] = fork();
    if (children[i] == 0) {
      RunJobs(path_, seed, nullptr, &job_counts[i]);
      _exit(1);
    }
  };
  const auto end = [&](int i) {
    kill(children[i], SIGKILL);
    int status = 0;
    EXPECT_EQ(waitpid(children[i], &status, 0), children[i]);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "it ended by itself";
  };
  for (int i = 0; i < process_count; ++i) start(i);
  uint64_t kill_count = 0;
  while (NowNs() < end_ns) {
    usleep(random() % 20'000);
    const int victim = static_cast<int>(random() % process_count);
    if (random() % 4 == 0) {
      kill(children[victim], SIGSTOP);
      usleep(random() % 80'000);
      kill(children[victim], SIGCONT);
      continue;
    }
    end(victim);
    start(victim);
    ++kill_count;
  }
  // Those that are left go on.
  for (int i = 0; i < process_count; ++i) {
    const uint64_t before = job_counts[i];
    EXPECT_TRUE(WaitFor([&] { return job_counts[i] > before + 3; })) << i;
  }
  uint64_t sum = 0;
  for (int i = 0; i < process_count; ++i) {
    sum += job_counts[i];
    end(i);
  }
  std::printf("%llu kills, %llu jobs\n",
              static_cast<unsigned long long>(kill_count),
              static_cast<unsigned long long>(sum));
  munmap(job_counts, sizeof(std::atomic<uint64_t>) * process_count);
}

INSTANTIATE_TEST_SUITE_P(Processes, CoreArbiterStressTest,
                         testing::Values(2, 4));

}  // namespace
}  // namespace takt::exec
