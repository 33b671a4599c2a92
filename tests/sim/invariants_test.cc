// Goal: the scheduler keeps the promises of its header with any workload,
// machine and faults. Method: random runs, checked by an observer that shares
// no code with it.
//
// TAKT_SIM_RUNS=1000000 makes the run long; a failure prints its seed, and
// TAKT_SIM_SEED=n TAKT_SIM_RUNS=1 plays it again.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "sim/simulation.h"
#include "tests/sim/random_workload.h"

namespace takt::sim {
namespace {

using sched::Decision;
using sched::DecisionKind;

uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

// Checks each event against the workload.
class Watcher : public Observer {
 public:
  explicit Watcher(const Workload& workload)
      : workload_(workload),
        user_(workload.machine.resource_count(), -1),
        is_lost_(workload.machine.resource_count(), false) {}

  const std::vector<std::string>& faults() const { return faults_; }

  void OnRelease(int64_t now_ns, const Decision& decision, int64_t) override {
    Job& job = jobs_[Key(decision.job)];
    job = {};
    job.stream = decision.stream;
    job.release_ns = now_ns;
    job.may_miss = MayMiss(decision.stream);
    job.number = met_[decision.stream].size();
    met_[decision.stream].push_back(false);
    const WorkloadStream& stream = workload_.streams[decision.stream];
    const auto& operations =
        workload_.programs[stream.terms.program].operations;
    job.is_done.assign(operations.size(), false);
    job.is_running.assign(operations.size(), false);
  }

  void OnDecision(int64_t now_ns, const Decision& decision) override {
    if (decision.kind == DecisionKind::kStart) CheckStart(decision);
    if (decision.kind == DecisionKind::kJobDone) CheckJobDone(now_ns, decision);
  }

  void OnStop(int64_t, const Decision& start, uint32_t done_ppm) override {
    start.resources.ForEach([&](uint32_t r) { user_[r] = -1; });
    Job& job = jobs_[Key(start.job)];
    --job.running_count;
    if (workload_.streams[start.stream].is_dynamic) return;
    job.is_running[start.program_index] = false;
    if (done_ppm == 1'000'000) job.is_done[start.program_index] = true;
  }

  void OnAvailable(int64_t, uint32_t resource, bool available) override {
    is_lost_[resource] = !available;
  }

  void CheckEnd() {
    for (const auto& [key, job] : jobs_) {
      if (!job.has_ended) Fault("a job that was released never ended");
    }
    CheckWindows();
  }
  uint64_t windows_checked() const { return windows_checked_; }

 private:
  struct Job {
    uint32_t stream = 0;
    int64_t release_ns = 0;
    size_t number = 0;  // Among those of its stream.
    bool may_miss = false;
    // A job before it was done at the time of its release, so it depends on
    // their order whether it may miss.
    bool is_uncertain = false;
    std::vector<bool> is_done;
    std::vector<bool> is_running;
    int running_count = 0;
    bool has_ended = false;
  };

  static uint64_t Key(sched::JobId id) {
    return (uint64_t{id.index} << 32) | id.generation;
  }
  void Fault(const std::string& text) { faults_.push_back(text); }

  // Whether the jobs before the next one in its window had enough met.
  bool MayMiss(uint32_t stream) {
    const sched::StreamOptions& terms = workload_.streams[stream].terms;
    if (terms.met_window == 0) return false;
    const std::vector<bool>& met = met_[stream];
    return CountMet(met, met.size(), terms.met_window - 1) >= terms.met_min;
  }
  // Of the `count` jobs before number `end`, those that were in time.
  static uint32_t CountMet(const std::vector<bool>& met, size_t end,
                           uint32_t count) {
    const size_t begin = end - std::min<size_t>(end, count);
    return static_cast<uint32_t>(
        std::count(met.begin() + static_cast<ptrdiff_t>(begin),
                   met.begin() + static_cast<ptrdiff_t>(end), true));
  }
  // If all jobs that had to be in time were, each window has enough.
  void CheckWindows() {
    for (const auto& [stream, met] : met_) {
      const sched::StreamOptions& terms = workload_.streams[stream].terms;
      if (terms.met_window == 0 || broken_[stream]) continue;
      for (size_t end = terms.met_window; end <= met.size(); ++end) {
        if (CountMet(met, end, terms.met_window) < terms.met_min) {
          Fault("a window that only jobs broke that might miss");
        }
        ++windows_checked_;
      }
    }
  }

