// What the main() of every tool does around its work.
#ifndef TAKT_TOOLS_COMMON_MAIN_H_
#define TAKT_TOOLS_COMMON_MAIN_H_

#include <exception>

#include "tools/common/flags.h"

namespace takt::tools {

// Exit codes of tools; ExitCodeText() explains them to users. Tools with a
// peer fail with kFailure only.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;  // The work failed, a check found something.
inline constexpr int kUsage = 2;    // The command line is wrong.
inline constexpr int kUnusable = 3;  // What it names cannot be used.

// The exit code for an error of a tool.
int ExitCodeFor(const Flags& flags, const Status& status);

// Hands what was printed to the system.
//
// Errors: UNAVAILABLE  some of it was lost: the disk is full, the reader went.
Status FlushStdout();

// Ends what the tool prints, and prints the error if there is one; the exit
// code.
int EndTool(const Flags& flags, const Result<int>& code);

// Runs `run`, which takes the flags and returns an exit code or an error to
// report. The standard library may throw for want of memory; that is an error
// like others.
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
