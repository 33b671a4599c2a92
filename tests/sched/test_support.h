// Machines and shops for the tests of src/sched.
#ifndef TAKT_TESTS_SCHED_TEST_SUPPORT_H_
#define TAKT_TESTS_SCHED_TEST_SUPPORT_H_

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "sched/scheduler.h"

namespace takt::sched {

// Pools: 0 "big" (4 cores), 1 "little" (4 cores), 2 "npu", fed by a big core.
inline Machine TwoClustersAndNpu() {
  Machine machine;
  machine.pools = {{"big", ResourceKind::kCore, 4, -1, 0},
                   {"little", ResourceKind::kCore, 4, -1, 0},
                   {"npu", ResourceKind::kNpu, 1, 0, 1}};
  return machine;
}

inline Machine Cores(uint32_t count) {
  Machine machine;
  machine.pools = {{"cores", ResourceKind::kCore, count, -1, 0}};
  return machine;
}

// A scheduler and what a test does with it over and over. The times of its
// calls are in microseconds.
class Shop {
 public:
  explicit Shop(Machine machine, const char* policy = "job-shop",
                SchedulerOptions options = {}) {
    options.policy = FindPolicy(policy);
    auto created = Scheduler::Create(std::move(machine), options);
    EXPECT_TRUE(created.ok()) << created.status();
    scheduler_ = *std::move(created);
  }

  Scheduler* operator->() { return scheduler_.get(); }
  Scheduler& scheduler() { return *scheduler_; }

  // {pool, shards, us, tile us}
  KernelId Kernel(std::vector<AlternativeOptions> alternatives) {
    for (AlternativeOptions& alternative : alternatives) {
      alternative.guess_ns *= 1000;
      alternative.tile_ns *= 1000;
    }
    const auto id =
        scheduler_->AddKernel({1, kernel_count_++, {1, 1, 1}}, alternatives);
    EXPECT_TRUE(id.ok()) << id.status();
    return *id;
  }

  // Operations one after the other.
  ProgramId Chain(const std::vector<KernelId>& kernels) {
    std::vector<ProgramOperation> operations;
    for (const KernelId kernel : kernels) {
      ProgramOperation operation{kernel, {}};
      if (!operations.empty()) {
        operation.after = {static_cast<uint32_t>(operations.size() - 1)};
      }
      operations.push_back(operation);
    }
    const auto id = scheduler_->AddProgram(operations);
    EXPECT_TRUE(id.ok()) << id.status();
    return *id;
  }

  StreamId Add(const StreamOptions& options) {
    const auto id = scheduler_->AddStream(options);
    EXPECT_TRUE(id.ok()) << id.status();
    return *id;
  }

  JobId Release(StreamId stream, int64_t now_us) {
    return scheduler_->Release(stream, now_us * 1000, 0, now_us * 1000);
  }

  // What is decided at that time.
  std::vector<Decision> Decide(int64_t now_us) {
    std::vector<Decision> decisions;
    scheduler_->Decide(now_us * 1000, &decisions);
    return decisions;
  }
  std::vector<Decision> Finish(const Decision& start, int64_t now_us) {
    scheduler_->Finished(start.operation, now_us * 1000);
    return Decide(now_us);
  }

 private:
  std::unique_ptr<Scheduler> scheduler_;
  uint32_t kernel_count_ = 0;
};

inline StreamOptions Terms(ProgramId program, Criticality criticality,
                           int64_t deadline_us = 0) {
  StreamOptions options;
  options.program = program;
  options.criticality = criticality;
  if (deadline_us > 0) options.deadline_ns = deadline_us * 1000;
  return options;
}

// The decisions of a kind.
inline std::vector<Decision> Only(const std::vector<Decision>& decisions,
                                  DecisionKind kind) {
  std::vector<Decision> of_kind;
  for (const Decision& decision : decisions) {
    if (decision.kind == kind) of_kind.push_back(decision);
  }
  return of_kind;
}

}  // namespace takt::sched

#endif  // TAKT_TESTS_SCHED_TEST_SUPPORT_H_
