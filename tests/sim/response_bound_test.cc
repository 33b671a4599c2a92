// Goal: what AnalyseResponses() bounds is never exceeded. Method: random
// workloads on random machines, played with the scheduler while nothing takes
// longer than its 99 % quantile; TAKT_SIM_RUNS=100000 makes it long, and a
// failure prints the seed that plays it again.
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "plan/response_analysis.h"
#include "sim/simulation.h"

namespace takt::sim {
namespace {

using plan::AnalyseResponses;
using plan::ResponseBound;

Workload RandomWorkload(uint64_t seed) {
  Random random(seed);
  const auto pick = [&](uint32_t least, uint32_t most) {
    return least + random.Below(most - least + 1);
  };
  Workload workload;
  const uint32_t cores = pick(1, 4);
  workload.machine.pools = {{"a", sched::ResourceKind::kCore, cores, -1, 0}};
  if (pick(0, 1) == 1) {
    workload.machine.pools.push_back(
        {"b", sched::ResourceKind::kCore, pick(1, 2), -1, 0});
  }
  if (pick(0, 2) == 0) {
    workload.machine.pools.push_back(
        {"n", sched::ResourceKind::kNpu, 1, 0, pick(0, 1)});
  }
  for (uint32_t k = 0; k < 3; ++k) {
    Kernel kernel;
    kernel.name = absl::StrCat("k", k);
    for (uint32_t p = 0; p < workload.machine.pools.size(); ++p) {
      const bool is_npu =
          workload.machine.pools[p].kind == sched::ResourceKind::kNpu;
      sched::AlternativeOptions way;
      way.pool = p;
      way.shards = is_npu ? 1 : pick(1, workload.machine.pools[p].count);
      way.guess_ns = pick(20'000, 400'000);
      way.sample_count = 100;
      way.q90_ns = way.guess_ns + pick(0, 50'000);
      way.q99_ns = way.q90_ns + pick(0, 100'000);
      way.tile_ns = is_npu || pick(0, 2) == 0 ? 0 : pick(5'000, 20'000);
      kernel.alternatives.push_back(way);
    }
    workload.kernels.push_back(kernel);
  }
  const uint32_t stream_count = pick(1, 4);
  for (uint32_t s = 0; s < stream_count; ++s) {
    plan::Program program;
    program.name = absl::StrCat("p", s);
    const uint32_t size = pick(1, 4);
    for (uint32_t i = 0; i < size; ++i) {
      sched::ProgramOperation operation;
      operation.kernel = pick(0, 2);
      for (uint32_t before = 0; before < i; ++before) {
        if (pick(0, 1) == 1) operation.after.push_back(before);
      }
      program.operations.push_back(operation);
    }
    workload.programs.push_back(program);
    Stream stream;
    stream.name = absl::StrCat("s", s);
    stream.terms.program = s;
    stream.terms.period_ns = pick(2'000'000, 20'000'000);
    stream.terms.deadline_ns = stream.terms.period_ns;
    stream.terms.criticality = static_cast<sched::Criticality>(pick(0, 2));
    stream.terms.priority = static_cast<uint8_t>(pick(127, 129));
    stream.asks_admission = pick(0, 1) == 1;
    stream.offset_ns = pick(0, 2'000'000);
    stream.jitter_ns = pick(0, 1) * pick(0, 500'000);
    if (s > 0 && pick(0, 3) == 0) {
      stream.arrival = Arrival::kAfter;
      stream.after = s - 1;
    } else if (pick(0, 5) == 0) {
      stream.arrival = Arrival::kClosed;
      stream.terms.criticality = sched::Criticality::kBestEffort;
    }
    workload.streams.push_back(stream);
  }
  workload.noise = 0.3;
  workload.is_within_q99 = true;
  workload.power_mw.assign(workload.machine.pools.size(), 0);
  return workload;
}

uint64_t RunCount() {
  const char* text = std::getenv("TAKT_SIM_RUNS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 300;
}

TEST(ResponseBoundTest, IsNeverExceeded) {
  uint64_t bounded = 0;
  const uint64_t runs = RunCount();
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    const Workload workload = RandomWorkload(seed);
    const auto bounds = AnalyseResponses(workload);
    ASSERT_TRUE(bounds.ok()) << bounds.status();
    SimulationOptions options;
    options.seed = seed;
    options.length_ns = 200'000'000;
    const auto report = Simulate(workload, options);
    ASSERT_TRUE(report.ok()) << report.status();
    for (size_t i = 0; i < bounds->size(); ++i) {
      const ResponseBound& bound = (*bounds)[i];
      if (!bound.has_bound()) {
        EXPECT_FALSE(bound.reason.empty());
        continue;
      }
      ++bounded;
      const auto& responses = report->streams[i].responses_ns;
      if (responses.empty()) continue;
      EXPECT_LE(responses.back(), bound.bound_ns)
          << "seed " << seed << ", stream " << bound.stream;
    }
  }
  // The test is about something.
  EXPECT_GT(bounded, runs / 4);
}

}  // namespace
}  // namespace takt::sim
