// Files that tools read and write whole.
#ifndef TAKT_TOOLS_COMMON_FILE_H_
#define TAKT_TOOLS_COMMON_FILE_H_

#include <map>
#include <string>
#include <string_view>

#include "tools/common/status.h"

namespace takt::tools {

// The contents of a file; of stdin for "-".
//
// Errors; the message starts with the path: NOT_FOUND, PERMISSION_DENIED,
// UNAVAILABLE for what else the system says; INVALID_ARGUMENT for a device that
// does not end.
Result<std::string> ReadFile(const std::string& path);

// Replaces the contents of a file, or appends to them. Errors: as ReadFile().
Status WriteFile(const std::string& path, std::string_view contents,
                 bool append);

// The error of WriteFile() as far as it is known before there is something to
// write: the folder or the file does not exist, or may not be written.
Status CheckWritable(const std::string& path);

// The outcome of the library's writer of a file, with the codes of WriteFile():
// UNAVAILABLE for a full disk or a folder in the place of the file.
Status AsWritten(Status status);

// The path to open for what the user calls `path` where a file is written: "-"
// is stdout, whose own path is returned; what was printed so far goes first.
std::string OutputPath(const std::string& path);

// The path with which dlopen() finds the file `path`: without a slash it would
// look into the system's folders only.
std::string LibraryPath(const std::string& path);

// Files that several inputs read one piece after the other: "+file" continues
// where the last input that named the file ended.
class InputFiles {
 public:
  struct Cursor {
    std::string contents;
    size_t offset = 0;  // Of the next byte to read.

    std::string_view rest() const {
      return std::string_view(contents).substr(offset);
    }
  };

  InputFiles() = default;
  // Without the disk: only files that Add() made.
  static InputFiles InMemory() {
    InputFiles files;
    files.reads_disk_ = false;
    return files;
  }

  // The cursor of `path`, read on first use; at the start if `rewind`.
  Result<Cursor*> Open(const std::string& path, bool rewind);

  // Makes `path` a file with these contents, whatever the disk holds.
  void Add(const std::string& path, std::string contents) {
    files_[path] = {std::move(contents), 0};
  }

 private:
  std::map<std::string, Cursor> files_;
  bool reads_disk_ = true;
};

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_FILE_H_
