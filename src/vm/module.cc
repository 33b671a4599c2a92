#include "vm/module.h"

#include "vm/linkage.h"

namespace takt::vm {

Module::Module(const ObjectType* type, Kind kind) : Object(type), kind_(kind) {}

Module::~Module() = default;

const std::string* ExportInfo::FindAttribute(absl::string_view key) const {
  for (const Attribute& attribute : attributes) {
    if (key == attribute.key) return &attribute.value;
  }
  return nullptr;
}

absl::optional<size_t> Module::FindExport(absl::string_view local_name) const {
  for (size_t i = 0; i < exports_.size(); ++i) {
    if (local_name == exports_[i].name) return i;
  }
  return absl::nullopt;
}

absl::optional<size_t> Module::FindExport(absl::string_view local_name,
                                          absl::string_view convention) const {
  for (size_t i = 0; i < exports_.size(); ++i) {
    if (local_name == exports_[i].name &&
        convention == exports_[i].convention.text) {
      return i;
    }
  }
  return absl::nullopt;
}

}  // namespace takt::vm
