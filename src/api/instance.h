// The Instance is the root of what a process runs: the types, the workers, the
// timers, and the native modules that contexts share.
//
// Ownership: modules, contexts and native types hold the instance; it holds
// devices only through the shared modules, and devices hold the executor. So
// there is no cycle, and whatever goes last takes the rest along.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is
// a leaf but for what creating a module locks.
#ifndef TAKT_API_INSTANCE_H_
#define TAKT_API_INSTANCE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "api/log.h"
#include "api/notices.h"
#include "api/parameters.h"
#include "api/topology.h"
#include "api/user_type.h"
#include "base/background_thread.h"
#include "base/block_pool.h"
#include "base/cpu_set.h"
#include "base/fault_report.h"
#include "base/fd_poller.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "base/tracer.h"
#include "exec/executor.h"
#include "hal/device.h"
#include "shop/frequency_monitor.h"
#include "shop/job_shop.h"
#include "takt/executor.h"
#include "takt/instance.h"
#include "vm/module.h"
#include "vm/type_registry.h"

namespace takt::follow {
class WindowAdvisor;
}  // namespace takt::follow

namespace takt::api {

class Instance final : public Object {
 public:
  static constexpr ObjectType kType{"takt.instance"};

  static absl::StatusOr<Ref<Instance>> Create(
      const takt_instance_options_t& options);

  vm::TypeRegistry& types() { return types_; }
  const Log& log() const { return *log_; }
  Notices& notices() const { return *notices_; }
  bool has_host_loop() const { return has_host_loop_; }
  const ThreadHooks& thread_hooks() const { return executor_options_.hooks; }
  // How threads of any executor of this instance are made.
  void CompleteThreads(int fifo_priority,
                       exec::Executor::Options* options) const;
  // Where everything of this instance records what it does.
  const Ref<Tracer>& tracer() const { return tracer_; }
  uint32_t worker_count() const { return executor_options_.worker_count; }
  const takt_allocator_t& allocator() const { return allocator_; }
  const std::shared_ptr<TimerService>& timers() const { return timers_; }
  // What releases the jobs of streams, to the microsecond.
  const std::shared_ptr<TimerService>& release_timers() const {
    return release_timers_;
  }
  // Where objects that come and go with invocations live.
  BlockPool& blocks() const { return *blocks_; }

  // The type is kept as long as the registry. ALREADY_EXISTS.
  absl::Status RegisterUserType(Ref<UserType> type);

  // Started by the first call.
  absl::StatusOr<Ref<exec::Executor>> GetExecutor();
  // Null if nothing has needed it yet.
  Ref<exec::Executor> FindExecutor();
  // What schedules the work of GetExecutor(), which is started by it; null if
  // the policy is "off".
  absl::StatusOr<Ref<shop::JobShop>> GetShop() ABSL_LOCKS_EXCLUDED(mutex_);
  // Who plans windows; null: nobody does, or not yet.
  std::shared_ptr<follow::WindowAdvisor> FindWindows()
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The same if it schedules for `executor`; else null.
  shop::JobShop* FindShop(const exec::Executor* executor)
      ABSL_LOCKS_EXCLUDED(mutex_);
  const char* policy_name() const { return policy_name_; }
  // takt_executor_create(). The instance keeps it, to shut it down.
  absl::StatusOr<Ref<exec::Executor>> CreateExecutor(
      const takt_executor_options_t& options) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether CreateExecutor() has made it.
  bool Owns(const exec::Executor* executor) ABSL_LOCKS_EXCLUDED(mutex_);

  // A thread of that name, or turns of RunReady(), for what may take its time.
  std::shared_ptr<BackgroundThread> CreateBackground(const char* name)
      ABSL_LOCKS_EXCLUDED(background_mutex_);

  // takt_instance_run_ready().
  absl::Status RunReady(int64_t max_ns, size_t* out_ran, int64_t* out_next_ns)
      ABSL_LOCKS_EXCLUDED(mutex_, background_mutex_);
  takt_instance_statistics_t statistics() ABSL_LOCKS_EXCLUDED(mutex_);

  // What watches file descriptors for fences. Started by the first call.
  absl::StatusOr<std::shared_ptr<FdPoller>> GetFdPoller();

  // The `hal` module over these devices, and the `io_parameters` module over
  // these archives: the same one for the same list, so that contexts which
  // list the same modules otherwise share what linking them costs.
  absl::StatusOr<Ref<vm::Module>> GetHalModule(
      absl::Span<hal::Device* const> devices);
  // One that no other context uses, and that leaves nothing behind.
  absl::StatusOr<Ref<vm::Module>> CreateOwnHalModule(
      absl::Span<hal::Device* const> devices);
  absl::StatusOr<Ref<vm::Module>> GetParametersModule(
      absl::Span<Parameters* const> archives);
  // Likewise the modules that inline execution models import: `hal_inline` and
  // `hal_loader` over these devices, and `vmvx` with this machine's kernels.
  absl::StatusOr<Ref<vm::Module>> GetHalInlineModule(
      absl::Span<hal::Device* const> devices) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Ref<vm::Module>> GetHalLoaderModule(
      absl::Span<hal::Device* const> devices) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Ref<vm::Module>> GetVmvxModule() ABSL_LOCKS_EXCLUDED(mutex_);

