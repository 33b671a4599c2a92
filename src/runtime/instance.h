// An Instance is the root of all objects of a runtime: it has the types, the
// workers, the timers, and the native modules that contexts share.
//
// Ownership: modules, contexts and native types hold the instance. It holds
// devices only through the shared modules, and devices hold the executor. So
// there is no cycle.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is
// a leaf but for what creating a module locks.
#ifndef TAKT_RUNTIME_INSTANCE_H_
#define TAKT_RUNTIME_INSTANCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/background_thread.h"
#include "base/block_pool.h"
#include "base/cpu_set.h"
#include "base/fault_report.h"
#include "base/fd_poller.h"
#include "base/memory_source.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "base/tracer.h"
#include "exec/executor.h"
#include "hal/device.h"
#include "runtime/log.h"
#include "runtime/native_modules.h"
#include "runtime/notices.h"
#include "runtime/user_type.h"
#include "runtime/worker_options.h"
#include "sched/placement_advisor.h"
#include "sched/scheduler.h"
#include "shop/frequency_monitor.h"
#include "shop/job_shop.h"
#include "topology/topology.h"
#include "vm/module.h"
#include "vm/type_registry.h"

namespace takt::runtime {

// The name that stands for an instance without a scheduler.
inline constexpr char kNoPolicy[] = "off";

// Runs a function later, on a thread for work that may take its time.
using BackgroundRunner = std::function<void(std::function<void()>)>;
using AdvisorFactory = std::function<std::shared_ptr<sched::PlacementAdvisor>(
    BackgroundRunner background)>;

// takt/instance.h documents these.
struct InstanceOptions {
  WorkerOptions workers;
  MemorySource memory_source;
  Log::Sink log_sink;
  std::shared_ptr<const topology::Topology> topology;
  int64_t timer_spin_ns = 0;
  int32_t timer_fifo_priority = 0;
  // None: no scheduler; the executor's lanes alone order the work.
  absl::optional<sched::SchedulerOptions> scheduler;
  // Makes what the scheduler asks while no plan is carried out. Null: nothing.
  AdvisorFactory make_advisor;
  bool fault_reports = false;
  bool host_loop = false;
};

// takt/instance.h documents these.
struct InstanceStatistics {
  uint32_t wanted_worker_count = 0;
  uint32_t worker_count = 0;
  uint64_t spare_block_count = 0;
  uint64_t lost_advisor_count = 0;
  Notices::Counts notices;
};

class Instance final : public Object {
 public:
  static constexpr ObjectType kType{"takt.instance"};

  // INVALID_ARGUMENT naming the option.
  static absl::StatusOr<Ref<Instance>> Create(InstanceOptions options);

  vm::TypeRegistry& types() { return types_; }
  const Log& log() const { return *log_; }
  Notices& notices() const { return *notices_; }
  bool has_host_loop() const { return has_host_loop_; }
  const ThreadHooks& thread_hooks() const { return executor_options_.hooks; }
  // Sets the options that all executors of this instance have in common.
  void CompleteThreads(int fifo_priority,
                       exec::Executor::Options* options) const;
  // All parts of this instance record their events there.
  const Ref<Tracer>& tracer() const { return tracer_; }
  uint32_t worker_count() const { return executor_options_.worker_count; }
  const MemorySource& memory_source() const { return memory_source_; }
  const std::shared_ptr<TimerService>& timers() const { return timers_; }
  // Releases the jobs of streams, to the microsecond.
  const std::shared_ptr<TimerService>& release_timers() const {
    return release_timers_;
  }
  // Memory for objects that live as long as a call.
  BlockPool& blocks() const { return *blocks_; }

  // The type is kept as long as the registry. ALREADY_EXISTS.
  absl::Status RegisterUserType(Ref<UserType> type);

  // The first call starts it.
  absl::StatusOr<Ref<exec::Executor>> GetExecutor();
  // Null before the first call of GetExecutor().
  Ref<exec::Executor> FindExecutor();
  // The scheduler of GetExecutor(), which this starts; null if the policy is
  // "off".
  absl::StatusOr<Ref<shop::JobShop>> GetShop() ABSL_LOCKS_EXCLUDED(mutex_);
  // The advisor that the scheduler asks while no plan is carried out; null:
  // there is none, or the scheduler has not started.
  std::shared_ptr<sched::PlacementAdvisor> FindAdvisor()
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The scheduler if it schedules for `executor`; else null.
  shop::JobShop* FindShop(const exec::Executor* executor)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // kNoPolicy without a scheduler. Static.
  const char* policy_name() const;
  // Further workers (takt/executor.h). The instance keeps the executor and
  // shuts it down.
  absl::StatusOr<Ref<exec::Executor>> CreateExecutor(ExecutorOptions options)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // True if CreateExecutor() has made it.
  bool Owns(const exec::Executor* executor) ABSL_LOCKS_EXCLUDED(mutex_);

