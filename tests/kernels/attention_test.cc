// Attention of every kernel that runs here against the definition in double
// precision, over random shapes and layouts.
#include "kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

enum class AttentionLayout {
  kHeadsFirst,  // [batch][heads][rows][columns]
  kRowsFirst,   // [batch][rows][heads][columns]
  kTransposed,  // [batch][heads][columns][rows]
};

AttentionStrides StridesOf(AttentionLayout layout, const AttentionShape& s,
                           int64_t rows, int64_t columns) {
  const int64_t image = s.heads * rows * columns;
  switch (layout) {
    case AttentionLayout::kHeadsFirst:
      return {image, rows * columns, columns, 1};
    case AttentionLayout::kRowsFirst:
      return {image, columns, s.heads * columns, 1};
    case AttentionLayout::kTransposed:
      return {image, rows * columns, 1, rows};
  }
  return {};
}

struct Tensor {
  AttentionStrides strides;
  std::vector<float> data;

  Tensor(AttentionLayout layout, const AttentionShape& s, int64_t rows,
         int64_t columns)
      : strides(StridesOf(layout, s, rows, columns)),
        data(static_cast<size_t>(s.batch * s.heads * rows * columns)) {}
  void Fill(TestRandom& random) {
    for (float& x : data) {
      x = static_cast<float>(random.Between(-1000, 1000)) * 2e-3f;
    }
  }
  float& At(int64_t b, int64_t h, int64_t row, int64_t column) {
    return data[static_cast<size_t>(strides.Offset(b, h) + row * strides.row +
                                    column * strides.column)];
  }
};

AttentionShape RandomAttentionShape(TestRandom& random) {
  AttentionShape s;
  s.batch = random.Between(1, 2);
  s.heads = random.Between(1, 3);
  s.queries = random.Between(1, 40);
  s.keys = random.Between(0, 3) == 0 ? random.Between(1, 200)
                                     : random.Between(1, 70);
  s.key_size = random.Between(1, 70);
  s.value_size =
      random.Between(0, 3) == 0 ? kAttentionSizeMax : random.Between(1, 70);
  return s;
}

struct AttentionProblem {
  AttentionShape s;
  Tensor query, key, value, output;
  float scale;
  Tensor bias;
  bool has_bias;

  AttentionProblem(const AttentionShape& shape, TestRandom& random)
      : s(shape),
        query(RandomLayout(random), s, s.queries, s.key_size),
        key(random.Between(0, 2) == 0 ? AttentionLayout::kTransposed
                                      : RandomLayout(random),
            s, s.keys, s.key_size),
        value(RandomLayout(random), s, s.keys, s.value_size),
        output(RandomLayout(random), s, s.queries, s.value_size),
        scale(static_cast<float>(random.Between(1, 30)) * .1f),
        bias(RandomLayout(random), s, s.queries, s.keys),
        has_bias(random.Between(0, 1) == 0) {
    query.Fill(random);
    key.Fill(random);
    value.Fill(random);
    bias.Fill(random);
    MaskKeys();
  }
  // The later keys for the earlier queries, and the first steps of others; all
  // of a few.
  void MaskKeys() {
    for (int64_t row = 0; row < s.queries; ++row) {
      for (int64_t k = 0; k < s.keys; ++k) {
        if (row % 5 != 3) {
          if (row % 2 == 0 ? k <= row : k >= 3 * row) continue;
          if (k + 1 == s.keys) continue;
        }
        for (int64_t b = 0; b < s.batch; ++b) {
          for (int64_t h = 0; h < s.heads; ++h) {
            bias.At(b, h, row, k) = -std::numeric_limits<float>::infinity();
          }
        }
      }
    }
  }
  static AttentionLayout RandomLayout(TestRandom& random) {
    return random.Between(0, 1) == 0 ? AttentionLayout::kHeadsFirst
                                     : AttentionLayout::kRowsFirst;
  }
  std::vector<double> Expected(int64_t b, int64_t h, int64_t row) {
    std::vector<double> scores;
    for (int64_t k = 0; k < s.keys; ++k) {
      double score = 0;
      for (int64_t c = 0; c < s.key_size; ++c) {
        score += static_cast<double>(query.At(b, h, row, c)) *
                 static_cast<double>(key.At(b, h, k, c));
      }
      score *= static_cast<double>(scale);
      if (has_bias) score += static_cast<double>(bias.At(b, h, row, k));
      scores.push_back(score);
    }
    const double greatest = *std::max_element(scores.begin(), scores.end());
    std::vector<double> result(static_cast<size_t>(s.value_size));
    if (std::isinf(greatest)) return result;  // All keys are left out.
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - greatest);
    for (int64_t k = 0; k < s.keys; ++k) {
      for (int64_t c = 0; c < s.value_size; ++c) {
        result[static_cast<size_t>(c)] +=
            scores[static_cast<size_t>(k)] / sum *
            static_cast<double>(value.At(b, h, k, c));
      }
    }
    return result;
  }
};

