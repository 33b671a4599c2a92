#include "drivers/openvino/options.h"

#include <algorithm>
#include <charconv>

namespace takt::openvino {
namespace {

constexpr int64_t kWaitMaxMs = 60'000;

bool IsProperty(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool ReadMilliseconds(std::string_view text, int64_t* out) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *out);
  return error == std::errc() && stop == end && *out >= 0 && *out <= kWaitMaxMs;
}

std::string ReadPair(std::string_view key, std::string_view value,
                     Options* out) {
  if (key == "device") {
    if (value.empty()) return "device: a name is expected";
    out->device = value;
  } else if (key == "path") {
    out->path = value;
    out->has_path = true;
  } else if (key == "cancel_ms" || key == "reset_ms") {
    int64_t& target = key == "cancel_ms" ? out->cancel_ms : out->reset_ms;
    if (!ReadMilliseconds(value, &target)) {
      return std::string(key) + ": expected 0 to " +
             std::to_string(kWaitMaxMs) + ", got \"" + std::string(value) +
             "\"";
    }
  } else if (IsProperty(key)) {
    out->properties.emplace_back(key, value);
  } else {
    return "no such option: " + std::string(key);
  }
  return "";
}

}  // namespace

std::string ReadOptions(std::string_view text, Options* out) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      return "expected KEY=VALUE, got \"" + std::string(pair) + "\"";
    }
    std::string problem =
        ReadPair(pair.substr(0, equals), pair.substr(equals + 1), out);
    if (!problem.empty()) return problem;
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
  }
  return "";
}

}  // namespace takt::openvino
