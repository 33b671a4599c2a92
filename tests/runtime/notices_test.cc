#include "runtime/notices.h"

#include <errno.h>

#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::runtime {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Notices::Throttle kThrottle = {950'000, 1'000'000};

CpuSet Cpus(const char* text) { return CpuSet::Parse(text).value(); }

class NoticesTest : public ::testing::Test {
 protected:
  Notices Make(Notices::Throttle throttle = kThrottle) {
    Log::Sink sink = [this](LogSeverity severity, const std::string& message) {
      EXPECT_EQ(severity, LogSeverity::kWarning);
      log_.push_back(message);
    };
    return Notices(std::make_shared<const Log>(std::move(sink)), Cpus("0-1"),
                   throttle);
  }
  static exec::WorkerThread::Report RealTime(const char* cpus) {
    exec::WorkerThread::Report report;
    report.fifo_priority = 50;
    report.cpus = Cpus(cpus);
    return report;
  }

  std::vector<std::string> log_;
};

TEST_F(NoticesTest, ARefusedPriorityIsReportedOnceWithARemedy) {
  Notices notices = Make();
  exec::WorkerThread::Report report;
  notices.Thread(report, 50);
  EXPECT_THAT(log_, IsEmpty());
  report.priority_error = EPERM;
  notices.Thread(report, 50);
  notices.Thread(report, 50);
  EXPECT_THAT(log_, ElementsAre(AllOf(
                        HasSubstr("SCHED_FIFO 50 was refused: Operation not "
                                  "permitted"),
                        HasSubstr("ulimit -r"), HasSubstr("CAP_SYS_NICE"))));
  EXPECT_EQ(notices.counts().worker_priority_error, EPERM);
}

TEST_F(NoticesTest, ARefusedBudgetIsReportedOnceWithARemedy) {
  const std::pair<int, const char*> cases[] = {
      {EPERM, "grant CAP_SYS_NICE, and leave worker_cpus out"},
      {EBUSY, "exceed sched_rt_runtime_us"},
      {EINVAL, "sched_deadline_period_min_us"}};
  for (const auto& [error, remedy] : cases) {
    Notices notices = Make();
    exec::WorkerThread::Report report;
    report.reservation_error = error;
    notices.Thread(report, 0);
    notices.Thread(report, 0);
    EXPECT_THAT(log_, ElementsAre(AllOf(HasSubstr("worker_budget_ns"),
                                        HasSubstr(remedy))));
    EXPECT_EQ(notices.counts().worker_reservation_error, error);
    log_.clear();
  }
}

TEST_F(NoticesTest, ARefusedPlaceIsReportedOnce) {
  Notices notices = Make();
  exec::WorkerThread::Report report;
  report.affinity_error = EINVAL;
  report.cpus = Cpus("0");
  notices.Thread(report, 0);
  notices.Thread(report, 0);
  EXPECT_THAT(log_,
              ElementsAre(AllOf(HasSubstr("was refused: Invalid argument"),
                                HasSubstr("they run on 0"))));
  EXPECT_EQ(notices.counts().worker_affinity_error, EINVAL);
}

TEST_F(NoticesTest, ARefusedPriorityOfTheTimerIsReported) {
  Notices notices = Make();
  notices.TimerPriority(70, 0);
  EXPECT_THAT(log_, IsEmpty());
  notices.TimerPriority(70, EPERM);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("timer_fifo_priority: SCHED_FIFO 70 "
                                          "was refused: Operation not")));
  EXPECT_EQ(notices.counts().timer_priority_error, EPERM);
}

TEST_F(NoticesTest, RealTimeThreadsOnAllCpusMayBeThrottled) {
  Notices notices = Make();
  notices.Thread(RealTime("1"), 50);
  notices.Thread(RealTime("1"), 51);
  EXPECT_FALSE(notices.counts().may_be_throttled);
  EXPECT_THAT(log_, IsEmpty());
  notices.Thread(RealTime("0"), 50);
  notices.Thread(RealTime("0"), 51);
  EXPECT_TRUE(notices.counts().may_be_throttled);
  EXPECT_THAT(log_, ElementsAre(AllOf(HasSubstr("may keep all CPUs 0-1 busy"),
                                      HasSubstr("50000 us of each 1000000 us"),
                                      HasSubstr("sched_rt_runtime_us"))));
}

