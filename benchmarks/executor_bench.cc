// Compares the executor with oneTBB, if CMake found it, in one run:
//
//   executor_bench [threads...]     default: 1 and the CPUs of this process
//
//   chain, grid   ns for each of 40,000 empty operations of a prebuilt graph
//   tiles         ns for each tile of empty dispatches, even and skewed
//                 (both in turns with oneTBB: medians of times and ratios)
//   submit        one operation from its submission to a parked, or spinning,
//                 worker until it is done: median, p99, max; and the same
//                 for two threads without an executor
//   urgency       from the release of an urgent operation to its first tile
//                 while all workers run long ones: p50, p99.9, max, and the
//                 longest tile of the run
//   idle          CPU time of an idle executor in 10 s
//   scale         ns for each dispatch and tile with 1 to 64 workers
//
// All times are wall times: run it on a quiet machine.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/futex.h"
#include "exec/executor.h"

#if defined(TAKT_HAS_TBB)
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#endif

namespace takt::exec {
namespace {

constexpr uint32_t kOperations = 40'000;

Ref<Executor> Make(uint32_t threads, int64_t spin_ns = 0) {
  Executor::Options options;
  options.worker_count = threads;
  options.concurrency_max = threads;
  options.spin_ns = spin_ns;
  auto executor = Executor::Create(options);
  if (!executor.ok()) {
    std::fprintf(stderr, "%s\n", executor.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(executor);
}

// A graph of empty operations, built once and run many times.
class Graph {
 public:
  // The first node is the only one without predecessors, the last the only
  // one without successors.
  explicit Graph(uint32_t count) : nodes_(count) {
    for (Node& node : nodes_) node.graph = this;
  }
  void Edge(uint32_t from, uint32_t to) {
    Node& source = nodes_[from];
    source.successors[source.successor_count++] = &nodes_[to];
    nodes_[to].predecessors_left = ++nodes_[to].predecessor_count;
  }
  void Run(Executor& executor) {
    executor_ = &executor;
    sinks_left_.store(1, std::memory_order_release);
    executor.Submit(&nodes_[0]);
    executor.Flush();
    for (uint32_t left = sinks_left_.load(); left != 0;
         left = sinks_left_.load()) {
      sinks_left_.wait(left);
    }
  }

 private:
  struct Node final : Job {
    // As a runtime has learned it.
    Node() { expected_tile_ns = 1; }
    uint32_t RunTiles(uint32_t, uint32_t end, Worker&) override { return end; }
    void Finish(Worker&) override {
      Graph* const owner = graph;
      const uint32_t count = successor_count;
      // For the next run, before anyone can start it.
      predecessors_left.store(predecessor_count, std::memory_order_relaxed);
      for (uint32_t i = 0; i < count; ++i) {
        Node* const next = successors[i];
        if (next->predecessor_count == 1 ||
            next->predecessors_left.fetch_sub(1, std::memory_order_acq_rel) ==
                1) {
          owner->executor_->Submit(next);
        }
      }
      if (count == 0 && owner->sinks_left_.fetch_sub(1) == 1) {
        owner->sinks_left_.notify_all();
      }
    }
    Graph* graph = nullptr;
    Node* successors[2] = {};
    uint32_t successor_count = 0;
    uint32_t predecessor_count = 0;
    std::atomic<uint32_t> predecessors_left{0};
  };
  std::vector<Node> nodes_;
  Executor* executor_ = nullptr;
  std::atomic<uint32_t> sinks_left_{0};
};

std::unique_ptr<Graph> Chain() {
  auto graph = std::make_unique<Graph>(kOperations);
  for (uint32_t i = 1; i < kOperations; ++i) graph->Edge(i - 1, i);
  return graph;
}

std::unique_ptr<Graph> Grid() {
  constexpr uint32_t kSide = 200;
  auto graph = std::make_unique<Graph>(kSide * kSide);
  for (uint32_t y = 0; y < kSide; ++y) {
    for (uint32_t x = 0; x < kSide; ++x) {
      if (x + 1 < kSide) graph->Edge(y * kSide + x, y * kSide + x + 1);
      if (y + 1 < kSide) graph->Edge(y * kSide + x, (y + 1) * kSide + x);
    }
  }
  return graph;
}

int64_t TimeNs(const std::function<void()>& run) {
  const int64_t start = NowNs();
  run();
  return NowNs() - start;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Runs both in turns, so that both have the same clock rate, and prints their
// medians for each of `count` parts. The first turn warms up.
void Compare(const std::string& what, double count,
             const std::function<void()>& takt,
             const std::function<void()>& peer) {
  constexpr int kTurns = 15;
  // oneTBB's workers look for work for a while before they sleep.
  constexpr int kPauseUs = 2000;
  std::vector<double> takt_ns;
  std::vector<double> peer_ns;
  std::vector<double> ratios;
  for (int i = 0; i <= kTurns; ++i) {
    usleep(kPauseUs);
    const auto ours = static_cast<double>(TimeNs(takt)) / count;
    usleep(peer ? kPauseUs : 0);
    const double theirs =
        peer ? static_cast<double>(TimeNs(peer)) / count : ours;
    if (i == 0) continue;
    takt_ns.push_back(ours);
    peer_ns.push_back(theirs);
    ratios.push_back(ours / theirs);
  }
  std::printf("  %-20s takt %7.1f ns", what.c_str(), Median(takt_ns));
  if (peer) {
    std::printf("  oneTBB %7.1f ns  ratio %.2f", Median(peer_ns),
                Median(ratios));
  }
  std::printf("\n");
}

// Tiles that do nothing, but for a share of them that counts to 200.
struct TileJob final : Job {
  explicit TileJob(uint32_t count, bool skewed) : is_skewed(skewed) {
    tile_count = count;
  }
  static void Work(uint32_t tile, bool is_skewed) {
    if (!is_skewed || tile % 64 != 0) return;
    for (int i = 0; i < 200; ++i) asm volatile("");
  }
  uint32_t RunTiles(uint32_t begin, uint32_t end, Worker& worker) override {
    // Tiles as short as these are looked up from now and then only.
    constexpr uint32_t kBlock = 64;
    while (true) {
      const uint32_t stop = std::min(end, begin + kBlock);
      while (begin < stop) Work(begin++, is_skewed);
      if (begin == end || worker.IsPreempted()) return begin;
    }
  }
  void Finish(Worker&) override {
    done.store(1, std::memory_order_release);
    if (helper != nullptr) helper->Notify();
  }
  const bool is_skewed;
  std::atomic<int> done{0};
  Executor::HelpingCaller* helper = nullptr;
};

constexpr int kDispatches = 1000;

// Dispatches that take more than some 4 us are a series, as the regions of a
// command buffer are.
void Dispatch(Executor& executor, uint32_t tiles, bool is_skewed) {
  const int64_t tile_ns = is_skewed ? 4 : 1;  // As it is once learned.
  const bool is_series = tile_ns * tiles > 4'000;
  if (is_series) executor.BeginSeries(kNormalLane);
  for (int i = 0; i < kDispatches; ++i) {
    Executor::HelpingCaller helper(executor);
    TileJob job(tiles, is_skewed);
    job.helper = &helper;
    job.expected_tile_ns = tile_ns;
    executor.Submit(&job);
    helper.WaitUntilNotified(kInfiniteFuture);
  }
  if (is_series) executor.EndSeries();
}

// The best of several runs, the first of which warms up.
double TileNs(Executor& executor, uint32_t tiles) {
  const auto run = [&] { Dispatch(executor, tiles, false); };
  run();
  int64_t best = kInfiniteFuture;
  for (int i = 0; i < 5; ++i) best = std::min(best, TimeNs(run));
  return static_cast<double>(best) / kDispatches / tiles;
}

void PrintPercentiles(const char* what, std::vector<int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  const auto at = [&](double share) {
    return static_cast<double>(
               ns[static_cast<size_t>(share * (ns.size() - 1))]) /
           1000;
  };
  std::printf(
      "%-28s p50 %8.2f us  p99 %8.2f us  p99.9 %8.2f us  max %8.2f us\n", what,
      at(0.5), at(0.99), at(0.999), at(1));
}

void Submit(int64_t spin_ns, const char* what) {
  Ref<Executor> executor = Make(1, spin_ns);
  std::vector<int64_t> ns;
  for (int i = 0; i < 2000; ++i) {
    if (spin_ns == 0) {
      while (executor->statistics().awake_count != 0) {
      }
      usleep(50);  // It sleeps soon after.
    }
    TileJob job(1, false);
    const int64_t start = NowNs();
    executor->Submit(&job);
    while (job.done.load(std::memory_order_acquire) == 0) {
    }
    ns.push_back(NowNs() - start);
  }
  executor->Shutdown();
  PrintPercentiles(what, std::move(ns));
}

// What a thread that spins, or sleeps on a futex, takes to answer another one
// with nothing in between: the least that the two above can be here.
void Answer(bool spins, const char* what) {
  alignas(128) std::atomic<uint32_t> asked{0};
  alignas(128) std::atomic<uint32_t> answered{0};
  alignas(128) std::atomic<bool> is_asleep{false};
  constexpr uint32_t kRounds = 2000;
  std::thread other([&] {
    for (uint32_t i = 1; i <= kRounds; ++i) {
      while (asked.load(std::memory_order_acquire) != i) {
        if (spins) continue;
        is_asleep.store(true);
        FutexWait(&asked, i - 1, kInfiniteFuture);
        is_asleep.store(false);
      }
      answered.store(i, std::memory_order_release);
    }
  });
  std::vector<int64_t> ns;
  for (uint32_t i = 1; i <= kRounds; ++i) {
    if (!spins) {
      while (!is_asleep.load()) {
      }
      usleep(50);
    }
    const int64_t start = NowNs();
    asked.store(i, std::memory_order_release);
    if (!spins) FutexWake(&asked, 1);
    while (answered.load(std::memory_order_acquire) != i) {
    }
    ns.push_back(NowNs() - start);
  }
  other.join();
  PrintPercentiles(what, std::move(ns));
}

void Urgency(uint32_t threads, int releases) {
  constexpr int64_t kTileNs = 20'000;
  struct Long final : Job {
    uint32_t RunTiles(uint32_t begin, uint32_t end, Worker& worker) override {
      do {
        const int64_t start = NowNs();
        int64_t now = start;
        while (now - start < kTileNs) now = NowNs();
        int64_t known = longest->load(std::memory_order_relaxed);
        while (now - start > known &&
               !longest->compare_exchange_weak(known, now - start)) {
        }
      } while (++begin < end && !worker.IsPreempted());
      return begin;
    }
    void Finish(Worker&) override {
      if (!stop->load()) {
        executor->Submit(this);
      } else {
        left->fetch_sub(1);
      }
    }
    Executor* executor;
    std::atomic<bool>* stop;
    std::atomic<uint32_t>* left;
    std::atomic<int64_t>* longest;
  };
  struct Urgent final : Job {
    Urgent() { lane = kLaneCount - 1; }
    uint32_t RunTiles(uint32_t, uint32_t end, Worker&) override {
      begun_ns = NowNs();
      return end;
    }
    void Finish(Worker&) override { done.store(1, std::memory_order_release); }
    int64_t begun_ns = 0;
    std::atomic<int> done{0};
  };
  Ref<Executor> executor = Make(threads);
  std::atomic<bool> stop{false};
  std::atomic<uint32_t> left{threads + 1};
  std::atomic<int64_t> longest{0};
  std::vector<Long> jobs(threads + 1);
  for (Long& job : jobs) {
    job.tile_count = 1000;
    job.expected_tile_ns = kTileNs;
    job.executor = executor.get();
    job.stop = &stop;
    job.left = &left;
    job.longest = &longest;
    executor->Submit(&job);
  }
  std::vector<int64_t> ns;
  for (int i = 0; i < releases; ++i) {
    Urgent urgent;
    const int64_t start = NowNs();
    executor->Submit(&urgent);
    while (urgent.done.load(std::memory_order_acquire) == 0) usleep(50);
    ns.push_back(urgent.begun_ns - start);
  }
  stop = true;
  executor->Shutdown();
  PrintPercentiles("urgency", std::move(ns));
  std::printf("  longest tile %.2f us\n",
              static_cast<double>(longest.load()) / 1000);
}

void Idle() {
  Ref<Executor> executor = Make(2);
  TileJob job(1, false);
  executor->Submit(&job);
  while (executor->statistics().awake_count != 0) usleep(1000);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  sleep(10);
  getrusage(RUSAGE_SELF, &after);
  const auto us = [](const rusage& r) {
    return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1'000'000 +
           r.ru_utime.tv_usec + r.ru_stime.tv_usec;
  };
  std::printf("idle                         %ld us of CPU in 10 s\n",
              static_cast<long>(us(after) - us(before)));
  executor->Shutdown();
}

#if defined(TAKT_HAS_TBB)
// The same graphs and dispatches with oneTBB.
class Peer {
 public:
  explicit Peer(uint32_t threads)
      : limit_(tbb::global_control::max_allowed_parallelism,
               std::max(1u, threads)) {}

  std::function<void()> Graph(bool is_grid) {
    constexpr uint32_t kSide = 200;
    nodes_.clear();
    graph_.emplace();
    for (uint32_t i = 0; i < kOperations; ++i) {
      nodes_.push_back(std::make_unique<Node>(
          *graph_, [](const tbb::flow::continue_msg&) {}));
    }
    for (uint32_t i = 0; i < kOperations; ++i) {
      if (!is_grid) {
        if (i + 1 < kOperations) Edge(i, i + 1);
        continue;
      }
      if (i % kSide + 1 < kSide) Edge(i, i + 1);
      if (i + kSide < kOperations) Edge(i, i + kSide);
    }
    return [this] {
      nodes_[0]->try_put(tbb::flow::continue_msg());
      graph_->wait_for_all();
    };
  }
  std::function<void()> Tiles(uint32_t tiles, bool is_skewed) {
    return [tiles, is_skewed] {
      for (int i = 0; i < kDispatches; ++i) {
        tbb::parallel_for(0u, tiles, [is_skewed](uint32_t tile) {
          TileJob::Work(tile, is_skewed);
        });
      }
    };
  }

 private:
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  void Edge(uint32_t from, uint32_t to) {
    tbb::flow::make_edge(*nodes_[from], *nodes_[to]);
  }
  tbb::global_control limit_;
  std::optional<tbb::flow::graph> graph_;
  std::vector<std::unique_ptr<Node>> nodes_;
};
#else
class Peer {
 public:
  explicit Peer(uint32_t) {}
  std::function<void()> Graph(bool) { return nullptr; }
  std::function<void()> Tiles(uint32_t, bool) { return nullptr; }
};
#endif

void RunAll(uint32_t threads) {
  std::printf("-- %u threads\n", threads);
  Ref<Executor> executor = Make(threads);
  Peer peer(threads);
  for (const bool is_grid : {false, true}) {
    const std::unique_ptr<Graph> graph = is_grid ? Grid() : Chain();
    Compare(
        is_grid ? "grid" : "chain", kOperations, [&] { graph->Run(*executor); },
        peer.Graph(is_grid));
  }
  for (const uint32_t tiles : {1u, 64u, 4096u}) {
    for (const bool is_skewed : {false, true}) {
      char name[32];
      std::snprintf(name, sizeof(name), "tiles %4u %s", tiles,
                    is_skewed ? "skewed" : "even");
      Compare(
          name, static_cast<double>(kDispatches) * tiles,
          [&] { Dispatch(*executor, tiles, is_skewed); },
          peer.Tiles(tiles, is_skewed));
    }
  }
  executor->Shutdown();
}

}  // namespace
}  // namespace takt::exec

int main(int argc, char** argv) {
  using namespace takt::exec;  // NOLINT
  const uint32_t cpus = Executor::AvailableConcurrency();
  std::vector<uint32_t> threads;
  for (int i = 1; i < argc; ++i) {
    const int count = std::atoi(argv[i]);
    if (count < 1) {
      std::fprintf(stderr, "usage: executor_bench [threads...]\n");
      return 2;
    }
    threads.push_back(static_cast<uint32_t>(count));
  }
  if (threads.empty()) threads = {1, cpus};
  for (const uint32_t count : threads) RunAll(count);
  Submit(0, "submit to a parked worker");
  Answer(false, "  a futex, nothing else");
  Submit(1'000'000'000, "submit to a spinning worker");
  Answer(true, "  two words, nothing else");
  Urgency(cpus, 100'000);
  Idle();
  for (const uint32_t workers : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
    takt::Ref<Executor> executor = Make(workers);
    std::printf("scale %2u workers: dispatch %8.1f ns, tile of 4096 %6.2f ns\n",
                workers, TileNs(*executor, 1), TileNs(*executor, 4096));
    executor->Shutdown();
  }
  return 0;
}
