#include "base/content_hash.h"

#include <bit>

#include "absl/strings/str_cat.h"

namespace takt {
namespace {

uint64_t WordAt(absl::string_view bytes, size_t offset) {
  uint64_t word = 0;
  for (size_t i = 0; i < 8 && offset + i < bytes.size(); ++i) {
    word |= uint64_t{static_cast<uint8_t>(bytes[offset + i])} << (8 * i);
  }
  return word;
}

uint64_t Mix(uint64_t hash, uint64_t word) {
  word = std::rotl(word * 0x87c37b91114253d5, 31) * 0x4cf5ad432745937f;
  return std::rotl(hash ^ word, 27) * 5 + 0x52dce729;
}

}  // namespace

uint64_t ContentHash(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t offset = 0; offset < bytes.size(); offset += 8) {
    hash = Mix(hash, WordAt(bytes, offset));
  }
  hash = Mix(hash, bytes.size());
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  hash ^= hash >> 31;
  return hash != 0 ? hash : 1;
}

std::string ContentHashText(uint64_t hash) {
  return absl::StrCat(absl::Hex(hash, absl::kZeroPad16));
}

}  // namespace takt
