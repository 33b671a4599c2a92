#include "stream/response_predictor.h"

#include <algorithm>
#include <cmath>
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

TEST(ResponsePredictorTest, OneJobTakesWhatIsPredictedForIt) {
  ResponsePredictor predictor;
  for (const int64_t duration_ns : {30, 10, 50, 21, 40}) {
    predictor.Add(duration_ns);
  }
  const auto one = predictor.PredictAfter({0, 0}, 1);
  EXPECT_EQ(one.median_ns, 30);
  EXPECT_EQ(one.q99_ns, 50);
}

TEST(ResponsePredictorTest, JobsAreIndependentUntilTheyAreSlowTogether) {
  ResponsePredictor predictor;
  for (const int64_t duration_ns : {10, 10, 10, 50}) predictor.Add(duration_ns);
  const auto q99_ns = [&] { return predictor.PredictAfter({5, 25}, 4).q99_ns; };
  // The rest is 5, with a margin of 20; each job 20, with a margin of 30.
  EXPECT_EQ(q99_ns(), 5 + 4 * 20 + 63);
  EXPECT_EQ(predictor.PredictAfter({5, 25}, 4).median_ns, 5 + 3 * 20 + 10);
  for (int i = 0; i < 50; ++i) predictor.AddWait(/*has_kept=*/false);
  EXPECT_EQ(q99_ns(), 25 + 4 * 50);
  for (int i = 0; i < 1'000; ++i) predictor.AddWait(/*has_kept=*/true);
  EXPECT_LT(q99_ns(), 25 + 4 * 50);
  for (int i = 0; i < 4'000; ++i) predictor.AddWait(/*has_kept=*/true);
  EXPECT_EQ(q99_ns(), 5 + 4 * 20 + 63);
}

TEST(ResponsePredictorTest, AMeanAboveTheQuantileCounts) {
  ResponsePredictor predictor;
  predictor.Add(1'000'000);
  for (int i = 0; i < 400; ++i) predictor.Add(10);
  ASSERT_EQ(predictor.Predict().q99_ns, 10);
  EXPECT_EQ(predictor.PredictAfter({0, 0}, 3).q99_ns, 30);
}

// Jobs that are released periodically, and take `load` of the time.
template <typename Draw>
Outcome ReplayQueue(Draw draw, double load, int job_count) {
  std::vector<int64_t> durations;
  double sum_ns = 0;
  for (int i = 0; i < job_count; ++i) sum_ns += durations.emplace_back(draw(i));
  const auto period_ns = static_cast<int64_t>(sum_ns / job_count / load);
  ResponsePredictor predictor;
  std::vector<int64_t> begins, ends, told;
  size_t ended = 0;
  int kept_count = 0;
  std::vector<int64_t> responses, predictions;
  for (int i = 0; i < job_count; ++i) {
    const int64_t release_ns = i * period_ns;
    for (; ended < ends.size() && ends[ended] <= release_ns; ++ended) {
      predictor.Add(ends[ended] - begins[ended]);
      if (begins[ended] > static_cast<int64_t>(ended) * period_ns) {
        predictor.AddWait(ends[ended] <= told[ended]);
      }
    }
    int64_t told_ns = INT64_MAX;
    if (predictor.count() > 0) {
      ResponsePredictor::Durations rest = {0, 0};
      size_t waiting_count = ends.size() - ended;
      if (waiting_count-- > 0) {
        const auto left = [&](int64_t duration_ns) {
          return std::max<int64_t>(begins[ended] + duration_ns - release_ns, 0);
        };
        rest = {left(predictor.Predict().median_ns),
                left(predictor.Predict().q99_ns)};
      } else {
        waiting_count = 0;
      }
      told_ns =
          release_ns + predictor.PredictAfter(rest, waiting_count + 1).q99_ns;
    }
    told.push_back(told_ns);
    begins.push_back(ends.empty() ? release_ns
                                  : std::max(release_ns, ends.back()));
    ends.push_back(begins.back() + durations[i]);
    if (told_ns == INT64_MAX) continue;
    kept_count += ends.back() <= told_ns;
    responses.push_back(ends.back() - release_ns);
    predictions.push_back(told_ns - release_ns);
  }
  std::sort(responses.begin(), responses.end());
  std::sort(predictions.begin(), predictions.end());
  const size_t rank = responses.size() * 99 / 100;
  return {static_cast<double>(kept_count) / responses.size(),
          static_cast<double>(predictions[rank]) / responses[rank]};
}

TEST(ResponsePredictorTest, PredictionsOfJobsThatWaitAreNotTheSumOfTheWorst) {
  std::mt19937 random(4);
  std::lognormal_distribution<double> duration(13.0, 0.75);
  const Outcome outcome =
      ReplayQueue([&](int) { return static_cast<int64_t>(duration(random)); },
                  0.95, 20'000);
  EXPECT_GE(outcome.kept_part, 0.985);
  EXPECT_LE(outcome.ratio, 3);
}

TEST(ResponsePredictorTest, JobsThatAreSlowTogetherKeepToThePrediction) {
  std::mt19937 random(5);
  std::normal_distribution<double> step(0.0, 0.2);
  double level = 0;
  const Outcome outcome = ReplayQueue(
      [&](int) {
        level = 0.98 * level + step(random);
        return static_cast<int64_t>(1e6 * std::exp(level / 2));
      },
      0.8, 20'000);
  EXPECT_GE(outcome.kept_part, 0.965);
}

}  // namespace
}  // namespace takt::stream
