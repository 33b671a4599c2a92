// Sums and layer norms of bytes, called as compiled kernels call them. The
// numbers are checked in tests/kernels; here it is which parameters are
// refused.
#include "cpu/rows_imports.h"

#include <cstdint>
#include <functional>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

using Buffer = ImportBuffer;
struct Add {
  Buffer left, right, output;
  int32_t count, left_zero, right_zero, output_zero;
  int32_t part, first_row, row_count;
  float left_scale, right_scale, output_scale;
};
struct AddRow {
  Buffer left, right, output;
  int32_t rows, size, left_zero, right_zero, output_zero;
  int32_t part, first_row, row_count;
  float left_scale, right_scale, output_scale;
};
struct LayerNorm {
  Buffer input, gamma, beta, output;
  int32_t rows, size, output_zero;
  int32_t part, first_row, row_count;
  float input_scale, epsilon, output_scale;
};

class RowsImportsTest : public testing::Test {
 protected:
  template <typename P>
  int Call(const char* name, P parameters) {
    for (int8_t& x : output_) x = 0;
    const ImportFunction import =
        *FindKernelImport(name, kernels::SelectKernels({}), nullptr);
    return import.function(&parameters, import.context, nullptr);
  }
  template <typename P>
  void ExpectRefused(const char* name, const P& good,
                     const std::vector<std::function<void(P&)>>& faults) {
    WithEachFault(good, faults, [&](const P& parameters) {
      EXPECT_NE(Call(name, parameters), 0);
      for (const int8_t x : output_) EXPECT_EQ(x, 0);
    });
  }

  // Element 0 lies before the buffers.
  const int8_t input_[9] = {99, 1, 2, 3, 4, 5, 6, 7, 8};
  const float ones_[4] = {1, 1, 1, 1};
  const float zeros_[4] = {};
  int8_t output_[10];
  const Add add_ = {{input_, 1, 8},
                    {input_, 1, 8},
                    {output_, 1, 8},
                    8,
                    0,
                    0,
                    0,
                    0,
                    6,
                    9,
                    1.f,
                    2.f,
                    1.f};
  const LayerNorm norm_ = {{input_, 1, 8},
                           {ones_, 0, 4},
                           {zeros_, 0, 4},
                           {output_, 1, 8},
                           2,
                           4,
                           0,
                           0,
                           1,
                           9,
                           1.f,
                           0.f,
                           .5f};
};

TEST_F(RowsImportsTest, AddsTheElementsOfTheTile) {
  ASSERT_EQ(Call("takt_add_i8", add_), 0);
  const std::vector<int8_t> expected = {0, 0, 0, 0, 0, 0, 0, 21, 24, 0};
  EXPECT_EQ(std::vector<int8_t>(output_, output_ + 10), expected);
}

TEST_F(RowsImportsTest, RefusesSumsThatDoNotFit) {
  ExpectRefused<Add>("takt_add_i8", add_,
                     {
                         [](Add& p) { --p.left.size; },
                         [](Add& p) { --p.right.size; },
                         [](Add& p) { --p.output.size; },
                         [](Add& p) { p.count = -1; },
                         [](Add& p) { p.count = 9; },
                         [](Add& p) { p.left_zero = 128; },
                         [](Add& p) { p.right_zero = -129; },
                         [](Add& p) { p.output_zero = 128; },
                         [](Add& p) { p.first_row = 9; },
                         [](Add& p) { p.row_count = -1; },
                     });
}

TEST_F(RowsImportsTest, AddsOneRowToThoseOfTheTile) {
  const AddRow add = {
      {input_, 1, 6},
      {input_, 7, 2},
      {output_, 1, 6},
      3,
      2,
      0,
      0,
      1,
      0,
      1,
      9,
      1.f,
      2.f,
      1.f,
  };
  ASSERT_EQ(Call("takt_add_row_i8", add), 0);
  const std::vector<int8_t> expected = {0, 0, 0, 18, 21, 20, 23, 0, 0, 0};
  EXPECT_EQ(std::vector<int8_t>(output_, output_ + 10), expected);
  ExpectRefused<AddRow>("takt_add_row_i8", add,
                        {
                            [](AddRow& p) { --p.left.size; },
                            [](AddRow& p) { --p.right.size; },
                            [](AddRow& p) { --p.output.size; },
                            [](AddRow& p) { p.rows = -1; },
                            [](AddRow& p) { p.rows = p.size = INT32_MAX; },
                            [](AddRow& p) { p.size = 0; },
                            [](AddRow& p) { p.left_zero = 128; },
                            [](AddRow& p) { p.right_zero = -129; },
                            [](AddRow& p) { p.output_zero = 128; },
                            [](AddRow& p) { p.first_row = 4; },
                            [](AddRow& p) { p.row_count = -1; },
                        });
}

