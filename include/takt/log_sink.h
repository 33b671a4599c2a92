// takt/log_sink.h - where an instance says what is no error of any call.
#ifndef TAKT_LOG_SINK_H_
#define TAKT_LOG_SINK_H_

#include "takt/base.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum takt_log_severity_t {
  TAKT_LOG_INFO = 0,     // A module's own trace output, say.
  TAKT_LOG_WARNING = 1,  // Fewer workers than asked for, say.
  TAKT_LOG_ERROR = 2,    // A failure that no caller will see.
} takt_log_severity_t;

// A caller's sink for messages. Without one they go to stderr.
//
// Thread-safety: write() may be called on any thread, several at once. It must
// not call back into the instance.
typedef struct takt_log_sink_t {
  void* user_data;  // Handed to write(); borrowed for the instance's life.
  // `message` is one or more lines without a final newline; borrowed.
  void (*write)(void* user_data, takt_log_severity_t severity,
                const char* message);
} takt_log_sink_t;

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_LOG_SINK_H_
