#include "runtime/log.h"

#include <cstdio>

namespace takt::runtime {

void Log::Write(LogSeverity severity, absl::string_view message) const {
  const std::string text(message);
  if (sink_ != nullptr) {
    sink_(severity, text);
  } else {
    // What a module prints stands as it is.
    const char* prefix = severity == LogSeverity::kInfo ? "" : "takt: ";
    std::fprintf(stderr, "%s%s\n", prefix, text.c_str());
  }
}

}  // namespace takt::runtime
