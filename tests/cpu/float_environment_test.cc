#include "cpu/float_environment.h"

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

// Whether this thread keeps denormals.
bool KeepsDenormals() {
  volatile float denormal = 1e-40f;
  volatile float one = 1.0f;
  volatile float product = denormal * one;
  return product != 0.0f;
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(FloatEnvironmentTest, FlushesWithinItsScope) {
  ASSERT_TRUE(KeepsDenormals());
  {
    const ScopedFlushDenormals flush;
    EXPECT_FALSE(KeepsDenormals());
    {
      const ScopedFlushDenormals again;
      EXPECT_FALSE(KeepsDenormals());
    }
    EXPECT_FALSE(KeepsDenormals());
  }
  EXPECT_TRUE(KeepsDenormals());
}
#else
TEST(FloatEnvironmentTest, DoesNothingWithoutSuchAMode) {
  const ScopedFlushDenormals flush;
  EXPECT_TRUE(KeepsDenormals());
}
#endif

}  // namespace
}  // namespace takt::cpu
