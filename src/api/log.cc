#include "api/log.h"

#include <cstdio>

namespace takt::api {

void Log::Write(takt_log_severity_t severity, absl::string_view message) const {
  const std::string text(message);
  if (sink_.write != nullptr) {
    sink_.write(sink_.user_data, severity, text.c_str());
  } else if (severity >= TAKT_LOG_WARNING) {
    std::fprintf(stderr, "takt: %s\n", text.c_str());
  }
}

}  // namespace takt::api
