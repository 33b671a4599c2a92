// How operations that run side by side slow each other down, where they share
// the memory.
//
// Model: beside others, an operation takes its duration alone times
//
//   1 + sensitivity x pressure
//
// The pressure is a sum over all resources that run others: each adds what the
// kernel there presses with. So a kernel has two numbers, for each alternative:
// how much it presses, and how sensitive it is. This is a model of rank one of
// all pairs of kernels, so what one pair shows holds for the others too.
//
// Method: each run updates both numbers of it and of its neighbours, by a step
// along the gradient of the model's error, normalized (least mean squares,
// Widrow and Hoff 1960). A step depends on the sign of the error, and grows
// while the sign stays (Riedmiller and Braun, RPROP, 1993), so the model
// follows the median and not the outliers. Pressures leak, so that kernels that
// never run alone count as undisturbed. Where the model has predicted runs
// worse than their plain median, it is not used.
//
// Thread-safety: none; values.
#ifndef TAKT_SCHED_SLOWDOWN_H_
#define TAKT_SCHED_SLOWDOWN_H_

#include <cstdint>

#include "absl/types/span.h"
#include "sched/duration_estimate.h"

namespace takt::sched {

// The numbers of one alternative of a kernel.
struct Slowdown {
  static constexpr int32_t kSensitivityMaxPpm = 4'000'000;
  static constexpr int32_t kPressureMaxPpm = 1'000'000;
  // The part of a duration that its noise changes anyhow: less pressure counts
  // as none.
  static constexpr int32_t kPressureLeastPpm = 20'000;

  // Without neighbours, at nominal speed.
  DurationEstimate alone;
  int32_t sensitivity_ppm = 1'000'000;
  int32_t pressure_ppm = 0;  // Of each resource that it runs on.
  // Errors of the same sign in a row; negative: it was faster than the model.
  int32_t error_run = 0;
  // By how much the model has been better than the plain median lately.
  int32_t credit_ppm = 0;

  bool is_trusted() const { return credit_ppm > 0; }
  // After a run of `ran_ns` that was predicted as these.
  void Compare(int64_t model_ns, int64_t plain_ns, int64_t ran_ns);
  int32_t pressure() const {
    return pressure_ppm < kPressureLeastPpm ? 0 : pressure_ppm;
  }
};

// The duration beside neighbours of that pressure; at most DurationEstimate's
// longest.
int64_t SlowedNs(int64_t duration_ns, int32_t sensitivity_ppm,
                 int64_t pressure_ppm);

// What ran during a part of a run.
struct Neighbour {
  Slowdown* slowdown = nullptr;
  // How many of its resources it had beside it, on average.
  double count = 0;
};

// Learns from a run that took `duration_ns` at nominal speed beside these.
// `known_count`: the number of samples after which a duration counts as known.
void LearnSlowdown(int64_t duration_ns, absl::Span<const Neighbour> neighbours,
                   uint32_t known_count, Slowdown* own);

// How far predictions of durations were off, summed over all predicted runs.
struct PredictionErrors {
  uint64_t run_count = 0;
  int64_t ran_ns = 0;
  int64_t error_ns = 0;        // With the model of slowdown.
  int64_t plain_error_ns = 0;  // By the median of all runs.
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_SLOWDOWN_H_
