#include "sched/slowdown.h"

#include <array>
#include <cmath>
#include <cstdint>

#include "base/random.h"
#include "gtest/gtest.h"

namespace takt::sched {
namespace {

constexpr uint32_t kKnown = 16;

TEST(SlowdownTest, ScalesByTheProduct) {
  EXPECT_EQ(SlowedNs(1000, 1'000'000, 0), 1000);
  EXPECT_EQ(SlowedNs(1000, 0, 500'000), 1000);
  EXPECT_EQ(SlowedNs(1000, 2'000'000, 250'000), 1500);
  EXPECT_EQ(SlowedNs(DurationEstimate::kMaxNs, 4'000'000, 64'000'000),
            DurationEstimate::kMaxNs);
}

TEST(SlowdownTest, SmallPressureIsNone) {
  Slowdown slowdown;
  slowdown.pressure_ppm = Slowdown::kPressureLeastPpm - 1;
  EXPECT_EQ(slowdown.pressure(), 0);
  ++slowdown.pressure_ppm;
  EXPECT_EQ(slowdown.pressure(), Slowdown::kPressureLeastPpm);
}

// Three kernels: one that streams, one that waits for memory half of the time,
// and one that computes. By pairs, what each is slowed down beside the other.
constexpr size_t kCount = 3;
constexpr double kTruth[kCount][kCount] = {
    {0.6, 0.3, 0.02}, {0.5, 0.25, 0.02}, {0.05, 0.02, 0}};
constexpr int64_t kAloneNs[kCount] = {1'000'000, 200'000, 300'000};

struct Errors {
  double plain = 0;
  double model = 0;
};

// Runs pairs of them, and single ones, with noise, in random order.
Errors Play(std::array<Slowdown, kCount>& kernels, double truth_factor,
            uint64_t seed, int rounds) {
  Random random(seed);
  std::array<DurationEstimate, kCount> plain;
  Errors errors;
  double sum = 0;
  const auto run = [&](size_t own, const size_t* other) {
    const double part = random.Below(2) == 0 ? 1 : random.Unit();
    const double slowed =
        other == nullptr ? 0 : kTruth[own][*other] * part * truth_factor;
    double noise = 1 + 0.05 * random.Unit();
    if (random.Below(100) == 0) noise *= 3;  // An interrupt.
    const auto took_ns = static_cast<int64_t>(
        static_cast<double>(kAloneNs[own]) * (1 + slowed) * noise);
    Slowdown& slowdown = kernels[own];
    Neighbour neighbour;
    int64_t pressure_ppm = 0;
    if (other != nullptr) {
      neighbour = {&kernels[*other], part};
      pressure_ppm = kernels[*other].pressure();
    }
    if (slowdown.alone.count() >= kKnown) {
      const int64_t model_ns = SlowedNs(slowdown.alone.q50_ns(),
                                        slowdown.sensitivity_ppm, pressure_ppm);
      const auto error = [&](int64_t expected_ns) {
        return std::abs(static_cast<double>(expected_ns - took_ns));
      };
      errors.plain += error(plain[own].q50_ns());
      errors.model +=
          error(slowdown.is_trusted() ? model_ns : plain[own].q50_ns());
      sum += static_cast<double>(took_ns);
      slowdown.Compare(model_ns, plain[own].q50_ns(), took_ns);
    }
    plain[own].Observe(took_ns);
    LearnSlowdown(took_ns,
                  other == nullptr ? absl::Span<const Neighbour>()
                                   : absl::MakeConstSpan(&neighbour, 1),
                  kKnown, &slowdown);
  };
  for (int i = 0; i < rounds; ++i) {
    const size_t own = random.Below(kCount);
    const size_t other = random.Below(kCount);
    const bool is_beside = random.Below(2) == 0;
    run(own, is_beside ? &other : nullptr);
    if (is_beside) run(other, &own);
  }
  return {errors.plain / sum, errors.model / sum};
}

TEST(SlowdownTest, FindsWhatPressesAndWhatIsSensitive) {
  std::array<Slowdown, kCount> kernels;
  const Errors errors = Play(kernels, 1, 3, 4000);
  EXPECT_LT(errors.model, 0.7 * errors.plain);
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(i == 2 || kernels[i].is_trusted()) << i;
    EXPECT_NEAR(static_cast<double>(kernels[i].alone.q50_ns()),
                static_cast<double>(kAloneNs[i]), 0.06 * kAloneNs[i])
        << i;
    for (size_t j = 0; j < kCount; ++j) {
      const double learned = 1e-12 * kernels[i].sensitivity_ppm *
                             static_cast<double>(kernels[j].pressure_ppm);
      EXPECT_NEAR(learned, kTruth[i][j], 0.12) << i << " beside " << j;
    }
  }
}

// Noise alone is no slowdown, also of kernels that never run alone.
TEST(SlowdownTest, NoiseMakesNoPrediction) {
  std::array<Slowdown, kCount> kernels;
  const Errors errors = Play(kernels, 0, 5, 20'000);
  EXPECT_LT(errors.model, 1.02 * errors.plain);
}

// Neighbours that come all at once are no other duration.
TEST(SlowdownTest, ManySlowRunsInARowAreExplainedByTheirNeighbours) {
  Slowdown own;
  Slowdown other;
  for (int i = 0; i < 100; ++i) LearnSlowdown(1000, {}, kKnown, &own);
  const Neighbour beside = {&other, 1};
  for (int i = 0; i < 300; ++i) LearnSlowdown(1800, {&beside, 1}, kKnown, &own);
  EXPECT_LT(own.alone.q50_ns(), 1300);
  EXPECT_NEAR(static_cast<double>(SlowedNs(
                  own.alone.q50_ns(), own.sensitivity_ppm, other.pressure())),
              1800, 100);
  for (int i = 0; i < 300; ++i) LearnSlowdown(1000, {}, kKnown, &own);
  EXPECT_NEAR(static_cast<double>(own.alone.q50_ns()), 1000, 20);
}

}  // namespace
}  // namespace takt::sched
