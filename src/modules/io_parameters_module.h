// The `io_parameters` module: loads, gathers and scatters named parameters in
// queue order. Parameters come from providers, each under the name of a scope.
//
// Thread-safety: the module is immutable and serves any number of contexts.
#ifndef TAKT_MODULES_IO_PARAMETERS_MODULE_H_
#define TAKT_MODULES_IO_PARAMETERS_MODULE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "modules/parameter_index.h"
#include "vm/module.h"
#include "vm/type_registry.h"

namespace takt::modules {

// One provider. Several may share a scope: the first that knows a key has it.
struct ParameterScope {
  std::string name;  // Empty for parameters without a scope.
  Ref<ParameterProvider> provider;
};

// INVALID_ARGUMENT for a null provider.
absl::StatusOr<Ref<vm::Module>> CreateIoParametersModule(
    vm::TypeRegistry& registry, std::vector<ParameterScope> scopes);

}  // namespace takt::modules

#endif  // TAKT_MODULES_IO_PARAMETERS_MODULE_H_
