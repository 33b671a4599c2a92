// In place of io_parameters and the files that hold parameters.
#include "base/absent.h"
#include "modules/io_parameters_module.h"
#include "modules/parameter_file.h"

namespace takt::modules {
namespace {

absl::Status Absent() {
  return AbsentError("parameters", "TAKT_IO_PARAMETERS");
}

}  // namespace

absl::StatusOr<Ref<vm::Module>> CreateIoParametersModule(
    vm::TypeRegistry& registry, std::vector<ParameterScope> scopes) {
  return Absent();
}

absl::StatusOr<Ref<ParameterIndex>> OpenParameterFile(const std::string& path,
                                                      MappedFile::Mode mode) {
  return Absent();
}

}  // namespace takt::modules