  // Runs functions that may take long: on a thread of that name, or in
  // RunReady() if the application has a loop of its own.
  std::shared_ptr<BackgroundThread> CreateBackground(const char* name)
      ABSL_LOCKS_EXCLUDED(background_mutex_);

  // Runs what is ready, on this thread; takt/instance.h documents it.
  struct ReadyWork {
    size_t ran_count = 0;
    int64_t next_ns = 0;  // When more is due; kInfiniteFuture: unknown.
  };
  absl::StatusOr<ReadyWork> RunReady(int64_t max_ns)
      ABSL_LOCKS_EXCLUDED(mutex_, background_mutex_);
  InstanceStatistics statistics() ABSL_LOCKS_EXCLUDED(mutex_);

  // Watches file descriptors for fences. The first call starts it.
  absl::StatusOr<std::shared_ptr<FdPoller>> GetFdPoller();

  NativeModules& native_modules() { return native_modules_; }

  // The set of these CPUs (CpuSet::FromWords(), the last word not 0), which
  // lives as long as the instance. A second call for the same set allocates
  // nothing.
  const CpuSet* FindCpuSet(absl::Span<const uint64_t> words)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The CPUs of `allowed` (null: all of the topology, or of this process) whose
  // clusters have these features. Null if all CPUs have them. INVALID_ARGUMENT
  // if none has them; the message says what each cluster lacks.
  absl::StatusOr<const CpuSet*> FindCpusWithIsa(
      const std::vector<std::string>& features, const CpuSet* allowed)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Gives idle memory back, and drops the modules that no context uses.
  void Trim();

 private:
  Instance(InstanceOptions options, const ResolvedWorkers& workers);
  std::shared_ptr<TimerService> CreateTimers(const char* name, int64_t spin_ns,
                                             int32_t fifo_priority) const;
  std::vector<Ref<exec::Executor>> AllExecutors() ABSL_LOCKS_EXCLUDED(mutex_);
  // One round of RunReady(). Returns the number of pieces of work that ran.
  size_t RunRound(int64_t deadline_ns)
      ABSL_LOCKS_EXCLUDED(mutex_, background_mutex_);
  // The executor and what works with it.
  struct Engine {
    Ref<exec::Executor> executor;
    Ref<shop::JobShop> shop;  // Null: there is no scheduler.
    // Null if the machine does not report its frequencies.
    Ref<shop::FrequencyMonitor> speed_watch;
    std::shared_ptr<sched::PlacementAdvisor> advisor;  // Null: none.
  };
  // Starts the engine, unless it runs. After an error nothing of it runs.
  absl::Status EnsureExecutor() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sets the members of `engine` as it starts them.
  absl::Status StartEngine(Engine* engine);
  absl::Status StartScheduler(Engine* engine);
  static void StopEngine(const Engine& engine);
  ~Instance() override;

  const std::shared_ptr<const Log> log_;
  const std::shared_ptr<Notices> notices_;
  const std::unique_ptr<const FaultReports> fault_reports_;  // Null: not asked.
  const bool has_host_loop_;
  const uint32_t wanted_worker_count_;
  const MemorySource memory_source_;
  const Ref<Tracer> tracer_ = MakeRef<Tracer>();
  const exec::Executor::Options executor_options_;
  // The executor options point to it. Null: the caller gave none.
  const std::shared_ptr<const topology::Topology> topology_;
  const absl::optional<sched::SchedulerOptions> scheduler_options_;
  const AdvisorFactory make_advisor_;
  const std::shared_ptr<TimerService> timers_;
  const std::shared_ptr<TimerService> release_timers_;
  const UniqueBlockPool blocks_;

  Mutex mutex_;
  // They are declared before types_, which points to them.
  std::vector<Ref<UserType>> user_types_ ABSL_GUARDED_BY(mutex_);
  Engine engine_ ABSL_GUARDED_BY(mutex_);
  std::vector<Ref<exec::Executor>> further_executors_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<FdPoller> fd_poller_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<const CpuSet>> cpu_sets_ ABSL_GUARDED_BY(mutex_);

  // The living ones, which RunReady() runs.
  Mutex background_mutex_;
  std::vector<std::weak_ptr<BackgroundThread>> backgrounds_
      ABSL_GUARDED_BY(background_mutex_);

  vm::TypeRegistry types_;
  NativeModules native_modules_;  // It uses types_.
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_INSTANCE_H_
