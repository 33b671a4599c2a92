// Writes the index of an archive of parameters (.irpa), whose bytes are written
// later, by what maps the file.
#ifndef TAKT_TOOLS_COMMON_PARAMETER_ARCHIVE_H_
#define TAKT_TOOLS_COMMON_PARAMETER_ARCHIVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "takt/takt.hpp"

namespace takt::tools {

struct ArchiveEntry {
  std::string key;
  std::string metadata;
  uint64_t byte_length = 0;
  uint64_t alignment = 1;  // Of the bytes in the file: a power of two.
};

// Creates the file, in place of any at `path`, with entries of zeros.
//
// Errors: INVALID_ARGUMENT  an alignment that is none, or entries whose bytes
//                           are more than a file can have.
//         UNKNOWN           the file cannot be written; names the path.
Status CreateArchive(const std::string& path,
                     const std::vector<ArchiveEntry>& entries);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_PARAMETER_ARCHIVE_H_
