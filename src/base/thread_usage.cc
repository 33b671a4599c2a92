#include "base/thread_usage.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/text_file.h"

namespace takt {

absl::optional<ThreadUsage> ReadThreadUsage(uint64_t thread_id) {
  if (thread_id == 0) thread_id = static_cast<uint64_t>(syscall(SYS_gettid));
  const std::string folder = absl::StrCat("/proc/self/task/", thread_id, "/");
  ThreadUsage usage;
  const std::string times = ReadFirstLine(folder + "schedstat");
  if (std::sscanf(times.c_str(), "%" SCNu64 " %" SCNu64 " %" SCNu64,
                  &usage.run_ns, &usage.run_queue_ns, &usage.run_count) != 3) {
    return absl::nullopt;
  }
  // The name of the thread stands in parentheses, and may have any characters.
  const std::string stat = ReadFirstLine(folder + "stat");
  const size_t end = stat.rfind(')');
  // state ppid pgrp session tty tpgid flags minflt cminflt majflt
  if (end == std::string::npos ||
      std::sscanf(stat.c_str() + end + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64,
                  &usage.minor_fault_count, &usage.major_fault_count) != 2) {
    return absl::nullopt;
  }
  return usage;
}

}  // namespace takt
