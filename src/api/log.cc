#include "api/log.h"

#include <cstdio>

namespace takt::api {

void Log::Write(takt_log_severity_t severity, absl::string_view message) const {
  const std::string text(message);
  if (sink_.write != nullptr) {
    sink_.write(sink_.user_data, severity, text.c_str());
  } else {
    const char* prefix = severity == TAKT_LOG_INFO ? "" : "takt: ";
    std::fprintf(stderr, "%s%s\n", prefix, text.c_str());
  }
}

}  // namespace takt::api
