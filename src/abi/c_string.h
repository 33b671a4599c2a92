// Text that is handed to the caller of the C API.
#ifndef TAKT_ABI_C_STRING_H_
#define TAKT_ABI_C_STRING_H_

#include <string>

#include "absl/status/statusor.h"
#include "takt/base.h"
#include "takt/status.h"

namespace takt::abi {

// Ends a function with a `char** out_text`: a copy for takt_string_free(), or
// NULL and the error.
takt_status_t GiveText(const char* source,
                       const absl::StatusOr<std::string>& text,
                       char** out_text);

}  // namespace takt::abi

#endif  // TAKT_ABI_C_STRING_H_
