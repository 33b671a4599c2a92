// The file of captured jobs: a .safetensors file, which other programs read,
// too. Its tensors are "job.12.input.0" and "job.12.result.0", for job 12. The
// jobs and their times are in its metadata, as JSON:
//
//   "takt.capture": "1", "function": "policy.act",
//   "jobs": "[{\"sequence\": 12, \"origin_ns\": ..., \"outcome\": \"met\"}]"
//
// Scalars are tensors of rank 0.
#ifndef TAKT_STREAM_CAPTURE_FILE_H_
#define TAKT_STREAM_CAPTURE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "stream/stream_job.h"

namespace takt::stream {

// One argument or result of the captured function.
struct CaptureField {
  const char* dtype = "";  // As the file names it: "F32".
  std::vector<int64_t> shape;
  size_t byte_length = 0;
};

struct CapturedJob {
  StreamJob job;
  bool has_arguments = false;
  bool has_ended = false;  // Its end and outcome are known.
  bool has_results = false;
  std::vector<uint8_t> arguments;  // The bytes of all fields, one by one.
  std::vector<uint8_t> results;
};

// The bytes of the file. `jobs` are in order.
std::string CaptureFileOf(absl::string_view function_name,
                          absl::Span<const CaptureField> arguments,
                          absl::Span<const CaptureField> results,
                          absl::Span<const CapturedJob> jobs);

}  // namespace takt::stream

#endif  // TAKT_STREAM_CAPTURE_FILE_H_
