// A hash of contents by which they are known again in files: the same on every
// machine, and fast. Not safe against those who look for two of one hash.
#ifndef TAKT_BASE_CONTENT_HASH_H_
#define TAKT_BASE_CONTENT_HASH_H_

#include <cstddef>
#include <cstdint>

namespace takt {

inline uint64_t ContentHash(const void* data, size_t byte_length,
                            uint64_t seed = 0) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  const auto mix = [](uint64_t hash, uint64_t word) {
    const uint64_t product = (hash ^ word) * kFactor;
    return product ^ product >> 32;
  };
  const auto* bytes = static_cast<const uint8_t*>(data);
  const auto take = [&](size_t count) {  // Little-endian.
    uint64_t word = 0;
    for (size_t i = 0; i < count; ++i) word |= uint64_t{bytes[i]} << (8 * i);
    bytes += count;
    return word;
  };
  uint64_t hash = mix(seed, byte_length);
  size_t left = byte_length;
  for (; left >= 8; left -= 8) hash = mix(hash, take(8));
  return mix(hash, take(left));
}

}  // namespace takt

#endif  // TAKT_BASE_CONTENT_HASH_H_
