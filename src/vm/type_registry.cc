#include "vm/type_registry.h"

#include "absl/strings/str_cat.h"
#include "vm/byte_buffer.h"
#include "vm/list.h"

namespace takt::vm {

TypeRegistry::TypeRegistry() {
  MutexLock lock(&mutex_);
  types_.emplace(ByteBuffer::kType.name, &ByteBuffer::kType);
  types_.emplace(List::kType.name, &List::kType);
}

absl::Status TypeRegistry::Register(const ObjectType* type) {
  MutexLock lock(&mutex_);
  const auto [it, inserted] = types_.emplace(type->name, type);
  if (inserted || it->second == type) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("another type is registered as ", type->name));
}

const ObjectType* TypeRegistry::Find(absl::string_view full_name) const {
  MutexLock lock(&mutex_);
  const auto it = types_.find(full_name);
  return it == types_.end() ? nullptr : it->second;
}

}  // namespace takt::vm
