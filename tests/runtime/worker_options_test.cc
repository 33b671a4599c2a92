#include "runtime/worker_options.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/board_files.h"
#include "topology/topology.h"

namespace takt::runtime {
namespace {

using ::testing::HasSubstr;

// Two clusters of two CPUs, each a NUMA node.
topology::Topology Board() {
  topology::Topology board;
  for (uint32_t cpu = 0; cpu < 4; ++cpu) {
    topology::CpuInfo info;
    info.os_index = cpu;
    info.cluster = cpu / 2;
    info.numa_node = cpu / 2;
    board.cpus.push_back(info);
  }
  return board;
}

std::string ErrorOf(const absl::StatusOr<ResolvedWorkers>& workers) {
  EXPECT_EQ(workers.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(workers.status().message());
}

TEST(WorkerOptionsTest, DefaultsAreAWorkerForEachCpu) {
  const auto workers = ResolveWorkers(WorkerOptions(), nullptr);
  ASSERT_TRUE(workers.ok()) << workers.status();
  EXPECT_EQ(workers->options.worker_count,
            exec::Executor::AvailableConcurrency());
  EXPECT_EQ(workers->wanted_count, workers->options.worker_count);
  EXPECT_TRUE(workers->options.placement.empty());
}

TEST(WorkerOptionsTest, EachCpuGetsAWorkerUpToTheCount) {
  const topology::Topology board = Board();
  WorkerOptions options;
  options.cpus = "1-3";
  auto workers = ResolveWorkers(options, &board);
  ASSERT_TRUE(workers.ok()) << workers.status();
  EXPECT_EQ(workers->options.worker_count, 3u);
  EXPECT_TRUE(workers->options.placement[0].Contains(1));
  options.count = 2;
  workers = ResolveWorkers(options, &board);
  ASSERT_TRUE(workers.ok()) << workers.status();
  EXPECT_EQ(workers->options.worker_count, 2u);
  EXPECT_EQ(workers->wanted_count, 2u);
}

// Boards of tests/testdata/boards, as they are discovered.
TEST(WorkerOptionsTest, AnExecutorOfAClusterHasAWorkerOnEachOfItsCores) {
  for (const char* name :
       {"rk3588", "jetson_orin", "raspberry_pi5", "spacemit_k1"}) {
    const topology::Topology board = topology::BoardFiles(name).Discover();
    CpuSet all;
    for (size_t i = 0; i < board.clusters.size(); ++i) {
      ExecutorOptions options;
      options.cluster = static_cast<int32_t>(i);
      const auto workers = ResolveExecutor(options, board);
      ASSERT_TRUE(workers.ok()) << workers.status();
      CpuSet cpus;
      for (const CpuSet& place : workers->options.placement) {
        EXPECT_EQ(place.count(), 1u);
        place.ForEach([&](uint32_t cpu) { cpus.Add(cpu), all.Add(cpu); });
      }
      EXPECT_EQ(workers->options.worker_count, cpus.count());
      EXPECT_EQ(cpus, board.clusters[i].cpus) << name << ", cluster " << i;
    }
    EXPECT_EQ(all, board.cpu_set()) << name;
    ExecutorOptions absent;
    absent.cluster = static_cast<int32_t>(board.clusters.size());
    EXPECT_THAT(ErrorOf(ResolveExecutor(absent, board)), HasSubstr("cluster"));
  }
}

TEST(WorkerOptionsTest, MissingCpusAreReported) {
  const topology::Topology board = Board();
  WorkerOptions options;
  options.cpus = "3,8-9";
  options.count = 3;
  const auto workers = ResolveWorkers(options, &board);
  ASSERT_TRUE(workers.ok()) << workers.status();
  EXPECT_EQ(workers->options.worker_count, 1u);
  EXPECT_EQ(workers->wanted_count, 3u);
  EXPECT_EQ(workers->absent_cpus.ToString(), "8-9");
}

TEST(WorkerOptionsTest, ErrorsNameTheOption) {
  const topology::Topology board = Board();
  const auto error = [&](auto change) {
    WorkerOptions options;
    change(options);
    return ErrorOf(ResolveWorkers(options, &board));
  };
  EXPECT_THAT(error([](auto& o) { o.count = -2; }), HasSubstr("worker_count"));
  EXPECT_THAT(error([](auto& o) { o.count = 1025; }),
              HasSubstr("worker_count"));
  EXPECT_THAT(error([](auto& o) { o.spin_ns = -1; }),
              HasSubstr("worker_spin_ns"));
  EXPECT_THAT(error([](auto& o) { o.fifo_priority = kFifoPriorityMax + 1; }),
              HasSubstr("worker_fifo_priority"));
  EXPECT_THAT(error([](auto& o) {
                o.reservation = {2'000'000, 1'000'000};
              }),
              HasSubstr("worker_budget_ns: expected 1024 to worker_period_ns"));
  EXPECT_THAT(error([](auto& o) {
                o.reservation = {0, 1'000'000};
              }),
              HasSubstr("got 0 and 1000000"));
  EXPECT_THAT(error([](auto& o) {
                o.reservation = {5'000, int64_t{1} << 33};
              }),
              HasSubstr("worker_budget_ns"));
  EXPECT_THAT(error([](auto& o) {
                o.reservation = {1'000'000, 2'000'000};
                o.fifo_priority = 7;
              }),
              HasSubstr("a budget or a priority, got worker_fifo_priority 7"));
  EXPECT_THAT(error([](auto& o) { o.hooks.join = [](void*, void*) {}; }),
              HasSubstr("join without create"));
  EXPECT_THAT(error([](auto& o) { o.cpus = "one"; }), HasSubstr("worker_cpus"));
  EXPECT_THAT(error([](auto& o) { o.cpus = "8-9"; }),
              HasSubstr("none of \"8-9\" is among the CPUs 0-3"));
}

TEST(WorkerOptionsTest, AnExecutorTakesThePartThatAllOptionsName) {
  const topology::Topology board = Board();
  ExecutorOptions options;
  options.name = "part";
  options.cluster = 1;
  options.workers.cpus = "1-2";
  const auto workers = ResolveExecutor(options, board);
  ASSERT_TRUE(workers.ok()) << workers.status();
  EXPECT_EQ(workers->options.worker_count, 1u);
  EXPECT_TRUE(workers->options.placement[0].Contains(2));
  EXPECT_STREQ(workers->options.name, "part");
}

TEST(WorkerOptionsTest, AnExecutorWithoutCpusIsAnError) {
  const topology::Topology board = Board();
  ExecutorOptions options;
  options.cluster = 0;
  options.numa_node = 1;
  EXPECT_THAT(ErrorOf(ResolveExecutor(options, board)),
              HasSubstr("there are 0 (cluster 0, NUMA node 0)"));
  options = ExecutorOptions();
  options.workers.count = 0;
  EXPECT_THAT(ErrorOf(ResolveExecutor(options, board)),
              HasSubstr("expected 1 or more"));
  options = ExecutorOptions();
  options.name = "much_too_long";
  EXPECT_THAT(ErrorOf(ResolveExecutor(options, board)), HasSubstr("name"));
}

}  // namespace
}  // namespace takt::runtime
