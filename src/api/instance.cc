#include "api/instance.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_join.h"
#include "api/handle.h"
#include "base/background_thread.h"
#include "base/clock.h"
#include "cpu/cpu_features.h"
#include "cpu/vmvx_module.h"
#include "follow/window_advisor.h"
#include "kernels/kernel_table.h"
#include "modules/hal_inline_module.h"
#include "modules/hal_loader_module.h"
#include "modules/hal_module.h"
#include "modules/io_parameters_module.h"
#include "sched/policy.h"
#include "takt/scheduler.h"

namespace takt::api {
namespace {

// The devices as native modules keep them.
std::vector<Ref<hal::Device>> RefsOf(absl::Span<hal::Device* const> devices) {
  std::vector<Ref<hal::Device>> refs;
  for (hal::Device* device : devices) {
    refs.push_back(Ref<hal::Device>::Retain(device));
  }
  return refs;
}

// Where the traces of compiled code go.
modules::TraceSink TraceTo(std::shared_ptr<const Log> log) {
  return [log = std::move(log)](absl::string_view text) {
    log->Write(TAKT_LOG_INFO, text);
  };
}

constexpr int32_t kWorkerCountMax = 1024;

constexpr int32_t kFifoPriorityMax = 99;

// The name of there being no scheduler.
constexpr char kNoPolicy[] = "off";
constexpr char kDefaultPolicy[] = "job-shop";

absl::Status CheckWorkers(const takt_instance_options_t& options) {
  if (options.worker_count < TAKT_WORKER_COUNT_DEFAULT ||
      options.worker_count > kWorkerCountMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: worker_count: expected ", TAKT_WORKER_COUNT_DEFAULT, " to ",
        kWorkerCountMax, ", got ", options.worker_count));
  }
  if (options.worker_spin_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: worker_spin_ns: expected 0 or more, got ",
                     options.worker_spin_ns));
  }
  if (options.worker_fifo_priority < 0 ||
      options.worker_fifo_priority > kFifoPriorityMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: worker_fifo_priority: expected 0 to ",
                     kFifoPriorityMax, ", got ", options.worker_fifo_priority));
  }
  if (options.timer_spin_ns < 0 || options.timer_fifo_priority < 0 ||
      options.timer_fifo_priority > kFifoPriorityMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: timer_spin_ns is ", options.timer_spin_ns,
                     ", timer_fifo_priority is ", options.timer_fifo_priority,
                     "; expected 0 or more, and 0 to ", kFifoPriorityMax));
  }
  if (options.worker_threads.create == nullptr &&
      options.worker_threads.join != nullptr) {
    return absl::InvalidArgumentError(
        "options: worker_threads: join without create");
  }
  return absl::OkStatus();
}

// The workers as they were asked for, and as they can be.
struct Workers {
  exec::Executor::Options options;
  uint32_t wanted_count = 0;
  CpuSet absent_cpus;  // That were asked for, and are not there.
};

// A worker on each of the CPUs that are asked for, as far as there are so many
// workers.
absl::Status PlaceWorkers(const char* text, const Topology* topology,
                          int32_t worker_count, Workers* workers) {
  exec::Executor::Options* const options = &workers->options;
  absl::StatusOr<CpuSet> cpus = CpuSet::Parse(text);
  if (!cpus.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: worker_cpus: ", cpus.status().message()));
  }
  const CpuSet there = topology != nullptr ? topology->value().cpu_set()
                                           : topology::AllowedCpus();
  const CpuSet usable = *cpus & there;
  if (usable.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: worker_cpus: none of \"", text,
                     "\" is among the CPUs ", there.ToString()));
  }
  usable.ForEach([&](uint32_t cpu) {
    if (worker_count >= 0 &&
        options->placement.size() == static_cast<size_t>(worker_count)) {
      return;
    }
    CpuSet place;
    place.Add(cpu);
    options->placement.push_back(std::move(place));
  });
  options->worker_count = static_cast<uint32_t>(options->placement.size());
  cpus->ForEach([&](uint32_t cpu) {
    if (!there.Contains(cpu)) workers->absent_cpus.Add(cpu);
  });
  workers->wanted_count =
      worker_count >= 0 ? static_cast<uint32_t>(worker_count) : cpus->count();
  return absl::OkStatus();
}

