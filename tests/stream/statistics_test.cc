#include "stream/statistics.h"

#include "gtest/gtest.h"

namespace takt::stream {
namespace {

StreamJob Ended(sched::JobOutcome outcome, int64_t end_ns) {
  StreamJob job;
  job.origin_ns = 1000;
  job.deadline_ns = 2000;
  job.end_ns = end_ns;
  job.outcome = outcome;
  return job;
}

TEST(StatisticsTest, CountsEachOutcomeOnItsOwn) {
  StatisticsRecorder recorder;
  for (uint64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(recorder.CountRelease(/*is_overrun=*/i % 2 == 1), i);
  }
  recorder.CountEnd(Ended(sched::JobOutcome::kMet, 1500));
  recorder.CountEnd(Ended(sched::JobOutcome::kMet, 2000));
  recorder.CountEnd(Ended(sched::JobOutcome::kMissed, 3000));
  recorder.CountEnd(Ended(sched::JobOutcome::kDropped, 0));
  recorder.CountEnd(Ended(sched::JobOutcome::kFailed, 1100));
  recorder.CountStarved();
  const StreamCounts counts = recorder.Summarize().counts;
  EXPECT_EQ(counts.released_count, 6u);
  EXPECT_EQ(counts.overrun_count, 3u);
  EXPECT_EQ(counts.met_count, 2u);
  EXPECT_EQ(counts.missed_count, 1u);
  EXPECT_EQ(counts.dropped_count, 1u);
  EXPECT_EQ(counts.failed_count, 1u);
  EXPECT_EQ(counts.starved_count, 1u);
}

TEST(StatisticsTest, OnlyJobsThatAreDoneHaveAResponseTime) {
  StatisticsRecorder recorder;
  for (int i = 0; i < 3; ++i) recorder.CountRelease(false);
  recorder.CountEnd(Ended(sched::JobOutcome::kMet, 1500));
  recorder.CountEnd(Ended(sched::JobOutcome::kMissed, 3000));
  recorder.CountEnd(Ended(sched::JobOutcome::kDropped, 9000));
  const StreamStatistics statistics = recorder.Summarize();
  EXPECT_EQ(statistics.response.count, 2u);
  EXPECT_EQ(statistics.response.max, 2000);
}

TEST(StatisticsTest, TimerErrorsAndBeginDelaysAreCounted) {
  StatisticsRecorder recorder;
  recorder.CountTimer(7, 0);
  recorder.CountTimer(90, 3);
  recorder.CountBegin(20, false);
  recorder.CountBegin(30, true);
  const StreamStatistics statistics = recorder.Summarize();
  EXPECT_EQ(statistics.counts.skipped_count, 3u);
  EXPECT_EQ(statistics.release_error.count, 2u);
  EXPECT_EQ(statistics.release_error.max, 90);
  EXPECT_EQ(statistics.begin_delay.count, 2u);
  EXPECT_EQ(statistics.counts.lenient_count, 1u);
}

}  // namespace
}  // namespace takt::stream