  // The set of these processors (CpuSet::FromWords(), the last word not 0),
  // which lives as long as the instance. Allocates nothing for one that has
  // been asked for before.
  const CpuSet* FindCpuSet(absl::Span<const uint64_t> words)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The CPUs of `allowed` (null: all of the topology, or of this process) whose
  // clusters have these features. Null if all CPUs have. INVALID_ARGUMENT
  // naming what each cluster lacks, if none has.
  absl::StatusOr<const CpuSet*> FindCpusWithIsa(
      const std::vector<std::string>& features, const CpuSet* allowed)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Lets go of what nothing uses, and has the devices do so.
  void Trim();

 private:
  // A module that was made for a list of objects, which it keeps alive.
  enum class Kind { kHal, kHalInline, kHalLoader, kParameters, kVmvx };
  struct SharedModule {
    Kind kind;
    std::vector<const Object*> key;
    Ref<vm::Module> module;
  };
  // Shared modules that no context uses are kept up to this number, so that a
  // program which makes its contexts one after the other finds them again.
  static constexpr size_t kIdleModulesMax = 8;

  Instance(const takt_instance_options_t& options,
           exec::Executor::Options executor_options,
           uint32_t wanted_worker_count, Ref<Topology> topology,
           const sched::SchedulerOptions* scheduler);
  std::shared_ptr<TimerService> CreateTimers(const char* name, int64_t spin_ns,
                                             int32_t fifo_priority) const;
  std::vector<Ref<exec::Executor>> AllExecutors() ABSL_LOCKS_EXCLUDED(mutex_);
  // One round of what RunReady() does. Returns how much has run.
  size_t RunRound(int64_t deadline_ns)
      ABSL_LOCKS_EXCLUDED(mutex_, background_mutex_);
  absl::StatusOr<Ref<vm::Module>> MakeHalModule(
      absl::Span<hal::Device* const> devices, bool shares_initialized);
  absl::Status EnsureExecutor() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ~Instance() override;

  using ModuleOr = absl::StatusOr<Ref<vm::Module>>;
  // The module for this list, made by `make` if there is none.
  ModuleOr GetShared(Kind kind, std::vector<const Object*> key,
                     absl::FunctionRef<ModuleOr()> make)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Drops idle modules, oldest first, until `idle_count_max` are left.
  void DropIdle(size_t idle_count_max) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<const Log> log_;
  const std::shared_ptr<Notices> notices_;
  const std::unique_ptr<const FaultReports> fault_reports_;  // Null: not asked.
  const bool has_host_loop_;
  const uint32_t wanted_worker_count_;
  const takt_allocator_t allocator_;
  const Ref<Tracer> tracer_ = MakeRef<Tracer>();
  const exec::Executor::Options executor_options_;
  const Ref<Topology> topology_;  // That the options point to.
  const absl::optional<sched::SchedulerOptions> scheduler_options_;
  const char* const policy_name_;  // Lives forever.
  const int64_t window_ns_;        // 0: no windows.
  const int64_t window_budget_ns_;
  const std::shared_ptr<TimerService> timers_;
  const std::shared_ptr<TimerService> release_timers_;
  const UniqueBlockPool blocks_;

  Mutex mutex_;
  // Before types_, which points at them.
  std::vector<Ref<UserType>> user_types_ ABSL_GUARDED_BY(mutex_);
  Ref<exec::Executor> executor_ ABSL_GUARDED_BY(mutex_);
  Ref<shop::JobShop> shop_ ABSL_GUARDED_BY(mutex_);  // With executor_.
  // Null if the machine does not say how fast it is.
  Ref<shop::FrequencyMonitor> speed_watch_ ABSL_GUARDED_BY(mutex_);
  void StartWindows() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What the shop follows while no plan is carried out; null: nothing.
  std::shared_ptr<follow::WindowAdvisor> windows_ ABSL_GUARDED_BY(mutex_);
  std::vector<Ref<exec::Executor>> further_executors_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<FdPoller> fd_poller_ ABSL_GUARDED_BY(mutex_);
  std::vector<SharedModule> shared_ ABSL_GUARDED_BY(mutex_);  // By age.
  std::vector<std::unique_ptr<const CpuSet>> cpu_sets_ ABSL_GUARDED_BY(mutex_);

  // Those that live, for turns.
  Mutex background_mutex_;
  std::vector<std::weak_ptr<BackgroundThread>> backgrounds_
      ABSL_GUARDED_BY(background_mutex_);

  vm::TypeRegistry types_;
};

}  // namespace takt::api

#endif  // TAKT_API_INSTANCE_H_
