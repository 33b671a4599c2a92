// The options of the driver: KEY=VALUE pairs with commas between them.
#ifndef TAKT_DRIVERS_OPENVINO_OPTIONS_H_
#define TAKT_DRIVERS_OPENVINO_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace takt::openvino {

struct Options {
  // "device": a device of OpenVINO, such as NPU, GPU.1 or CPU.
  std::string device = "NPU";
  // "path": the file that stands for the unit among processes. "": none.
  std::string path;
  bool has_path = false;
  // "cancel_ms" and "reset_ms": how long a cancel and a reset wait for the end
  // of an inference.
  int64_t cancel_ms = 100;
  int64_t reset_ms = 500;
  // Keys in capital letters: properties of the device, as OpenVINO has them.
  std::vector<std::pair<std::string, std::string>> properties;
};

// Reads the text. Returns what is wrong with it, or "".
std::string ReadOptions(std::string_view text, Options* out);

}  // namespace takt::openvino

#endif  // TAKT_DRIVERS_OPENVINO_OPTIONS_H_
