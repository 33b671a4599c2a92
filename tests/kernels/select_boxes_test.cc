#include "kernels/select_boxes.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

// The boxes without what follows them, by lists that are made in two parts.
std::vector<int32_t> SelectInLists(const BoxesShape& shape,
                                   const std::vector<float>& boxes,
                                   const std::vector<float>& scores,
                                   float overlap_max, float score_min) {
  std::vector<int32_t> lists(shape.list_numbers() + 1, -7);
  const BoxesOperands operands = {boxes.data(), scores.data(), lists.data(),
                                  overlap_max, score_min};
  const int64_t middle = shape.lists() / 2;
  SelectBoxLists(shape, operands, middle, shape.lists());
  SelectBoxLists(shape, operands, 0, middle);
  EXPECT_EQ(lists.back(), -7);
  std::vector<int32_t> output(shape.output_numbers() + 1, -7);
  JoinBoxLists(shape, lists.data(), output.data());
  EXPECT_EQ(output.back(), -7);
  output.resize(3 + 3 * output[0]);
  return output;
}

std::vector<int32_t> Select(const BoxesShape& shape,
                            const std::vector<float>& boxes,
                            const std::vector<float>& scores, float overlap_max,
                            float score_min) {
  std::vector<int32_t> output(3 * (1 + shape.rows()) + 1, -7);
  SelectBoxes(shape, {boxes.data(), scores.data(), output.data(), overlap_max,
                      score_min});
  EXPECT_EQ(output.back(), -7);
  output.pop_back();
  EXPECT_EQ(
      SelectInLists(shape, boxes, scores, overlap_max, score_min),
      std::vector<int32_t>(output.begin(), output.begin() + 3 + 3 * output[0]));
  return output;
}

constexpr float kAll = -std::numeric_limits<float>::infinity();

TEST(SelectBoxesTest, LeavesOutWhatOverlapsABetterOne) {
  // The second overlaps the first by a third, and its corners are turned.
  const std::vector<float> boxes = {0, 0, 2, 2, 2, 3, 0, 1, 5, 5, 6, 6};
  const std::vector<float> scores = {.5f, .9f, .1f};
  EXPECT_EQ(Select({1, 1, 3, 3, false}, boxes, scores, .3f, kAll),
            (std::vector<int32_t>{2, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(Select({1, 1, 3, 3, false}, boxes, scores, .4f, kAll),
            (std::vector<int32_t>{3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2}));
  // A score at the limit is not enough, and one box is the most.
  EXPECT_EQ(Select({1, 1, 3, 3, false}, boxes, scores, .4f, .5f),
            (std::vector<int32_t>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Select({1, 1, 3, 1, false}, boxes, scores, .4f, kAll),
            (std::vector<int32_t>{1, 0, 0, 0, 0, 1}));
}

TEST(SelectBoxesTest, CentersAndSizes) {
  const std::vector<float> boxes = {1, 1, 2, 2, 1, 2, 2, 2};
  EXPECT_EQ(Select({1, 1, 2, 2, true}, boxes, {.5f, .9f}, .3f, kAll),
            (std::vector<int32_t>{1, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(Select({1, 1, 2, 2, true}, boxes, {.5f, .9f}, .4f, kAll)[0], 2);
}

TEST(SelectBoxesTest, EqualScoresKeepTheirOrder) {
  const std::vector<float> boxes = {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3};
  EXPECT_EQ(Select({1, 1, 3, 3, false}, boxes, {1, 1, 1}, .5f, kAll),
            (std::vector<int32_t>{2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0}));
}

TEST(SelectBoxesTest, ImagesAndClassesForThemselves) {
  const std::vector<float> boxes = {0, 0, 1, 1, 0, 0, 1, 1,
                                    0, 0, 1, 1, 4, 4, 5, 5};
  const std::vector<float> scores = {1, 2, 4, 3, 1, 2, 4, 3};
  EXPECT_EQ(Select({2, 2, 2, 2, false}, boxes, scores, .5f, 1.f),
            (std::vector<int32_t>{5, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1,
                                  0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

// Boxes without an area, and numbers that are none, overlap nothing.
TEST(SelectBoxesTest, BoxesThatAreNone) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> boxes = {1,    1, 1, 1, 1, 1, 1, 1,
                                    kNan, 0, 1, 1, 0, 0, 2, 2};
  EXPECT_EQ(Select({1, 1, 4, 4, false}, boxes, {1, 2, 3, 4}, 0, kAll)[0], 4);
  EXPECT_EQ(Select({1, 1, 4, 4, false}, boxes, {kNan, 2, kNan, 4}, 0, kAll)[0],
            2);
  EXPECT_EQ(Select({1, 1, 0, 4, false}, {}, {}, 0, kAll)[0], 0);
}

TEST(SelectBoxesTest, ListsThatLieAreCut) {
  const BoxesShape shape = {2, 1, 3, 2, false};
  const std::vector<int32_t> lists = {3, 5, 6, -1, 7, 8};
  std::vector<int32_t> output(shape.output_numbers(), -7);
  JoinBoxLists(shape, lists.data(), output.data());
  EXPECT_EQ(output, (std::vector<int32_t>{2, 0, 0, 0, 0, 5, 0, 0, 6, -7, -7, -7,
                                          -7, -7, -7}));
}

// As the definition says it, with all that is left at each step.
TEST(SelectBoxesTest, EqualsTheDefinition) {
  TestRandom random(3);
  for (int round = 0; round < 200; ++round) {
    const int64_t count = random.Between(1, 40), most = random.Between(1, 45);
    std::vector<float> boxes, scores;
    for (int64_t i = 0; i < count; ++i) {
      for (int k = 0; k < 4; ++k) {
        boxes.push_back(static_cast<float>(random.Between(0, 12)));
      }
      scores.push_back(static_cast<float>(random.Between(0, 20)));
    }
    std::vector<int32_t> expected;
    std::vector<bool> is_left(count, true);
    while (static_cast<int64_t>(expected.size()) < most) {
      int64_t best = -1;
      for (int64_t i = 0; i < count; ++i) {
        if (is_left[i] && scores[i] > 2 &&
            (best < 0 || scores[i] > scores[best])) {
          best = i;
        }
      }
      if (best < 0) break;
      expected.push_back(static_cast<int32_t>(best));
      const auto size = [&](int64_t a, int64_t b, int at) {
        const auto low = [&](int64_t i) {
          return std::min(boxes[4 * i + at], boxes[4 * i + at + 2]);
        };
        const auto high = [&](int64_t i) {
          return std::max(boxes[4 * i + at], boxes[4 * i + at + 2]);
        };
        return std::max(0.f,
                        std::min(high(a), high(b)) - std::max(low(a), low(b)));
      };
      for (int64_t i = 0; i < count; ++i) {
        const float both = size(best, i, 0) * size(best, i, 1);
        const float all = size(best, best, 0) * size(best, best, 1) +
                          size(i, i, 0) * size(i, i, 1) - both;
        if (i == best || (both > 0 && both / all > .25f)) is_left[i] = false;
      }
    }
    const std::vector<int32_t> found =
        Select({1, 1, count, most, false}, boxes, scores, .25f, 2.f);
    ASSERT_EQ(found[0], expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(found[3 * i + 5], expected[i]) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace takt::kernels
