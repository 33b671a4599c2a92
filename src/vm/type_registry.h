// The ref types that modules may name, by full name ("hal.buffer_view").
// An instance has one; native modules add theirs before modules that use them
// are loaded.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_VM_TYPE_REGISTRY_H_
#define TAKT_VM_TYPE_REGISTRY_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "base/mutex.h"
#include "base/object.h"

namespace takt::vm {

class TypeRegistry {
 public:
  // Knows vm.buffer and vm.list from the start.
  TypeRegistry();

  // `type` must outlive the registry. The same type twice is fine; another
  // type of the same name is ALREADY_EXISTS.
  absl::Status Register(const ObjectType* type);

  // nullptr if no such type is registered.
  const ObjectType* Find(absl::string_view full_name) const;

 private:
  mutable Mutex mutex_;
  HashMap<std::string, const ObjectType*> types_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::vm

#endif  // TAKT_VM_TYPE_REGISTRY_H_