TEST_F(RowsImportsTest, NormalizesTheRowsOfTheTile) {
  ASSERT_EQ(Call("takt_layer_norm_i8", norm_), 0);
  // 5 to 8, in halves of the deviation.
  const std::vector<int8_t> expected = {0, 0, 0, 0, 0, -3, -1, 1, 3, 0};
  EXPECT_EQ(std::vector<int8_t>(output_, output_ + 10), expected);
}

TEST_F(RowsImportsTest, RefusesNormsThatDoNotFit) {
  ExpectRefused<LayerNorm>("takt_layer_norm_i8", norm_,
                           {
                               [](LayerNorm& p) { --p.input.size; },
                               [](LayerNorm& p) { --p.gamma.size; },
                               [](LayerNorm& p) { --p.beta.size; },
                               [](LayerNorm& p) { --p.output.size; },
                               [](LayerNorm& p) { p.rows = -1; },
                               [](LayerNorm& p) { p.rows = INT32_MAX; },
                               [](LayerNorm& p) { p.size = 0; },
                               [](LayerNorm& p) { p.size = (1 << 16) + 1; },
                               [](LayerNorm& p) { p.output_zero = 128; },
                               [](LayerNorm& p) { p.first_row = 3; },
                               [](LayerNorm& p) { p.first_row = -1; },
                           });
}

struct RangeCall {
  Buffer input, output;
  int32_t count, part, first_row, row_count;
};
struct Quantize {
  Buffer input, ranges, output;
  int32_t count, part, first_row, row_count;
};

TEST_F(RowsImportsTest, FloatsBecomeBytesInStepsOfTheirRange) {
  const float input[5] = {99.f, 1.f, -55.f, 200.f, 3.f};
  float ranges[4] = {};
  RangeCall range = {{input, 1, 4}, {ranges, 0, 4}, 4, 0, 0, 2};
  ASSERT_EQ(Call("takt_range_f32", range), 0);
  range.first_row = 2;
  ASSERT_EQ(Call("takt_range_f32", range), 0);
  EXPECT_EQ(std::vector<float>(ranges, ranges + 4),
            (std::vector<float>{-55.f, 1.f, 0.f, 200.f}));
  const Quantize quantize = {
      {input, 1, 4}, {ranges, 0, 4}, {output_, 0, 4}, 4, 0, 1, 1000};
  ASSERT_EQ(Call("takt_quantize_i8", quantize), 0);
  // A step is 1, and 55 stands for 0, less 128.
  EXPECT_EQ(std::vector<int>(output_, output_ + 5),
            (std::vector<int>{0, -128, 127, -70, 0}));
  ExpectRefused<RangeCall>("takt_range_f32", range,
                           {[](RangeCall& p) { --p.input.size; },
                            [](RangeCall& p) { --p.output.size; },
                            [](RangeCall& p) { p.count = -1; },
                            [](RangeCall& p) { p.row_count = 0; },
                            [](RangeCall& p) { p.first_row = 5; }});
  ExpectRefused<Quantize>(
      "takt_quantize_i8", quantize,
      {[](Quantize& p) { --p.input.size; },
       [](Quantize& p) { p.ranges.size = 1; },
       [](Quantize& p) { --p.output.size; }, [](Quantize& p) { p.count = -1; },
       [](Quantize& p) { p.first_row = -1; }});
}

struct Dequantize {
  Buffer input, output;
  int32_t count, zero, part, first_row, row_count;
  float scale;
};

TEST_F(RowsImportsTest, BytesBecomeFloats) {
  float output[4] = {};
  const Dequantize dequantize = {
      {input_, 1, 4}, {output, 0, 4}, 4, 1, 0, 2, 2, .5f};
  ASSERT_EQ(Call("takt_dequantize_f32", dequantize), 0);
  EXPECT_EQ(std::vector<float>(output, output + 4),
            (std::vector<float>{0, 0, 1, 1.5f}));
  ExpectRefused<Dequantize>(
      "takt_dequantize_f32", dequantize,
      {[](Dequantize& p) { --p.input.size; },
       [](Dequantize& p) { --p.output.size; },
       [](Dequantize& p) { p.zero = 128; }, [](Dequantize& p) { p.count = -1; },
       [](Dequantize& p) { p.first_row = 5; }});
}