template <typename T>
AttentionTensor<T> ViewOf(Tensor& tensor) {
  return {tensor.data.data(), static_cast<int64_t>(tensor.data.size()),
          tensor.strides};
}

void Check(AttentionKernel kernel, AttentionProblem& p,
           const AttentionTile& tile, double tolerance = 2e-5) {
  constexpr float kUntouched = -12345.f;
  std::fill(p.output.data.begin(), p.output.data.end(), kUntouched);
  kernel(p.s,
         {ViewOf<const float>(p.query), ViewOf<const float>(p.key),
          ViewOf<const float>(p.value), ViewOf<float>(p.output), p.scale,
          p.has_bias ? ViewOf<const float>(p.bias)
                     : AttentionTensor<const float>{}},
         tile);
  for (int64_t b = 0; b < p.s.batch; ++b) {
    for (int64_t h = 0; h < p.s.heads; ++h) {
      for (int64_t row = 0; row < p.s.queries; ++row) {
        const bool is_in_tile = b == tile.batch && h == tile.head &&
                                row >= tile.query_begin && row < tile.query_end;
        const std::vector<double> expected = p.Expected(b, h, row);
        for (int64_t c = 0; c < p.s.value_size; ++c) {
          const auto found = static_cast<double>(p.output.At(b, h, row, c));
          if (is_in_tile) {
            ASSERT_NEAR(found, expected[static_cast<size_t>(c)], tolerance)
                << "row " << row << " column " << c;
          } else {
            ASSERT_EQ(found, static_cast<double>(kUntouched));
          }
        }
      }
    }
  }
}

TEST(AttentionTest, EveryKernelComputesTheDefinition) {
  TestRandom random(5);
  for (int i = 0; i < 150; ++i) {
    AttentionProblem p(RandomAttentionShape(random), random);
    AttentionTile tile;
    tile.batch = random.Between(0, p.s.batch - 1);
    tile.head = random.Between(0, p.s.heads - 1);
    tile.query_begin = random.Between(0, p.s.queries - 1);
    tile.query_end = random.Between(tile.query_begin, p.s.queries);
    for (const KernelTable& kernels : RunnableKernels()) {
      ASSERT_NO_FATAL_FAILURE(Check(kernels.f32->attention, p, tile))
          << "case " << i;
    }
  }
}

TEST(AttentionTest, OneQueryIsAsGoodAsMany) {
  TestRandom random(7);
  for (int i = 0; i < 100; ++i) {
    AttentionShape shape = RandomAttentionShape(random);
    shape.queries = random.Between(1, 2);
    AttentionProblem p(shape, random);
    const AttentionTile tile = {0, p.s.heads - 1, p.s.queries - 1, p.s.queries};
    for (const KernelTable& kernels : RunnableKernels()) {
      ASSERT_NO_FATAL_FAILURE(Check(kernels.f32->attention, p, tile))
          << "case " << i;
    }
  }
}

