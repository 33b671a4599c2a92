#include "sched/admission.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sched/test_support.h"

namespace takt::sched {
namespace {

using testing::HasSubstr;

StreamOptions Periodic(ProgramId program, int64_t period_us) {
  StreamOptions terms = Terms(program, Criticality::kHard, period_us);
  terms.period_ns = period_us * 1000;
  return terms;
}

TEST(AdmissionTest, ALightStreamWillFit) {
  Shop shop(Cores(2));
  const ProgramId program = shop.Chain({shop.Kernel({{0, 1, 100, 20}})});
  const StreamId stream = shop.Add(Periodic(program, 5000));
  const AdmissionReport report = shop->Admit(stream);
  EXPECT_EQ(report.verdict, Verdict::kWillFit) << report.reason;
  EXPECT_EQ(report.response_least_ns, 100'000);
  EXPECT_GT(report.response_bound_ns, 100'000);
  EXPECT_LE(report.response_bound_ns, report.deadline_ns);
  EXPECT_EQ(report.load_before_ppm, 0);
  EXPECT_EQ(report.load_after_ppm, 10'000);
  EXPECT_THAT(report.reason, HasSubstr("at most"));
}

TEST(AdmissionTest, AJobThatIsTooSlowAloneCannotFit) {
  Shop shop(Cores(2));
  const ProgramId program = shop.Chain(
      {shop.Kernel({{0, 1, 600, 20}}), shop.Kernel({{0, 1, 500, 20}})});
  const AdmissionReport report = shop->Admit(shop.Add(Periodic(program, 1000)));
  EXPECT_EQ(report.verdict, Verdict::kCannot);
  EXPECT_THAT(report.reason, HasSubstr("alone it takes 1.1 ms"));
}

TEST(AdmissionTest, MoreThanTheMachineHasCannotFit) {
  Shop shop(Cores(1));
  const KernelId kernel = shop.Kernel({{0, 1, 400, 20}});
  StreamOptions terms = Periodic(shop.Chain({kernel}), 300);
  terms.deadline_ns = 50'000'000;
  const AdmissionReport report = shop->Admit(shop.Add(terms));
  EXPECT_EQ(report.verdict, Verdict::kCannot);
  EXPECT_THAT(report.reason, HasSubstr("133."));
}

TEST(AdmissionTest, KeepsEarlierPromises) {
  Shop shop(Cores(1));
  const ProgramId quick = shop.Chain({shop.Kernel({{0, 1, 100, 20}})});
  const ProgramId slow = shop.Chain({shop.Kernel({{0, 1, 2000, 20}})});
  const StreamId first = shop.Add(Periodic(quick, 2000));
  EXPECT_EQ(shop->Admit(first).verdict, Verdict::kWillFit);
  const StreamId second = shop.Add(Periodic(slow, 100'000));
  AdmissionReport report = shop->Admit(second);
  EXPECT_EQ(report.verdict, Verdict::kMightNot);
  EXPECT_THAT(report.reason, HasSubstr("stream 0 may take"));
  shop->Withdraw(first);
  EXPECT_EQ(shop->Admit(second).verdict, Verdict::kWillFit);
}

TEST(AdmissionTest, PromisesNothingThatItCannotCount) {
  Shop shop(Cores(2));
  // Together the jobs take more time than an integer holds.
  const auto kernel = shop->AddKernel({9, 0, {1, 1, 1}}, {{{0, 1, 1, 1}}});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  StreamOptions terms = Terms(shop.Chain({*kernel}), Criticality::kHard);
  terms.period_ns = 1;
  terms.deadline_ns = int64_t{1} << 62;
  const AdmissionReport report = shop->Admit(shop.Add(terms));
  EXPECT_EQ(report.verdict, Verdict::kMightNot) << report.reason;
  EXPECT_GT(report.response_bound_ns, terms.deadline_ns);
}

TEST(AdmissionTest, ATimeBeyondAllTimesIsTheLongest) {
  Shop shop(Cores(2));
  const auto kernel = shop->AddKernel({9, 0, {1, 1, 1}},
                                      {{{0, 1, DurationEstimate::kMaxNs, 1}}});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  shop->SetSpeed(0, 1, 0);
  const AdmissionReport report =
      shop->Admit(shop.Add(Periodic(shop.Chain({*kernel}), 1000)));
  EXPECT_EQ(report.verdict, Verdict::kCannot);
  EXPECT_EQ(report.response_least_ns, 9'000'000'000'000'000'000);
}

// The next release drops a job that still waits.
TEST(AdmissionTest, AStreamOfTheLatestOnlyIsBoundedByItsPeriod) {
  Shop shop(Cores(1));
  const ProgramId quick = shop.Chain({shop.Kernel({{0, 1, 100, 20}})});
  const ProgramId slow = shop.Chain({shop.Kernel({{0, 1, 2000, 20}})});
  EXPECT_EQ(shop->Admit(shop.Add(Periodic(slow, 100'000))).verdict,
            Verdict::kWillFit);
  StreamOptions terms = Periodic(quick, 1000);
  terms.deadline_ns = 20'000'000;
  terms.late = LatePolicy::kDrop;
  EXPECT_EQ(shop->AssessStream(shop.Add(terms)).verdict, Verdict::kWillFit);
  terms.late = LatePolicy::kLatestOnly;
  const AdmissionReport report = shop->Admit(shop.Add(terms));
  EXPECT_EQ(report.verdict, Verdict::kMightNot);
  EXPECT_THAT(report.reason, HasSubstr("gives way to its next job after 1 ms"));
}

TEST(AdmissionTest, PromisesOnlyHardStreamsWithKnownOperations) {
  Shop shop(Cores(2));
  const ProgramId program = shop.Chain({shop.Kernel({{0, 1, 100, 20}})});
  StreamOptions terms = Periodic(program, 5000);
  terms.program = kNoProgram;
  EXPECT_THAT(shop->Admit(shop.Add(terms)).reason,
              HasSubstr("not known ahead"));
  terms.program = program;
  terms.criticality = Criticality::kSoft;
  const StreamId soft = shop.Add(terms);
  EXPECT_EQ(shop->Admit(soft).verdict, Verdict::kWillFit);
  const StreamId hard = shop.Add(Periodic(program, 5000));
  EXPECT_EQ(shop->AssessStream(hard).load_before_ppm, 0);
}

TEST(AdmissionTest, DoesNotCombineWithLeasesOfWholeJobs) {
  Shop shop(TwoClustersAndNpu());
  const ProgramId program = shop.Chain({shop.Kernel({{0, 1, 100, 20}})});
  StreamOptions leasing = Terms(program, Criticality::kSoft);
  leasing.lease = LeaseScope::kJob;
  const StreamId stream = shop.Add(Periodic(program, 50'000));
  EXPECT_EQ(shop->Admit(stream).verdict, Verdict::kWillFit);
  EXPECT_EQ(shop->AddStream(leasing).status().code(),
            absl::StatusCode::kFailedPrecondition);
  shop->Withdraw(stream);
  shop.Add(leasing);
  EXPECT_THAT(shop->Admit(stream).reason, HasSubstr("keeps an NPU"));
}

TEST(AdmissionTest, CountsWithThePresentLoans) {
  Shop shop(Cores(1));
  const ProgramId program = shop.Chain({shop.Kernel({{0, 1, 300, 20}})});
  const StreamId stream = shop.Add(Periodic(program, 2000));
  EXPECT_EQ(shop->AssessStream(stream).verdict, Verdict::kWillFit);
  shop->SetSpeed(0, 100, 0);
  EXPECT_EQ(shop->AssessStream(stream).verdict, Verdict::kCannot);
  shop->SetSpeed(0, 1000, 0);
  shop->SetAvailable(0, false, 0);
  EXPECT_THAT(shop->AssessStream(stream).reason, HasSubstr("no resource now"));
}

}  // namespace
}  // namespace takt::sched
