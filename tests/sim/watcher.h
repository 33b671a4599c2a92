// A Watcher checks each event of a simulation against the workload, by the
// promises of the scheduler's header. It shares no code with the scheduler.
#ifndef TAKT_TESTS_SIM_WATCHER_H_
#define TAKT_TESTS_SIM_WATCHER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/simulation.h"

namespace takt::sim {

class Watcher final : public Observer {
 public:
  explicit Watcher(const Workload& workload)
      : workload_(workload),
        user_(workload.machine.resource_count(), -1),
        is_lost_(workload.machine.resource_count(), false) {}

  const std::vector<std::string>& faults() const { return faults_; }

  void OnRelease(int64_t now_ns, const sched::Decision& decision,
                 int64_t) override {
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

  void OnDecision(int64_t now_ns, const sched::Decision& decision) override {
    if (decision.kind == sched::DecisionKind::kStart) CheckStart(decision);
    if (decision.kind == sched::DecisionKind::kJobDone)
      CheckJobDone(now_ns, decision);
  }

  void OnStop(int64_t, const sched::Decision& start,
              uint32_t done_ppm) override {
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

  void CheckStart(const sched::Decision& decision) {
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

  void CheckResources(const sched::Decision& decision) {
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

  void CheckJobDone(int64_t now_ns, const sched::Decision& decision) {
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

}  // namespace takt::sim

#endif  // TAKT_TESTS_SIM_WATCHER_H_
