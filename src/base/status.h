// Status macros. The packaged Abseil has none.
#ifndef TAKT_BASE_STATUS_H_
#define TAKT_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace takt {

// `status` with "`context`: " before its message, but once; OK stays OK.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

}  // namespace takt

#define TAKT_CONCAT_INNER_(a, b) a##b
#define TAKT_CONCAT_(a, b) TAKT_CONCAT_INNER_(a, b)

#define TAKT_RETURN_IF_ERROR(expression)           \
  do {                                             \
    absl::Status takt_status_ = (expression);      \
    if (__builtin_expect(!takt_status_.ok(), 0)) { \
      return takt_status_;                         \
    }                                              \
  } while (false)

// TAKT_ASSIGN_OR_RETURN(auto x, F()): x is F()'s value, or the function
// returns F()'s error.
#define TAKT_ASSIGN_OR_RETURN(target, expression)                              \
  TAKT_ASSIGN_OR_RETURN_IMPL_(TAKT_CONCAT_(takt_status_or_, __LINE__), target, \
                              expression)
#define TAKT_ASSIGN_OR_RETURN_IMPL_(result, target, expression) \
  auto result = (expression);                                   \
  if (__builtin_expect(!result.ok(), 0)) {                      \
    return std::move(result).status();                          \
  }                                                             \
  target = *std::move(result)

#endif  // TAKT_BASE_STATUS_H_
