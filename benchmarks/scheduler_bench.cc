// Measures a decision for a given number of ready operations, on a board of two
// clusters and an NPU. One operation finishes, its job ends, another job is
// released, and the scheduler decides which operations start. An iteration is
// one such round with all of these calls.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sched/scheduler.h"

namespace takt::sched {
namespace {

template <typename T>
T Value(absl::StatusOr<T> result) {
  if (!result.ok()) std::abort();
  return *std::move(result);
}

Machine Board() {
  Machine machine;
  machine.pools = {{"big", ResourceKind::kCore, 4, -1, 0},
                   {"little", ResourceKind::kCore, 4, -1, 0},
                   {"npu", ResourceKind::kNpu, 1, 0, 1}};
  return machine;
}

void BM_Decide(benchmark::State& state, const char* policy) {
  SchedulerOptions options;
  options.policy = FindPolicy(policy);
  options.aging_ns = 0;
  auto scheduler = Value(Scheduler::Create(Board(), options));
  std::vector<StreamId> streams;
  for (uint32_t i = 0; i < 8; ++i) {
    const int64_t base_ns = 100'000 * (i + 1);
    const KernelId kernel = Value(scheduler->AddKernel(
        {1, i, {1, 1, 1}}, {{0, 1, base_ns, 10'000},
                            {0, 2, base_ns * 6 / 10, 10'000},
                            {0, 4, base_ns * 4 / 10, 10'000},
                            {1, 1, base_ns * 5 / 4, 10'000},
                            {1, 4, base_ns / 2, 10'000},
                            {2, 1, base_ns / 4, 0}}));
    StreamOptions terms;
    terms.program = Value(scheduler->AddProgram({{{kernel, {}}}}));
    terms.deadline_ns = 10'000'000'000;
    terms.priority = static_cast<uint8_t>(100 + i % 3);
    if (i % 2 == 1) terms.pools = 0b011;
    streams.push_back(Value(scheduler->AddStream(terms)));
  }
  Random random(1);
  int64_t now_ns = 0;
  std::vector<Decision> decisions;
  std::vector<OperationId> running;
  const auto decide = [&] {
    decisions.clear();
    scheduler->Decide(now_ns, &decisions);
    for (const Decision& decision : decisions) {
      if (decision.kind == DecisionKind::kStart) {
        running.push_back(decision.operation);
      }
    }
  };
  for (int64_t i = 0; i < state.range(0) + 8; ++i) {
    scheduler->Release(streams[random.Below(8)], now_ns, 0, now_ns);
  }
  decide();
  for (auto _ : state) {
    now_ns += 1000;
    const uint32_t which = random.Below(static_cast<uint32_t>(running.size()));
    std::swap(running[which], running.back());
    scheduler->Finished(running.back(), now_ns);
    running.pop_back();
    while (static_cast<int64_t>(scheduler->waiting_count()) <
           state.range(0) + 1) {
      scheduler->Release(streams[random.Below(8)], now_ns, 0, now_ns);
    }
    decide();
  }
  state.counters["waiting"] = scheduler->waiting_count();
}

BENCHMARK_CAPTURE(BM_Decide, job_shop, "job-shop")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000);
BENCHMARK_CAPTURE(BM_Decide, edf, "edf")->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK_CAPTURE(BM_Decide, heft, "heft")->Arg(10)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace takt::sched

BENCHMARK_MAIN();
