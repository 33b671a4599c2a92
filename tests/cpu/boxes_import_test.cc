#include "cpu/boxes_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

struct BoxesParameters {
  ImportBuffer boxes, scores, output;
  int32_t batch, classes, count, most, is_centered;
  int32_t part, first_row, row_count;
  float overlap_max, score_min;
};

struct JoinParameters {
  ImportBuffer lists, output;
  int32_t batch, classes, count, most;
  int32_t part, first_row, row_count;
};

template <typename P>
int CallBoxes(const char* name, P parameters) {
  const ImportFunction import =
      *FindKernelImport(name, kernels::SelectKernels({}), nullptr);
  return import.function(&parameters, import.context, nullptr);
}

class BoxesImportTest : public testing::Test {
 protected:
  // Checks that a function refuses what neither boxes nor lists can have.
  void RefusesFaults(const char* name) {
    WithEachFault(good_,
                  {[](BoxesParameters& p) { --p.boxes.size; },
                   [](BoxesParameters& p) { --p.scores.size; },
                   [](BoxesParameters& p) { --p.output.size; },
                   [](BoxesParameters& p) { p.output.size = 0, p.count = 0; },
                   [](BoxesParameters& p) { p.boxes.size = -8; },
                   [](BoxesParameters& p) { p.batch = 2; },
                   [](BoxesParameters& p) { p.batch = -1; },
                   [](BoxesParameters& p) { p.batch = p.classes = INT32_MAX; },
                   [](BoxesParameters& p) { p.classes = -1; },
                   [](BoxesParameters& p) { p.count = -1; },
                   [](BoxesParameters& p) { p.count = 65537; },
                   [](BoxesParameters& p) { p.most = -1; }},
                  [&](const BoxesParameters& parameters) {
                    EXPECT_NE(CallBoxes(name, parameters), 0);
                    for (const int32_t x : output_) EXPECT_EQ(x, 0);
                  });
  }

  // Element 0 lies before the buffers.
  const float boxes_[9] = {99, 0, 0, 1, 1, 2, 2, 3, 3};
  const float scores_[5] = {99, 1, 2, 3, 4};
  int32_t output_[16] = {};
  BoxesParameters good_ = {{boxes_, 1, 8},
                           {scores_, 1, 4},
                           {output_, 1, 15},
                           1,
                           2,
                           2,
                           9,
                           0,
                           0,
                           0,
                           2,
                           .5f,
                           0};
};

TEST_F(BoxesImportTest, SelectsAll) {
  good_.row_count = 1;
  RefusesFaults("takt_select_boxes_f32");
  ASSERT_EQ(CallBoxes("takt_select_boxes_f32", good_), 0);
  EXPECT_EQ(
      std::vector<int32_t>(output_, output_ + 16),
      (std::vector<int32_t>{0, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0}));
}

TEST_F(BoxesImportTest, SelectsLists) {
  good_.output.size = 6;
  RefusesFaults("takt_select_box_lists_f32");
  good_.first_row = 3;
  EXPECT_NE(CallBoxes("takt_select_box_lists_f32", good_), 0);
  good_.first_row = 1;
  ASSERT_EQ(CallBoxes("takt_select_box_lists_f32", good_), 0);
  EXPECT_EQ(std::vector<int32_t>(output_, output_ + 8),
            (std::vector<int32_t>{0, 0, 0, 0, 2, 1, 0, 0}));
}

TEST_F(BoxesImportTest, JoinsLists) {
  const int32_t lists[7] = {99, 1, 7, 8, 2, 5, 4};
  const JoinParameters good = {
      {lists, 1, 6}, {output_, 1, 15}, 1, 2, 2, 9, 0, 0, 1};
  WithEachFault(good,
                {[](JoinParameters& p) { --p.lists.size; },
                 [](JoinParameters& p) { --p.output.size; },
                 [](JoinParameters& p) { p.output.size = 2, p.count = 0; },
                 [](JoinParameters& p) { p.batch = 2; },
                 [](JoinParameters& p) { p.classes = -1; },
                 [](JoinParameters& p) { p.count = 65537; },
                 [](JoinParameters& p) { p.most = -1; }},
                [&](const JoinParameters& parameters) {
                  EXPECT_NE(CallBoxes("takt_join_box_lists", parameters), 0);
                  for (const int32_t x : output_) EXPECT_EQ(x, 0);
                });
  ASSERT_EQ(CallBoxes("takt_join_box_lists", good), 0);
  EXPECT_EQ(
      std::vector<int32_t>(output_, output_ + 16),
      (std::vector<int32_t>{0, 3, 0, 0, 0, 0, 7, 0, 1, 5, 0, 1, 4, 0, 0, 0}));
}

}  // namespace
}  // namespace takt::cpu
