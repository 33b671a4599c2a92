// takt/log_sink.h - messages of an instance that are not errors of a call.
#ifndef TAKT_LOG_SINK_H_
#define TAKT_LOG_SINK_H_

#include "takt/base.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum takt_log_severity_t {
  TAKT_LOG_INFO = 0,     // For example output of a module.
  TAKT_LOG_WARNING = 1,  // For example fewer workers.
  TAKT_LOG_ERROR = 2,    // A failure that no call reports.
} takt_log_severity_t;

// The caller's sink for messages. Without a sink they are written to stderr.
//
// Thread-safety: Takt may call write() on any thread, and on several threads at
// the same time. write() must not call functions of the instance.
typedef struct takt_log_sink_t {
  void* user_data;  // Passed to write(). Must live as long as the instance.
  // `message` is one or more lines without a final newline; borrowed.
  void (*write)(void* user_data, takt_log_severity_t severity,
                const char* message);
} takt_log_sink_t;

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_LOG_SINK_H_
