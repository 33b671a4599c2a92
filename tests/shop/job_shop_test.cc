// The job shop against an executor that runs nothing by itself, and a clock
// that stands still: each test says which job of the executor runs next, on
// which thread, and when. The last ones run on real workers.
#include "shop/job_shop.h"

#include <atomic>
#include <deque>
#include <future>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "sched/policy.h"
#include "sched/priority.h"
#include "tests/shop/test_support.h"

namespace takt::shop {
namespace {

using sched::JobOutcome;

TEST_F(JobShopTest, RunsWorkOnTheDecidedNumberOfShards) {
  MakeShop(2);
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork work(8);
  shop().Submit(*job, &work);
  EXPECT_EQ(executor().size(), 0u);  // Nobody has decided yet.
  shop().Decide();
  // Alone, it is as wide as makes it faster.
  ASSERT_EQ(executor().size(), 2u);
  executor().RunNext();
  EXPECT_TRUE(work.is_finished);
  EXPECT_EQ(work.tiles_run, 8u);
  // The shard that came too late finds nothing.
  executor().RunNext();
  EXPECT_EQ(work.tiles_run, 8u);
  job.reset();
  EXPECT_EQ(shop().statistics().classes[1].met_count, 1u);
}

TEST_F(JobShopTest, StartsTheMostUrgentFirst) {
  MakeShop(1);
  TwoJobs jobs = ReleaseTwoJobs();
  TestWork first(4), second(4), urgent(1);
  shop().Submit(*jobs.low, &first);
  shop().Decide();
  ASSERT_EQ(executor().size(), 1u);
  shop().Submit(*jobs.low, &second);
  shop().Submit(*jobs.high, &urgent);
  shop().Decide();
  // It had not begun, so it gave way at once.
  executor().RunAll();
  EXPECT_TRUE(first.is_finished && second.is_finished && urgent.is_finished);
  EXPECT_LT(urgent.order, first.order);
}

TEST_F(JobShopTest, AStreamThatHasHadLessThanItsShareGoesFirst) {
  MakeShop(1);
  StreamRequirements requirements;
  requirements.criticality = sched::Criticality::kBestEffort;
  requirements.share_permille = 600;
  auto shared = Value(shop().AddStream(requirements));
  EXPECT_EQ(shop().AddStream(requirements).status().code(),
            absl::StatusCode::kFailedPrecondition);
  auto soft = shop().StreamOf(128, nullptr);
  auto soft_job = shop().ReleaseJob(*soft, 0, kInfiniteFuture, false);
  auto shared_job = shop().ReleaseJob(*shared, 0, kInfiniteFuture, false);
  TestWork slow(4), logged(4);
  shop().Submit(*soft_job, &slow);
  shop().Decide();
  ASSERT_EQ(executor().size(), 1u);
  shop().Submit(*shared_job, &logged);
  shop().Decide();
  // Its tiles, too, go before those of all that is not hard.
  EXPECT_EQ(executor().newest().lane, exec::LaneOf(sched::kBelowHardPriority));
  EXPECT_EQ(executor().newest().core_lane(), logged.lane);  // Elsewhere not.
  executor().RunAll();
  EXPECT_TRUE(slow.is_finished && logged.is_finished);
  EXPECT_LT(logged.order, slow.order);
}

TEST_F(JobShopTest, LessUrgentWorkStopsBetweenTilesAndContinuesLater) {
  MakeShop(1);
  TwoJobs jobs = ReleaseTwoJobs();
  TestWork slow(10), urgent(1);
  slow.on_tile = [&](uint32_t tile) {
    if (tile != 3) return;
    shop().Submit(*jobs.high, &urgent);
    shop().Decide();
  };
  shop().Submit(*jobs.low, &slow);
  shop().Decide();
  executor().RunNext();
  EXPECT_EQ(slow.tiles_run, 4u);
  EXPECT_FALSE(slow.is_finished);
  ASSERT_EQ(executor().size(), 1u);
  executor().RunNext();
  EXPECT_TRUE(urgent.is_finished);
  executor().RunAll();
  EXPECT_TRUE(slow.is_finished);
  EXPECT_EQ(slow.tiles_run, 10u);
  EXPECT_LT(urgent.order, slow.order);
  EXPECT_GE(shop().statistics().yield_count, 1u);
}

TEST_F(JobShopTest, UrgentWorkDoesNotWaitForTheTilesOfItsVictim) {
  MakeShop(1);
  TwoJobs jobs = ReleaseTwoJobs();
  TestWork slow(10), urgent(1);
  slow.on_tile = [&](uint32_t tile) {
    if (tile != 9) return;
    shop().Submit(*jobs.high, &urgent);
    shop().Decide();
    // Within the tile, as another thread would.
    ASSERT_EQ(executor().size(), 1u);
    executor().RunNext();
    EXPECT_TRUE(urgent.is_finished);
  };
  shop().Submit(*jobs.low, &slow);
  shop().Decide();
  executor().RunAll();
  // It was its last tile, so it is done though it had yielded.
  EXPECT_TRUE(slow.is_finished);
  EXPECT_EQ(slow.tiles_run, 10u);
  jobs.low.reset();
  jobs.high.reset();
  shop().Run([](sched::Scheduler& scheduler, int64_t) {
    EXPECT_EQ(scheduler.live_job_count(), 0u);
    EXPECT_EQ(scheduler.waiting_count(), 0u);
  });
}

// A shard that finds nothing left gives its core to what waits, while the
// others are still at work.
TEST_F(JobShopTest, ACoreWithoutMoreTilesRunsWhatWaits) {
  for (const bool has_deadline : {false, true}) {
    MakeShop(2);
    auto stream = shop().StreamOf(128, nullptr);
    const auto release = [&] {
      const int64_t deadline_ns =
          has_deadline ? now() + 1'000'000'000 : kInfiniteFuture;
      return shop().ReleaseJob(*stream, now(), deadline_ns, false);
    };
    auto first = release();
    auto second = release();
    TestWork wide(8), waiting(1);
    wide.expected_tile_ns = 100'000;
    wide.on_tile = [&](uint32_t) {
      if (wide.tiles_run != 7) return;
      ASSERT_EQ(executor().size(), 1u);
      executor().RunNext();  // The second shard.
      ASSERT_EQ(executor().size(), has_deadline ? 0u : 1u);
      if (!has_deadline) executor().RunNext();
      EXPECT_EQ(waiting.is_finished, !has_deadline);
      EXPECT_FALSE(wide.is_finished);
    };
    shop().Submit(*first, &wide);
    shop().Decide();
    ASSERT_EQ(executor().size(), 2u);
    shop().Submit(*second, &waiting);
    shop().Decide();
    executor().RunAll();
    EXPECT_TRUE(wide.is_finished && waiting.is_finished);
    EXPECT_EQ(wide.tiles_run, 8u);
    first.reset();
    second.reset();
    shop().Run([](sched::Scheduler& scheduler, int64_t) {
      EXPECT_EQ(scheduler.live_job_count(), 0u);
    });
  }
}

// A run that has ended meanwhile has no core to give back.
TEST_F(JobShopTest, ACoreIsGivenBackOnce) {
  MakeShop(2);
  TwoJobs jobs = ReleaseTwoJobs();
  TestWork wide(8), urgent(1);
  wide.expected_tile_ns = 100'000;
  wide.on_tile = [&](uint32_t) {
    if (wide.tiles_run != 7) return;
    // The decider comes to the core that is given back only after the run has
    // been stopped for the urgent work.
    shop().Run([&](sched::Scheduler&, int64_t) {
      executor().RunNext();
      shop().Submit(*jobs.high, &urgent);
    });
    executor().RunNext();
    EXPECT_TRUE(urgent.is_finished);
  };
  shop().Submit(*jobs.low, &wide);
  shop().Decide();
  ASSERT_EQ(executor().size(), 2u);
  executor().RunAll();
  EXPECT_TRUE(wide.is_finished);
  EXPECT_EQ(wide.tiles_run, 8u);
}

TEST_F(JobShopTest, WorkThatHasYieldedIsGivenUpAfterItsTile) {
  MakeShop(1);
  TwoJobs jobs = ReleaseTwoJobs();
  TestWork slow(10), urgent(1);
  slow.on_tile = [&](uint32_t tile) {
    if (tile != 3) return;
    shop().Submit(*jobs.high, &urgent);
    shop().Decide();
    shop().Drop(*jobs.low);
    EXPECT_FALSE(slow.is_given_up);  // It is in a tile.
  };
  shop().Submit(*jobs.low, &slow);
  shop().Decide();
  executor().RunAll();
  EXPECT_TRUE(slow.is_given_up);
  EXPECT_EQ(slow.tiles_run, 4u);
  EXPECT_TRUE(urgent.is_finished);
}

TEST_F(JobShopTest, GuessesFollowTheLearnedDurationOfTiles) {
  MakeShop(2);
  auto stream = shop().StreamOf(128, nullptr);
  const auto submit = [&](int64_t tile_ns, TestWork* work) {
    auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
    work->expected_tile_ns = tile_ns;
    shop().Submit(*job, work);
    shop().Decide();
    shop().Run([&](sched::Scheduler& scheduler, int64_t) {
      const auto& kernel = scheduler.costs().kernel(0);
      EXPECT_EQ(kernel.alternatives[0].tile_ns, tile_ns);
      EXPECT_EQ(kernel.alternatives[1].duration.q50_ns(), 4 * tile_ns);
    });
    shop().Drop(*job);
    executor().RunAll();
  };
  TestWork first(8), second(8);
  submit(1000, &first);
  submit(7'000'000, &second);
}

TEST_F(JobShopTest, GuessesTheDurationOfVeryManyTiles) {
  MakeShop(2);
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork work(UINT32_MAX);
  work.expected_tile_ns = 1;
  shop().Submit(*job, &work);
  shop().Decide();
  shop().Run([&](sched::Scheduler& scheduler, int64_t) {
    const auto& alternatives = scheduler.costs().kernel(0).alternatives;
    ASSERT_EQ(alternatives.size(), 2u);
    EXPECT_EQ(alternatives[0].duration.q50_ns(), int64_t{UINT32_MAX});
    EXPECT_EQ(alternatives[1].duration.q50_ns(), int64_t{1} << 31);
  });
  shop().Drop(*job);
  executor().RunAll();
  EXPECT_EQ(work.tiles_run, 0u);
}

TEST_F(JobShopTest, GuessesTheDurationOfVeryManyLongTiles) {
  MakeShop(2);
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork work(UINT32_MAX);
  work.expected_tile_ns = int64_t{1} << 33;
  shop().Submit(*job, &work);
  shop().Decide();
  ASSERT_NE(executor().size(), 0u);
  EXPECT_GT(executor().front().expected_tile_ns, int64_t{1} << 50);
  shop().Run([&](sched::Scheduler& scheduler, int64_t) {
    for (const auto& each : scheduler.costs().kernel(0).alternatives) {
      EXPECT_EQ(each.duration.q50_ns(), int64_t{1} << 40);
    }
  });
  shop().Drop(*job);
  executor().RunAll();
  EXPECT_EQ(work.tiles_run, 0u);
}

TEST_F(JobShopTest, WorkSubmittedByFinishIsDecidedTogetherWithTheEnd) {
  MakeShop(1);
  TwoJobs jobs = ReleaseTwoJobs();
  TestWork first(1), next(1), other(1);
  first.on_finish = [&] { shop().Submit(*jobs.high, &next); };
  shop().Submit(*jobs.high, &first);
  shop().Submit(*jobs.low, &other);
  shop().Decide();
  executor().RunNext();
  ASSERT_EQ(executor().size(), 1u);
  executor().RunNext();
  EXPECT_TRUE(next.is_finished);
  EXPECT_FALSE(other.is_finished);
  executor().RunAll();
  EXPECT_TRUE(other.is_finished);
}

TEST_F(JobShopTest, WaitingWorkOfADroppedJobIsGivenUp) {
  MakeShop(1);
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork running(4), waiting(4), late(1);
  running.on_tile = [&](uint32_t tile) {
    if (tile == 1) shop().Drop(*job);
  };
  shop().Submit(*job, &running);
  shop().Decide();
  shop().Submit(*job, &waiting);
  shop().Decide();
  executor().RunNext();
  EXPECT_EQ(running.tiles_run, 2u);
  EXPECT_TRUE(running.is_given_up);
  EXPECT_TRUE(waiting.is_given_up);
  EXPECT_EQ(waiting.tiles_run, 0u);
  EXPECT_TRUE(job->is_dropped());
  // So is what comes afterwards.
  shop().Submit(*job, &late);
  shop().Decide();
  EXPECT_TRUE(late.is_given_up);
  job.reset();
  EXPECT_EQ(shop().statistics().classes[1].dropped_count, 1u);
}

TEST_F(JobShopTest, WorkMayEndAsItsJobIsDropped) {
  MakeShop(1);
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork work(1);
  shop().Submit(*job, &work);
  shop().Decide();
  // Both are in the queue before anybody looks.
  shop().Run([&](sched::Scheduler&, int64_t) {
    shop().Drop(*job);
    executor().RunNext();
  });
  EXPECT_TRUE(work.is_finished);
  EXPECT_FALSE(work.is_given_up);
  job.reset();
  EXPECT_EQ(shop().statistics().classes[1].dropped_count, 1u);
}

TEST_F(JobShopTest, LateJobsAreDroppedByTheTimer) {
  MakeShop(1);
  StreamRequirements requirements;
  requirements.name = "camera";
  requirements.deadline_ns = 1'000'000;
  requirements.late = sched::LatePolicy::kDrop;
  auto stream = Value(shop().AddStream(requirements));
  std::vector<JobEnd> misses;
  shop().SetCallbacks([&](const JobEnd& end) { misses.push_back(end); },
                      nullptr);
  auto job = shop().ReleaseJob(*stream, now(), now() + 1'000'000, true);
  TestWork work(4);
  shop().Submit(*job, &work);
  shop().Decide();
  EXPECT_EQ(timers().next_deadline_ns(), now() + 1'000'001);
  Advance(1'000'001);
  timers().FireDue(now());
  executor().RunAll();
  EXPECT_TRUE(work.is_given_up);
  ASSERT_EQ(misses.size(), 1u);
  EXPECT_EQ(misses[0].outcome, JobOutcome::kDropped);
  EXPECT_EQ(misses[0].deadline_ns, 1'000'000 + misses[0].release_ns);
}

TEST_F(JobShopTest, LearnsTheDurationOfTilesWithoutTheWait) {
  MakeShop(1);
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork work(4);
  work.on_tile = [&](uint32_t) { Advance(1000); };
  shop().Submit(*job, &work);
  shop().Decide();
  Advance(1'000'000);  // Until a thread comes.
  executor().RunAll();
  shop().Run([&](sched::Scheduler& scheduler, int64_t) {
    const auto& kernel = scheduler.costs().kernel(0);
    EXPECT_EQ(kernel.alternatives[0].duration.q50_ns(), 4000);
    EXPECT_TRUE(kernel.alternatives[0].duration.measured());
  });
}

TEST_F(JobShopTest, AdmissionKnowsAStreamAfterItsFirstJob) {
  MakeShop(2);
  StreamRequirements requirements;
  requirements.name = "policy";
  requirements.period_ns = requirements.deadline_ns = 10'000'000;
  requirements.criticality = sched::Criticality::kHard;
  auto stream = Value(shop().AddStream(requirements));
  EXPECT_EQ(shop().Assess(*stream).verdict, sched::Verdict::kMightNot);
  for (int i = 0; i < 3; ++i) {
    auto job = shop().ReleaseJob(*stream, now(), now() + 10'000'000, true);
    TestWork work(2);
    work.on_tile = [&](uint32_t) { Advance(100'000); };
    shop().Submit(*job, &work);
    shop().Decide();
    executor().RunAll();
  }
  const sched::AdmissionReport report = shop().Assess(*stream);
  EXPECT_EQ(report.verdict, sched::Verdict::kWillFit) << report.reason;
  EXPECT_GE(report.response_least_ns, 100'000);
  EXPECT_LE(report.response_bound_ns, 10'000'000);

  StreamRequirements tight = requirements;
  tight.deadline_ns = 50'000;
  auto impossible = Value(shop().AddStream(tight));
  {
    auto job = shop().ReleaseJob(*impossible, now(), now() + 50'000, true);
    TestWork work(2);
    work.on_tile = [&](uint32_t) { Advance(100'000); };
    shop().Submit(*job, &work);
    shop().Decide();
    executor().RunAll();
  }
  EXPECT_EQ(shop().Admit(*impossible).verdict, sched::Verdict::kCannot);
}

TEST_F(JobShopTest, RejectsContradictoryRequirements) {
  MakeShop(1);
  StreamRequirements requirements;
  requirements.criticality = sched::Criticality::kHard;
  EXPECT_EQ(shop().AddStream(requirements).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(JobShopTest, ASlowPoolMakesTheModeHot) {
  MakeShop(2);
  std::vector<sched::Mode> modes;
  shop().SetCallbacks(nullptr,
                      [&](sched::Mode mode) { modes.push_back(mode); });
  Advance(1'000'000'000);
  TAKT_ASSERT_OK(shop().SetSpeed(0, 500));
  const int64_t start_ns = now();
  while (modes.empty() && now() - start_ns < 1'000'000'000) {
    Advance(10'000'000);
    timers().FireDue(now());
  }
  EXPECT_LE(now() - start_ns, 250'000'000);
  ASSERT_EQ(modes.size(), 1u);
  EXPECT_EQ(modes[0], sched::Mode::kHot);
  EXPECT_EQ(shop().mode(), sched::Mode::kHot);
  TAKT_ASSERT_OK(shop().SetSpeed(0, 1000));
  while (modes.size() < 2 && now() - start_ns < 5'000'000'000) {
    Advance(10'000'000);
    timers().FireDue(now());
  }
  EXPECT_EQ(shop().mode(), sched::Mode::kNominal);
}

TEST_F(JobShopTest, ErrorsNameUnknownResources) {
  MakeShop(2);
  EXPECT_EQ(shop().SetSpeed(7, 500).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(shop().SetSpeed(0, 0).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(shop().SetAvailable(2, false).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(JobShopTest, WorkOfALostCoreContinuesOnAnother) {
  MakeShop(2);
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork work(8);
  work.on_tile = [&](uint32_t tile) {
    if (tile == 2) TAKT_EXPECT_OK(shop().SetAvailable(1, false));
  };
  shop().Submit(*job, &work);
  shop().Decide();
  executor().RunAll();
  EXPECT_TRUE(work.is_finished);
  EXPECT_EQ(work.tiles_run, 8u);
  EXPECT_FALSE(shop().resources()[1].is_available);
}

TEST_F(JobShopTest, WorkMayLoseSeveralCoresAtOnce) {
  MakeShop(2);
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork work(8);
  shop().Submit(*job, &work);
  shop().Decide();
  ASSERT_EQ(executor().size(), 2u);
  const auto set_both = [&](bool is_available) {
    shop().Run([&](sched::Scheduler& scheduler, int64_t now_ns) {
      scheduler.SetAvailable(0, is_available, now_ns);
      scheduler.SetAvailable(1, is_available, now_ns);
    });
  };
  set_both(false);
  executor().RunAll();
  EXPECT_EQ(work.tiles_run, 0u);
  set_both(true);
  executor().RunAll();
  EXPECT_TRUE(work.is_finished);
  EXPECT_EQ(work.tiles_run, 8u);
}

TEST_F(JobShopTest, AProfileAppliesToKernelsThatComeLater) {
  MakeShop(1);
  const auto run = [&](int64_t tile_ns) {
    auto stream = shop().StreamOf(128, nullptr);
    auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
    TestWork work(2);
    work.on_tile = [&](uint32_t) { Advance(tile_ns); };
    shop().Submit(*job, &work);
    shop().Decide();
    executor().RunAll();
  };
  run(5000);
  const std::string bytes = shop().WriteProfile();
  MakeShop(1);
  const auto report = shop().ReadProfile(bytes);
  TAKT_ASSERT_OK(report.status());
  EXPECT_EQ(report->applied_count, 0u);
  EXPECT_EQ(report->unknown_count, 1u);
  // Written again before it has run, it is kept.
  EXPECT_EQ(shop().WriteProfile(), bytes);
  run(5000);
  shop().Run([&](sched::Scheduler& scheduler, int64_t) {
    EXPECT_EQ(scheduler.costs().kernel(0).alternatives[0].duration.count(), 2u);
  });
  EXPECT_EQ(shop().ReadProfile(bytes.substr(0, 40)).status().code(),
            absl::StatusCode::kDataLoss);
}

// Keeps everything back until it is told otherwise.
class Keeper final : public sched::PlacementAdvisor {
 public:
  sched::Prescription Prescribe(const sched::AdvisedOperation&,
                                int64_t) override {
    ++asked_count;
    if (finds_no_memory) throw std::bad_alloc();
    sched::Prescription prescription;
    prescription.start_ns = not_before_ns;
    prescription.not_before_ns = not_before_ns;
    prescription.shards = 1;
    return prescription;
  }
  void OnStopped(const sched::AdvisedOperation&, bool is_done,
                 int64_t) override {
    done_count += is_done ? 1 : 0;
  }

  void OnLost() override { is_lost = true; }

  int64_t not_before_ns = 0;
  bool finds_no_memory = false;
  bool is_lost = false;
  int asked_count = 0;
  int done_count = 0;
};

TEST_F(JobShopTest, AnAdvisorPrescribesTheStartAndTheShards) {
  MakeShop(2);
  Keeper advisor;
  advisor.not_before_ns = now() + 5'000'000;
  ASSERT_TRUE(shop().SwapAdvisor(nullptr, &advisor, /*sees_all=*/true));
  EXPECT_TRUE(shop().schedules_all());
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork work(8);
  shop().Submit(*job, &work);
  shop().Decide();
  EXPECT_EQ(executor().size(), 0u);
  EXPECT_EQ(timers().next_deadline_ns(), advisor.not_before_ns);
  Advance(5'000'000);
  timers().FireDue(now());
  EXPECT_EQ(executor().size(), 1u);
  executor().RunAll();
  EXPECT_TRUE(work.is_finished);
  EXPECT_EQ(advisor.done_count, 1);
  EXPECT_TRUE(shop().SwapAdvisor(&advisor, nullptr, false));
}

TEST_F(JobShopTest, AsksTheAdvisorAgainWhenAnOperationStops) {
  MakeShop(2);
  Keeper advisor;
  ASSERT_TRUE(shop().SwapAdvisor(nullptr, &advisor, true));
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork first(1), second(1);
  shop().Submit(*job, &first);
  shop().Decide();
  advisor.not_before_ns = kInfiniteFuture;
  shop().Submit(*job, &second);
  shop().Decide();
  EXPECT_EQ(executor().size(), 1u);
  advisor.not_before_ns = 0;
  executor().RunAll();
  EXPECT_TRUE(second.is_finished);
  EXPECT_TRUE(shop().SwapAdvisor(&advisor, nullptr, false));
}

TEST_F(JobShopTest, AnAdvisorThatFindsNoMemoryIsLost) {
  MakeShop(2);
  Keeper advisor;
  ASSERT_TRUE(shop().SwapAdvisor(nullptr, &advisor, true));
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork delayed(1), second(1), third(1);
  advisor.not_before_ns = kInfiniteFuture;
  shop().Submit(*job, &delayed);
  shop().Decide();
  EXPECT_EQ(executor().size(), 0u);
  advisor.finds_no_memory = true;
  shop().Submit(*job, &second);
  shop().Decide();
  EXPECT_TRUE(advisor.is_lost);
  timers().FireDue(now());
  EXPECT_EQ(executor().size(), 2u) << "what it delayed starts, too";
  const int asked_count = advisor.asked_count;
  shop().Submit(*job, &third);
  shop().Decide();
  EXPECT_EQ(advisor.asked_count, asked_count);
  executor().RunAll();
  EXPECT_TRUE(delayed.is_finished && second.is_finished && third.is_finished);
  EXPECT_EQ(shop().lost_advisor_count(), 1u);
  // It may be set anew.
  EXPECT_TRUE(shop().SwapAdvisor(&advisor, nullptr, false));
  advisor.finds_no_memory = false;
  advisor.not_before_ns = 0;
  ASSERT_TRUE(shop().SwapAdvisor(nullptr, &advisor, true));
  TestWork last(1);
  shop().Submit(*job, &last);
  shop().Decide();
  EXPECT_GT(advisor.asked_count, asked_count);
  executor().RunAll();
  EXPECT_TRUE(shop().SwapAdvisor(&advisor, nullptr, false));
}

TEST_F(JobShopTest, ALostAdvisorHidesNoOther) {
  MakeShop(2);
  Keeper standing, set;
  standing.finds_no_memory = set.finds_no_memory = true;
  shop().SetStandingAdvisor(&standing);
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork works[3] = {TestWork(1), TestWork(1), TestWork(1)};
  shop().Submit(*job, &works[0]);
  shop().Decide();
  EXPECT_TRUE(standing.is_lost);
  ASSERT_TRUE(shop().SwapAdvisor(nullptr, &set, false));
  shop().Submit(*job, &works[1]);
  shop().Decide();
  EXPECT_TRUE(set.is_lost);
  // The standing one stays lost when the other one goes.
  EXPECT_TRUE(shop().SwapAdvisor(&set, nullptr, false));
  shop().Submit(*job, &works[2]);
  shop().Decide();
  EXPECT_EQ(standing.asked_count, 1);
  EXPECT_EQ(set.asked_count, 1);
  EXPECT_EQ(shop().lost_advisor_count(), 2u);
  executor().RunAll();
  EXPECT_TRUE(works[2].is_finished);
  shop().SetStandingAdvisor(nullptr);
}

// The thread that submits the first work of a job may stop at any place. It
// stops here where it reads the clock.
TEST_F(JobShopTest, TheFirstWorksOfAJobMayComeAtATime) {
  MakeShop(2);
  auto stream = shop().StreamOf(200, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  TestWork first(1), second(1);
  std::promise<void> stops, goes_on;
  std::thread slow([&] {
    AtNextTime([&] {
      stops.set_value();
      goes_on.get_future().wait();
    });
    shop().Submit(*job, &first);
    shop().Decide();
  });
  stops.get_future().wait();
  shop().Submit(*job, &second);
  shop().Decide();
  goes_on.set_value();
  slow.join();
  executor().RunAll();
  EXPECT_TRUE(first.is_finished && second.is_finished);
  EXPECT_FALSE(first.is_given_up || second.is_given_up);
}

TEST_F(JobShopTest, ACallThatFindsNoMemoryLeavesTheShopUsable) {
  MakeShop(1);
  EXPECT_THROW(
      shop().Run([](sched::Scheduler&, int64_t) { throw std::bad_alloc(); }),
      std::bad_alloc);
  bool has_run = false;
  shop().Run([&](sched::Scheduler&, int64_t) { has_run = true; });
  EXPECT_TRUE(has_run);
}

TEST_F(JobShopTest, StreamsEndWithTheirLastJob) {
  MakeShop(1);
  StreamRequirements requirements;
  auto stream = Value(shop().AddStream(requirements));
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, true);
  stream.reset();
  TestWork work(1);
  shop().Submit(*job, &work);
  shop().Decide();
  executor().RunAll();
  job.reset();
  shop().Run([](sched::Scheduler& scheduler, int64_t) {
    EXPECT_EQ(scheduler.live_job_count(), 0u);
    EXPECT_EQ(scheduler.stream_count(), 1u);
  });
  auto other = Value(shop().AddStream(requirements));
  shop().Run([](sched::Scheduler& scheduler, int64_t) {
    EXPECT_EQ(scheduler.stream_count(), 1u);  // The same place.
  });
}

}  // namespace
}  // namespace takt::shop
