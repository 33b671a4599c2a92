// Instances: their executors, and the other threads that they start.
#include <algorithm>
#include <utility>

#include "base/background_thread.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/exceptions.h"
#include "base/status.h"
#include "runtime/instance.h"

namespace takt::runtime {
namespace {

// Notes the threads that the system refused.
void NoteMissing(const exec::Executor& executor,
                 const exec::Executor::Options& options, Notices& notices) {
  if (options.StartsBackups() &&
      executor.backup_count() < executor.worker_count()) {
    notices.FewerBackups(executor.backup_count(), executor.worker_count());
  }
  if (executor.worker_count() == options.worker_count) return;
  notices.FewerWorkers(
      executor.worker_count(), options.worker_count,
      options.hooks.create != nullptr
          ? "the application gives no more threads"
          : "the system has no more threads or memory for their stacks (ulimit "
            "-u, pids.max of the cgroup, worker_stack_bytes)");
}

}  // namespace

std::shared_ptr<TimerService> Instance::CreateTimers(
    const char* name, int64_t spin_ns, int32_t fifo_priority) const {
  TimerThreadOptions options;
  options.name = name;
  options.spin_ns = spin_ns;
  options.fifo_priority = fifo_priority;
  options.on_priority = [notices = notices_, fifo_priority](int, int error) {
    notices->TimerPriority(fifo_priority, error);
  };
  options.on_refused = [notices = notices_] { notices->RefusedThread(); };
  options.hooks = executor_options_.hooks;
  options.reports_faults = fault_reports_ != nullptr;
  options.has_no_thread = has_host_loop_;
  return CreateTimerThread(options);
}

void Instance::CompleteThreads(int fifo_priority,
                               exec::Executor::Options* options) const {
  options->tracer = tracer_;
  options->reports_faults = fault_reports_ != nullptr;
  options->on_thread = [notices = notices_, fifo_priority](
                           const exec::WorkerThread::Report& report) {
    notices->Thread(report, fifo_priority);
  };
}

absl::StatusOr<Ref<exec::Executor>> Instance::GetExecutor() {
  MutexLock lock(&mutex_);
  TAKT_RETURN_IF_ERROR(EnsureExecutor());
  return engine_.executor;
}

absl::Status Instance::EnsureExecutor() {
  if (engine_.executor != nullptr) return absl::OkStatus();
  Engine engine;
  const absl::Status status = Attempt([&] { return StartEngine(&engine); });
  if (status.ok()) {
    engine_ = std::move(engine);
  } else {
    StopEngine(engine);
  }
  return status;
}

absl::Status Instance::StartEngine(Engine* engine) {
  exec::Executor::Options options = executor_options_;
  CompleteThreads(options.fifo_priority, &options);
  options.timers = release_timers_;
  TAKT_ASSIGN_OR_RETURN(engine->executor, exec::Executor::Create(options));
  NoteMissing(*engine->executor, options, *notices_);
  if (!scheduler_options_.has_value()) return absl::OkStatus();
  return StartScheduler(engine);
}

absl::Status Instance::StartScheduler(Engine* engine) {
  shop::JobShopOptions options;
  options.scheduler = *scheduler_options_;
  options.topology = topology_.get();
  options.is_placed = !executor_options_.placement.empty();
  options.timers = release_timers_;
  TAKT_ASSIGN_OR_RETURN(engine->shop,
                        shop::JobShop::Create(engine->executor, options));
  if (make_advisor_ != nullptr) {
    engine->advisor = make_advisor_([thread = CreateBackground("takt-plan")](
                                        std::function<void()> function) {
      thread->Post(std::move(function));
    });
    engine->shop->SetStandingAdvisor(engine->advisor.get());
  }
  engine->speed_watch = shop::FrequencyMonitor::Start(engine->shop, timers_,
                                                      topology::SpeedSensor());
  return absl::OkStatus();
}

void Instance::StopEngine(const Engine& engine) {
  if (engine.speed_watch != nullptr) engine.speed_watch->Stop();
  if (engine.executor != nullptr) engine.executor->Shutdown();
  if (engine.shop == nullptr) return;
  engine.shop->SetStandingAdvisor(nullptr);
  engine.shop->Shutdown();
}

std::shared_ptr<sched::PlacementAdvisor> Instance::FindAdvisor() {
  MutexLock lock(&mutex_);
  return engine_.advisor;
}

absl::StatusOr<Ref<shop::JobShop>> Instance::GetShop() {
  MutexLock lock(&mutex_);
  if (scheduler_options_.has_value()) TAKT_RETURN_IF_ERROR(EnsureExecutor());
  return engine_.shop;
}

shop::JobShop* Instance::FindShop(const exec::Executor* executor) {
  MutexLock lock(&mutex_);
  return executor == engine_.executor.get() ? engine_.shop.get() : nullptr;
}

Ref<exec::Executor> Instance::FindExecutor() {
  MutexLock lock(&mutex_);
  return engine_.executor;
}

absl::StatusOr<Ref<exec::Executor>> Instance::CreateExecutor(
    ExecutorOptions options) {
  if (options.workers.hooks.create == nullptr) {
    options.workers.hooks = executor_options_.hooks;
  }
  absl::optional<topology::Topology> discovered;
  if (topology_ == nullptr) discovered = topology::DiscoverTopology();
  TAKT_ASSIGN_OR_RETURN(
      const ResolvedWorkers workers,
      ResolveExecutor(options,
                      topology_ != nullptr ? *topology_ : *discovered));
  exec::Executor::Options executor_options = workers.options;
  CompleteThreads(executor_options.fifo_priority, &executor_options);
  executor_options.timers = release_timers_;
  executor_options.cores_path = executor_options_.cores_path;
  executor_options.cores_share_permille =
      executor_options_.cores_share_permille;
  TAKT_ASSIGN_OR_RETURN(Ref<exec::Executor> executor,
                        exec::Executor::Create(executor_options));
  NoteMissing(*executor, executor_options, *notices_);
  TAKT_CHECK(executor != nullptr);
  MutexLock lock(&mutex_);
  further_executors_.push_back(executor);
  return executor;
}

bool Instance::Owns(const exec::Executor* executor) {
  MutexLock lock(&mutex_);
  return std::any_of(further_executors_.begin(), further_executors_.end(),
                     [executor](const Ref<exec::Executor>& known) {
                       return known.get() == executor;
                     });
}

absl::StatusOr<std::shared_ptr<FdPoller>> Instance::GetFdPoller() {
  MutexLock lock(&mutex_);
  if (fd_poller_ == nullptr) {
    TAKT_ASSIGN_OR_RETURN(
        fd_poller_,
        FdPoller::Create({.hooks = executor_options_.hooks,
                          .reports_faults = fault_reports_ != nullptr,
                          .has_no_thread = has_host_loop_}));
  }
  return fd_poller_;
}

std::shared_ptr<BackgroundThread> Instance::CreateBackground(const char* name) {
  auto background = std::make_shared<BackgroundThread>(
      Thread::Options{.name = name,
                      .reports_faults = fault_reports_ != nullptr,
                      .hooks = executor_options_.hooks},
      has_host_loop_, [notices = notices_] { notices->RefusedThread(); });
  MutexLock lock(&background_mutex_);
  backgrounds_.erase(
      std::remove_if(backgrounds_.begin(), backgrounds_.end(),
                     [](const std::weak_ptr<BackgroundThread>& each) {
                       return each.expired();
                     }),
      backgrounds_.end());
  backgrounds_.push_back(background);
  return background;
}

std::vector<Ref<exec::Executor>> Instance::AllExecutors() {
  MutexLock lock(&mutex_);
  std::vector<Ref<exec::Executor>> all = further_executors_;
  if (engine_.executor != nullptr) all.push_back(engine_.executor);
  return all;
}

size_t Instance::RunRound(int64_t deadline_ns) {
  size_t ran = release_timers_->FireDue();
  ran += timers_->FireDue();
  std::shared_ptr<FdPoller> poller;
  {
    MutexLock lock(&mutex_);
    poller = fd_poller_;
  }
  if (poller != nullptr) ran += poller->DispatchReady();
  for (const Ref<exec::Executor>& executor : AllExecutors()) {
    ran += executor->RunReady(deadline_ns);
  }
  // Planning comes last, since it may take long.
  std::vector<std::weak_ptr<BackgroundThread>> backgrounds;
  {
    MutexLock lock(&background_mutex_);
    backgrounds = backgrounds_;
  }
  for (const std::weak_ptr<BackgroundThread>& each : backgrounds) {
    const std::shared_ptr<BackgroundThread> background = each.lock();
    if (background != nullptr) ran += background->RunOne() ? 1 : 0;
  }
  return ran;
}

absl::StatusOr<Instance::ReadyWork> Instance::RunReady(int64_t max_ns) {
  if (max_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_ns: expected 0 or more, got ", max_ns));
  }
  const int64_t start_ns = NowNs();
  const int64_t deadline_ns =
      max_ns < kInfiniteFuture - start_ns ? start_ns + max_ns : kInfiniteFuture;
  ReadyWork work;
  bool is_left = false;
  do {
    const size_t ran_now = RunRound(deadline_ns);
    work.ran_count += ran_now;
    is_left = ran_now != 0;
  } while (is_left && NowNs() < deadline_ns);
  work.next_ns =
      is_left ? NowNs()
              : std::min(timers_->NextDueNs(), release_timers_->NextDueNs());
  return work;
}

}  // namespace takt::runtime
