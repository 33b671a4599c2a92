#include "tools/common/number.h"

#include <cerrno>
#include <cstdlib>
#include <string>

namespace takt::tools {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Calls `parse`, one of the strtox() family, on a NUL-terminated copy. They
// skip leading space and stop at what they cannot read; neither is allowed.
template <typename Parse>
auto ParseWhole(std::string_view text, Parse parse)
    -> Result<decltype(parse(nullptr, nullptr))> {
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  const auto value = parse(copy.c_str(), &end);
  const bool is_whole = end == copy.c_str() + copy.size();
  if (copy.empty() || IsSpace(copy[0]) || !is_whole) {
    return InvalidArgument("`" + copy + "` is not a number");
  }
  return value;
}

Status OutOfRange(std::string_view text) {
  return Status(TAKT_STATUS_OUT_OF_RANGE,
                "`" + std::string(text) + "` does not fit in 64 bits");
}

}  // namespace

Result<int64_t> ParseInteger(std::string_view text) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(
      const int64_t value,
      ParseWhole(text, [](const char* begin, char** end) -> int64_t {
        return std::strtoll(begin, end, 0);
      }));
  if (errno == ERANGE) return OutOfRange(text);
  return value;
}

Result<uint64_t> ParseUnsigned(std::string_view text) {
  if (text.find('-') != std::string_view::npos) {
    return InvalidArgument("`" + std::string(text) +
                           "` is not a number without a sign");
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(
      const uint64_t value,
      ParseWhole(text, [](const char* begin, char** end) -> uint64_t {
        return std::strtoull(begin, end, 0);
      }));
  if (errno == ERANGE) return OutOfRange(text);
  return value;
}

Result<double> ParseReal(std::string_view text) {
  return ParseWhole(text, [](const char* begin, char** end) {
    return std::strtod(begin, end);
  });
}

Result<float> ParseFloat(std::string_view text) {
  return ParseWhole(text, [](const char* begin, char** end) {
    return std::strtof(begin, end);
  });
}

}  // namespace takt::tools
