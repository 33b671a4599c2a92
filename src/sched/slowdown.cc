#include "sched/slowdown.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/check.h"

namespace takt::sched {
namespace {

// The step after one error, as a part of the duration, and how many times that
// it becomes while the sign stays.
constexpr double kStep = 0.0025;
constexpr int32_t kRunMost = 25;
// Keeps the steps small where there was little pressure or few neighbours.
constexpr double kDamping = 0.1;
// What a pressure loses with each step: half of it in 355.
constexpr double kLeak = 1.0 / 512;
// Beside others a run counts as so much longer than alone at the most, so that
// neighbours which have just come do not look like another duration
// (DurationEstimate starts again after eight that are a quarter longer).
constexpr double kLongerMost = 1.2;
// The most that one run changes the credit, and how fast it forgets.
constexpr int32_t kCreditMostPpm = 100'000;
constexpr int32_t kCreditRuns = 32;
// The part of a run beside another one from which on that one counts.
constexpr double kBeside = 0.1;

int32_t ToPpm(double value, int32_t most_ppm) {
  return static_cast<int32_t>(
      std::lround(std::clamp(value * 1e6, 0.0, double{1} * most_ppm)));
}

}  // namespace

void Slowdown::Compare(int64_t model_ns, int64_t plain_ns, int64_t ran_ns) {
  const int64_t gain_ns =
      std::abs(plain_ns - ran_ns) - std::abs(model_ns - ran_ns);
  const double part = static_cast<double>(gain_ns) /
                      static_cast<double>(std::max<int64_t>(ran_ns, 1));
  const auto gain_ppm = static_cast<int32_t>(
      std::clamp(part * 1e6, -double{kCreditMostPpm}, double{kCreditMostPpm}));
  credit_ppm += (gain_ppm - credit_ppm) / kCreditRuns;
}

int64_t SlowedNs(int64_t duration_ns, int32_t sensitivity_ppm,
                 int64_t pressure_ppm) {
  TAKT_DCHECK(duration_ns >= 0 && sensitivity_ppm >= 0 && pressure_ppm >= 0);
  if (pressure_ppm == 0) return duration_ns;
  const double factor = 1 + static_cast<double>(sensitivity_ppm) *
                                static_cast<double>(pressure_ppm) * 1e-12;
  const double slowed_ns = static_cast<double>(duration_ns) * factor;
  return slowed_ns < static_cast<double>(DurationEstimate::kMaxNs)
             ? static_cast<int64_t>(slowed_ns)
             : DurationEstimate::kMaxNs;
}

void LearnSlowdown(int64_t duration_ns, absl::Span<const Neighbour> neighbours,
                   uint32_t known_count, Slowdown* own) {
  double pressure = 0;
  double count = 0;
  double squares = 0;
  for (const Neighbour& neighbour : neighbours) {
    TAKT_DCHECK(neighbour.count >= 0);
    pressure += neighbour.count * neighbour.slowdown->pressure_ppm * 1e-6;
    count += neighbour.count;
    squares += neighbour.count * neighbour.count;
  }
  const double sensitivity = own->sensitivity_ppm * 1e-6;
  const double factor = 1 + sensitivity * pressure;
  const bool is_known =
      own->alone.count() >= known_count && own->alone.q50_ns() > 0;
  double alone_ns = static_cast<double>(duration_ns) / factor;
  if (is_known && count >= kBeside) {
    const auto known_ns = static_cast<double>(own->alone.q50_ns());
    const double error = static_cast<double>(duration_ns) / known_ns - factor;
    alone_ns = std::min(alone_ns, kLongerMost * known_ns);
    const int32_t sign = error > 0 ? 1 : -1;
    own->error_run =
        sign * own->error_run > 0
            ? std::clamp(own->error_run + sign, -kRunMost, kRunMost)
            : sign;
    const double change =
        std::clamp(error, -kStep * std::abs(own->error_run),
                   kStep * std::abs(own->error_run)) /
        (pressure * pressure + sensitivity * sensitivity * squares + kDamping);
    own->sensitivity_ppm =
        ToPpm(sensitivity + change * pressure, Slowdown::kSensitivityMaxPpm);
    for (const Neighbour& neighbour : neighbours) {
      int32_t& ppm = neighbour.slowdown->pressure_ppm;
      ppm = ToPpm((ppm * 1e-6 + change * sensitivity * neighbour.count) *
                      (1 - kLeak * std::min(neighbour.count, 1.0)),
                  Slowdown::kPressureMaxPpm);
    }
  }
  own->alone.Observe(static_cast<int64_t>(alone_ns));
}

}  // namespace takt::sched
