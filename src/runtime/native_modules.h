// The native modules that the library provides: `hal`, `hal_inline`,
// `hal_loader`, `vmvx` and `io_parameters`. Contexts that ask for the same
// module over the same objects share it.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf but for what creating a module locks.
#ifndef TAKT_RUNTIME_NATIVE_MODULES_H_
#define TAKT_RUNTIME_NATIVE_MODULES_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "hal/device.h"
#include "runtime/log.h"
#include "runtime/parameters.h"
#include "vm/module.h"
#include "vm/type_registry.h"

namespace takt::runtime {

class NativeModules {
 public:
  // `types` outlives this. The log receives what compiled code traces.
  NativeModules(vm::TypeRegistry& types, std::shared_ptr<const Log> log,
                std::shared_ptr<TimerService> timers)
      : types_(types), log_(std::move(log)), timers_(std::move(timers)) {}

  // The `hal` module over these devices, and the `io_parameters` module over
  // these archives. The same list gives the same module, so that contexts that
  // are alike share the cost of linking.
  absl::StatusOr<Ref<vm::Module>> GetHalModule(
      absl::Span<hal::Device* const> devices);
  // One that no other context shares.
  absl::StatusOr<Ref<vm::Module>> CreateOwnHalModule(
      absl::Span<hal::Device* const> devices);
  absl::StatusOr<Ref<vm::Module>> GetParametersModule(
      absl::Span<Parameters* const> archives);
  // The same for the modules that inline execution models import: `hal_inline`
  // and `hal_loader` over these devices, and `vmvx` with the kernels of this
  // machine.
  absl::StatusOr<Ref<vm::Module>> GetHalInlineModule(
      absl::Span<hal::Device* const> devices) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Ref<vm::Module>> GetHalLoaderModule(
      absl::Span<hal::Device* const> devices) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Ref<vm::Module>> GetVmvxModule() ABSL_LOCKS_EXCLUDED(mutex_);

  // Drops the modules that no context uses.
  void Trim() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A module and the list of objects that it was made for and keeps alive.
  enum class Kind { kHal, kHalInline, kHalLoader, kParameters, kVmvx };
  struct SharedModule {
    Kind kind;
    std::vector<const Object*> key;
    Ref<vm::Module> module;
  };
  // Up to this number of idle modules are kept, so that a program that makes
  // its contexts one after the other finds them again.
  static constexpr size_t kIdleModulesMax = 8;

  absl::StatusOr<Ref<vm::Module>> MakeHalModule(
      absl::Span<hal::Device* const> devices, bool shares_initialized);
  using ModuleOr = absl::StatusOr<Ref<vm::Module>>;
  // The module for this list, made by `make` if there is none.
  ModuleOr GetShared(Kind kind, std::vector<const Object*> key,
                     absl::FunctionRef<ModuleOr()> make)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Drops idle modules, oldest first, until `idle_count_max` are left.
  void DropIdle(size_t idle_count_max) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  vm::TypeRegistry& types_;
  const std::shared_ptr<const Log> log_;
  const std::shared_ptr<TimerService> timers_;

  Mutex mutex_;
  std::vector<SharedModule> shared_ ABSL_GUARDED_BY(mutex_);  // By age.
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_NATIVE_MODULES_H_
