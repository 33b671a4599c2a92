#include "api/instance.h"

#include <algorithm>
#include <utility>

#include "api/handle.h"
#include "modules/hal_module.h"
#include "modules/io_parameters_module.h"

namespace takt::api {
namespace {

constexpr int32_t kWorkerCountMax = 1024;

uint32_t WorkerCount(int32_t given) {
  return given == TAKT_WORKER_COUNT_DEFAULT
             ? exec::Executor::AvailableConcurrency()
             : static_cast<uint32_t>(given);
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
  if (options.worker_count < TAKT_WORKER_COUNT_DEFAULT ||
      options.worker_count > kWorkerCountMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: worker_count: expected ", TAKT_WORKER_COUNT_DEFAULT, " to ",
        kWorkerCountMax, ", got ", options.worker_count));
  }
  if ((options.allocator.allocate == nullptr) !=
      (options.allocator.free == nullptr)) {
    return absl::InvalidArgumentError(
        "options: allocator: one of its two functions is NULL");
  }
  auto instance = Ref<Instance>::Adopt(new Instance(options));
  TAKT_RETURN_IF_ERROR(modules::RegisterHalTypes(instance->types_));
  return instance;
}

Instance::Instance(const takt_instance_options_t& options)
    : Object(&kType),
      log_(std::make_shared<const Log>(options.log_sink)),
      allocator_(options.allocator),
      worker_count_(WorkerCount(options.worker_count)),
      timers_(CreateTimerThread()),
      blocks_(BlockPool::Create()) {}

Instance::~Instance() {
  // First, since what waits for its fences may still use the workers.
  std::shared_ptr<FdPoller> poller;
  {
    absl::MutexLock lock(&mutex_);
    poller = std::move(fd_poller_);
  }
  poller.reset();
  Ref<exec::Executor> executor = FindExecutor();
  if (executor != nullptr) executor->Shutdown();
}

absl::Status Instance::RegisterUserType(Ref<UserType> type) {
  absl::MutexLock lock(&mutex_);
  TAKT_RETURN_IF_ERROR(types_.Register(&type->object_type()));
  user_types_.push_back(std::move(type));
  return absl::OkStatus();
}

absl::StatusOr<Ref<exec::Executor>> Instance::GetExecutor() {
  absl::MutexLock lock(&mutex_);
  if (executor_ == nullptr) {
    exec::Executor::Options options;
    options.worker_count = worker_count_;
    TAKT_ASSIGN_OR_RETURN(executor_, exec::Executor::Create(options));
    if (executor_->worker_count() != worker_count_) {
      log_->Write(TAKT_LOG_WARNING,
                  absl::StrCat("started ", executor_->worker_count(), " of ",
                               worker_count_, " workers"));
    }
  }
  return executor_;
}

Ref<exec::Executor> Instance::FindExecutor() {
  absl::MutexLock lock(&mutex_);
  return executor_;
}

absl::StatusOr<std::shared_ptr<FdPoller>> Instance::GetFdPoller() {
  absl::MutexLock lock(&mutex_);
  if (fd_poller_ == nullptr) {
    TAKT_ASSIGN_OR_RETURN(fd_poller_, FdPoller::Create());
  }
  return fd_poller_;
}

absl::StatusOr<Ref<vm::Module>> Instance::GetHalModule(
    absl::Span<hal::Device* const> devices) {
  std::vector<const Object*> key(devices.begin(), devices.end());
  absl::MutexLock lock(&mutex_);
  if (vm::Module* found = FindShared(Kind::kHal, key)) {
    return Ref<vm::Module>::Retain(found);
  }
  modules::HalModuleOptions options;
  for (hal::Device* device : devices) {
    options.devices.push_back(Ref<hal::Device>::Retain(device));
  }
  options.trace_sink = [log = log_](absl::string_view text) {
    log->Write(TAKT_LOG_INFO, text);
  };
  options.timers = timers_;
  TAKT_ASSIGN_OR_RETURN(Ref<vm::Module> module,
                        modules::CreateHalModule(types_, std::move(options)));
  AddShared({Kind::kHal, std::move(key), module});
  return module;
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
  absl::MutexLock lock(&mutex_);
  if (vm::Module* found = FindShared(Kind::kParameters, key)) {
    return Ref<vm::Module>::Retain(found);
  }
  TAKT_ASSIGN_OR_RETURN(
      Ref<vm::Module> module,
      modules::CreateIoParametersModule(types_, std::move(scopes)));
  AddShared({Kind::kParameters, std::move(key), module});
  return module;
}

vm::Module* Instance::FindShared(Kind kind,
                                 const std::vector<const Object*>& key) {
  for (SharedModule& shared : shared_) {
    if (shared.kind == kind && shared.key == key) return shared.module.get();
  }
  return nullptr;
}

void Instance::AddShared(SharedModule shared) {
  DropIdle(kIdleModulesMax - 1);
  shared_.push_back(std::move(shared));
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

void Instance::Trim() {
  absl::MutexLock lock(&mutex_);
  DropIdle(0);
  blocks_->Trim();
}

}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_instance_create(const takt_instance_options_t* options,
                                   takt_instance_t** out_instance) {
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
  return Unwrap(instance)->worker_count();
}

void takt_instance_trim(takt_instance_t* instance) { Unwrap(instance)->Trim(); }
