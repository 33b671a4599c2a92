// Reads short files of the system, such as those below /sys. Streams of the
// standard library would bring its locales into a small program.
#ifndef TAKT_BASE_TEXT_FILE_H_
#define TAKT_BASE_TEXT_FILE_H_

#include <string>

#include "absl/strings/numbers.h"
#include "absl/types/optional.h"

namespace takt {

// The first line without its end, at most 4,095 bytes; empty if the file cannot
// be read.
std::string ReadFirstLine(const std::string& path);

// The number that is the first line; none if there is no such file, or the line
// is no number of this type.
template <typename T>
absl::optional<T> ReadNumberFile(const std::string& path) {
  T value = 0;
  if (!absl::SimpleAtoi(ReadFirstLine(path), &value)) return absl::nullopt;
  return value;
}

}  // namespace takt

#endif  // TAKT_BASE_TEXT_FILE_H_
