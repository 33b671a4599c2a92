// Goal: a stream gets its share of any 100 ms in which it asks for it, hard
// jobs lose nothing by that, and best-effort streams divide the rest by their
// weights. Method: runs in virtual time; a meter that shares no code with the
// scheduler looks at every window.
//
// TAKT_SIM_RUNS and TAKT_SIM_SEED: as in invariants_test.cc.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "sim/simulation.h"
#include "tests/sim/test_support.h"

namespace takt::sim {
namespace {

using sched::Criticality;
using sched::Decision;
using sched::DecisionKind;

constexpr int64_t kWindowNs = 100 * kMs;

// When each stream ran, and on how many resources.
class ShareMeter : public Observer {
 public:
  void OnDecision(int64_t now_ns, const Decision& decision) override {
    if (decision.kind != DecisionKind::kStart) return;
    starts_ns_[decision.operation.index] = now_ns;
  }
  void OnStop(int64_t now_ns, const Decision& start, uint32_t) override {
    const int64_t begin_ns = starts_ns_[start.operation.index];
    const int64_t count = start.resources.count();
    std::map<int64_t, int64_t>& steps = steps_[start.stream];
    steps[begin_ns] += count;
    steps[now_ns] -= count;
  }

  // What the stream used up to that time, of all its resources together.
  int64_t UsedBy(uint32_t stream, int64_t at_ns) {
    std::map<int64_t, Use>& uses = uses_[stream];
    if (uses.empty()) {
      Use use;
      uses[0] = use;
      for (const auto& [step_ns, change] : steps_[stream]) {
        use.used_ns += use.count * (step_ns - use.since_ns);
        use.count += change;
        use.since_ns = step_ns;
        uses[step_ns] = use;
      }
    }
    const Use& use = std::prev(uses.upper_bound(at_ns))->second;
    return use.used_ns + use.count * (at_ns - use.since_ns);
  }

  // The instants at which some stream starts or stops.
  std::vector<int64_t> Instants(int64_t begin_ns, int64_t end_ns) const {
    std::set<int64_t> instants = {begin_ns, end_ns};
    for (const auto& [stream, steps] : steps_) {
      for (const auto& [step_ns, change] : steps) {
        if (step_ns > begin_ns && step_ns < end_ns) instants.insert(step_ns);
      }
    }
    return {instants.begin(), instants.end()};
  }

  // The least that the stream used of any window between the times. It is found
  // where a window begins or ends with a step.
  int64_t Least(uint32_t stream, int64_t begin_ns, int64_t end_ns) {
    std::vector<int64_t> begins;
    for (const int64_t step_ns : Instants(begin_ns, end_ns)) {
      begins.push_back(step_ns);
      begins.push_back(step_ns - kWindowNs);
    }
    int64_t least_ns = kInfiniteFuture;
    for (const int64_t at_ns : begins) {
      if (at_ns < begin_ns || at_ns + kWindowNs > end_ns) continue;
      least_ns = std::min(
          least_ns, UsedBy(stream, at_ns + kWindowNs) - UsedBy(stream, at_ns));
    }
    return least_ns;
  }

 private:
  // From then on it uses so many, and has used that much before.
  struct Use {
    int64_t since_ns = 0;
    int64_t used_ns = 0;
    int64_t count = 0;
  };

