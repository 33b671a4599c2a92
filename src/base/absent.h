// Errors for features that a build leaves out (docs/embedding.md has the
// options).
#ifndef TAKT_BASE_ABSENT_H_
#define TAKT_BASE_ABSENT_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace takt {

// Returns UNIMPLEMENTED, which names the CMake option that `what` needs.
inline absl::Status AbsentError(absl::string_view what,
                                absl::string_view option) {
  return absl::UnimplementedError(absl::StrCat("this build of Takt is without ",
                                               what, ": ", option, " is OFF"));
}

}  // namespace takt

#endif  // TAKT_BASE_ABSENT_H_
