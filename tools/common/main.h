// What the main() of every tool does around its work.
#ifndef TAKT_TOOLS_COMMON_MAIN_H_
#define TAKT_TOOLS_COMMON_MAIN_H_

#include <cstdio>
#include <exception>

#include "tools/common/flags.h"

namespace takt::tools {

// Exit codes of all tools.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;

// Runs `run`, which returns an exit code or an error to report. The standard
// library may throw for want of memory; that is an error like others.
template <typename Run>
int RunTool(const char* tool, Run run) {
  try {
    const Result<int> code = run();
    if (!code.ok()) {
      std::fflush(stdout);
      return ReportError(tool, code.status());
    }
    if (std::fflush(stdout) == 0) return *code;
    return ReportError(tool, Status(TAKT_STATUS_UNAVAILABLE, "stdout"));
  } catch (const std::exception& exception) {
    return ReportError(
        tool, Status(TAKT_STATUS_RESOURCE_EXHAUSTED, exception.what()));
  }
}

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_MAIN_H_
