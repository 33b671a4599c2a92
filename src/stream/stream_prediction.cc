// Streams: when the job of a release will end.
#include <algorithm>

#include "base/check.h"
#include "base/clock.h"
#include "stream/stream.h"

namespace takt::stream {

void Stream::LearnDuration(const StreamJob& job) {
  const int64_t could_begin_ns = std::max(job.origin_ns, last_end_ns_);
  TAKT_DCHECK(job.end_ns >= last_end_ns_);
  last_end_ns_ = job.end_ns;
  const bool is_done = job.outcome == sched::JobOutcome::kMet ||
                       job.outcome == sched::JobOutcome::kMissed;
  if (!is_done) return;
  predictor_.Add(job.end_ns - could_begin_ns);
  if (could_begin_ns > job.origin_ns) {
    predictor_.AddWait(job.end_ns <= job.predicted_end_ns);
  }
}

Prediction Stream::PredictLocked(int64_t release_ns, int64_t now_ns) const {
  Prediction prediction;
  prediction.release_ns = release_ns;
  prediction.job_count = predictor_.count();
  if (predictor_.count() == 0) return prediction;
  // The jobs before this one: the one in flight, then those that wait.
  ResponsePredictor::Durations rest = {0, 0};
  int64_t from_ns = release_ns;
  if (in_flight_.has_value()) {
    const ResponsePredictor::Durations job = predictor_.Predict();
    const int64_t began_ns = std::max(in_flight_->job.origin_ns, last_end_ns_);
    from_ns = std::max(now_ns, release_ns);
    const auto left = [&](int64_t duration_ns) {
      return std::max<int64_t>(DeadlineAfter(began_ns, duration_ns) - from_ns,
                               0);
    };
    rest = {left(job.median_ns), left(job.q99_ns)};
  }
  const ResponsePredictor::Durations all =
      predictor_.PredictAfter(rest, pending_.size() + 1);
  prediction.median_ns = DeadlineAfter(from_ns, all.median_ns);
  prediction.q99_ns = DeadlineAfter(from_ns, all.q99_ns);
  TAKT_DCHECK(prediction.median_ns <= prediction.q99_ns);
  return prediction;
}

Prediction Stream::Predict(absl::optional<int64_t> release_ns) const {
  const int64_t now_ns = this->now_ns();
  MutexLock lock(&mutex_);
  const bool has_next = is_running_ && arrival_ == Arrival::kPeriodic;
  const int64_t next_ns = has_next ? schedule_.next_ns() : now_ns;
  return PredictLocked(release_ns.value_or(next_ns), now_ns);
}

int64_t Stream::ResponseBound() {
  const auto report = Admit(/*promises=*/false);
  return report.ok() ? report->response_bound_ns : kInfiniteFuture;
}

}  // namespace takt::stream