absl::StatusOr<Workers> ReadWorkers(const takt_instance_options_t& options,
                                    const Topology* topology) {
  TAKT_RETURN_IF_ERROR(CheckWorkers(options));
  Workers workers;
  exec::Executor::Options& result = workers.options;
  result.worker_count = options.worker_count == TAKT_WORKER_COUNT_DEFAULT
                            ? exec::Executor::AvailableConcurrency()
                            : static_cast<uint32_t>(options.worker_count);
  workers.wanted_count = result.worker_count;
  if (options.worker_cpus != nullptr) {
    TAKT_RETURN_IF_ERROR(PlaceWorkers(options.worker_cpus, topology,
                                      options.worker_count, &workers));
  }
  if (topology != nullptr) result.topology = &topology->value();
  result.spin_ns = options.worker_spin_ns;
  result.stack_bytes = options.worker_stack_bytes;
  result.fifo_priority = options.worker_fifo_priority;
  result.backup_threads = options.worker_backup_threads;
  result.hooks = {options.worker_threads.user_data,
                  options.worker_threads.create, options.worker_threads.join};
  return workers;
}

absl::StatusOr<CpuSet> SelectCpus(const takt_executor_options_t& options,
                                  const topology::Topology& topology) {
  if (options.worker_count == 0) {
    return absl::InvalidArgumentError(
        "options: worker_count: expected 1 or more, got 0");
  }
  constexpr size_t kNameMax = 10;
  if (options.name == nullptr || std::strlen(options.name) > kNameMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: name: expected at most ", kNameMax, " characters"));
  }
  CpuSet cpus = topology.cpu_set();
  if (options.cpus != nullptr) {
    absl::StatusOr<CpuSet> given = CpuSet::Parse(options.cpus);
    if (!given.ok()) return Annotate(given.status(), "options: cpus");
    cpus = cpus & *given;
  }
  const auto matches = [](int32_t wanted, uint32_t number) {
    return wanted < 0 || static_cast<uint32_t>(wanted) == number;
  };
  CpuSet selected;
  for (const topology::CpuInfo& cpu : topology.cpus) {
    if (matches(options.cluster, cpu.cluster) &&
        matches(options.numa_node, cpu.numa_node)) {
      selected.Add(cpu.os_index);
    }
  }
  cpus = cpus & selected;
  if (!cpus.empty()) return cpus;
  std::string there;
  for (const topology::CpuInfo& cpu : topology.cpus) {
    absl::StrAppend(&there, there.empty() ? "" : ", ", cpu.os_index,
                    " (cluster ", cpu.cluster, ", NUMA node ", cpu.numa_node,
                    ")");
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "options: no CPU is in all of cpus, cluster and numa_node; there are ",
      there));
}

// Threads that could not be had.
void NoteMissing(const exec::Executor& executor,
                 const exec::Executor::Options& options, Notices& notices) {
  if (executor.worker_count() == options.worker_count) return;
  notices.FewerWorkers(
      executor.worker_count(), options.worker_count,
      options.hooks.create != nullptr
          ? "the application gives no more threads"
          : "the system has no more threads or memory for their stacks (ulimit "
            "-u, pids.max of the cgroup, worker_stack_bytes)");
}

// What was asked for and is not there.
void NoteAbsent(const Workers& workers, Notices& notices) {
  const uint32_t count = workers.options.worker_count;
  if (!workers.absent_cpus.empty()) {
    notices.AbsentCpus(workers.absent_cpus, count);
  } else if (count < workers.wanted_count) {
    notices.FewerWorkers(count, workers.wanted_count,
                         "worker_cpus names no more CPUs");
  }
}

// nullopt: the policy is "off".
absl::StatusOr<absl::optional<sched::SchedulerOptions>> ReadScheduler(
    const takt_scheduler_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_scheduler_options_t given,
                        ReadOptions(options, &takt_scheduler_options_init));
  if (options == nullptr) return absl::nullopt;
  const absl::string_view name =
      given.policy != nullptr ? given.policy : kDefaultPolicy;
  if (name == kNoPolicy) return absl::nullopt;
  sched::SchedulerOptions result;
  result.policy = sched::FindPolicy(name);
  if (result.policy == nullptr) {
    const char* const* names = nullptr;
    const size_t count = takt_scheduler_policy_names(&names);
    return absl::InvalidArgumentError(absl::StrCat(
        "options: scheduler: policy: there is no ", name, "; there are ",
        absl::StrJoin(absl::MakeConstSpan(names, count), ", ")));
  }
  if (given.aging_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: scheduler: aging_ns: expected 0 or more, got ",
                     given.aging_ns));
  }
  if (given.window_ns < 0 || given.window_budget_ns < 0 ||
      given.window_budget_ns > given.window_ns / 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: scheduler: a window of ", given.window_ns,
                     " ns with a budget of ", given.window_budget_ns,
                     "; expected 0 or more, and at most half of it"));
  }
  if (given.window_ns > 0 && name != kDefaultPolicy) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: scheduler: windows need the policy ",
                     kDefaultPolicy, ", not ", name));
  }
  result.aging_ns = given.aging_ns;
  result.set_fewest_clusters(given.fewest_clusters);
  return result;
}

