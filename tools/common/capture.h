// Files of captured jobs, which takt_stream_write_capture() writes:
// docs/streams.md describes them.
#ifndef TAKT_TOOLS_COMMON_CAPTURE_H_
#define TAKT_TOOLS_COMMON_CAPTURE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/npy.h"
#include "tools/common/status.h"

namespace takt::tools {

struct CapturedJob {
  uint64_t sequence = 0;
  int64_t begin_ns = 0;  // 0: it has not begun.
  int64_t end_ns = 0;    // 0: it has not ended.
  std::string outcome;   // "met", ...; empty while it runs.
  std::vector<NpyArray> inputs;
  std::vector<NpyArray> results;
};

struct Capture {
  std::string function;  // "policy.act".
  std::vector<CapturedJob> jobs;
};

// The tensors point into `bytes`.
//
// Errors: INVALID_ARGUMENT  what is damaged, or no capture.
Result<Capture> ParseCapture(std::string_view bytes);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_CAPTURE_H_
