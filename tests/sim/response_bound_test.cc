// Goal: no response exceeds the bound of AnalyseResponses(). Method: random
// workloads on random machines, played with the scheduler while no operation
// takes longer than its 99 % quantile. TAKT_SIM_RUNS=100000 makes the test
// long; a failure prints the seed that plays it again.
#include <cstdlib>
#include <string>

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
    WorkloadKernel kernel;
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
    plan::WorkloadProgram program;
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
    WorkloadStream stream;
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

// The same with more ways to run each operation, jobs that are asked for faster
// than they can be done, dropped, or come only now and then, and streams that
// are kept to a part of the machine.
Workload RoughWorkload(uint64_t seed) {
  Workload workload = RandomWorkload(seed);
  Random random(~seed);
  for (WorkloadKernel& kernel : workload.kernels) {
    for (size_t i = 0, size = kernel.alternatives.size(); i < size; ++i) {
      sched::AlternativeOptions wider = kernel.alternatives[i];
      if (random.Below(2) == 0) continue;
      wider.shards += 1 + random.Below(2);
      if (wider.shards > workload.machine.pools[wider.pool].count) continue;
      for (int64_t* time_ns : {&wider.guess_ns, &wider.q90_ns, &wider.q99_ns}) {
        *time_ns = *time_ns * 2 / 3;
      }
      kernel.alternatives.push_back(wider);
    }
    if (random.Below(4) == 0) kernel.alternatives.resize(1);
  }
  for (size_t i = 0; i < workload.streams.size(); ++i) {
    WorkloadStream& stream = workload.streams[i];
    if (random.Below(2) == 0) stream.terms.period_ns /= 3;
    stream.terms.deadline_ns =
        stream.terms.period_ns / 4 * (2 + random.Below(4));
    stream.terms.late =
        static_cast<sched::LatePolicy>(random.Below(2) * random.Below(4));
    if (stream.arrival == Arrival::kAfter) {
      stream.after = random.Below(static_cast<uint32_t>(i));
      if (random.Below(2) == 0) stream.probability = 0.7;
    } else if (random.Below(8) == 0) {
      stream.arrival = Arrival::kOnce;
      stream.count = 1 + random.Below(4);
    }
    if (random.Below(4) == 0) stream.terms.affinity.Add(0);
    if (random.Below(8) == 0) stream.terms.lease = sched::LeaseScope::kJob;
  }
  return workload;
}

// The same with shares and weights.
Workload Shared(Workload workload, uint64_t seed) {
  Random random(~seed);
  for (WorkloadStream& stream : workload.streams) {
    if (stream.terms.criticality != sched::Criticality::kHard &&
        random.Below(2) == 0) {
      stream.terms.share_permille = 1 + random.Below(250);
    }
    if (random.Below(2) == 0) {
      stream.terms.weight = 1 + random.Below(sched::kWeightMax);
    }
  }
  return workload;
}

sched::SchedulerOptions RoughOptions(uint64_t seed) {
  sched::SchedulerOptions scheduler;
  if (seed % 2 == 0) scheduler.aging_ns = 1'000'000 * (1 + seed % 23);
  return scheduler;
}

uint64_t RunCount() {
  const char* text = std::getenv("TAKT_SIM_RUNS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 300;
}

// How many streams have a bound. Nothing of a workload that cannot be set up.
uint64_t ExpectNoneIsExceeded(const Workload& workload, uint64_t seed,
                              const sched::SchedulerOptions& scheduler = {}) {
  SimulationOptions options;
  options.scheduler = scheduler;
  options.seed = seed;
  options.length_ns = 200'000'000;
  const auto bounds = AnalyseResponses(workload, scheduler);
  const auto report = Simulate(workload, options);
  EXPECT_EQ(bounds.ok(), report.ok())
      << "seed " << seed << ": " << bounds.status() << report.status();
  if (!bounds.ok() || !report.ok()) return 0;
  uint64_t bounded = 0;
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
  return bounded;
}

TEST(ResponseBoundTest, IsNeverExceeded) {
  uint64_t bounded = 0;
  const uint64_t runs = RunCount();
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    bounded += ExpectNoneIsExceeded(RandomWorkload(seed), seed);
  }
  // The test covers enough streams.
  EXPECT_GT(bounded, runs / 4);
}

TEST(ResponseBoundTest, IsNeverExceededByIrregularWorkloads) {
  uint64_t bounded = 0;
  const uint64_t runs = RunCount();
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    bounded +=
        ExpectNoneIsExceeded(RoughWorkload(seed), seed, RoughOptions(seed));
  }
  EXPECT_GT(bounded, runs / 8);
}

