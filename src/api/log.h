// A Log passes messages to the sink that the caller of the C API gave, or to
// stderr.
#ifndef TAKT_API_LOG_H_
#define TAKT_API_LOG_H_

#include <string>

#include "absl/strings/string_view.h"
#include "takt/log_sink.h"

namespace takt::api {

class Log {
 public:
  explicit Log(const takt_log_sink_t& sink) : sink_(sink) {}

  void Write(takt_log_severity_t severity, absl::string_view message) const;

 private:
  const takt_log_sink_t sink_;
};

}  // namespace takt::api

#endif  // TAKT_API_LOG_H_
