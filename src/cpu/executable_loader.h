// An ExecutableLoader makes executables of blobs of a module, in the formats of
// this machine. It keeps weak references to the loaded code: the same content
// with the same constants is loaded once, as long as a user of it lives.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf.
#ifndef TAKT_CPU_EXECUTABLE_LOADER_H_
#define TAKT_CPU_EXECUTABLE_LOADER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "base/object.h"
#include "cpu/code_loader.h"
#include "cpu/cpu_features.h"
#include "cpu/import_resolver.h"
#include "cpu/loaded_executable.h"
#include "vm/native_module.h"

namespace takt::cpu {

class ExecutableLoader {
 public:
  // `imports` is borrowed and outlives the loader; NULL: nothing resolves.
  // `others` knows more formats; NULL: there are no others. Only if it is
  // allowed, libraries of the system's own format run with all its rights.
  explicit ExecutableLoader(ImportResolver* imports = nullptr,
                            std::shared_ptr<CodeLoader> others = nullptr,
                            bool allows_system_libraries = false);
  ~ExecutableLoader();

  // Whether Load() supports blobs of `format` on this machine, such as
  // "embedded-elf-x86_64" or "vmvx-bytecode-fb".
  bool SupportsFormat(absl::string_view format) const;

  // Loads `data`. `owner` keeps it alive; without one, it is only read during
  // the call and nothing is remembered. Errors: NOT_FOUND for a format that is
  // not supported, or an import that nothing resolves; PERMISSION_DENIED for a
  // system library where that is not allowed; DATA_LOSS for a damaged
  // blob; UNIMPLEMENTED for a feature that Takt lacks; FAILED_PRECONDITION for
  // a wrong number of constants.
  absl::StatusOr<Ref<LoadedExecutable>> Load(
      absl::string_view format, absl::Span<const uint8_t> data,
      Ref<Object> owner, absl::Span<const uint32_t> constants);

  // Called when the device ends, while its threads still run.
  void Retire() {
    if (others_ != nullptr) others_->Retire();
  }

  // Calls `visit` for the code of each executable that lives and has an owner.
  void ForEachCode(absl::FunctionRef<void(const ExecutableCode&)> visit)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Codes = std::vector<std::shared_ptr<ExecutableCode>>;
  struct Entry {
    std::string format;
    absl::Span<const uint8_t> data;  // Kept alive by the code.
    std::vector<uint32_t> constants;
    std::weak_ptr<ExecutableCode> code;
  };

  absl::StatusOr<std::shared_ptr<ExecutableCode>> LoadCode(
      absl::string_view format, absl::Span<const uint8_t> data,
      const Ref<Object>& owner, absl::Span<const uint32_t> constants);
  // The module that vmvx executables import; made when first needed.
  absl::StatusOr<Ref<vm::NativeModule>> VmvxModule()
      ABSL_LOCKS_EXCLUDED(mutex_);
  // nullptr if no such code lives. Forgets entries whose code is gone. Adds to
  // `looked` the code that was looked at, which the caller lets go of once it
  // has unlocked: it may be the last that holds it, and code that ends calls
  // the release function of its memory.
  std::shared_ptr<ExecutableCode> Find(absl::string_view format,
                                       absl::Span<const uint8_t> data,
                                       absl::Span<const uint32_t> constants,
                                       Codes* looked)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ImportResolver* const imports_;
  const std::shared_ptr<CodeLoader> others_;
  const bool allows_system_libraries_;
  const ProcessorData processor_;

  Mutex mutex_;
  std::vector<Entry> entries_ ABSL_GUARDED_BY(mutex_);
  Ref<vm::NativeModule> vmvx_module_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_EXECUTABLE_LOADER_H_
