// Attention of bytes of every kernel that runs here against the definition,
// over random shapes and layouts; bytes are equal.
#include "kernels/attention_i8.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

struct I8Tensor {
  AttentionStrides strides;
  std::vector<int8_t> data;

  // Heads first, or rows first; or as columns of a key.
  I8Tensor(int64_t layout, const AttentionShape& s, int64_t rows,
           int64_t columns, TestRandom* random)
      : data(random->Elements<int8_t>(s.batch * s.heads * rows * columns)) {
    const int64_t image = s.heads * rows * columns;
    if (layout == 0) strides = {image, rows * columns, columns, 1};
    if (layout == 1) strides = {image, columns, s.heads * columns, 1};
    if (layout == 2) strides = {image, rows * columns, 1, rows};
  }
  int8_t At(int64_t b, int64_t h, int64_t row, int64_t column) const {
    return data[static_cast<size_t>(strides.Offset(b, h) + row * strides.row +
                                    column * strides.column)];
  }
  AttentionTensor<const int8_t> view() const {
    return {data.data(), static_cast<int64_t>(data.size()), strides};
  }
};

int8_t ToByte(int32_t sum, float scale, int32_t zero) {
  const float x = std::nearbyint(static_cast<float>(sum) * scale) +
                  static_cast<float>(zero);
  return static_cast<int8_t>(std::clamp(x, -128.f, 127.f));
}

AttentionShape RandomI8Shape(TestRandom* random) {
  AttentionShape s;
  s.batch = random->Between(1, 2);
  s.heads = random->Between(1, 3);
  s.queries = random->Between(1, 20);
  s.keys = random->Between(1, 90);
  s.key_size = 4 * random->Between(1, 20);
  s.value_size = random->Between(1, 70);
  return s;
}

// A problem with random operands.
class I8Problem {
 public:
  I8Problem(const AttentionShape& shape, TestRandom* random)
      : s_(shape),
        query_(random->Between(0, 1), s_, s_.queries, s_.key_size, random),
        key_(random->Between(0, 2), s_, s_.keys, s_.key_size, random),
        value_(random->Between(0, 1), s_, s_.keys, s_.value_size, random),
        output_(random->Between(0, 1), s_, s_.queries, s_.value_size, random) {
    const double step = static_cast<double>(random->Between(1, 100)) * 1e-3;
    const double most =
        std::min(8388607., UINT32_MAX / static_cast<double>(s_.keys));
    for (int i = 0; i < kAttentionI8TableSize; ++i) {
      logits_.push_back(static_cast<int8_t>(i * 3 / 4 - 100));
      powers_.push_back(static_cast<uint32_t>(most * std::exp(-i * step)));
    }
    o_.query = query_.view();
    o_.key = key_.view();
    o_.value = value_.view();
    o_.logits = logits_.data();
    o_.powers = powers_.data();
    for (int32_t* const zero :
         {&o_.query_zero, &o_.key_zero, &o_.score_zero, &o_.weight_zero,
          &o_.value_zero, &o_.output_zero}) {
      *zero = static_cast<int8_t>(random->Word());
    }
    o_.score_scale = 1e-3f;
    o_.weight_factor = 254.f;
    o_.output_scale = 2e-3f;
  }
  const AttentionShape& shape() const { return s_; }

  // Runs the tile; everything else in the output has to stay.
  void Check(AttentionI8Kernel kernel, const AttentionTile& tile,
             void* scratch = nullptr) {
    I8Tensor found = output_;
    o_.output = {found.data.data(), static_cast<int64_t>(found.data.size()),
                 found.strides};
    kernel(s_, o_, tile, scratch);
    for (int64_t b = 0; b < s_.batch; ++b) {
      for (int64_t h = 0; h < s_.heads; ++h) {
        for (int64_t row = 0; row < s_.queries; ++row) {
          const bool is_in_tile = b == tile.batch && h == tile.head &&
                                  row >= tile.query_begin &&
                                  row < tile.query_end;
          const std::vector<int8_t> expected = Expected(b, h, row);
          for (int64_t c = 0; c < s_.value_size; ++c) {
            ASSERT_EQ(found.At(b, h, row, c),
                      is_in_tile ? expected[static_cast<size_t>(c)]
                                 : output_.At(b, h, row, c))
                << "row " << row << " column " << c;
          }
        }
      }
    }
  }

