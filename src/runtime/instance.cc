#include "runtime/instance.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "cpu/cpu_features.h"
#include "modules/hal_module.h"

namespace takt::runtime {
namespace {

// Notes the CPUs and workers that the machine does not have.
void NoteAbsent(const ResolvedWorkers& workers, Notices& notices) {
  const uint32_t count = workers.options.worker_count;
  if (!workers.absent_cpus.empty()) {
    notices.AbsentCpus(workers.absent_cpus, count);
  } else if (count < workers.wanted_count) {
    notices.FewerWorkers(count, workers.wanted_count,
                         "worker_cpus names no more CPUs");
  }
}

}  // namespace

absl::StatusOr<Ref<Instance>> Instance::Create(InstanceOptions options) {
  if (options.timer_spin_ns < 0 || options.timer_fifo_priority < 0 ||
      options.timer_fifo_priority > kFifoPriorityMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: timer_spin_ns is ", options.timer_spin_ns,
                     ", timer_fifo_priority is ", options.timer_fifo_priority,
                     "; expected 0 or more, and 0 to ", kFifoPriorityMax));
  }
  if (options.topology == nullptr && options.workers.cpus.has_value()) {
    options.topology = std::make_shared<const topology::Topology>(
        topology::DiscoverTopology());
  }
  TAKT_ASSIGN_OR_RETURN(
      const ResolvedWorkers workers,
      ResolveWorkers(options.workers, options.topology.get()));
  auto instance =
      Ref<Instance>::Adopt(new Instance(std::move(options), workers));
  NoteAbsent(workers, *instance->notices_);
  TAKT_RETURN_IF_ERROR(modules::RegisterHalTypes(instance->types_));
  return instance;
}

Instance::Instance(InstanceOptions options, const ResolvedWorkers& workers)
    : Object(&kType),
      log_(std::make_shared<const Log>(std::move(options.log_sink))),
      notices_(std::make_shared<Notices>(log_, topology::AllowedCpus(),
                                         Notices::ReadThrottle())),
      fault_reports_(options.fault_reports ? new FaultReports : nullptr),
      has_host_loop_(options.host_loop),
      wanted_worker_count_(workers.wanted_count),
      memory_source_(options.memory_source),
      executor_options_(workers.options),
      topology_(std::move(options.topology)),
      scheduler_options_(std::move(options.scheduler)),
      make_advisor_(std::move(options.make_advisor)),
      timers_(CreateTimers("takt-timer", 0, 0)),
      release_timers_(CreateTimers("takt-release", options.timer_spin_ns,
                                   options.timer_fifo_priority)),
      blocks_(BlockPool::Create()),
      native_modules_(types_, log_, timers_) {}

Instance::~Instance() {
  // The poller goes first: waiters of its fences may still use the workers.
  std::shared_ptr<FdPoller> poller;
  {
    MutexLock lock(&mutex_);
    poller = std::move(fd_poller_);
  }
  poller.reset();
  Engine engine;
  {
    MutexLock lock(&mutex_);
    engine = engine_;
  }
  StopEngine(engine);
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

const char* Instance::policy_name() const {
  return scheduler_options_.has_value() ? scheduler_options_->policy->name()
                                        : kNoPolicy;
}

InstanceStatistics Instance::statistics() {
  InstanceStatistics result;
  result.notices = notices_->counts();
  result.wanted_worker_count = wanted_worker_count_;
  MutexLock lock(&mutex_);
  const Engine& engine = engine_;
  if (engine.executor != nullptr) {
    result.worker_count = engine.executor->worker_count();
  }
  if (engine.shop != nullptr) {
    result.spare_block_count = engine.shop->spare_block_count();
    result.lost_advisor_count = engine.shop->lost_advisor_count();
  }
  return result;
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
      topology_ != nullptr ? *topology_ : machine;
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
  native_modules_.Trim();
  MutexLock lock(&mutex_);
  if (engine_.executor != nullptr) engine_.executor->Trim();
  blocks_->Trim();
}

}  // namespace takt::runtime
