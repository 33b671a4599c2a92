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
  if (is_done) predictor_.Add(job.end_ns - could_begin_ns);
}

Prediction Stream::PredictLocked(int64_t release_ns, int64_t now_ns) const {
  Prediction prediction;
  prediction.release_ns = release_ns;
  prediction.job_count = predictor_.count();
  if (predictor_.count() == 0) return prediction;
  const ResponsePredictor::Durations job = predictor_.Predict();
  // The jobs before this one: the one in flight, then those that wait.
  int64_t median_ns = release_ns;
  int64_t q99_ns = release_ns;
  if (in_flight_.has_value()) {
    const int64_t began_ns = std::max(in_flight_->job.origin_ns, last_end_ns_);
    const auto end = [&](int64_t duration_ns) {
      return std::max(
          {DeadlineAfter(began_ns, duration_ns), now_ns, release_ns});
    };
    median_ns = end(job.median_ns);
    q99_ns = end(job.q99_ns);
  }
  for (size_t i = 0; i <= pending_.size(); ++i) {
    median_ns = DeadlineAfter(median_ns, job.median_ns);
    q99_ns = DeadlineAfter(q99_ns, job.q99_ns);
  }
  prediction.median_ns = median_ns;
  prediction.q99_ns = q99_ns;
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