// Of options that were read.
takt_scheduler_options_t ReadWindows(const takt_scheduler_options_t* options) {
  takt_scheduler_options_t none;
  takt_scheduler_options_init(&none);
  return ReadOptions(options, &takt_scheduler_options_init).value_or(none);
}

absl::StatusOr<Ref<Instance>> CreateInstance(
    const takt_instance_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(takt_instance_options_t given,
                        ReadOptions(options, &takt_instance_options_init));
  return Instance::Create(given);
}

}  // namespace

absl::StatusOr<Ref<Instance>> Instance::Create(
    const takt_instance_options_t& options) {
  Ref<Topology> topology;
  if (options.topology != nullptr) {
    topology = Ref<Topology>::Retain(Unwrap(options.topology));
  } else if (options.worker_cpus != nullptr) {
    topology = Ref<Topology>::Adopt(new Topology(topology::DiscoverTopology()));
  }
  TAKT_ASSIGN_OR_RETURN(const Workers workers,
                        ReadWorkers(options, topology.get()));
  if ((options.allocator.allocate == nullptr) !=
      (options.allocator.free == nullptr)) {
    return absl::InvalidArgumentError(
        "options: allocator: one of its two functions is NULL");
  }
  TAKT_ASSIGN_OR_RETURN(const auto scheduler, ReadScheduler(options.scheduler));
  auto instance = Ref<Instance>::Adopt(new Instance(
      options, workers.options, workers.wanted_count, std::move(topology),
      scheduler.has_value() ? &*scheduler : nullptr));
  NoteAbsent(workers, *instance->notices_);
  TAKT_RETURN_IF_ERROR(modules::RegisterHalTypes(instance->types_));
  return instance;
}

Instance::Instance(const takt_instance_options_t& options,
                   exec::Executor::Options executor_options,
                   uint32_t wanted_worker_count, Ref<Topology> topology,
                   const sched::SchedulerOptions* scheduler)
    : Object(&kType),
      log_(std::make_shared<const Log>(options.log_sink)),
      notices_(std::make_shared<Notices>(log_, topology::AllowedCpus(),
                                         Notices::ReadThrottle())),
      fault_reports_(options.fault_reports ? new FaultReports : nullptr),
      has_host_loop_(options.host_loop),
      wanted_worker_count_(wanted_worker_count),
      allocator_(options.allocator),
      executor_options_(std::move(executor_options)),
      topology_(std::move(topology)),
      scheduler_options_(scheduler != nullptr ? absl::make_optional(*scheduler)
                                              : absl::nullopt),
      policy_name_(scheduler != nullptr ? scheduler->policy->name()
                                        : kNoPolicy),
      window_ns_(ReadWindows(options.scheduler).window_ns),
      window_budget_ns_(ReadWindows(options.scheduler).window_budget_ns),
      timers_(CreateTimers("takt-timer", 0, 0)),
      release_timers_(CreateTimers("takt-release", options.timer_spin_ns,
                                   options.timer_fifo_priority)),
      blocks_(BlockPool::Create()) {}

