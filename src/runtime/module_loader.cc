#include "runtime/module_loader.h"

#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "vm/bytecode_module.h"

namespace takt::runtime {
namespace {

// Keeps what a module needs as long as it lives.
class ModuleOwner final : public Object {
 public:
  static constexpr ObjectType kType{"takt.module_owner"};
  ModuleOwner(Ref<Instance> instance, Ref<Object> bytes)
      : Object(&kType),
        instance_(std::move(instance)),
        bytes_(std::move(bytes)) {}

 private:
  const Ref<Instance> instance_;
  const Ref<Object> bytes_;
};

}  // namespace

absl::StatusOr<Ref<vm::Module>> LoadModule(Instance& instance,
                                           absl::Span<const uint8_t> bytes,
                                           Ref<Object> bytes_owner,
                                           const std::string& source,
                                           bool accept_unknown_types) {
  TAKT_CHECK(bytes_owner != nullptr);
  auto owner = MakeRef<ModuleOwner>(Ref<Instance>::Retain(&instance),
                                    std::move(bytes_owner));
  using UnknownTypes = vm::BytecodeModule::UnknownTypes;
  TAKT_ASSIGN_OR_RETURN(Ref<vm::BytecodeModule> module,
                        vm::BytecodeModule::Load(
                            instance.types(), bytes, std::move(owner), source,
                            accept_unknown_types ? UnknownTypes::kAccept
                                                 : UnknownTypes::kRefuse));
  return Ref<vm::Module>(std::move(module));
}

}  // namespace takt::runtime