  void CheckStart(const Decision& decision) {
    Job& job = jobs_[Key(decision.job)];
    ++job.running_count;
    if (job.has_ended) Fault("an operation of a job that had ended");
    CheckResources(decision);
    const WorkloadStream& stream = workload_.streams[decision.stream];
    if (stream.is_dynamic) return;
    const uint32_t index = decision.program_index;
    const auto& operation =
        workload_.programs[stream.terms.program].operations[index];
    for (const uint32_t before : operation.after) {
      if (!job.is_done[before]) Fault("a start before a predecessor's end");
    }
    if (job.is_done[index]) Fault("an operation that was done already");
    if (job.is_running[index]) Fault("an operation that runs already");
    job.is_running[index] = true;
  }

  void CheckResources(const Decision& decision) {
    const sched::Pool& pool = workload_.machine.pools[decision.pool];
    const sched::StreamOptions& terms =
        workload_.streams[decision.stream].terms;
    sched::ResourceSet own;
    decision.resources.ForEach([&](uint32_t r) {
      if (user_[r] >= 0) Fault("a resource that is in use");
      if (is_lost_[r]) Fault("a resource that is lost");
      user_[r] = static_cast<int>(decision.stream);
      if (workload_.machine.PoolOf(r) == decision.pool) {
        own.Add(r);
        if (!terms.affinity.Contains(r)) Fault("a resource not allowed");
      } else if (static_cast<int32_t>(workload_.machine.PoolOf(r)) !=
                 pool.feeder_pool) {
        Fault("a resource of another pool");
      }
    });
    if (own.count() != decision.shards) Fault("not as many as shards");
    if (decision.resources.count() - own.count() != pool.feeder_count) {
      Fault("not the cores that feed the NPU");
    }
    if (((terms.pools >> decision.pool) & 1) == 0) Fault("a pool not allowed");
    bool has_alternative = false;
    for (const auto& a : workload_.kernels[decision.kernel].alternatives) {
      has_alternative |= a.pool == decision.pool && a.shards == decision.shards;
    }
    if (!has_alternative) Fault("an alternative that does not exist");
  }

  void CheckJobDone(int64_t now_ns, const Decision& decision) {
    Job& job = jobs_[Key(decision.job)];
    if (job.has_ended) Fault("a job that ended twice");
    if (job.running_count != 0) Fault("a job that ended while it runs");
    job.has_ended = true;
    if (!job.is_uncertain && decision.may_miss != job.may_miss) {
      Fault("a job whose window said otherwise whether it may miss");
    }
    if (decision.outcome == sched::JobOutcome::kMet) {
      for (auto& [key, other] : jobs_) {
        other.is_uncertain |= other.stream == decision.stream &&
                              !other.has_ended && other.release_ns == now_ns;
      }
      met_[decision.stream][job.number] = true;
    } else if (!decision.may_miss) {
      broken_[decision.stream] = true;
    }
    if (decision.outcome != sched::JobOutcome::kMet &&
        decision.outcome != sched::JobOutcome::kMissed) {
      return;
    }
    if (workload_.streams[decision.stream].is_dynamic) return;
    for (const bool is_done : job.is_done) {
      if (!is_done) Fault("a job that is done, but for an operation");
    }
  }

  const Workload& workload_;
  std::vector<int> user_;
  std::vector<bool> is_lost_;
  std::map<uint64_t, Job> jobs_;
  // By stream: whether each job was in time; none is before its end.
  std::map<uint32_t, std::vector<bool>> met_;
  std::map<uint32_t, bool> broken_;  // By stream: a job had to, and was not.
  uint64_t windows_checked_ = 0;
  std::vector<std::string> faults_;
};

// Every run has another policy, board and workload.
void PlayOne(uint64_t seed, uint64_t* windows) {
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
    PlayOne(seed, &windows);
    if (testing::Test::HasFatalFailure()) return;
  }
  if (runs >= 100) {
    EXPECT_GT(windows, runs);
  }
}

// Streams ask for admission, without noise and faults. A stream that was
// admitted misses no deadline, whatever other streams there are. A stream that
// misses deadlines alone at its fastest is not admitted.
void AskOne(uint64_t seed, uint64_t* fits) {
  Random random(seed);
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
  SimulationOptions options;
  options.seed = seed;
  options.length_ns = 200'000'000;
  options.scheduler.aging_ns = random.Below(2) * 3'000'000;
  options.event_limit = 5'000'000;
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