std::shared_ptr<TimerService> Instance::CreateTimers(
    const char* name, int64_t spin_ns, int32_t fifo_priority) const {
  TimerThreadOptions options;
  options.name = name;
  options.spin_ns = spin_ns;
  options.fifo_priority = fifo_priority;
  options.on_priority = [notices = notices_, fifo_priority](int, int error) {
    notices->TimerPriority(fifo_priority, error);
  };
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

Instance::~Instance() {
  // First, since what waits for its fences may still use the workers.
  std::shared_ptr<FdPoller> poller;
  {
    MutexLock lock(&mutex_);
    poller = std::move(fd_poller_);
  }
  poller.reset();
  Ref<exec::Executor> executor = FindExecutor();
  Ref<shop::JobShop> shop;
  Ref<shop::FrequencyMonitor> speed_watch;
  {
    MutexLock lock(&mutex_);
    shop = std::move(shop_);
    speed_watch = std::move(speed_watch_);
  }
  if (speed_watch != nullptr) speed_watch->Stop();
  if (executor != nullptr) executor->Shutdown();
  if (shop != nullptr) {
    shop->SetStandingGuide(nullptr);
    shop->Shutdown();
  }
  std::vector<Ref<exec::Executor>> others;
  {
    MutexLock lock(&mutex_);
    others.swap(further_executors_);
  }
  for (const Ref<exec::Executor>& other : others) other->Shutdown();
}

absl::Status Instance::RegisterUserType(Ref<UserType> type) {
  MutexLock lock(&mutex_);
  TAKT_RETURN_IF_ERROR(types_.Register(&type->object_type()));
  user_types_.push_back(std::move(type));
  return absl::OkStatus();
}

absl::StatusOr<Ref<exec::Executor>> Instance::GetExecutor() {
  MutexLock lock(&mutex_);
  TAKT_RETURN_IF_ERROR(EnsureExecutor());
  return executor_;
}

absl::Status Instance::EnsureExecutor() {
  if (executor_ != nullptr) return absl::OkStatus();
  exec::Executor::Options executor_options = executor_options_;
  CompleteThreads(executor_options.fifo_priority, &executor_options);
  executor_options.timers = release_timers_;
  TAKT_ASSIGN_OR_RETURN(Ref<exec::Executor> executor,
                        exec::Executor::Create(executor_options));
  NoteMissing(*executor, executor_options, *notices_);
  if (scheduler_options_.has_value()) {
    shop::JobShopOptions options;
    options.scheduler = *scheduler_options_;
    if (topology_ != nullptr) options.topology = &topology_->value();
    options.is_placed = !executor_options_.placement.empty();
    options.timers = release_timers_;
    absl::StatusOr<Ref<shop::JobShop>> shop =
        shop::JobShop::Create(executor, options);
    if (!shop.ok()) {
      executor->Shutdown();
      return shop.status();
    }
    shop_ = *std::move(shop);
    StartWindows();
    speed_watch_ =
        shop::FrequencyMonitor::Start(shop_, timers_, topology::SpeedSensor());
  }
  executor_ = std::move(executor);
  return absl::OkStatus();
}

void Instance::StartWindows() {
  if (window_ns_ == 0) return;
  follow::WindowOptions options;
  options.length_ns = window_ns_;
  options.planning.budget_ns = window_budget_ns_;
  options.planning.background =
      [thread = CreateBackground("takt-plan")](std::function<void()> function) {
        thread->Post(std::move(function));
      };
  windows_ = std::make_shared<follow::WindowAdvisor>(std::move(options));
  shop_->SetStandingGuide(windows_.get());
}

std::shared_ptr<follow::WindowAdvisor> Instance::FindWindows() {
  MutexLock lock(&mutex_);
  return windows_;
}

absl::StatusOr<Ref<shop::JobShop>> Instance::GetShop() {
  MutexLock lock(&mutex_);
  if (scheduler_options_.has_value()) TAKT_RETURN_IF_ERROR(EnsureExecutor());
  return shop_;
}

shop::JobShop* Instance::FindShop(const exec::Executor* executor) {
  MutexLock lock(&mutex_);
  return executor == executor_.get() ? shop_.get() : nullptr;
}

Ref<exec::Executor> Instance::FindExecutor() {
  MutexLock lock(&mutex_);
  return executor_;
}

absl::StatusOr<Ref<exec::Executor>> Instance::CreateExecutor(
    const takt_executor_options_t& options) {
  Ref<Topology> topology = topology_;
  if (topology == nullptr) {
    topology = Ref<Topology>::Adopt(new Topology(topology::DiscoverTopology()));
  }
  TAKT_ASSIGN_OR_RETURN(const CpuSet cpus,
                        SelectCpus(options, topology->value()));
  const std::string text = cpus.ToString();
  takt_instance_options_t workers;
  takt_instance_options_init(&workers);
  workers.worker_count = options.worker_count;
  workers.worker_cpus = text.c_str();
  workers.worker_spin_ns = options.spin_ns;
  workers.worker_stack_bytes = options.stack_bytes;
  workers.worker_fifo_priority = options.fifo_priority;
  workers.worker_threads = options.threads;
  if (options.threads.create == nullptr) {
    const ThreadHooks& hooks = executor_options_.hooks;
    workers.worker_threads = {hooks.user_data, hooks.create, hooks.join};
  }
  workers.worker_backup_threads = options.backup_threads;
  TAKT_ASSIGN_OR_RETURN(const Workers read,
                        ReadWorkers(workers, topology.get()));
  exec::Executor::Options executor_options = read.options;
  executor_options.name = options.name;
  CompleteThreads(executor_options.fifo_priority, &executor_options);
  executor_options.timers = release_timers_;
  TAKT_ASSIGN_OR_RETURN(Ref<exec::Executor> executor,
                        exec::Executor::Create(executor_options));
  NoteMissing(*executor, executor_options, *notices_);
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
      has_host_loop_);
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
  if (executor_ != nullptr) all.push_back(executor_);
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
  // Planning comes last: it may take a while.
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

absl::Status Instance::RunReady(int64_t max_ns, size_t* out_ran,
                                int64_t* out_next_ns) {
  if (max_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_ns: expected 0 or more, got ", max_ns));
  }
  const int64_t start_ns = NowNs();
  const int64_t deadline_ns =
      max_ns < kInfiniteFuture - start_ns ? start_ns + max_ns : kInfiniteFuture;
  size_t ran = 0;
  bool is_left = false;
  do {
    const size_t ran_now = RunRound(deadline_ns);
    ran += ran_now;
    is_left = ran_now != 0;
  } while (is_left && NowNs() < deadline_ns);
  if (out_ran != nullptr) *out_ran = ran;
  if (out_next_ns != nullptr) {
    *out_next_ns =
        is_left ? NowNs()
                : std::min(timers_->NextDueNs(), release_timers_->NextDueNs());
  }
  return absl::OkStatus();
}

takt_instance_statistics_t Instance::statistics() {
  takt_instance_statistics_t result = {};
  notices_->AddTo(&result);
  result.wanted_worker_count = wanted_worker_count_;
  const Ref<exec::Executor> executor = FindExecutor();
  if (executor != nullptr) result.worker_count = executor->worker_count();
  return result;
}

absl::StatusOr<Ref<vm::Module>> Instance::GetHalModule(
    absl::Span<hal::Device* const> devices) {
  return GetShared(Kind::kHal, {devices.begin(), devices.end()}, [&] {
    return MakeHalModule(devices, /*shares_initialized=*/true);
  });
}

absl::StatusOr<Ref<vm::Module>> Instance::CreateOwnHalModule(
    absl::Span<hal::Device* const> devices) {
  return MakeHalModule(devices, /*shares_initialized=*/false);
}

absl::StatusOr<Ref<vm::Module>> Instance::MakeHalModule(
    absl::Span<hal::Device* const> devices, bool shares_initialized) {
  modules::HalModuleOptions options;
  options.devices = RefsOf(devices);
  options.trace_sink = TraceTo(log_);
  options.timers = timers_;
  options.collects_command_buffers = true;
  options.shares_initialized = shares_initialized;
  return modules::CreateHalModule(types_, std::move(options));
}

absl::StatusOr<Ref<vm::Module>> Instance::GetParametersModule(
    absl::Span<Parameters* const> archives) {
  // The providers are what such a module is known by (a provider belongs to
  // one scope): it keeps them alive, so that no address among them can come to
  // mean another.
  std::vector<const Object*> key;
  std::vector<modules::ParameterScope> scopes;
  for (const Parameters* archive : archives) {
    key.push_back(archive->provider().get());
    scopes.push_back({archive->scope(), archive->provider()});
  }
  return GetShared(Kind::kParameters, std::move(key), [&] {
    return modules::CreateIoParametersModule(types_, std::move(scopes));
  });
}

absl::StatusOr<Ref<vm::Module>> Instance::GetHalInlineModule(
    absl::Span<hal::Device* const> devices) {
  return GetShared(Kind::kHalInline, {devices.begin(), devices.end()}, [&] {
    modules::HalInlineModuleOptions options;
    options.devices = RefsOf(devices);
    options.trace_sink = TraceTo(log_);
    return modules::CreateHalInlineModule(types_, std::move(options));
  });
}

absl::StatusOr<Ref<vm::Module>> Instance::GetHalLoaderModule(
    absl::Span<hal::Device* const> devices) {
  return GetShared(Kind::kHalLoader, {devices.begin(), devices.end()}, [&] {
    modules::HalLoaderModuleOptions options;
    options.devices = RefsOf(devices);
    options.timers = timers_;
    return modules::CreateHalLoaderModule(types_, std::move(options));
  });
}

absl::StatusOr<Ref<vm::Module>> Instance::GetVmvxModule() {
  return GetShared(Kind::kVmvx, {}, []() -> ModuleOr {
    TAKT_ASSIGN_OR_RETURN(
        Ref<vm::NativeModule> module,
        cpu::CreateVmvxModule(kernels::SelectKernels(
            cpu::UsableInstructionSets(cpu::DetectProcessor()))));
    return Ref<vm::Module>(std::move(module));
  });
}

absl::StatusOr<Ref<vm::Module>> Instance::GetShared(
    Kind kind, std::vector<const Object*> key,
    absl::FunctionRef<ModuleOr()> make) {
  MutexLock lock(&mutex_);
  for (const SharedModule& shared : shared_) {
    if (shared.kind == kind && shared.key == key) return shared.module;
  }
  TAKT_ASSIGN_OR_RETURN(Ref<vm::Module> module, make());
  DropIdle(kIdleModulesMax - 1);
  shared_.push_back({kind, std::move(key), module});
  return module;
}

void Instance::DropIdle(size_t idle_count_max) {
  size_t idle_count = 0;
  for (const SharedModule& shared : shared_) {
    idle_count += shared.module->IsUnique();
  }
  for (size_t i = 0; i < shared_.size() && idle_count > idle_count_max;) {
    if (shared_[i].module->IsUnique()) {
      shared_.erase(shared_.begin() + i);
      --idle_count;
    } else {
      ++i;
    }
  }
}

const CpuSet* Instance::FindCpuSet(absl::Span<const uint64_t> words) {
  MutexLock lock(&mutex_);
  for (const auto& known : cpu_sets_) {
    if (known->words() == words) return known.get();
  }
  cpu_sets_.push_back(std::make_unique<const CpuSet>(CpuSet::FromWords(words)));
  return cpu_sets_.back().get();
}

absl::StatusOr<const CpuSet*> Instance::FindCpusWithIsa(
    const std::vector<std::string>& features, const CpuSet* allowed) {
  topology::Topology machine;
  if (topology_ == nullptr) {
    machine.clusters.emplace_back();
    machine.clusters.back().name = "this machine";
    machine.clusters.back().cpus = topology::AllowedCpus();
  }
  const topology::Topology& topology =
      topology_ != nullptr ? topology_->value() : machine;
  CpuSet all;
  for (const topology::Cluster& cluster : topology.clusters) {
    all = all | cluster.cpus;
  }
  TAKT_ASSIGN_OR_RETURN(
      const CpuSet found,
      topology.CpusWithIsa(features, allowed != nullptr ? *allowed : all,
                           cpu::FeatureNames(cpu::DetectProcessor())));
  if (found == all) return nullptr;
  absl::Span<const uint64_t> words = found.words();
  while (!words.empty() && words.back() == 0) words.remove_suffix(1);
  return FindCpuSet(words);
}

void Instance::Trim() {
  MutexLock lock(&mutex_);
  DropIdle(0);
  if (executor_ != nullptr) executor_->Trim();
  blocks_->Trim();
}

}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_instance_create(const takt_instance_options_t* options,
                                   takt_instance_t** out_instance) {
  TAKT_REQUIRE(out_instance);
  return takt::api::Give(__func__, takt::api::CreateInstance(options),
                         out_instance);
}