// Inputs are bfloat16 already: only weights are rounded, by 1/256 of them.
TEST(AttentionTest, OfBfloat16ComputesTheDefinition) {
  TestRandom random(8);
  for (int i = 0; i < 100; ++i) {
    AttentionProblem p(RandomAttentionShape(random), random);
    for (Tensor* const tensor : {&p.query, &p.key, &p.value}) {
      for (float& x : tensor->data) x = std::round(x * 64) / 64;
    }
    const AttentionTile tile = {
        0, p.s.heads - 1, random.Between(0, 1) % p.s.queries, p.s.queries};
    for (const KernelTable& kernels : RunnableKernels()) {
      ASSERT_NO_FATAL_FAILURE(
          Check(kernels.conv_bf16->attention, p, tile, 2. / 256))
          << "case " << i;
    }
  }
}

TEST(AttentionTest, OfBfloat16RoundsKeysHalfToEven) {
  TestRandom random(9);
  AttentionProblem p({1, 1, 1, 2, 1, 1}, random);
  p.query.data = {1.f};
  p.key.data = {1.f, 1.f + 0x1p-8f};  // Rounded, it is equal to the other.
  p.value.data = {0.f, 1.f};
  p.scale = 1000.f;
  for (const KernelTable& kernels : RunnableKernels()) {
    const AttentionKernel kernel = kernels.conv_bf16->attention;
    kernel(p.s,
           {ViewOf<const float>(p.query), ViewOf<const float>(p.key),
            ViewOf<const float>(p.value), ViewOf<float>(p.output), p.scale},
           {0, 0, 0, 1});
    EXPECT_EQ(p.output.data[0], .5f);
  }
}

TEST(AttentionTest, ScoresMayBeLarge) {
  TestRandom random(6);
  AttentionProblem p({1, 1, 7, 150, 8, 8}, random);
  for (float& x : p.query.data) x *= 500.f;
  for (const KernelTable& kernels : RunnableKernels()) {
    ASSERT_NO_FATAL_FAILURE(
        Check(kernels.f32->attention, p, {0, 0, 0, p.s.queries}, 1e-4));
  }
}

TEST(AttentionTest, ManyQueriesAreDoneInParts) {
  TestRandom random(7);
  AttentionProblem p({1, 1, 1100, 3, 4, 4}, random);
  for (const KernelTable& kernels : RunnableKernels()) {
    ASSERT_NO_FATAL_FAILURE(
        Check(kernels.f32->attention, p, {0, 0, 1, p.s.queries}));
  }
}

TEST(AttentionTest, ChecksSizes) {
  EXPECT_EQ(CheckAttentionShape({1, 8, 65536, 65536, 128, 128}), nullptr);
  EXPECT_NE(CheckAttentionShape({0, 8, 1, 1, 1, 1}), nullptr);
  EXPECT_NE(CheckAttentionShape({1, 8, 65537, 1, 1, 1}), nullptr);
  EXPECT_NE(CheckAttentionShape({1, 8, 1, 1, 129, 1}), nullptr);
  EXPECT_NE(CheckAttentionShape({1, 8, 1, 1, 1, -1}), nullptr);
}

TEST(AttentionTest, ChecksWhereElementsLie) {
  const AttentionShape s = {2, 3, 5, 7, 4, 4};
  const AttentionStrides strides = {60, 20, 4, 1};
  EXPECT_TRUE(FitsAttention(strides, s, 5, 4, 120));
  EXPECT_FALSE(FitsAttention(strides, s, 5, 4, 119));
  EXPECT_FALSE(FitsAttention({60, 20, -4, 1}, s, 5, 4, 120));
  EXPECT_FALSE(FitsAttention({std::numeric_limits<int64_t>::max(), 20, 4, 1}, s,
                             5, 4, std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(FitsAttention(strides, s, 5, 4, 0));
}

}  // namespace
}  // namespace takt::kernels
