#include "trace/explanation.h"

#include <cstdint>
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/trace/job_trace.h"

namespace takt::trace {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// Ten jobs, one every 1000 ns with a deadline of 500 ns, that take 100 ns. The
// last one is late, as `late` records: it is due at 10000.
Explanation ExplainLateJob(const std::function<void(JobTrace&)>& late) {
  JobTrace maker;
  maker.Call(100, 0);
  for (uint64_t i = 0; i <= 10; ++i) maker.Call(i + 1, maker.Job(i));
  for (uint64_t i = 1; i < 10; ++i) {
    const auto due_ns = static_cast<int64_t>(1000 * i);
    maker.Release(i, due_ns, due_ns + 500);
    maker.Work(0, "kernel", i + 1, due_ns, due_ns + 100);
    maker.End(EventKind::kJobMet, i, due_ns + 100, 100);
  }
  late(maker);
  return Explain(*maker.Make(), 10);
}

const ExplainedJob& LateJob(const Explanation& explanation) {
  EXPECT_EQ(explanation.streams.size(), 1u);
  EXPECT_EQ(explanation.streams[0].late_count, 1u);
  EXPECT_EQ(explanation.streams[0].jobs.size(), 1u);
  return explanation.streams[0].jobs[0];
}

TEST(ExplanationTest, OtherWorkIsNamed) {
  const Explanation explanation = ExplainLateJob([](JobTrace& maker) {
    maker.Release(10, 10'000, 10'500);
    maker.Work(0, "kernel", 100, 10'000, 10'600);
    maker.Work(0, "kernel", 11, 10'600, 10'700);
    maker.End(EventKind::kJobMissed, 10, 10'700, 700);
  });
  const ExplainedJob& job = LateJob(explanation);
  EXPECT_EQ(job.cause, TimeUse::kOtherWork);
  EXPECT_THAT(job.reason, HasSubstr("while call ran"));
  EXPECT_THAT(job.advice, HasSubstr("Give policy a higher"));
  EXPECT_EQ(explanation.streams[0].usual_response_ns, 100);
  const std::string text = ExplanationText(explanation);
  EXPECT_THAT(text, HasSubstr("policy: 1 of 10 jobs late"));
  EXPECT_THAT(text, HasSubstr("job 10, due at 0.010 ms"));
  EXPECT_THAT(text, HasSubstr("other work ran"));
}

TEST(ExplanationTest, ALateReleaseIsTheTimers) {
  const Explanation explanation = ExplainLateJob([](JobTrace& maker) {
    maker.Release(10, 10'550, 10'500);
    maker.Work(0, "kernel", 11, 10'550, 10'650);
    maker.End(EventKind::kJobMissed, 10, 10'650, 650);
  });
  EXPECT_EQ(LateJob(explanation).cause, TimeUse::kReleasedLate);
  EXPECT_THAT(LateJob(explanation).advice, HasSubstr("timer_spin_ns"));
}

TEST(ExplanationTest, TimeInWhichNothingRanIsTheSystems) {
  const Explanation explanation = ExplainLateJob([](JobTrace& maker) {
    maker.Release(10, 10'000, 10'500);
    maker.Work(0, "kernel", 11, 10'800, 10'900);
    maker.End(EventKind::kJobMissed, 10, 10'900, 900);
  });
  EXPECT_EQ(LateJob(explanation).cause, TimeUse::kNoWork);
  EXPECT_THAT(LateJob(explanation).advice, HasSubstr("worker_fifo_priority"));
}

TEST(ExplanationTest, ASlowKernelIsNamedWithItsUsualTime) {
  const Explanation explanation = ExplainLateJob([](JobTrace& maker) {
    maker.Release(10, 10'000, 10'500);
    maker.Work(0, "kernel", 11, 10'000, 10'800);
    maker.End(EventKind::kJobMissed, 10, 10'800, 800);
  });
  EXPECT_EQ(LateJob(explanation).cause, TimeUse::kOwnWork);
  EXPECT_THAT(LateJob(explanation).reason,
              HasSubstr("kernel took 0.001 ms, and usually takes 0.000 ms"));
}

TEST(ExplanationTest, MoreOperationsThanUsualAreTheCauseOfALongJob) {
  const Explanation explanation = ExplainLateJob([](JobTrace& maker) {
    maker.Release(10, 10'000, 10'500);
    for (int i = 0; i < 7; ++i) {  // One of them is slow, too.
      const int64_t begin_ns = 10'000 + 100 * i;
      maker.Work(0, "kernel", 11, begin_ns, begin_ns + 100, i + 1);
    }
    maker.Work(1, "kernel", 11, 10'700, 11'000, 7);
    maker.End(EventKind::kJobMissed, 10, 11'000, 1'000);
  });
  EXPECT_EQ(LateJob(explanation).cause, TimeUse::kOwnWork);
  EXPECT_THAT(LateJob(explanation).reason,
              HasSubstr("7 operations, where a job usually has 1"));
}

TEST(ExplanationTest, ADeadlineShorterThanTheWorkIsReported) {
  const Explanation explanation = ExplainLateJob([](JobTrace& maker) {
    maker.Release(10, 10'000, 10'050);
    maker.Work(0, "kernel", 11, 10'000, 10'101);
    maker.End(EventKind::kJobMissed, 10, 10'101, 101);
  });
  EXPECT_EQ(LateJob(explanation).cause, TimeUse::kOwnWork);
  EXPECT_THAT(LateJob(explanation).reason, HasSubstr("the deadline is"));
}

TEST(ExplanationTest, ALateJobIsTheCauseOfTheNextOne) {
  JobTrace maker;
  for (uint64_t i = 0; i <= 10; ++i) maker.Call(i + 1, maker.Job(i));
  for (uint64_t i = 0; i < 8; ++i) {
    const auto due_ns = static_cast<int64_t>(1000 * i);
    maker.Release(i, due_ns, due_ns + 500);
    maker.Work(0, "kernel", i + 1, due_ns, due_ns + 100);
    maker.End(EventKind::kJobMet, i, due_ns + 100, 100);
  }
  maker.Release(8, 8'000, 8'500);
  maker.Work(0, "kernel", 9, 8'000, 9'600);
  maker.Release(9, 9'000, 9'500);
  maker.End(EventKind::kJobMissed, 8, 9'600, 1'600);
  maker.Work(0, "kernel", 10, 9'600, 9'700);
  maker.End(EventKind::kJobMissed, 9, 9'700, 700);
  const Explanation explanation = Explain(*maker.Make(), 10);
  const ExplainedStream& stream = explanation.streams.at(0);
  ASSERT_EQ(stream.jobs.size(), 2u);  // The longest first.
  EXPECT_EQ(stream.jobs[0].account.sequence, 8u);
  EXPECT_EQ(stream.jobs[0].cause, TimeUse::kOwnWork);
  EXPECT_EQ(stream.jobs[1].cause, TimeUse::kJobBefore);
  EXPECT_EQ(stream.cause_count[static_cast<size_t>(TimeUse::kJobBefore)], 1u);
}

TEST(ExplanationTest, WithoutALateJobTheSlowestIsExplained) {
  const Explanation explanation = ExplainLateJob([](JobTrace& maker) {
    maker.Release(10, 10'000, 10'500);
    maker.Work(0, "kernel", 11, 10'150, 10'250);
    maker.End(EventKind::kJobMet, 10, 10'250, 250);
  });
  const ExplainedStream& stream = explanation.streams.at(0);
  EXPECT_EQ(stream.late_count, 0u);
  ASSERT_EQ(stream.jobs.size(), 1u);
  EXPECT_EQ(stream.jobs[0].account.sequence, 10u);
  EXPECT_EQ(stream.jobs[0].cause, TimeUse::kNoWork);
}

TEST(ExplanationTest, TheRequestedNumberOfJobsIsExplained) {
  JobTrace maker;
  for (uint64_t i = 1; i <= 5; ++i) {
    maker.End(EventKind::kJobMissed, i, static_cast<int64_t>(1000 * i),
              static_cast<int64_t>(100 * i));
  }
  const Explanation explanation = Explain(*maker.Make(), 2);
  const ExplainedStream& stream = explanation.streams.at(0);
  EXPECT_EQ(stream.late_count, 5u);
  ASSERT_EQ(stream.jobs.size(), 2u);
  EXPECT_EQ(stream.jobs[0].account.sequence, 5u);
  EXPECT_THAT(Explain(*maker.Make(), 0).streams.at(0).jobs, IsEmpty());
}

TEST(ExplanationTest, ATraceWithoutJobsIsReported) {
  const JobTrace maker;
  EXPECT_EQ(ExplanationText(Explain(*maker.Make(), 10)),
            "the trace has no job of a stream that ended\n");
}

TEST(ExplanationTest, JobsWhoseEventsAreLostAreNotExplained) {
  const Explanation explanation = ExplainLateJob([](JobTrace& maker) {
    maker.Lose(3, 9'500);  // The first nine jobs.
    maker.Release(10, 10'000, 10'500);
    maker.Work(0, "kernel", 11, 10'800, 10'900);
    maker.End(EventKind::kJobMissed, 10, 10'900, 900);
  });
  EXPECT_EQ(explanation.streams[0].job_count, 1u);
  EXPECT_EQ(LateJob(explanation).account.sequence, 10u);
  EXPECT_THAT(ExplanationText(explanation),
              HasSubstr("9 jobs are left out, since events of their time"));
  EXPECT_EQ(nlohmann::json::parse(ExplanationJson(explanation))["incomplete"],
            9);
  JobTrace maker;
  maker.Lose(3, 2'000);
  maker.End(EventKind::kJobMissed, 0, 2'100, 600);
  EXPECT_THAT(
      ExplanationText(Explain(*maker.Make(), 10)),
      AllOf(HasSubstr("3 events were lost"), HasSubstr("1 jobs are left out"),
            HasSubstr("no other job of a stream")));
}

TEST(ExplanationTest, JsonHasTheSameNumbers) {
  const Explanation explanation = ExplainLateJob([](JobTrace& maker) {
    maker.Release(10, 10'000, 10'500);
    maker.Work(0, "kernel", 100, 10'000, 10'600);
    maker.Work(0, "kernel", 11, 10'600, 10'700);
    maker.End(EventKind::kJobMissed, 10, 10'700, 700);
  });
  const auto json = nlohmann::json::parse(ExplanationJson(explanation));
  const auto& stream = json["streams"][0];
  EXPECT_EQ(stream["late"], 1);
  EXPECT_EQ(stream["causes"]["other_work"], 1);
  const auto& job = stream["explained"][0];
  EXPECT_EQ(job["use_ns"]["other_work"], 600);
  EXPECT_EQ(job["cause"], "other_work");
  EXPECT_EQ(job["other_work"][0]["name"], "call");
  EXPECT_EQ(job["deadline_ns"], 10'500);
}

}  // namespace
}  // namespace takt::trace
