#include "kernels/copy.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

struct StridedLayout {
  int64_t stride0;
  int64_t stride1;
};

TEST(CopyTest, CopiesEveryWidthThroughEveryLayout) {
  TestRandom random(3);
  for (const size_t bytes : {1, 2, 4, 8}) {
    for (const Shape2d shape :
         {Shape2d{1, 1}, {3, 5}, {4, 16}, {0, 3}, {3, 0}}) {
      const StridedLayout inputs[] = {
          {shape.size1, 1}, {shape.size1 + 1, 1}, {0, 1}, {1, 0}, {0, 0},
          {1, shape.size0}, {shape.size1 * 2, 2}};
      const StridedLayout outputs[] = {{shape.size1, 1},
                                       {shape.size1 + 1, 1},
                                       {1, shape.size0},
                                       {shape.size1 * 2, 2}};
      for (const StridedLayout in : inputs) {
        for (const StridedLayout out : outputs) {
          const auto source = random.Elements<uint8_t>(2048);
          std::vector<uint8_t> actual(2048, 0xa5);
          std::vector<uint8_t> expected = actual;
          for (int64_t i = 0; i < shape.size0; ++i) {
            for (int64_t j = 0; j < shape.size1; ++j) {
              std::memcpy(
                  &expected[bytes * (i * out.stride0 + j * out.stride1)],
                  &source[bytes * (i * in.stride0 + j * in.stride1)], bytes);
            }
          }
          Copy2d(bytes, {source.data(), in.stride0, in.stride1},
                 {actual.data(), out.stride0, out.stride1}, shape);
          EXPECT_EQ(actual, expected) << bytes;
        }
      }
    }
  }
}

TEST(CopyTest, FillsOnlyTheShape) {
  std::vector<uint32_t> data(20, 1);
  Fill2d(7, {data.data(), 5, 1}, {3, 4});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(data[i], i / 5 < 3 && i % 5 < 4 ? 7u : 1u) << i;
  }
  std::vector<uint32_t> strided(9, 1);
  Fill2d(7, {strided.data(), 4, 2}, {2, 2});
  EXPECT_EQ(strided, (std::vector<uint32_t>{7, 1, 7, 1, 7, 1, 7, 1, 1}));
}

TEST(CopyTest, FillsNothingOfAnEmptyShape) {
  std::vector<uint32_t> data(25, 1);
  Fill2d(7, {data.data(), 5, 1}, {0, 5});
  Fill2d(7, {data.data(), 5, 1}, {5, 0});
  const std::vector<uint8_t> source(100, 9);
  Copy2d(4, {source.data(), 5, 1},
         {reinterpret_cast<uint8_t*>(data.data()), 5, 1}, {5, 0});
  EXPECT_EQ(data, std::vector<uint32_t>(25, 1));
  // An empty operand may have no memory.
  Fill2d(7, {nullptr, 0, 1}, {0, 5});
  Copy2d(4, {nullptr, 0, 1}, {nullptr, 0, 1}, {5, 0});
}

}  // namespace
}  // namespace takt::kernels