// The streams before a promised stream are bounded, but it follows a stream
// that waits for one without a bound.
TEST(ResponseBoundTest, IsNotExceededBesideShares) {
  uint64_t bounded = 0;
  const uint64_t runs = RunCount();
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    bounded += ExpectNoneIsExceeded(Shared(RandomWorkload(seed), seed), seed);
    bounded += ExpectNoneIsExceeded(Shared(RoughWorkload(seed), seed), seed,
                                    RoughOptions(seed));
  }
  EXPECT_GT(bounded, runs / 4);
}

TEST(ResponseBoundTest, HasNoBoundBehindAStreamWithoutOne) {
  for (const uint64_t seed :
       {2784,  3644,  5183,  17110, 28433, 36104, 44563,
        47250, 47860, 48694, 50523, 59856, 62302, 63660,
        66698, 67816, 68608, 71955, 77338, 81632, 88460}) {
    const Workload workload = RandomWorkload(seed);
    ExpectNoneIsExceeded(workload, seed);
    const auto bounds = AnalyseResponses(workload);
    ASSERT_TRUE(bounds.ok()) << bounds.status();
    bool was_refused = false;
    for (size_t i = 0; i < bounds->size(); ++i) {
      const WorkloadStream& stream = workload.streams[i];
      if (stream.arrival != Arrival::kAfter) continue;
      if ((*bounds)[stream.after].has_bound()) continue;
      EXPECT_FALSE((*bounds)[i].has_bound()) << "seed " << seed;
      was_refused |= (*bounds)[i].reason.find("which it follows, has none") !=
                     std::string::npos;
    }
    EXPECT_TRUE(was_refused) << "seed " << seed;
  }
}

// One core, and two streams that need three quarters of it each.
TEST(ResponseBoundTest, ReportsTheLoadOfAnOverloadedMachine) {
  Workload workload;
  workload.machine.pools = {{"a", sched::ResourceKind::kCore, 1, -1, 0}};
  WorkloadKernel kernel;
  kernel.name = "k";
  sched::AlternativeOptions way;
  way.shards = 1;
  way.guess_ns = way.q90_ns = way.q99_ns = 750'000;
  way.sample_count = 100;
  kernel.alternatives.push_back(way);
  workload.kernels.push_back(kernel);
  plan::WorkloadProgram program;
  program.name = "p";
  program.operations.emplace_back();
  workload.programs.push_back(program);
  for (const char* name : {"first", "second"}) {
    WorkloadStream stream;
    stream.name = name;
    stream.terms.program = 0;
    stream.terms.period_ns = stream.terms.deadline_ns = 1'000'000;
    workload.streams.push_back(stream);
  }
  workload.power_mw = {0};
  const auto bounds = AnalyseResponses(workload);
  ASSERT_TRUE(bounds.ok()) << bounds.status();
  ASSERT_EQ(bounds->size(), 2u);
  // The one says how much; the other, that the first has no bound.
  std::string reasons;
  for (const ResponseBound& bound : *bounds) {
    EXPECT_FALSE(bound.has_bound());
    absl::StrAppend(&reasons, bound.reason, "; ");
  }
  EXPECT_NE(reasons.find("it and what may go before it ask for 15"),
            std::string::npos)
      << reasons;
  EXPECT_NE(reasons.find(" % of the 1 place that it has"), std::string::npos)
      << reasons;
}

// Any job may go before a demoted one.
TEST(ResponseBoundTest, HasNoBoundIfTheStreamMayBeDemoted) {
  const uint64_t seed = 4630;
  const Workload workload = RoughWorkload(seed);
  ASSERT_EQ(workload.streams[1].terms.late, sched::LatePolicy::kDemote);
  ExpectNoneIsExceeded(workload, seed, RoughOptions(seed));
  const auto bounds = AnalyseResponses(workload, RoughOptions(seed));
  ASSERT_TRUE(bounds.ok()) << bounds.status();
  EXPECT_FALSE((*bounds)[1].has_bound());
  EXPECT_NE((*bounds)[1].reason.find("demoted"), std::string::npos)
      << (*bounds)[1].reason;
}

// A job that goes before others only once it has aged blocks them until then.
TEST(ResponseBoundTest, CountsJobsThatHaveNotAgedAsBlocking) {
  for (const uint64_t seed : {83366, 93431}) {
    const Workload workload = RoughWorkload(seed);
    ExpectNoneIsExceeded(workload, seed, RoughOptions(seed));
  }
  const auto bounds = AnalyseResponses(RoughWorkload(93431));
  ASSERT_TRUE(bounds.ok()) << bounds.status();
  // An operation of the stream that is released again and again.
  EXPECT_EQ((*bounds)[0].blocking_ns, 504'246);
}

}  // namespace
}  // namespace takt::sim
