// Opens a file of parameters, whichever its format.
#ifndef TAKT_MODULES_PARAMETER_FILE_H_
#define TAKT_MODULES_PARAMETER_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/mapped_file.h"
#include "modules/parameter_index.h"

namespace takt::modules {

// The format, .irpa or .safetensors, is found by the contents. The parameters'
// bytes are mapped or, with kPreload, read once. They are written with kWrite
// only.
//
// Errors name the path: those of MappedFile and of the format's reader;
// UNIMPLEMENTED for .gguf, INVALID_ARGUMENT for another format.
absl::StatusOr<Ref<ParameterIndex>> OpenParameterFile(const std::string& path,
                                                      MappedFile::Mode mode);

}  // namespace takt::modules

#endif  // TAKT_MODULES_PARAMETER_FILE_H_
