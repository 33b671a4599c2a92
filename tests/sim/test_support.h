// Helpers of this layer's tests.
#ifndef TAKT_TESTS_SIM_TEST_SUPPORT_H_
#define TAKT_TESTS_SIM_TEST_SUPPORT_H_

#include <cstdint>
#include <cstdlib>

namespace takt::sim {

inline constexpr int64_t kMs = 1'000'000;

// The number that a variable of the environment gives, such as a seed.
inline uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace takt::sim

#endif  // TAKT_TESTS_SIM_TEST_SUPPORT_H_
