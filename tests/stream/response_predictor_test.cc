#include "stream/response_predictor.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace takt::stream {
namespace {

TEST(ResponsePredictorTest, PredictsNothingBeforeTheFirstJob) {
  const ResponsePredictor predictor;
  EXPECT_EQ(predictor.count(), 0u);
  EXPECT_EQ(predictor.Predict().median_ns, kInfiniteFuture);
  EXPECT_EQ(predictor.Predict().q99_ns, kInfiniteFuture);
}

TEST(ResponsePredictorTest, AFewJobsGiveTheirMedianAndTheSlowest) {
  ResponsePredictor predictor;
  for (const int64_t duration_ns : {30, 10, 50, 20, 40}) {
    predictor.Add(duration_ns);
  }
  EXPECT_EQ(predictor.count(), 5u);
  EXPECT_EQ(predictor.Predict().median_ns, 30);
  EXPECT_EQ(predictor.Predict().q99_ns, 50);
}

TEST(ResponsePredictorTest, ANegativeDurationCountsAsZero) {
  ResponsePredictor predictor;
  predictor.Add(-5);
  EXPECT_EQ(predictor.Predict().median_ns, 0);
}

TEST(ResponsePredictorTest, JobsOlderThanTheWindowAreForgotten) {
  ResponsePredictor predictor;
  predictor.Add(1'000'000);
  for (size_t i = 0; i < ResponsePredictor::kWindow; ++i) predictor.Add(7);
  EXPECT_EQ(predictor.count(), ResponsePredictor::kWindow);
  EXPECT_EQ(predictor.Predict().median_ns, 7);
  EXPECT_EQ(predictor.Predict().q99_ns, 7);
}

// What a stream's user sees: how many jobs kept to the prediction that was
// given before, and how far the predictions were from the jobs' own quantile.
struct Outcome {
  double kept_part;
  double ratio;  // The median of the predictions by the jobs' 99 % quantile.
};

template <typename Draw>
Outcome Replay(Draw draw, int job_count) {
  ResponsePredictor predictor;
  std::vector<int64_t> durations;
  std::vector<int64_t> predictions;
  int kept_count = 0;
  predictor.Add(draw(0));
  for (int i = 1; i < job_count; ++i) {
    const int64_t predicted_ns = predictor.Predict().q99_ns;
    const int64_t duration_ns = draw(i);
    if (duration_ns <= predicted_ns) ++kept_count;
    durations.push_back(duration_ns);
    predictions.push_back(predicted_ns);
    predictor.Add(duration_ns);
  }
  std::sort(durations.begin(), durations.end());
  std::sort(predictions.begin(), predictions.end());
  return {kept_count / (job_count - 1.0),
          static_cast<double>(predictions[predictions.size() / 2]) /
              durations[durations.size() * 99 / 100]};
}

TEST(ResponsePredictorTest, NinetyNinePercentOfLikeJobsKeepToThePrediction) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> duration(13.0, 0.4);
  const Outcome outcome = Replay(
      [&](int) { return static_cast<int64_t>(duration(random)); }, 20'000);
  EXPECT_GE(outcome.kept_part, 0.988);
  EXPECT_LE(outcome.ratio, 1.15);
}

TEST(ResponsePredictorTest, PredictionsFollowJobsThatSlowDownSteadily) {
  std::mt19937 random(2);
  std::lognormal_distribution<double> noise(0.0, 0.2);
  // Three times as slow at the end.
  const Outcome outcome = Replay(
      [&](int i) {
        return static_cast<int64_t>(1e6 * noise(random) * (1 + i / 10'000.0));
      },
      20'000);
  EXPECT_GE(outcome.kept_part, 0.985);
}

TEST(ResponsePredictorTest, PredictionsRecoverFromASuddenChange) {
  std::mt19937 random(3);
  std::lognormal_distribution<double> noise(0.0, 0.2);
  const Outcome outcome = Replay(
      [&](int i) {
        return static_cast<int64_t>((i / 2'000 % 2 == 0 ? 1e6 : 3e6) *
                                    noise(random));
      },
      20'000);
  EXPECT_GE(outcome.kept_part, 0.98);
}

}  // namespace
}  // namespace takt::stream
