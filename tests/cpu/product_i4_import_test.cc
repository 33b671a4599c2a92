// Products with weights of four bits, called as compiled kernels call them. The
// numbers are checked in tests/kernels; here it is which parameters are
// refused.
#include "cpu/product_i4_import.h"

#include <cstdint>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

using Buffer = ImportBuffer;
struct Parameters {
  Buffer input, weights, scales, zeros, bias, output;
  int32_t rows, inputs, columns, block;
  int32_t in_bytes, part_groups, part, first_row, row_count;
};

class ProductI4ImportTest : public testing::Test {
 protected:
  // Two rows of 32 inputs, two groups of columns, and blocks of 16 inputs.
  ProductI4ImportTest() {
    p_ = {{input_.data(), 1, 64},
          {weights_.data(), 0, 128},
          {scales_.data(), 0, 64},
          {zeros_.data(), 0, 1},
          {bias_.data(), 0, 32},
          {output_, 1, 64},
          2,
          32,
          32,
          16,
          0,
          2,
          0,
          0,
          2};
  }
  int Call(Parameters parameters) {
    for (float& x : output_) x = 0.f;
    return import_.function(&parameters, import_.context, nullptr);
  }

  const ImportFunction import_ = *FindKernelImport(
      "takt_product_i4_f32", kernels::SelectKernels({}), nullptr);
  // Element 0 lies before the buffer.
  std::vector<float> input_ = std::vector<float>(65, 1.f);
  std::vector<float> weights_ = std::vector<float>(128, 0.f);  // Codes of 0.
  std::vector<float> scales_ = std::vector<float>(64, -2.f);
  std::vector<float> zeros_ = std::vector<float>(64, 8.f);
  std::vector<float> bias_ = std::vector<float>(32, 3.f);
  float output_[66];
  Parameters p_;
};

constexpr float kResult = 3.f + 32 * 2.f * 8.f;

TEST_F(ProductI4ImportTest, ComputesAllRowsAndColumns) {
  ASSERT_EQ(Call(p_), 0);
  EXPECT_EQ(output_[0], 0.f);
  for (int i = 1; i < 65; ++i) EXPECT_EQ(output_[i], kResult) << i;
  EXPECT_EQ(output_[65], 0.f);
}

TEST_F(ProductI4ImportTest, TakesAZeroForEachBlockAndColumn) {
  p_.zeros.size = 64;
  zeros_[0] = 9.f;
  ASSERT_EQ(Call(p_), 0);
  EXPECT_EQ(output_[1], kResult + 16 * 2.f);
  EXPECT_EQ(output_[2], kResult);
}

TEST_F(ProductI4ImportTest, RoundsToBytesIfAsked) {
  for (const int in_bytes : {0, 1}) {
    p_.in_bytes = in_bytes;
    input_[1] = 127.f;
    input_[2] = .5f;
    ASSERT_EQ(Call(p_), 0);
    const float lost = in_bytes != 0 ? .5f : 0.f;  // Half to even.
    EXPECT_EQ(output_[1], kResult + (126.f - .5f - lost) * 16.f);
  }
}

TEST_F(ProductI4ImportTest, ComputesAPart) {
  p_.part_groups = p_.part = p_.first_row = p_.row_count = 1;
  ASSERT_EQ(Call(p_), 0);
  EXPECT_EQ(output_[48], 0.f);
  for (int i = 49; i < 65; ++i) EXPECT_EQ(output_[i], kResult) << i;
}

TEST_F(ProductI4ImportTest, RefusesWhatIsNotThere) {
  WithEachFault(p_,
                {
                    [](Parameters& p) { p.input.size = 63; },
                    [](Parameters& p) { p.weights.size = 127; },
                    [](Parameters& p) { p.scales.size = 63; },
                    [](Parameters& p) { p.zeros.size = 0; },
                    [](Parameters& p) { p.zeros.size = 63; },
                    [](Parameters& p) { p.bias.size = 31; },
                    [](Parameters& p) { p.output.size = 63; },
                    [](Parameters& p) { p.rows = 0; },
                    [](Parameters& p) { p.columns = 24; },
                    [](Parameters& p) { p.block = 12; },
                    [](Parameters& p) { p.inputs = 1 << 30; },
                    [](Parameters& p) { p.part_groups = 0; },
                    [](Parameters& p) { p.part = -1; },
                    [](Parameters& p) { p.part = 2; },
                    [](Parameters& p) { p.first_row = 3; },
                    [](Parameters& p) { p.row_count = -1; },
                },
                [&](const Parameters& parameters) {
                  EXPECT_NE(Call(parameters), 0);
                  for (const float x : output_) EXPECT_EQ(x, 0.f);
                });
}

}  // namespace
}  // namespace takt::cpu
