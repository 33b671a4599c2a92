// Reads a file of captured jobs. What is read must lie in the file.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/common/capture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const takt::Result<takt::tools::Capture> capture =
      takt::tools::ParseCapture(bytes);
  if (!capture.ok()) {
    if (capture.status().message().empty()) std::abort();
    return 0;
  }
  for (const takt::tools::CapturedJob& job : capture->jobs) {
    for (const auto* tensors : {&job.inputs, &job.results}) {
      for (const takt::tools::NpyArray& tensor : *tensors) {
        if (tensor.data.size() > size) std::abort();
      }
    }
  }
  return 0;
}