 private:
  std::vector<int8_t> Expected(int64_t b, int64_t h, int64_t row) const {
    std::vector<int32_t> logits;
    for (int64_t k = 0; k < s_.keys; ++k) {
      int32_t sum = 0;
      for (int64_t c = 0; c < s_.key_size; ++c) {
        sum += (query_.At(b, h, row, c) - o_.query_zero) *
               (key_.At(b, h, k, c) - o_.key_zero);
      }
      logits.push_back(logits_[static_cast<size_t>(
          ToByte(sum, o_.score_scale, o_.score_zero) + 128)]);
    }
    const int32_t greatest = *std::max_element(logits.begin(), logits.end());
    uint32_t sum = 0;
    for (const int32_t logit : logits) sum += Power(greatest - logit);
    std::vector<int8_t> result;
    for (int64_t c = 0; c < s_.value_size; ++c) {
      int32_t total = 0;
      for (int64_t k = 0; k < s_.keys; ++k) {
        const auto power = static_cast<int32_t>(
            Power(greatest - logits[static_cast<size_t>(k)]));
        const int8_t weight = ToByte(
            power, o_.weight_factor / static_cast<float>(sum), o_.weight_zero);
        total +=
            (weight - o_.weight_zero) * (value_.At(b, h, k, c) - o_.value_zero);
      }
      result.push_back(ToByte(total, o_.output_scale, o_.output_zero));
    }
    return result;
  }
  uint32_t Power(int32_t distance) const {
    return powers_[static_cast<size_t>(distance)];
  }

  AttentionShape s_;
  I8Tensor query_, key_, value_, output_;
  std::vector<int8_t> logits_;
  std::vector<uint32_t> powers_;
  AttentionI8Operands o_ = {};
};

TEST(AttentionI8Test, EveryKernelComputesTheDefinition) {
  TestRandom random(5);
  for (int i = 0; i < 200; ++i) {
    I8Problem p(RandomI8Shape(&random), &random);
    const AttentionShape& s = p.shape();
    ASSERT_EQ(CheckAttentionI8Shape(s), nullptr);
    AttentionTile tile;
    tile.batch = random.Between(0, s.batch - 1);
    tile.head = random.Between(0, s.heads - 1);
    tile.query_begin = random.Between(0, s.queries - 1);
    tile.query_end = random.Between(tile.query_begin, s.queries);
    for (const KernelTable& kernels : RunnableKernels()) {
      ASSERT_NO_FATAL_FAILURE(p.Check(kernels.conv_i8->attention, tile))
          << "case " << i;
    }
  }
}

TEST(AttentionI8Test, TakesAsManyKeysAsItMay) {
  TestRandom random(6);
  for (const AttentionShape& s :
       {AttentionShape{1, 1, 2, kAttentionI8OwnKeysMax, 32, 32},
        AttentionShape{1, 1, 2, 512, 128, 128}}) {
    I8Problem p(s, &random);
    ASSERT_EQ(CheckAttentionI8Shape(s), nullptr);
    ASSERT_FALSE(NeedsAttentionI8Scratch(s));
    for (const KernelTable& kernels : RunnableKernels()) {
      ASSERT_NO_FATAL_FAILURE(
          p.Check(kernels.conv_i8->attention, {0, 0, 0, s.queries}));
    }
  }
}

TEST(AttentionI8Test, TakesMoreKeysWithScratchMemory) {
  TestRandom random(7);
  const std::unique_ptr<void, decltype(&std::free)> scratch(
      std::aligned_alloc(64, kAttentionI8ScratchBytes), &std::free);
  for (const AttentionShape& s :
       {AttentionShape{1, 1, 2, kAttentionI8KeysMax, 128, 128},
        AttentionShape{1, 1, 7, kAttentionI8OwnKeysMax + 1, 4, 1},
        AttentionShape{1, 1, 3, 513, 128, 1},
        AttentionShape{1, 1, 3, 513, 4, 127}}) {
    I8Problem p(s, &random);
    ASSERT_EQ(CheckAttentionI8Shape(s), nullptr);
    ASSERT_TRUE(NeedsAttentionI8Scratch(s));
    for (const KernelTable& kernels : RunnableKernels()) {
      ASSERT_NO_FATAL_FAILURE(p.Check(kernels.conv_i8->attention,
                                      {0, 0, 0, s.queries}, scratch.get()));
    }
  }
}

TEST(AttentionI8Test, ChecksSizes) {
  EXPECT_NE(CheckAttentionI8Shape({0, 1, 1, 1, 4, 1}), nullptr);
  EXPECT_NE(CheckAttentionI8Shape({1, 1, 1, 1, 6, 1}), nullptr);
  EXPECT_NE(CheckAttentionI8Shape({1, 1, 1, kAttentionI8KeysMax + 1, 4, 1}),
            nullptr);
}

}  // namespace
}  // namespace takt::kernels