struct MaxPool {
  Buffer input, output;
  int32_t shape[16];
  int32_t part, first_row, row_count;
};

TEST_F(RowsImportsTest, PoolsOfBytes) {
  // Two of four pixels in a row, of two channels.
  const MaxPool pool = {{input_, 1, 8},
                        {output_, 0, 4},
                        {1, 1, 4, 2, 1, 2, 2, 1, 2, 1, 2, 1, 1, 0, 0, 2},
                        0,
                        1,
                        9};
  ASSERT_EQ(Call("takt_max_pool2d_i8", pool), 0);
  EXPECT_EQ(std::vector<int>(output_, output_ + 4),
            (std::vector<int>{0, 0, 7, 8}));
  ExpectRefused<MaxPool>(
      "takt_max_pool2d_i8", pool,
      {[](MaxPool& p) { --p.input.size; }, [](MaxPool& p) { --p.output.size; },
       [](MaxPool& p) { p.shape[7] = 0; }, [](MaxPool& p) { p.shape[6] = 1; },
       [](MaxPool& p) { p.shape[1] = INT32_MAX; },
       [](MaxPool& p) { p.first_row = 3; }});
}

struct Softmax {
  Buffer input, output;
  int32_t rows, size, part, first_row, row_count;
};

TEST_F(RowsImportsTest, SoftmaxOfTheTilesRows) {
  const float input[7] = {99.f, 5.f, 5.f, 7.f, 7.f, 1.f, 2.f};
  float output[6] = {};
  const Softmax softmax = {{input, 1, 6}, {output, 0, 6}, 3, 2, 0, 1, 1};
  ASSERT_EQ(Call("takt_softmax_f32", softmax), 0);
  EXPECT_EQ(std::vector<float>(output, output + 6),
            (std::vector<float>{0, 0, .5f, .5f, 0, 0}));
  ExpectRefused<Softmax>(
      "takt_softmax_f32", softmax,
      {[](Softmax& p) { --p.input.size; }, [](Softmax& p) { --p.output.size; },
       [](Softmax& p) { p.rows = -1; }, [](Softmax& p) { p.size = -1; },
       [](Softmax& p) { p.rows = p.size = INT32_MAX; },
       [](Softmax& p) { p.first_row = 4; }});
}

TEST_F(RowsImportsTest, SoftmaxOfRowsOfNoNumbers) {
  float output[2] = {8.f, 9.f};
  const Softmax softmax = {{output, 0, 0}, {output, 0, 0}, 3, 0, 0, 0, 3};
  EXPECT_EQ(Call("takt_softmax_f32", softmax), 0);
  EXPECT_EQ(std::vector<float>(output, output + 2),
            (std::vector<float>{8.f, 9.f}));
}

struct FloatNorm {
  Buffer input, gamma, beta, output;
  int32_t rows, size, part, first_row, row_count;
  float epsilon;
};

TEST_F(RowsImportsTest, LayerNormOfTheTilesRows) {
  const float input[7] = {99.f, 5.f, 5.f, 7.f, 3.f, 1.f, 2.f};
  const float gamma[2] = {2.f, 3.f}, beta[2] = {10.f, 20.f};
  float output[6] = {};
  const FloatNorm norm = {
      {input, 1, 6}, {gamma, 0, 2}, {beta, 0, 2}, {output, 0, 6}, 3, 2, 0, 1, 1,
      12.f};
  ASSERT_EQ(Call("takt_layer_norm_f32", norm), 0);
  EXPECT_EQ(std::vector<float>(output, output + 6),
            (std::vector<float>{0, 0, 11.f, 18.5f, 0, 0}));
  ExpectRefused<FloatNorm>(
      "takt_layer_norm_f32", norm,
      {[](FloatNorm& p) { --p.input.size; },
       [](FloatNorm& p) { --p.output.size; },
       [](FloatNorm& p) { --p.gamma.size; },
       [](FloatNorm& p) { --p.beta.size; }, [](FloatNorm& p) { p.rows = -1; },
       [](FloatNorm& p) { p.size = 0; },
       [](FloatNorm& p) { p.rows = p.size = INT32_MAX; },
       [](FloatNorm& p) { p.first_row = 4; }});
}

}  // namespace
}  // namespace takt::cpu
