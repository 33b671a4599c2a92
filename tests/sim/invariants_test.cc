// Goal: the scheduler keeps the promises of its header with any workload,
// machine and faults. Method: random runs, checked by an observer that shares
// no code with it.
//
// TAKT_SIM_RUNS=1000000 makes the run long; a failure prints its seed, and
// TAKT_SIM_SEED=n TAKT_SIM_RUNS=1 plays it again.
#include <string>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "gtest/gtest.h"
#include "sim/simulation.h"
#include "tests/sim/random_workload.h"
#include "tests/sim/test_support.h"
#include "tests/sim/watcher.h"

namespace takt::sim {
namespace {

// Every run has another policy, board and workload.
void PlayOneOfWindows(uint64_t seed, uint64_t* windows) {
  Random random(seed);
  const Workload workload = MakeRandomWorkload({}, random);
  const auto& names = sched::PolicyNames();
  SimulationOptions options;
  // Two runs in three have the default policy.
  const uint32_t choice = random.Below(static_cast<uint32_t>(names.size()) * 3);
  options.scheduler.policy =
      sched::FindPolicy(choice < names.size() ? names[choice] : "job-shop");
  options.scheduler.aging_ns = random.Below(3) * 1'000'000;
  options.scheduler.set_fewest_clusters(random.Below(4) == 0);
  options.seed = seed;
  options.length_ns = 20'000'000;
  options.drains = true;
  options.event_limit = 2'000'000;
  if (choice >= names.size() && seed % 8 == 5) {
    options.window_ns = 1'000'000 * (1 + random.Below(20));
  }
  Watcher watcher(workload);
  options.observer = &watcher;
  const auto report = Simulate(workload, options);
  const std::string replay =
      "TAKT_SIM_RUNS=1 TAKT_SIM_SEED=" + std::to_string(seed) + " policy " +
      options.scheduler.policy->name();
  ASSERT_TRUE(report.ok()) << report.status() << "\n" << replay;
  watcher.CheckEnd();
  *windows += watcher.windows_checked();
  ASSERT_TRUE(watcher.faults().empty()) << watcher.faults()[0] << "\n"
                                        << replay;
}

TEST(InvariantsTest, HoldInRandomRuns) {
  const uint64_t first = FromEnvironment("TAKT_SIM_SEED", 1);
  const uint64_t runs = FromEnvironment("TAKT_SIM_RUNS", 1000);
  uint64_t windows = 0;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    PlayOneOfWindows(seed, &windows);
    if (testing::Test::HasFatalFailure()) return;
  }
  if (runs >= 100) {
    EXPECT_GT(windows, runs);
  }
}

// A workload in which some streams ask for admission, without noise and faults.
Workload MakeAskingWorkload(Random& random) {
  RandomWorkloadOptions made;
  made.with_faults = false;
  Workload workload = MakeRandomWorkload(made, random);
  for (WorkloadStream& stream : workload.streams) {
    stream.asks_admission = random.Below(3) != 0;
    stream.terms.lease = sched::LeaseScope::kOperation;
    if (!stream.asks_admission) continue;
    stream.terms.criticality = sched::Criticality::kHard;
    stream.terms.share_permille = 0;
    stream.terms.period_ns *= 1 + random.Below(8);
    stream.terms.deadline_ns *= 1 + random.Below(8);
    stream.arrival = Arrival::kPeriodic;
    stream.jitter_ns = 0;
  }
  return workload;
}

absl::StatusOr<Report> SimulateAsking(uint64_t seed,
                                      SimulationOptions options) {
  Random random(seed);
  options.seed = seed;
  return Simulate(MakeAskingWorkload(random), options);
}

// A stream that was admitted misses no deadline, whatever other streams there
// are. A stream that misses deadlines alone at its fastest is not admitted.
void AskOne(uint64_t seed, uint64_t* fits) {
  Random random(seed);
  const Workload workload = MakeAskingWorkload(random);
  SimulationOptions options;
  options.seed = seed;
  options.length_ns = 200'000'000;
  options.scheduler.aging_ns = random.Below(2) * 3'000'000;
  options.event_limit = 5'000'000;
  // The other policy that makes promises; it lets no operation yield.
  if (seed % 8 == 2) options.scheduler.policy = sched::FindPolicy("priority");
  const auto report = Simulate(workload, options);
  const std::string replay =
      "TAKT_SIM_RUNS=1 TAKT_SIM_SEED=" + std::to_string(seed);
  ASSERT_TRUE(report.ok()) << report.status() << "\n" << replay;
  for (const StreamReport& stream : report->streams) {
    if (!stream.asked) continue;
    const sched::AdmissionReport& answer = stream.admission;
    if (answer.verdict == sched::Verdict::kWillFit) {
      ++*fits;
      EXPECT_EQ(stream.missed + stream.dropped, 0u)
          << stream.name << ": " << answer.reason << "\n"
          << replay;
      EXPECT_LE(stream.quantile_ns(1), answer.response_bound_ns) << replay;
    }
    if (answer.response_least_ns > answer.deadline_ns) {
      EXPECT_EQ(answer.verdict, sched::Verdict::kCannot) << replay;
      EXPECT_EQ(stream.met, 0u) << replay;
    }
  }
}

// In these, a later promise raises the bound of an earlier one.
TEST(InvariantsTest, AdmissionCountsLaterPromises) {
  uint64_t fits = 0;
  for (const uint64_t seed : {405, 716, 1897, 2123, 2342, 11023, 14087, 17701,
                              18695, 24591, 30821, 34505}) {
    AskOne(seed, &fits);
  }
  EXPECT_GT(fits, 0u);
}

// An operation waits here for one that is ready and late. The scheduler asks
// again at intervals, and not at each nanosecond.
TEST(InvariantsTest, AWaitForALateOperationIsPolledAtIntervals) {
  SimulationOptions options;
  options.length_ns = 10'000'000;
  options.window_ns = 13'000'000;
  options.scheduler.aging_ns = 3'000'000;
  options.event_limit = 1'000;
  const auto report = SimulateAsking(52, options);
  EXPECT_TRUE(report.ok()) << report.status();
}

// Planned operations go before promised ones.
TEST(InvariantsTest, NothingIsPromisedBesideWindows) {
  SimulationOptions options;
  options.length_ns = 200'000'000;
  for (const int64_t window_ns : {0, 15'000'000}) {
    options.window_ns = window_ns;
    const auto report = SimulateAsking(94, options);
    ASSERT_TRUE(report.ok()) << report.status();
    const sched::AdmissionReport& answer = report->streams[0].admission;
    EXPECT_EQ(answer.verdict, window_ns == 0 ? sched::Verdict::kWillFit
                                             : sched::Verdict::kMightNot)
        << answer.reason;
    EXPECT_EQ(answer.response_bound_ns == kInfiniteFuture, window_ns != 0);
  }
}

// A stream of the latest only may wait here for longer than its period.
TEST(InvariantsTest, AdmissionCountsJobsThatAreReplaced) {
  uint64_t fits = 0;
  AskOne(317453, &fits);
  EXPECT_EQ(fits, 2u);
}

TEST(InvariantsTest, AdmissionNeverWronglySaysWillFit) {
  const uint64_t first = FromEnvironment("TAKT_SIM_SEED", 1);
  const uint64_t runs = FromEnvironment("TAKT_SIM_RUNS", 400);
  uint64_t fits = 0;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    AskOne(seed, &fits);
    if (testing::Test::HasFailure()) return;
  }
  // It says so often enough to be of use.
  if (runs >= 100) {
    EXPECT_GT(fits, runs / 10);
  }
}

}  // namespace
}  // namespace takt::sim