TEST_F(NoticesTest, FewerThreadsThanCpusAreNotThrottled) {
  Notices notices = Make();
  notices.Thread(RealTime("0-1"), 50);  // Wherever it is put.
  EXPECT_FALSE(notices.counts().may_be_throttled);
  notices.Thread(RealTime("0-1"), 50);
  EXPECT_TRUE(notices.counts().may_be_throttled);
}

TEST_F(NoticesTest, WithoutAThrottleThereIsNoNotice) {
  Notices notices = Make(Notices::Throttle());
  for (const char* cpus : {"0", "1", "0", "1"}) {
    notices.Thread(RealTime(cpus), 50);
  }
  EXPECT_FALSE(notices.counts().may_be_throttled);
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(NoticesTest, MissingPartsAreNamed) {
  Notices notices = Make();
  notices.AbsentCpus(Cpus("2-9"), 2);
  notices.FewerWorkers(2, 8, "a reason");
  EXPECT_THAT(log_, ElementsAre(AllOf(HasSubstr("no CPUs 2-9, only 0-1"),
                                      HasSubstr("2 workers run")),
                                HasSubstr("started 2 of 8 workers: a reason")));
  EXPECT_EQ(notices.counts().absent_cpu_count, 8u);
}

TEST_F(NoticesTest, StreamsAndNpusThatNothingServesAreCountedAndSaidOnce) {
  Notices notices = Make();
  for (int i = 0; i < 3; ++i) {
    notices.CallersStream("policy.act");
    notices.UnusedNpu("local-npu-sim", "policy");
  }
  EXPECT_THAT(log_, ElementsAre(HasSubstr("stream of policy.act: there are no "
                                          "workers"),
                                HasSubstr("device local-npu-sim: no code in "
                                          "policy is for the NPU")));
  EXPECT_EQ(notices.counts().callers_stream_count, 3u);
  EXPECT_EQ(notices.counts().unused_npu_count, 3u);
}

TEST_F(NoticesTest, WhatIsDoneWithoutIsCounted) {
  Notices notices = Make();
  notices.FewerBackups(1, 4);
  notices.FewerBackups(0, 2);
  for (int i = 0; i < 2; ++i) {
    notices.RefusedThread();
    notices.CaptureFailed("policy.act", "a reason");
  }
  const auto is_capture =
      HasSubstr("stream of policy.act: the capture is not written: a reason");
  EXPECT_THAT(log_,
              ElementsAre(HasSubstr("started 1 of 4 backup threads"),
                          HasSubstr("started 0 of 2 backup threads"),
                          HasSubstr("did not start"), is_capture, is_capture));
  EXPECT_EQ(notices.counts().missing_backup_count, 5u);
  EXPECT_EQ(notices.counts().refused_thread_count, 2u);
  EXPECT_EQ(notices.counts().failed_capture_count, 2u);
}

TEST_F(NoticesTest, WithoutMemoryForItsTextANoticeIsCounted) {
  Notices notices(
      std::make_shared<const Log>(Log::Sink(
          [](LogSeverity, const std::string&) { throw std::bad_alloc(); })),
      Cpus("0-1"), kThrottle);
  notices.CaptureFailed("policy.act", "a reason");
  notices.TimerPriority(50, EPERM);
  EXPECT_EQ(notices.counts().failed_capture_count, 1u);
  EXPECT_EQ(notices.counts().timer_priority_error, EPERM);
}

TEST(ThrottleTest, IsReadFromTheKernelsFiles) {
  const std::string folder = ::testing::TempDir();
  std::ofstream(folder + "/sched_rt_runtime_us") << "950000\n";
  std::ofstream(folder + "/sched_rt_period_us") << "1000000\n";
  const Notices::Throttle on = Notices::ReadThrottle(folder);
  EXPECT_TRUE(on.is_on());
  EXPECT_EQ(on.runtime_us, 950'000);
  EXPECT_EQ(on.period_us, 1'000'000);
  std::ofstream(folder + "/sched_rt_runtime_us") << "-1\n";
  EXPECT_FALSE(Notices::ReadThrottle(folder).is_on());
  std::ofstream(folder + "/sched_rt_runtime_us") << "1000000\n";
  EXPECT_FALSE(Notices::ReadThrottle(folder).is_on());
  EXPECT_FALSE(Notices::ReadThrottle(folder + "/none").is_on());
}

}  // namespace
}  // namespace takt::runtime
