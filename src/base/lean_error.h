// Errors for functions that must not throw, such as those that end an operation
// and notify its waiters.
#ifndef TAKT_BASE_LEAN_ERROR_H_
#define TAKT_BASE_LEAN_ERROR_H_

#include <new>

#include "absl/status/status.h"
#include "base/exceptions.h"

namespace takt {

// An error with the text that make_text() returns, or without a text if there
// is no memory for it.
template <typename MakeText>
absl::Status LeanError(absl::StatusCode code, MakeText&& make_text) {
  TAKT_TRY { return absl::Status(code, make_text()); }
  TAKT_CATCH(const std::bad_alloc&) { return absl::Status(code, ""); }
}

}  // namespace takt

#endif  // TAKT_BASE_LEAN_ERROR_H_
