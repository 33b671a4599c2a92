#include "tools/common/main.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace takt::tools {

int ExitCodeFor(const Flags& flags, const Status& status) {
  if (status.ok()) return kSuccess;
  if (flags.info().has_peer) return kFailure;
  if (flags.is_misused()) return kUsage;
  switch (status.code()) {
    case TAKT_STATUS_INVALID_ARGUMENT:
    case TAKT_STATUS_NOT_FOUND:
    case TAKT_STATUS_PERMISSION_DENIED:
    case TAKT_STATUS_UNAVAILABLE:
    case TAKT_STATUS_DATA_LOSS:
      return kUnusable;
    default:
      return kFailure;
  }
}

Status FlushStdout() {
  std::string reason;
  if (std::ferror(stdout) != 0) {
    // stdio keeps no error number of an earlier write; one more byte fails for
    // the same reason in most cases.
    reason = "a write failed";
    std::fputc('\n', stdout);
  }
  if (std::fflush(stdout) != 0) reason = std::strerror(errno);
  // Some file systems report a full disk only when the file is closed. A copy
  // is closed here, since destructors may still flush stdout. If there is no
  // copy, stdout was closed before the tool started, and nothing was printed.
  const int copy = dup(STDOUT_FILENO);
  if (copy >= 0 && close(copy) != 0 && reason.empty()) {
    reason = std::strerror(errno);
  }
  if (reason.empty()) return Status();
  return Status(TAKT_STATUS_UNAVAILABLE, "stdout: " + reason);
}

int EndTool(const Flags& flags, const Result<int>& code) {
  const char* const tool = flags.info().name.c_str();
  const Status flushed = FlushStdout();
  if (!code.ok()) {
    ReportError(tool, code.status());
    return ExitCodeFor(flags, code.status());
  }
  if (flushed.ok()) return *code;
  ReportError(tool, flushed);
  return *code != kSuccess ? *code : ExitCodeFor(flags, flushed);
}

}  // namespace takt::tools
