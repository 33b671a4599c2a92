#include "sched/cost_model.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sched/test_support.h"

namespace takt::sched {
namespace {

using testing::HasSubstr;

class CostModelTest : public testing::Test {
 protected:
  std::string Fault(std::vector<AlternativeOptions> alternatives) {
    const auto id = costs_.Add({9, 9, {1, 1, 1}}, alternatives);
    EXPECT_FALSE(id.ok());
    return std::string(id.status().message());
  }

  const Machine machine_ = TwoClustersAndNpu();
  CostModel costs_{&machine_};
};

TEST_F(CostModelTest, SortsAlternativesByPoolAndShards) {
  const auto id = costs_.Add({1, 0, {1, 1, 1}},
                             {{2, 1, 10, 0}, {0, 4, 30, 5}, {0, 1, 100, 5}});
  ASSERT_TRUE(id.ok());
  const auto& alternatives = costs_.kernel(*id).alternatives;
  ASSERT_EQ(alternatives.size(), 3u);
  EXPECT_EQ(alternatives[0].duration.q50_ns(), 100);
  EXPECT_EQ(alternatives[1].shards, 4u);
  EXPECT_EQ(alternatives[2].pool, 2u);
}

TEST_F(CostModelTest, FindsKernelsByKey) {
  const KernelKey key{7, 3, {2, 4, 8}};
  const auto id = costs_.Add(key, {{0, 1, 10, 0}});
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(costs_.Add(key, {{0, 1, 10, 0}}).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(costs_.FindId(key), id.value());
  EXPECT_FALSE(costs_.FindId({7, 3, {2, 4, 9}}).has_value());
}

TEST_F(CostModelTest, LearnsAndReportsIt) {
  const auto id = costs_.Add({1, 0, {1, 1, 1}}, {{0, 1, 10, 0}});
  const uint64_t version = costs_.version();
  costs_.Observe(*id, 0, 70);
  EXPECT_EQ(costs_.kernel(*id).alternatives[0].duration.q50_ns(), 70);
  EXPECT_GT(costs_.version(), version);
}

TEST_F(CostModelTest, ExpectsByTheBestKnownOfAPool) {
  const auto id = costs_.Add({1, 0, {1, 1, 1}},
                             {{0, 1, 100, 5}, {0, 2, 50, 5}, {2, 1, 10, 0}});
  const auto& alternatives = costs_.kernel(*id).alternatives;
  const auto expected = [&](int i) { return alternatives[i].expected_ns; };
  EXPECT_EQ(expected(0), 100);
  // It was all guessed too low, by what one run says.
  costs_.Observe(*id, 1, 200);
  EXPECT_EQ(expected(0), 400);
  EXPECT_EQ(expected(1), 200);
  EXPECT_EQ(expected(2), 10);
  // Then that run was an exception.
  for (int i = 0; i < 2; ++i) costs_.Observe(*id, 0, 120);
  EXPECT_EQ(expected(0), 120);
  EXPECT_EQ(expected(1), 60);
  EXPECT_EQ(alternatives[1].duration.q50_ns(), 200);
  // A better guess of one that is measured is one of the others as well.
  costs_.SetGuess(*id, 0, 240);
  EXPECT_EQ(expected(0), 120);
  EXPECT_EQ(expected(1), 25);
  // Known for what it is, though others are known better.
  for (int i = 0; i < 40; ++i) costs_.Observe(*id, 0, 120);
  for (int i = 0; i < 20; ++i) costs_.Observe(*id, 1, 300);
  EXPECT_EQ(expected(1), alternatives[1].duration.q50_ns());
  EXPECT_GT(expected(1), 250);
}

TEST_F(CostModelTest, AdoptsLearnedDurations) {
  const auto id =
      costs_.Add({1, 0, {1, 1, 1}}, {{0, 1, 100, 5}, {0, 2, 50, 5}});
  costs_.SetDuration(*id, 0, DurationEstimate::Restore(300, 400, 500, 90));
  const auto& alternatives = costs_.kernel(*id).alternatives;
  EXPECT_EQ(alternatives[0].duration.q99_ns(), 500);
  EXPECT_EQ(alternatives[0].expected_ns, 300);
  EXPECT_EQ(alternatives[1].expected_ns, 150);
}

TEST_F(CostModelTest, RefusesWhatCannotRun) {
  EXPECT_THAT(Fault({}), HasSubstr("1 to 32 alternatives, got 0"));
  EXPECT_THAT(Fault({{3, 1, 1, 0}}), HasSubstr("there is no pool 3"));
  EXPECT_THAT(Fault({{0, 0, 1, 0}}), HasSubstr("1 to 4 shards on big"));
  EXPECT_THAT(Fault({{0, 5, 1, 0}}), HasSubstr("got 5"));
  EXPECT_THAT(Fault({{0, 1, -1, 0}}), HasSubstr("a duration of -1 ns"));
  EXPECT_THAT(Fault({{0, 1, INT64_MAX, 0}}), HasSubstr("a duration of"));
  EXPECT_THAT(Fault({{0, 1, 1, -1}}), HasSubstr("a tile of -1 ns"));
  EXPECT_THAT(Fault({{0, 1, 1, 0}, {0, 1, 2, 0}}),
              HasSubstr("two alternatives of 1 shards on big"));
  EXPECT_EQ(costs_.kernel_count(), 0u);
}

}  // namespace
}  // namespace takt::sched
