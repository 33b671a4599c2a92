// A Linkage holds what all contexts of one list of modules share: the functions
// to which imports are bound, the entry code of each export, and the state that
// the initializers left. It is made once. The last module of the list owns it.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_VM_LINKAGE_H_
#define TAKT_VM_LINKAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/block_pool.h"
#include "base/mutex.h"
#include "base/object.h"
#include "vm/instance.h"
#include "vm/module.h"
#include "vm/program.h"

namespace takt::vm {

// The first frame of an invocation represents the host: its registers hold the
// arguments and receive the results, and its code is a single call.
struct HostEntry {
  Function frame;
  std::vector<Unit> code;          // The callee gets the arguments' refs.
  std::vector<Unit> keeping_code;  // The frame keeps them.
  std::vector<Letter> letters;     // Of the arguments.
  std::vector<Letter> result_letters;
  std::vector<int16_t> arguments;  // Their addresses in the frame.
  std::vector<int16_t> results;
  bool has_spans = false;  // Cannot be called by the host.
};

// The state that the initializers left in one module.
struct ModuleSnapshot {
  std::vector<uint8_t> globals;
  std::vector<Ref<Object>> global_refs;
};
using Snapshot = std::vector<ModuleSnapshot>;  // By module; native: empty.

class Linkage final : public Object {
 public:
  static constexpr ObjectType kType{"vm.linkage"};

  struct Export {
    Callee callee;
    HostEntry entry;
  };

  // The linkage of `modules`, which is made if there is none. Errors: see
  // Context::Create().
  static absl::StatusOr<Ref<Linkage>> Get(
      absl::Span<const Ref<Module>> modules);

  const std::vector<Callee>& imports(size_t module) const {
    return modules_[module].imports;
  }
  const std::vector<Export>& exports(size_t module) const {
    return modules_[module].exports;
  }
  // True if a context may start from a copy of the state that the initializers
  // of another one left.
  bool initializers_repeatable() const { return repeatable_; }
  BlockPool& pool() const { return *pool_; }

  // nullptr until one is published; the first one stays.
  std::shared_ptr<const Snapshot> snapshot() const;
  void Publish(std::shared_ptr<const Snapshot> snapshot);

 private:
  struct LinkedModule {
    std::vector<Callee> imports;
    std::vector<Export> exports;
    std::vector<std::string> names;  // Of the exports, with the module's.
  };

  explicit Linkage(absl::Span<const Ref<Module>> modules);
  bool IsFor(absl::Span<const Ref<Module>> modules) const;
  void DescribeExports(absl::Span<const Ref<Module>> modules, size_t index);
  // Appends a text for each missing or unsuitable import to *problems.
  void Bind(absl::Span<const Ref<Module>> modules, size_t index,
            std::vector<absl::Status>* problems);
  // Sets *callee, unless the import is optional and missing. `earlier`: the
  // modules before `module`.
  absl::Status BindImport(const Module& module, const ImportInfo& import,
                          absl::Span<const Ref<Module>> earlier,
                          Callee* callee) const;
  bool AreInitializersRepeatable(absl::Span<const Ref<Module>> modules) const;

  std::vector<Ref<Module>> others_;  // All but the last, which owns this.
  const Module* const last_;
  std::vector<LinkedModule> modules_;
  bool repeatable_ = false;
  UniqueBlockPool pool_;

  mutable Mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::vm

#endif  // TAKT_VM_LINKAGE_H_
