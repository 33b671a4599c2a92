// The common part of every tool's main(): flags, errors, exit codes.
#ifndef TAKT_TOOLS_COMMON_MAIN_H_
#define TAKT_TOOLS_COMMON_MAIN_H_

#include <exception>

#include "tools/common/flags.h"

namespace takt::tools {

// Exit codes of tools; ExitCodeText() explains them to users. Tools with a
// peer fail with kFailure only.
inline constexpr int kSuccess = 0;
// The work failed, or a check found a fault.
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;     // The command line is wrong.
inline constexpr int kUnusable = 3;  // An input that it names cannot be used.

// The exit code for an error of a tool.
int ExitCodeFor(const Flags& flags, const Status& status);

// Writes all buffered output of stdout to the system.
//
// Errors: UNAVAILABLE  output was lost: the disk is full, the reader has ended.
Status FlushStdout();

// Flushes the output, prints the error if there is one, and returns the exit
// code.
int EndTool(const Flags& flags, const Result<int>& code);

// Runs `run`, which takes the flags and returns an exit code or an error. If
// the standard library throws because memory is exhausted, the tool fails with
// RESOURCE_EXHAUSTED.
template <typename Run>
int RunTool(ToolInfo info, Run run) {
  Flags flags(std::move(info));
  try {
    return EndTool(flags, run(&flags));
  } catch (const std::exception& exception) {
    return EndTool(flags,
                   Status(TAKT_STATUS_RESOURCE_EXHAUSTED, exception.what()));
  }
}

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_MAIN_H_
