#include "stream/statistics.h"

#include "base/check.h"

namespace takt::stream {

uint64_t StatisticsRecorder::CountRelease(bool is_overrun) {
  if (is_overrun) ++counts_.overrun_count;
  return counts_.released_count++;
}

void StatisticsRecorder::CountTimer(int64_t error_ns, uint64_t skipped_count) {
  release_error_.Add(error_ns);
  counts_.skipped_count += skipped_count;
}

uint64_t StatisticsRecorder::ended_count() const {
  return counts_.met_count + counts_.missed_count + counts_.dropped_count +
         counts_.failed_count + counts_.starved_count;
}

void StatisticsRecorder::CountEnd(const StreamJob& job) {
  TAKT_CHECK(ended_count() < counts_.released_count);
  bool is_done = false;
  switch (job.outcome) {
    case sched::JobOutcome::kMet:
      TAKT_DCHECK(job.end_ns <= job.deadline_ns);
      ++counts_.met_count;
      is_done = true;
      break;
    case sched::JobOutcome::kMissed:
      TAKT_DCHECK(job.end_ns > job.deadline_ns);
      ++counts_.missed_count;
      is_done = true;
      break;
    case sched::JobOutcome::kDropped:
      ++counts_.dropped_count;
      break;
    case sched::JobOutcome::kFailed:
      ++counts_.failed_count;
      break;
  }
  TAKT_CHECK(ended_count() <= counts_.released_count);
  if (!is_done) return;
  response_.Add(job.end_ns - job.origin_ns);
  CountPrediction(job);
}

void StatisticsRecorder::CountPrediction(const StreamJob& job) {
  if (job.predicted_end_ns == kInfiniteFuture) return;
  ++counts_.predicted_count;
  if (job.end_ns <= job.predicted_end_ns) ++counts_.kept_count;
  predicted_response_.Add(job.predicted_end_ns - job.origin_ns);
}

StreamStatistics StatisticsRecorder::Summarize() const {
  return {counts_, response_.quantiles(), begin_delay_.quantiles(),
          release_error_.quantiles(), predicted_response_.quantiles()};
}

}  // namespace takt::stream
