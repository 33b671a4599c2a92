#include "runtime/parameters.h"

#include "abi/guard.h"
#include "api/handle.h"
#include "base/mapped_file.h"
#include "modules/parameter_file.h"
#include "runtime/instance.h"
#include "takt/parameters.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<runtime::Parameters>> Open(
    const runtime::Instance* instance, const char* path,
    const takt_parameters_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(takt_parameters_options_t given,
                        ReadOptions(options, &takt_parameters_options_init));
  if (given.preload && given.writable) {
    return absl::InvalidArgumentError(
        "options: preload and writable: what is read into memory is not the "
        "file's any more");
  }
  const auto mode = given.preload    ? MappedFile::Mode::kPreload
                    : given.writable ? MappedFile::Mode::kWrite
                                     : MappedFile::Mode::kMap;
  TAKT_ASSIGN_OR_RETURN(Ref<modules::ParameterIndex> index,
                        modules::OpenParameterFile(path, mode));
  return MakeRef<runtime::Parameters>(given.scope != nullptr ? given.scope : "",
                                      std::move(index));
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_parameters_open(takt_instance_t* instance, const char* path,
                                   const takt_parameters_options_t* options,
                                   takt_parameters_t** out_parameters) {
  TAKT_REQUIRE(instance, path, out_parameters);
  TAKT_TRY {
    return takt::api::Give(__func__,
                           takt::api::Open(Unwrap(instance), path, options),
                           out_parameters);
  }
  TAKT_CATCH_ALL(instance, path, out_parameters);
}

void takt_parameters_retain(takt_parameters_t* parameters) {
  takt::api::RetainHandle(parameters);
}

void takt_parameters_release(takt_parameters_t* parameters) {
  takt::api::ReleaseHandle(parameters);
}

size_t takt_parameters_entry_count(const takt_parameters_t* parameters) {
  TAKT_REQUIRE_OR(0, parameters);
  return Unwrap(parameters)->keys().size();
}

const char* takt_parameters_entry_key(const takt_parameters_t* parameters,
                                      size_t index) {
  TAKT_REQUIRE_OR(nullptr, parameters);
  const auto& keys = Unwrap(parameters)->keys();
  return index < keys.size() ? keys[index].c_str() : nullptr;
}

uint64_t takt_parameters_entry_byte_length(const takt_parameters_t* parameters,
                                           size_t index) {
  TAKT_REQUIRE_OR(0, parameters);
  TAKT_TRY {
    const auto& keys = Unwrap(parameters)->keys();
    if (index >= keys.size()) return 0;
    const takt::modules::Parameter* parameter =
        Unwrap(parameters)->provider()->Find(keys[index]);
    return parameter != nullptr ? parameter->byte_length : 0;
  }
  TAKT_CATCH_ALL_OR(0, parameters);
}