  std::map<uint32_t, int64_t> starts_ns_;  // By operation.
  // By stream: changes of the number of its resources, and what follows from
  // them after the run.
  std::map<uint32_t, std::map<int64_t, int64_t>> steps_;
  std::map<uint32_t, std::map<int64_t, Use>> uses_;
};

Workload SharedCores(uint32_t count) {
  Workload workload;
  workload.name = "shares";
  workload.machine.pools = {
      {"cores", sched::ResourceKind::kCore, count, -1, 0}};
  return workload;
}

// A stream of single operations; without a period, so many jobs at once that
// it never pauses.
WorkloadStream& Add(Workload* workload, Criticality criticality,
                    int64_t duration_ns, int64_t tile_ns,
                    int64_t period_ns = 0) {
  const auto index = static_cast<uint32_t>(workload->kernels.size());
  const std::string name = "s" + std::to_string(index);
  workload->kernels.push_back({name, {{0, 1, duration_ns, tile_ns}}});
  workload->programs.push_back({name, {{index, {}}}});
  WorkloadStream stream;
  stream.name = name;
  stream.terms.program = index;
  stream.terms.criticality = criticality;
  stream.terms.period_ns = period_ns;
  if (period_ns > 0) {
    stream.terms.deadline_ns = period_ns;
  } else {
    stream.arrival = Arrival::kOnce;
    stream.count = 10'000;
  }
  workload->streams.push_back(stream);
  return workload->streams.back();
}

Report Play(const Workload& workload, int64_t length_ns, ShareMeter* meter,
            uint64_t seed = 1) {
  SimulationOptions options;
  // What waits for a second would otherwise count as hard.
  options.scheduler.aging_ns = 0;
  options.length_ns = length_ns;
  options.seed = seed;
  options.observer = meter;
  auto report = Simulate(workload, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return *std::move(report);
}

// A hard stream with a fifth of each core, two that never pause, and a logger
// that comes after them.
Workload SaturatedBy(uint32_t cores, Criticality criticality,
                     uint32_t share_permille) {
  Workload workload = SharedCores(cores);
  for (uint32_t i = 0; i < cores; ++i) {
    Add(&workload, Criticality::kHard, 1 * kMs, 0, 5 * kMs);
  }
  Add(&workload, criticality, 7 * kMs, kMs / 10).terms.priority = 200;
  Add(&workload, Criticality::kBestEffort, 3 * kMs, kMs / 10).terms.priority =
      150;
  WorkloadStream& logger =
      Add(&workload, Criticality::kBestEffort, 2 * kMs, kMs / 10);
  logger.terms.priority = 1;
  logger.terms.share_permille = share_permille;
  return workload;
}

TEST(SharesTest, AFifthOfAnyHundredMillisecondsBesideASaturatingStream) {
  for (const Criticality others :
       {Criticality::kBestEffort, Criticality::kSoft}) {
    for (const uint32_t cores : {1u, 2u, 5u}) {
      SCOPED_TRACE(cores);
      const int64_t length_ns = 3'000 * kMs;
      ShareMeter without;
      const Report before =
          Play(SaturatedBy(cores, others, 0), length_ns, &without);
      EXPECT_EQ(without.UsedBy(cores + 2, length_ns), 0);
      ShareMeter meter;
      const Report report =
          Play(SaturatedBy(cores, others, 200), length_ns, &meter);
      const int64_t share_ns = kWindowNs / 5 * cores;
      EXPECT_GE(meter.Least(cores + 2, 0, length_ns - 10 * kMs), share_ns);
      // Not much more: the others get the rest.
      EXPECT_LE(meter.UsedBy(cores + 2, length_ns), share_ns * 30 * 118 / 100);
      for (uint32_t i = 0; i < cores; ++i) {
        EXPECT_EQ(report.streams[i].missed, 0u);
        EXPECT_EQ(report.streams[i].met, before.streams[i].met);
        EXPECT_LE(report.streams[i].quantile_ns(1),
                  before.streams[i].quantile_ns(1) + kMs / 10);
      }
    }
  }
}

TEST(SharesTest, WhatIsNotAskedForIsNotKept) {
  Workload workload = SaturatedBy(1, Criticality::kSoft, 200);
  // It asks from 500 ms on, for 40 ms of work.
  workload.streams[3].offset_ns = 500 * kMs;
  workload.streams[3].count = 20;
  ShareMeter meter;
  Play(workload, 1'000 * kMs, &meter);
  EXPECT_EQ(meter.UsedBy(3, 500 * kMs), 0);
  EXPECT_GE(meter.UsedBy(3, 600 * kMs), 20 * kMs);
  EXPECT_LE(meter.UsedBy(3, 580 * kMs), 22 * kMs);  // And one operation.
  EXPECT_EQ(meter.UsedBy(3, 1'000 * kMs), 40 * kMs);
  // The core is never idle: 20 % hard jobs, the rest the stream before it.
  EXPECT_GE(meter.UsedBy(1, 990 * kMs),
            990 * kMs - 198 * kMs - 40 * kMs - 5 * kMs);
}

// Random hard loads up to a fifth of each core, and shares up to 35 %: then
// hard jobs take less than 10 ms of the time in which it catches up.
void PlayOneOfShares(uint64_t seed) {
  Random random(seed);
  const uint32_t cores = 1 + random.Below(4);
  Workload workload = SharedCores(cores);
  workload.noise = random.Below(3) * 0.1;
  for (uint32_t i = 0; i < cores; ++i) {
    const int64_t period_ns = 2 * kMs + random.Below(10'000'000);
    Add(&workload, Criticality::kHard, period_ns / 8, kMs / 20, period_ns);
  }
  const uint32_t others = 1 + random.Below(3);
  for (uint32_t i = 0; i < others; ++i) {
    WorkloadStream& other = Add(
        &workload,
        random.Below(2) == 0 ? Criticality::kSoft : Criticality::kBestEffort,
        kMs + random.Below(20'000'000), kMs / 20);
    other.terms.priority = static_cast<uint8_t>(random.Below(256));
  }
  WorkloadStream& shared =
      Add(&workload,
          random.Below(2) == 0 ? Criticality::kSoft : Criticality::kBestEffort,
          kMs / 2 + random.Below(5'000'000), kMs / 20);
  shared.terms.share_permille = 10 + random.Below(340);
  shared.offset_ns = random.Below(200'000'000);
  ShareMeter meter;
  const int64_t length_ns = 1'000 * kMs;
  const Report report = Play(workload, length_ns, &meter, seed);
  const std::string replay =
      "TAKT_SIM_RUNS=1 TAKT_SIM_SEED=" + std::to_string(seed);
  const int64_t share_ns =
      kWindowNs * shared.terms.share_permille * cores / 1000;
  EXPECT_GE(meter.Least(cores + others, shared.offset_ns, length_ns - 20 * kMs),
            share_ns)
      << replay;
  for (uint32_t i = 0; i < cores; ++i) {
    EXPECT_EQ(report.streams[i].missed, 0u) << replay;
  }
}

TEST(SharesTest, HoldInRandomRuns) {
  const uint64_t first = FromEnvironment("TAKT_SIM_SEED", 1);
  const uint64_t runs = FromEnvironment("TAKT_SIM_RUNS", 30);
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    PlayOneOfShares(seed);
    if (testing::Test::HasFailure()) return;
  }
}

// The bound of start-time fair queueing: what two streams used, divided by
// their weights, differs by at most an operation of each, so divided, in any
// time in which both wait.
void WeighOne(uint64_t seed) {
  Random random(seed);
  Workload workload = SharedCores(1);
  const uint32_t streams = 2 + random.Below(3);
  std::vector<double> quanta_ns;
  for (uint32_t i = 0; i < streams; ++i) {
    const int64_t duration_ns = kMs / 10 + random.Below(5'000'000);
    WorkloadStream& stream =
        Add(&workload, Criticality::kBestEffort, duration_ns,
            random.Below(2) == 0 ? 0 : kMs / 20);
    stream.terms.weight = i == 0 ? 0 : 1 + random.Below(20);
    quanta_ns.push_back(static_cast<double>(duration_ns) /
                        std::max(stream.terms.weight, 1u));
  }
  // A hard stream interrupts them.
  if (random.Below(2) == 0) Add(&workload, Criticality::kHard, kMs, 0, 7 * kMs);
  ShareMeter meter;
  const int64_t length_ns = 300 * kMs;
  Play(workload, length_ns, &meter, seed);
  const auto served = [&](uint32_t stream, int64_t at_ns) {
    return static_cast<double>(meter.UsedBy(stream, at_ns)) /
           std::max(workload.streams[stream].terms.weight, 1u);
  };
  for (uint32_t a = 0; a < streams; ++a) {
    for (uint32_t b = a + 1; b < streams; ++b) {
      double least = 0;
      double most = 0;
      for (const int64_t at_ns : meter.Instants(0, length_ns - 10 * kMs)) {
        const double difference = served(a, at_ns) - served(b, at_ns);
        least = std::min(least, difference);
        most = std::max(most, difference);
      }
      EXPECT_LE(most - least, quanta_ns[a] + quanta_ns[b] + 1000)
          << "TAKT_SIM_RUNS=1 TAKT_SIM_SEED=" << seed;
    }
  }
}

TEST(SharesTest, WeightsDivideWhatIsLeft) {
  const uint64_t first = FromEnvironment("TAKT_SIM_SEED", 1);
  const uint64_t runs = FromEnvironment("TAKT_SIM_RUNS", 50);
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    WeighOne(seed);
    if (testing::Test::HasFailure()) return;
  }
}

// Each is away for an instant when its job is done.
TEST(SharesTest, StreamsOfOneJobAtATimeHaveTheirWeights) {
  Workload workload = SharedCores(1);
  for (const uint32_t weight : {6, 3, 1}) {
    WorkloadStream& stream = Add(&workload, Criticality::kBestEffort,
                                 kMs + kMs * weight / 3, kMs / 20);
    stream.terms.weight = weight;
    stream.arrival = Arrival::kClosed;
  }
  ShareMeter meter;
  Play(workload, 2'000 * kMs, &meter);
  const auto used = [&](uint32_t stream) {
    return static_cast<double>(meter.UsedBy(stream, 1'990 * kMs));
  };
  EXPECT_NEAR(used(0) / used(2), 6, 0.3);
  EXPECT_NEAR(used(1) / used(2), 3, 0.15);
}

// A stream of the same pool runs by its share on another core.
TEST(SharesTest, AShareIsNoWeight) {
  Workload workload = SharedCores(2);
  for (const uint32_t weight : {3, 1}) {
    WorkloadStream& stream =
        Add(&workload, Criticality::kBestEffort, kMs + kMs * weight, kMs / 20);
    stream.terms.weight = weight;
    stream.terms.affinity = sched::ResourceSet::Range(1, 1);
    stream.arrival = Arrival::kClosed;
  }
  Add(&workload, Criticality::kSoft, 7 * kMs, kMs / 10).terms.affinity =
      sched::ResourceSet::Range(0, 1);
  WorkloadStream& shared =
      Add(&workload, Criticality::kBestEffort, 2 * kMs, kMs / 10);
  shared.terms.share_permille = 700;
  shared.terms.affinity = sched::ResourceSet::Range(0, 1);
  ShareMeter meter;
  Play(workload, 2'000 * kMs, &meter);
  EXPECT_GE(meter.Least(3, 0, 1'990 * kMs), kWindowNs * 7 / 10);
  EXPECT_NEAR(static_cast<double>(meter.UsedBy(0, 1'990 * kMs)) /
                  static_cast<double>(meter.UsedBy(1, 1'990 * kMs)),
              3, 0.15);
}

TEST(SharesTest, WeightsDivideWhatSharesLeave) {
  Workload workload = SharedCores(2);
  Add(&workload, Criticality::kBestEffort, 2 * kMs, kMs / 10)
      .terms.share_permille = 400;
  Add(&workload, Criticality::kBestEffort, kMs, kMs / 10).terms.weight = 3;
  Add(&workload, Criticality::kBestEffort, 2 * kMs, kMs / 10).terms.weight = 1;
  for (WorkloadStream& stream : workload.streams) stream.count = 10'000;
  ShareMeter meter;
  const int64_t end_ns = 2'000 * kMs;
  Play(workload, end_ns + 10 * kMs, &meter);
  EXPECT_GE(meter.Least(0, 0, end_ns), kWindowNs * 2 * 4 / 10);
  const auto three = static_cast<double>(meter.UsedBy(1, end_ns));
  const auto one = static_cast<double>(meter.UsedBy(2, end_ns));
  EXPECT_NEAR(three / one, 3, 0.05);
}

}  // namespace
}  // namespace takt::sim
