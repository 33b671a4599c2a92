// Every way to damage a file in one place: each truncation, each flip of a bit,
// and boundary values over each 2, 4 and 8 bytes, wherever they begin. So each
// offset, size and count of a format gets each of them.
#ifndef TAKT_TESTS_FUZZ_DAMAGE_H_
#define TAKT_TESTS_FUZZ_DAMAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace takt::fuzz {

// The cases are numbered from 0 on.
uint64_t DamageCount(size_t file_bytes);
std::vector<uint8_t> Damage(const std::vector<uint8_t>& file, uint64_t number);

// What one case may take: 1 s of processor time, and 64 MiB of memory beside 8
// times the file. False, with a message on stderr, once a case took more.
class DamageLimits {
 public:
  explicit DamageLimits(size_t file_bytes);
  // Around one case.
  void Begin();
  bool End();

 private:
  const uint64_t memory_max_kib_;
  int64_t begin_ns_ = 0;
};

}  // namespace takt::fuzz

#endif  // TAKT_TESTS_FUZZ_DAMAGE_H_
