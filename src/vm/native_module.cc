#include "vm/native_module.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace takt::vm {

NativeModule::Builder::Builder(std::string name, uint32_t version)
    : name_(std::move(name)), version_(version) {}

void NativeModule::Builder::SetOwner(std::shared_ptr<void> owner) {
  owner_ = std::move(owner);
}

void NativeModule::Builder::SetStateFactory(StateFactory factory) {
  factory_ = std::move(factory);
}

void NativeModule::Builder::SetInitializersRepeatable(bool repeatable) {
  repeatable_ = repeatable;
}

void NativeModule::Builder::SetCompilers(std::string compilers) {
  compilers_ = std::move(compilers);
}

void NativeModule::Builder::ExportRaw(absl::string_view name,
                                      absl::string_view convention,
                                      NativeFunction function, void* self,
                                      absl::string_view compilers) {
  entries_.push_back({std::string(name), std::string(convention),
                      Function{function, self}, std::string(compilers)});
}

absl::StatusOr<Ref<NativeModule>> NativeModule::Builder::Build() && {
  if (name_.empty()) {
    return absl::InvalidArgumentError("a native module needs a name");
  }
  auto module = Ref<NativeModule>::Adopt(new NativeModule);
  for (Entry& entry : entries_) {
    const std::string where = absl::StrCat(name_, ".", entry.name);
    if (entry.name.empty() || entry.function.function == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": an export needs a name and a function"));
    }
    if (module->FindExport(entry.name, entry.convention).has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": exported twice as ", entry.convention));
    }
    absl::StatusOr<CallingConvention> convention =
        CallingConvention::Parse(entry.convention);
    if (!convention.ok()) return Annotate(convention.status(), where);
    module->exports_.push_back({std::move(entry.name),
                                *std::move(convention),
                                {},
                                std::move(entry.compilers)});
    module->functions_.push_back(entry.function);
  }
  module->name_ = std::move(name_);
  module->version_ = version_;
  module->compilers_ = std::move(compilers_);
  module->owner_ = std::move(owner_);
  module->factory_ = std::move(factory_);
  module->repeatable_ = repeatable_;
  return module;
}

absl::StatusOr<std::unique_ptr<ModuleState>> NativeModule::CreateState() const {
  if (factory_ == nullptr) return std::make_unique<ModuleState>();
  return factory_();
}

}  // namespace takt::vm
