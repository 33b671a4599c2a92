// A hash of a file's content, by which profiles and plans identify the file. It
// has 64 bits: enough to distinguish files that differ by accident, but an
// attacker can make two files with one hash.
#ifndef TAKT_BASE_CONTENT_HASH_H_
#define TAKT_BASE_CONTENT_HASH_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace takt {

// The same on every machine; never 0. It reads some GB/s.
//
// Method: words of eight bytes (little-endian; the last one padded with
// zeros), then the length, each taken in as in MurmurHash3 (Appleby, 2011, one
// lane); in the end the finalizer of SplitMix64.
uint64_t ContentHash(absl::string_view bytes);

// As 16 hexadecimal digits.
std::string ContentHashText(uint64_t hash);

}  // namespace takt

#endif  // TAKT_BASE_CONTENT_HASH_H_
