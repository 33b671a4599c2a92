// A small, fast generator of random numbers: xoshiro256** (Blackman and Vigna,
// "Scrambled linear pseudorandom number generators", ACM TOMS 2021), seeded by
// SplitMix64. The same seed gives the same sequence on every machine.
//
// Thread-safety: none; one generator a thread.
#ifndef TAKT_BASE_RANDOM_H_
#define TAKT_BASE_RANDOM_H_

#include <bit>
#include <cstdint>

namespace takt {

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  uint64_t Next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound); `bound` is not 0. The bias is below 2^-32.
  uint32_t Below(uint32_t bound) {
    return static_cast<uint32_t>(((Next() >> 32) * bound) >> 32);
  }
  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_[4];
};

}  // namespace takt

#endif  // TAKT_BASE_RANDOM_H_
