// A Module is code that exports and imports functions: a bytecode archive
// (bytecode_module.h) or native functions (native_module.h). Another module
// format would be another subclass.
//
// Modules are immutable, and shared by every context that links them. The state
// that a context may change is in its ModuleState.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_VM_MODULE_H_
#define TAKT_VM_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "base/mutex.h"
#include "base/object.h"
#include "vm/calling_convention.h"

namespace takt::vm {

class Linkage;

struct Attribute {
  std::string key;
  std::string value;
};

// One exported function. Several exports of a native module may have one name
// if their conventions differ; an import is bound to the one whose convention
// is its own.
struct ExportInfo {
  std::string name;  // Without the module's name.
  CallingConvention convention;
  std::vector<Attribute> attributes;
  // The compilers whose imports have this convention, for messages. Empty if
  // all compilers that the module serves have it.
  std::string compilers;

  // The attribute's value, or nullptr.
  const std::string* FindAttribute(absl::string_view key) const;
};

// One function that must (or may) come from a module linked before this one.
struct ImportInfo {
  std::string full_name;  // "module.function"; split at the first dot.
  CallingConvention convention;
  bool optional = false;
};

struct Dependency {
  std::string module_name;
  uint32_t minimum_version = 0;
  bool optional = false;
};

// The state of one module in one context.
class ModuleState {
 public:
  virtual ~ModuleState() = default;
};

class Module : public Object {
 public:
  enum class Kind { kBytecode, kNative };

  Kind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  uint32_t version() const { return version_; }
  const std::vector<Attribute>& attributes() const { return attributes_; }
  const std::vector<ExportInfo>& exports() const { return exports_; }
  const std::vector<ImportInfo>& imports() const { return imports_; }
  const std::vector<Dependency>& dependencies() const { return dependencies_; }
  // The compilers whose imports the module serves, for messages ("iree-compile
  // 3.12 and 3.13"). Empty if no compiler knows the module.
  const std::string& compilers() const { return compilers_; }
  // The index in exports() of the first export of that name.
  absl::optional<size_t> FindExport(absl::string_view local_name) const;
  // The same for the export of that name and convention.
  absl::optional<size_t> FindExport(absl::string_view local_name,
                                    absl::string_view convention) const;

  virtual absl::StatusOr<std::unique_ptr<ModuleState>> CreateState() const = 0;

 protected:
  Module(const ObjectType* type, Kind kind);
  ~Module() override;

  // Filled in by the subclass's factory before anyone else sees the module.
  std::string name_;
  uint32_t version_ = 0;
  std::string compilers_;
  std::vector<Attribute> attributes_;
  std::vector<ExportInfo> exports_;
  std::vector<ImportInfo> imports_;
  std::vector<Dependency> dependencies_;

 private:
  friend class Linkage;

  const Kind kind_;
  // The linkages of the lists of modules that end with this one.
  mutable Mutex linkages_mutex_;
  mutable std::vector<Ref<Linkage>> linkages_ ABSL_GUARDED_BY(linkages_mutex_);
};

}  // namespace takt::vm

#endif  // TAKT_VM_MODULE_H_
