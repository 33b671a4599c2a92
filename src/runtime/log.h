// A Log passes messages to the application's sink, or to stderr.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_RUNTIME_LOG_H_
#define TAKT_RUNTIME_LOG_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace takt::runtime {

// The numbers are those of takt/log_sink.h.
enum class LogSeverity { kInfo = 0, kWarning = 1, kError = 2 };

class Log {
 public:
  // `message` is one or more lines without a final newline. Called on any
  // thread, on several at once.
  using Sink =
      std::function<void(LogSeverity severity, const std::string& message)>;

  // Without a sink the messages go to stderr.
  explicit Log(Sink sink) : sink_(std::move(sink)) {}

  void Write(LogSeverity severity, absl::string_view message) const;

 private:
  const Sink sink_;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_LOG_H_