void takt_instance_retain(takt_instance_t* instance) {
  takt::api::RetainHandle(instance);
}

void takt_instance_release(takt_instance_t* instance) {
  takt::api::ReleaseHandle(instance);
}

uint32_t takt_instance_worker_count(const takt_instance_t* instance) {
  TAKT_REQUIRE_OR(0, instance);
  return Unwrap(instance)->worker_count();
}

takt_status_t takt_instance_run_ready(takt_instance_t* instance, int64_t max_ns,
                                      size_t* out_ran, int64_t* out_next_ns) {
  TAKT_REQUIRE(instance, Optional(out_ran), Optional(out_next_ns));
  return takt::api::ToStatus(
      __func__, Unwrap(instance)->RunReady(max_ns, out_ran, out_next_ns));
}

takt_status_t takt_instance_query_statistics(
    takt_instance_t* instance, takt_instance_statistics_t* out_statistics) {
  TAKT_REQUIRE(instance, out_statistics);
  const absl::Status status =
      takt::api::RequireSized(out_statistics, "out_statistics");
  if (!status.ok()) return takt::api::ToStatus(__func__, status);
  takt::api::WriteSized(Unwrap(instance)->statistics(), out_statistics);
  return nullptr;
}

void takt_instance_trim(takt_instance_t* instance) {
  TAKT_IGNORE_NULL(instance);
  Unwrap(instance)->Trim();
}
