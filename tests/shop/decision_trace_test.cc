// What a job shop decides is in the trace, and what was planned beside it.
#include "shop/decision_trace.h"

#include <string>
#include <vector>

#include "tests/shop/test_support.h"

namespace takt::shop {
namespace {

class DecisionTraceTest : public JobShopTest {
 protected:
  void Start() { TAKT_ASSERT_OK(executor().tracer().Start({})); }
  std::vector<takt::Event> Of(EventKind kind) {
    recording_ = executor().tracer().Collect();
    std::vector<takt::Event> events;
    for (const takt::Event& event : recording_.events) {
      if (event.kind == kind) events.push_back(event);
    }
    return events;
  }
  std::string Name(const takt::Event& event) {
    return recording_.names[event.name];
  }
  std::string Track(const takt::Event& event) {
    return recording_.tracks[event.track].name;
  }
  TrackKind Kind(const takt::Event& event) {
    return recording_.tracks[event.track].kind;
  }
  void Run(TestWork* work) {
    auto stream = shop().StreamOf(128, nullptr);
    auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
    shop().Submit(*job, work);
    shop().Decide();
    executor().RunAll();
  }

 private:
  Recording recording_;
};

TEST_F(DecisionTraceTest, RecordsStartsAndSlotsOfEachCore) {
  MakeShop(2);
  Start();
  TestWork work(8);
  work.trace_name = executor().tracer().Intern("conv");
  work.on_tile = [](uint32_t) { Advance(1000); };
  const int64_t start_ns = now();
  Run(&work);
  const auto starts = Of(EventKind::kDecisionStart);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(Name(starts[0]), "conv");
  EXPECT_EQ(starts[0].time_ns, start_ns);
  EXPECT_EQ(starts[0].detail, 2);  // Shards.
  EXPECT_EQ(starts[0].value, 0);   // The first core.
  EXPECT_NE(starts[0].id, 0u);
  EXPECT_EQ(Kind(starts[0]), TrackKind::kScheduler);
  const auto slots = Of(EventKind::kSlot);
  ASSERT_EQ(slots.size(), 2u);
  for (const takt::Event& slot : slots) {
    EXPECT_EQ(slot.id, starts[0].id);
    EXPECT_EQ(slot.time_ns, start_ns);
    EXPECT_EQ(slot.duration_ns, 8000);
    EXPECT_EQ(slot.value, 1'000'000);
    EXPECT_EQ(Kind(slot), TrackKind::kCore);
  }
  EXPECT_EQ(Track(slots[0]), "cores 0");
  EXPECT_EQ(Track(slots[1]), "cores 1");
  EXPECT_TRUE(Of(EventKind::kPlannedSlot).empty());
}

TEST_F(DecisionTraceTest, RecordsYieldsWithTheDonePart) {
  MakeShop(1);
  Start();
  auto low = shop().StreamOf(64, nullptr);
  auto high = shop().StreamOf(200, nullptr);
  auto low_job = shop().ReleaseJob(*low, 0, kInfiniteFuture, false);
  auto high_job = shop().ReleaseJob(*high, 0, kInfiniteFuture, false, 77);
  TestWork slow(10), urgent(1);
  slow.on_tile = [&](uint32_t tile) {
    Advance(1000);
    if (tile != 4) return;
    shop().Submit(*high_job, &urgent);
    shop().Decide();
  };
  shop().Submit(*low_job, &slow);
  shop().Decide();
  executor().RunAll();
  ASSERT_TRUE(slow.is_finished && urgent.is_finished);
  EXPECT_EQ(Of(EventKind::kDecisionYield).size(), 1u);
  EXPECT_EQ(Of(EventKind::kDecisionStart).size(), 3u);
  const auto slots = Of(EventKind::kSlot);
  ASSERT_EQ(slots.size(), 3u);
  EXPECT_LT(slots[0].value, 1'000'000);
  EXPECT_EQ(slots[1].id, 77u);
  EXPECT_EQ(slots[2].id, slots[0].id);
  EXPECT_EQ(slots[2].value, 1'000'000);
}

TEST_F(DecisionTraceTest, RecordsLateJobsAdmissionAndResources) {
  MakeShop(2);
  Start();
  StreamRequirements requirements;
  requirements.name = "camera";
  requirements.period_ns = requirements.deadline_ns = 1'000'000;
  requirements.late = sched::LatePolicy::kDrop;
  auto dropped = Value(shop().AddStream(requirements));
  requirements.late = sched::LatePolicy::kDemote;
  auto demoted = Value(shop().AddStream(requirements));
  auto first = shop().ReleaseJob(*dropped, now(), now() + 1'000'000, true);
  auto second = shop().ReleaseJob(*demoted, now(), now() + 1'000'000, true);
  shop().Decide();
  Advance(1'000'001);
  timers().FireDue(now());
  const auto late = Of(EventKind::kDecisionLate);
  ASSERT_EQ(late.size(), 2u);
  EXPECT_NE(Name(late[0]), Name(late[1]));
  for (const takt::Event& event : late) {
    EXPECT_EQ(event.value, now() - 1);
    EXPECT_TRUE(Name(event) == "drop" || Name(event) == "demote");
  }
  shop().Assess(*dropped);
  const auto admissions = Of(EventKind::kDecisionAdmission);
  ASSERT_EQ(admissions.size(), 1u);
  EXPECT_EQ(Name(admissions[0]), "camera");
  EXPECT_EQ(admissions[0].detail,
            static_cast<uint8_t>(sched::Verdict::kMightNot));
  TAKT_ASSERT_OK(shop().SetSpeed(0, 500));
  TAKT_ASSERT_OK(shop().SetAvailable(1, false));
  ASSERT_EQ(Of(EventKind::kResourceSpeed).size(), 1u);
  EXPECT_EQ(Of(EventKind::kResourceSpeed)[0].value, 500);
  const auto lost = Of(EventKind::kResourceAvailable);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(Track(lost[0]), "cores 1");
  EXPECT_EQ(lost[0].value, 0);
  for (int i = 0; i < 100; ++i) {
    Advance(10'000'000);
    timers().FireDue(now());
  }
  const auto modes = Of(EventKind::kDecisionMode);
  ASSERT_FALSE(modes.empty());
  EXPECT_EQ(Name(modes.back()), "degraded");
}

class Planner final : public sched::PlacementAdvisor {
 public:
  sched::Prescription Prescribe(const sched::AdvisedOperation&,
                                int64_t) override {
    sched::Prescription prescription;
    prescription.start_ns = start_ns;
    prescription.not_before_ns = start_ns;
    prescription.shards = 1;
    return prescription;
  }
  int64_t start_ns = 0;
};

TEST_F(DecisionTraceTest, RecordsThePlanOfAnAdvisorBesideTheRuns) {
  MakeShop(1);
  Start();
  Planner advisor;
  advisor.start_ns = now() + 3'000'000;
  ASSERT_TRUE(shop().SwapAdvisor(nullptr, &advisor, true));
  TestWork work(2);
  work.trace_name = executor().tracer().Intern("conv");
  auto stream = shop().StreamOf(128, nullptr);
  auto job = shop().ReleaseJob(*stream, 0, kInfiniteFuture, false);
  shop().Submit(*job, &work);
  shop().Decide();
  Advance(3'500'000);  // The timer comes late.
  timers().FireDue(now());
  executor().RunAll();
  const auto planned = Of(EventKind::kPlannedSlot);
  const auto slots = Of(EventKind::kSlot);
  ASSERT_EQ(planned.size(), 1u);
  ASSERT_EQ(slots.size(), 1u);
  EXPECT_EQ(planned[0].time_ns, advisor.start_ns);
  EXPECT_GT(planned[0].duration_ns, 0);
  EXPECT_EQ(Kind(planned[0]), TrackKind::kPlan);
  EXPECT_EQ(planned[0].name, slots[0].name);
  EXPECT_EQ(planned[0].id, slots[0].id);
  EXPECT_EQ(planned[0].parent, slots[0].parent);
  EXPECT_EQ(slots[0].time_ns - planned[0].time_ns, 500'000);
  EXPECT_TRUE(shop().SwapAdvisor(&advisor, nullptr, false));
}

TEST_F(DecisionTraceTest, NothingIsRecordedWhileItIsOff) {
  MakeShop(1);
  TestWork work(2);
  Run(&work);
  EXPECT_TRUE(executor().tracer().Collect().events.empty());
}

}  // namespace
}  // namespace takt::shop
