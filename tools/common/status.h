// Short ways to make, pass on and report errors in the tools.
#ifndef TAKT_TOOLS_COMMON_STATUS_H_
#define TAKT_TOOLS_COMMON_STATUS_H_

#include <cstdio>
#include <string>
#include <utility>

#include "takt/takt.hpp"

namespace takt::tools {

inline Status InvalidArgument(const std::string& message) {
  return Status(TAKT_STATUS_INVALID_ARGUMENT, message);
}

// The same error with `where` and ": " before its message.
inline Status Annotate(const Status& status, const std::string& where,
                       const char* separator = ": ") {
  if (status.ok()) return status;
  return Status(status.code(),
                where + separator + std::string(status.message()));
}

// Prints "tool: CODE: message" to stderr; returns the exit code for it.
inline int ReportError(const char* tool, const Status& status) {
  std::fprintf(stderr, "%s: %s\n", tool, status.ToString().c_str());
  return 1;
}

}  // namespace takt::tools

// Leaves the function with the error of `expression` unless it is ok.
#define TAKT_TOOLS_RETURN_IF_ERROR(expression)                          \
  do {                                                                  \
    if (::takt::Status tools_status = (expression); !tools_status.ok()) \
      return tools_status;                                              \
  } while (false)

// Assigns the value of a Result to `target`, which may be a declaration, or
// leaves the function with its error.
#define TAKT_TOOLS_ASSIGN_OR_RETURN(target, expression)                   \
  TAKT_TOOLS_ASSIGN_OR_RETURN_(TAKT_TOOLS_NAME_(tools_result_, __LINE__), \
                               target, expression)
#define TAKT_TOOLS_ASSIGN_OR_RETURN_(result, target, expression) \
  auto result = (expression);                                    \
  if (!result.ok()) return result.status();                      \
  target = *std::move(result)
#define TAKT_TOOLS_NAME_(prefix, line) TAKT_TOOLS_JOIN_(prefix, line)
#define TAKT_TOOLS_JOIN_(prefix, line) prefix##line

#endif  // TAKT_TOOLS_COMMON_STATUS_H_
