#include "trace/job_account.h"

#include <array>
#include <cstdint>

#include "gtest/gtest.h"
#include "tests/trace/job_trace.h"

namespace takt::trace {
namespace {

using Uses = std::array<int64_t, kTimeUseCount>;

// Own work, released late, job before, other work, no work.
Uses UsesOf(const JobAccount& job) { return job.use_ns; }

TEST(JobAccountTest, TimeBelongsToTheJobOrToItsWaits) {
  JobTrace maker;
  maker.Call(1, maker.Job(0));
  maker.Call(2, 0);
  // Due at 1000, released at 1010, ended at 1100.
  maker.Release(0, 1010, 1080);
  maker.Work(0, "kernel", 2, 1005, 1030);  // Of another call.
  maker.Work(0, "kernel", 1, 1040, 1060);
  maker.Work(1, "kernel", 1, 1050, 1090);  // At once with the last one.
  maker.End(EventKind::kJobMissed, 0, 1100, 100);
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  ASSERT_EQ(accounts.jobs.size(), 1u);
  const JobAccount& job = accounts.jobs[0];
  EXPECT_EQ(job.origin_ns, 1000);
  EXPECT_EQ(job.deadline_ns, 1080);
  EXPECT_EQ(job.response_ns(), 100);
  EXPECT_TRUE(job.is_late());
  EXPECT_EQ(UsesOf(job), (Uses{50, 10, 0, 20, 20}));
  ASSERT_EQ(job.others.size(), 1u);
  EXPECT_EQ(job.others[0].name, "call");
  EXPECT_EQ(job.others[0].time_ns, 20);
}

TEST(JobAccountTest, ATimeCountsOnceHoweverManyThreadsRunOtherWork) {
  JobTrace maker;
  maker.Call(1, maker.Job(0));
  maker.Call(2, 0);
  maker.Release(0, 1000, 1200);
  maker.Work(0, "kernel", 2, 1000, 1050);
  maker.Work(1, "kernel", 2, 1020, 1060);
  maker.Work(0, "kernel", 1, 1060, 1100);
  maker.End(EventKind::kJobMet, 0, 1100, 100);
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  EXPECT_EQ(UsesOf(accounts.jobs.at(0)), (Uses{40, 0, 0, 60, 0}));
  EXPECT_EQ(accounts.jobs[0].others.at(0).time_ns, 60);
}

TEST(JobAccountTest, WorkWithinOtherWorkCountsForItsOwnCall) {
  JobTrace maker;
  maker.Call(1, maker.Job(0));
  maker.Call(2, 0);
  maker.Release(0, 1000, 1200);
  // The thread of call 2 helps with call 1.
  maker.Work(0, "outer", 2, 1000, 1100);
  maker.Work(0, "inner", 1, 1030, 1070);
  maker.End(EventKind::kJobMet, 0, 1100, 100);
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  EXPECT_EQ(UsesOf(accounts.jobs.at(0)), (Uses{40, 0, 0, 60, 0}));
}

TEST(JobAccountTest, AJobThatIsReleasedDuringTheOneBeforeWaitsForIt) {
  JobTrace maker;
  maker.Call(1, maker.Job(0));
  maker.Call(2, maker.Job(1));
  maker.Release(0, 1000, 1050);
  maker.Work(0, "kernel", 1, 1000, 1080);
  maker.Release(1, 1050, 1100);
  maker.End(EventKind::kJobMissed, 0, 1080, 80);
  maker.Work(0, "kernel", 2, 1080, 1090);
  maker.End(EventKind::kJobMet, 1, 1095, 45);
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  ASSERT_EQ(accounts.jobs.size(), 2u);
  EXPECT_EQ(UsesOf(accounts.jobs[0]), (Uses{80, 0, 0, 0, 0}));
  EXPECT_EQ(UsesOf(accounts.jobs[1]), (Uses{10, 0, 30, 0, 5}));
}

TEST(JobAccountTest, TheSlowestWorkIsThatWhichExceedsItsMedianTheMost) {
  JobTrace maker;
  maker.Call(1, maker.Job(0));
  maker.Call(2, 0);
  for (int i = 0; i < 5; ++i) {
    maker.Work(0, "long", 2, 1000 * i, 1000 * i + 100);
    maker.Work(0, "short", 2, 1000 * i + 200, 1000 * i + 210);
  }
  maker.Release(0, 6000, 7000);
  maker.Work(0, "long", 1, 6000, 6120);
  maker.Work(0, "short", 1, 6200, 6290);
  maker.End(EventKind::kJobMissed, 0, 6300, 300);
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  EXPECT_EQ(accounts.jobs.at(0).slowest.name, "short");
  EXPECT_EQ(accounts.jobs[0].slowest.time_ns, 90);
  EXPECT_EQ(accounts.jobs[0].slowest.median_ns, 10);
}

TEST(JobAccountTest, PartsOfAnOperationAreOneOperation) {
  JobTrace maker;
  maker.Call(1, maker.Job(0));
  maker.Release(0, 1000, 2000);
  maker.Work(0, "kernel", 1, 1000, 1010, 5);
  maker.Work(1, "kernel", 1, 1000, 1020, 6);
  maker.Work(0, "kernel", 1, 1010, 1030, 5);
  maker.End(EventKind::kJobMet, 0, 1030, 30);
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  ASSERT_EQ(accounts.jobs.size(), 1u);
  EXPECT_EQ(accounts.jobs[0].operation_count, 2u);
}

TEST(JobAccountTest, AJobThatNeverBeganIsAccountedForFromItsRelease) {
  JobTrace maker;
  maker.Call(1, 0);
  maker.Release(0, 1000, 1050);
  maker.Work(0, "kernel", 1, 900, 1100);
  maker.End(EventKind::kJobDropped, 0, 1060, 0);
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  ASSERT_EQ(accounts.jobs.size(), 1u);
  EXPECT_TRUE(accounts.jobs[0].is_late());
  EXPECT_EQ(UsesOf(accounts.jobs[0]), (Uses{0, 0, 0, 60, 0}));
}

TEST(JobAccountTest, ATraceWithoutReleasesStillHasAccounts) {
  JobTrace maker;
  maker.End(EventKind::kJobMet, 0, 1100, 100);
  maker.End(EventKind::kJobMet, 1, 1200, INT64_MIN);
  maker.End(EventKind::kJobMet, 2, 1300, INT64_MAX);
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  ASSERT_EQ(accounts.jobs.size(), 3u);
  EXPECT_EQ(UsesOf(accounts.jobs[0]), (Uses{0, 0, 0, 0, 100}));
  EXPECT_EQ(accounts.jobs[1].response_ns(), 0);
  EXPECT_EQ(accounts.jobs[2].response_ns(), 0);
}

TEST(JobAccountTest, JobsOfATimeWhoseEventsAreLostAreLeftOut) {
  JobTrace maker;
  maker.Lose(7, 1050);
  maker.End(EventKind::kJobMissed, 0, 1100, 100);
  maker.End(EventKind::kJobMet, 1, 1150, 100);
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  ASSERT_EQ(accounts.jobs.size(), 1u);
  EXPECT_EQ(accounts.jobs[0].sequence, 1u);
  EXPECT_EQ(accounts.incomplete_count, 1u);
}

TEST(JobAccountTest, JobsThatAllLastForTheWholeTraceAreLeftOut) {
  JobTrace maker;
  maker.Call(1, 0);
  for (int i = 0; i < 2000; ++i) {
    maker.Work(0, "kernel", 1, 1000 + 10 * i, 1005 + 10 * i);
  }
  // Each claims to have lasted since the begin.
  for (int i = 0; i < 2000; ++i) {
    maker.End(EventKind::kJobMet, static_cast<uint64_t>(i), 30'000 + i,
              29'000 + i);
  }
  const JobAccounts accounts = AccountForJobs(*maker.Make());
  EXPECT_GT(accounts.jobs.size(), 10u);
  EXPECT_GT(accounts.skipped_count, 1000u);
  EXPECT_EQ(accounts.jobs.size() + accounts.skipped_count, 2000u);
}

}  // namespace
}  // namespace takt::trace
