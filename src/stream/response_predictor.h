// A ResponsePredictor predicts the durations of a stream's next jobs from those
// of its last jobs.
//
// Method: adaptive conformal prediction (Gibbs and Candes, "Adaptive Conformal
// Inference Under Distribution Shift", NeurIPS 2021) over a window of past
// jobs. The predicted duration is a quantile of the window. After each job the
// part of jobs that may exceed it shrinks if the job exceeded it, and grows a
// little if not. So 99 % of the jobs keep to the prediction in the long run,
// also where their durations drift.
//
// Durations are those of a job alone: from when it could begin, because it was
// released and the job before it had ended, to its end.
//
// Jobs one after the other take the sum of their means, and a margin. If their
// durations do not depend on each other, the margin is the square root of the
// sum of the squares of their margins; if all are slow together, it is the sum.
// Where it lies between the two is learned in the same way.
//
// Thread-safety: none. Allocates: never.
#ifndef TAKT_STREAM_RESPONSE_PREDICTOR_H_
#define TAKT_STREAM_RESPONSE_PREDICTOR_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace takt::stream {

class ResponsePredictor {
 public:
  // Enough for a 99 % quantile with five jobs above it; the sorted copy fits
  // into one page.
  static constexpr size_t kWindow = 512;

  struct Durations {
    int64_t median_ns = kInfiniteFuture;  // kInfiniteFuture: no job yet.
    int64_t q99_ns = kInfiniteFuture;
  };

  ResponsePredictor();

  // The number of jobs that the predictions rest on.
  size_t count() const { return count_; }
  Durations Predict() const { return predicted_; }
  // The time for what is left of the job in flight, and `count` jobs after it.
  // There is at least one job to predict from.
  Durations PredictAfter(Durations rest, size_t count) const;
  // Adds a job that has ended.
  void Add(int64_t duration_ns);
  // A job that waited for others kept to its prediction, or did not.
  void AddWait(bool has_kept);

 private:
  void Remove(int64_t duration_ns);
  void Insert(int64_t duration_ns);
  int64_t Quantile(double exceeding_part) const;

  std::array<int64_t, kWindow> ring_;    // In the order of their ends.
  std::array<int64_t, kWindow> sorted_;  // The same, ascending.
  size_t next_ = 0;                      // The oldest one once all are there.
  size_t count_ = 0;
  int64_t sum_ns_ = 0;     // Of the window.
  double exceeding_part_;  // Of jobs that may exceed the 99 % prediction.
  // Where the margin of several jobs lies: 0, at the root of the squares; 1, at
  // the sum.
  double dependence_ = 0;
  Durations predicted_;
};

// A stream's prediction for one release. Times are absolute.
struct Prediction {
  int64_t release_ns = 0;
  size_t job_count = 0;                 // Ended jobs that it rests on.
  int64_t median_ns = kInfiniteFuture;  // The end, in half of all cases before.
  int64_t q99_ns = kInfiniteFuture;     // In 99 % of all cases before.
};

}  // namespace takt::stream

#endif  // TAKT_STREAM_RESPONSE_PREDICTOR_H_
