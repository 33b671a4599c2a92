// Attention, called as compiled kernels call it. The numbers are checked in
// tests/kernels; here it is which parameters are refused.
#include "cpu/attention_imports.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cpu/kernel_imports.h"
#include "gtest/gtest.h"
#include "tests/cpu/import_buffer.h"

namespace takt::cpu {
namespace {

// As a module's code lays them out.
using Buffer = ImportBuffer;
struct Geometry {
  int32_t batch, heads, queries, keys, key_size, value_size;
  int32_t query[4], key[4], value[4], output[4];
};
struct Tile {
  int32_t head, query_begin, query_count;
};
struct AttentionParameters {
  Buffer query, key, value, output;
  Geometry geometry;
  Tile tile;
  float scale;
};
struct BiasParameters {
  Buffer query, key, value, bias, output;
  Geometry geometry;
  int32_t bias_strides[4];
  Tile tile;
  float scale;
};
struct I8Parameters {
  Buffer query, key, value, logits, powers, output;
  Geometry geometry;
  int32_t query_zero, key_zero, score_zero, weight_zero, value_zero,
      output_zero;
  Tile tile;
  float score_scale, weight_factor, output_scale;
};

// Two heads of 2 queries and 3 keys of 4 numbers, and values of 2.
constexpr Geometry kGeometry = {
    1, 2, 2, 3, 4, 2, {16, 4, 8, 1}, {24, 4, 8, 1}, {12, 2, 4, 1}, {8, 2, 4, 1},
};
// The second query of the second head; what exceeds the queries is cut off.
constexpr Tile kTile = {1, 1, 9};

const std::vector<std::function<void(Geometry&)>>& GeometryFaults() {
  static const auto* const faults =
      new std::vector<std::function<void(Geometry&)>>{
          [](Geometry& g) { g.batch = 2; },
          [](Geometry& g) { g.heads = 0; },
          [](Geometry& g) { g.queries = 3; },
          [](Geometry& g) { g.keys = INT32_MAX; },
          [](Geometry& g) { g.keys = 4; },
          [](Geometry& g) { g.key_size = 8; },
          [](Geometry& g) { g.value_size = 3; },
          [](Geometry& g) { g.query[2] = 9; },
          [](Geometry& g) { g.query[3] = 2; },
          [](Geometry& g) { g.key[3] = -1; },
          [](Geometry& g) { g.value[1] = INT32_MAX; },
          [](Geometry& g) { g.output[3] = 0; },
      };
  return *faults;
}

constexpr Tile kTileFaults[] = {
    {2, 1, 9}, {-1, 1, 9}, {1, -1, 9}, {1, 3, 9}, {1, 1, -1}};

template <typename P, typename T>
class AttentionCall {
 public:
  explicit AttentionCall(const char* name)
      : import_(*FindKernelImport(name, kernels::SelectKernels({}), &state_)),
        query(17, T{1}),
        key(25, T{1}),
        value(13, T{3}) {
    // Element 0 lies before the buffer.
    p.query = {query.data(), 1, 16};
    p.key = {key.data(), 1, 24};
    p.value = {value.data(), 1, 12};
    p.output = {output, 1, 8};
    p.geometry = kGeometry;
    p.tile = kTile;
  }
  int Run(P parameters) {
    for (T& x : output) x = T{0};
    return import_.function(&parameters, import_.context, nullptr);
  }
  void ExpectRefused(const P& parameters) {
    EXPECT_NE(Run(parameters), 0);
    for (const T& x : output) EXPECT_EQ(x, T{0});
  }
  void ExpectPlacesRefused() {
    for (size_t i = 0; i < GeometryFaults().size(); ++i) {
      SCOPED_TRACE(i);
      P parameters = p;
      GeometryFaults()[i](parameters.geometry);
      ExpectRefused(parameters);
    }
    for (const Tile& tile : kTileFaults) {
      P parameters = p;
      parameters.tile = tile;
      ExpectRefused(parameters);
    }
  }

 private:
  KernelImportState state_;
  const ImportFunction import_;

 public:
  P p = {};
  std::vector<T> query, key, value;
  T output[10];
};

class AttentionImportsTest : public testing::TestWithParam<const char*> {};

TEST_P(AttentionImportsTest, ComputesTheTileOfFloats) {
  AttentionCall<AttentionParameters, float> call(GetParam());
  call.p.scale = 1;
  ASSERT_EQ(call.Run(call.p), 0);
  const std::vector<float> expected = {0, 0, 0, 0, 0, 0, 0, 3, 3, 0};
  std::vector<float> found(call.output, call.output + 10);
  // Of bfloat16, a third is less than a third.
  for (float& x : found) x = std::round(x * 32) / 32;
  EXPECT_EQ(found, expected);
}

TEST_P(AttentionImportsTest, RefusesFloatsThatDoNotFit) {
  AttentionCall<AttentionParameters, float> call(GetParam());
  call.ExpectPlacesRefused();
  for (Buffer AttentionParameters::*const buffer :
       {&AttentionParameters::query, &AttentionParameters::key,
        &AttentionParameters::value, &AttentionParameters::output}) {
    AttentionParameters parameters = call.p;
    --(parameters.*buffer).size;
    call.ExpectRefused(parameters);
  }
}

INSTANTIATE_TEST_SUITE_P(, AttentionImportsTest,
                         testing::Values("takt_attention_f32",
                                         "takt_attention_bf16"),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

class AttentionBiasImportTest : public testing::Test {
 protected:
  AttentionBiasImportTest()
      : call_("takt_attention_bias_f32"), bias_(1 + 2 * 3, 0.f) {
    // The same for both heads.
    call_.p.bias = {bias_.data(), 1, 6};
    call_.p.bias_strides[2] = 3;
    call_.p.bias_strides[3] = 1;
    call_.p.scale = 1;
  }

  AttentionCall<BiasParameters, float> call_;
  std::vector<float> bias_;
};

TEST_F(AttentionBiasImportTest, LeavesOutMaskedKeys) {
  // The second query sees the second key only. Its value in the second head
  // begins at 4 + 2, after the element before the buffer.
  call_.value[7] = call_.value[8] = 9;
  bias_[1 + 3] = bias_[1 + 5] = -INFINITY;
  ASSERT_EQ(call_.Run(call_.p), 0);
  EXPECT_EQ(call_.output[7], 9);
  EXPECT_EQ(call_.output[8], 9);
}

TEST_F(AttentionBiasImportTest, RefusesWhatDoesNotFit) {
  call_.ExpectPlacesRefused();
  const std::vector<std::function<void(BiasParameters&)>> faults = {
      [](BiasParameters& p) { --p.query.size; },
      [](BiasParameters& p) { --p.bias.size; },
      [](BiasParameters& p) { --p.output.size; },
      [](BiasParameters& p) { p.bias_strides[1] = 1; },
      [](BiasParameters& p) { p.bias_strides[2] = -1; },
      [](BiasParameters& p) { p.bias_strides[3] = 0; },
  };
  WithEachFault(call_.p, faults, [&](const BiasParameters& parameters) {
    call_.ExpectRefused(parameters);
  });
}

class AttentionI8ImportTest : public testing::Test {
 protected:
  AttentionI8ImportTest() : call_("takt_attention_i8") {
    for (int i = 0; i < 256; ++i) logits_[i] = static_cast<int8_t>(i - 128);
    for (uint32_t& power : powers_) power = 1;
    call_.p.logits = {logits_, 0, 256};
    call_.p.powers = {powers_, 0, 256};
    call_.p.score_scale = call_.p.output_scale = 1;
    call_.p.weight_factor = 30;
  }

  AttentionCall<I8Parameters, int8_t> call_;
  int8_t logits_[256];
  uint32_t powers_[256];
};

TEST_F(AttentionI8ImportTest, ComputesTheTile) {
  ASSERT_EQ(call_.Run(call_.p), 0);
  // Three keys of weight 10 and values of 3.
  const std::vector<int8_t> expected = {0, 0, 0, 0, 0, 0, 0, 90, 90, 0};
  EXPECT_EQ(std::vector<int8_t>(call_.output, call_.output + 10), expected);
}

TEST_F(AttentionI8ImportTest, TakesMoreKeysThanAStackHasMemoryFor) {
  // All are the same, of weight 1.
  call_.p.geometry.key[2] = call_.p.geometry.value[2] = 0;
  call_.p.geometry.keys = kernels::kAttentionI8KeysMax;
  call_.p.weight_factor = static_cast<float>(call_.p.geometry.keys);
  call_.p.output_scale = 30.f / static_cast<float>(call_.p.geometry.keys);
  ASSERT_EQ(call_.Run(call_.p), 0);
  const std::vector<int8_t> expected = {0, 0, 0, 0, 0, 0, 0, 90, 90, 0};
  EXPECT_EQ(std::vector<int8_t>(call_.output, call_.output + 10), expected);
  ++call_.p.geometry.keys;
  call_.ExpectRefused(call_.p);
}

TEST_F(AttentionI8ImportTest, RefusesWhatDoesNotFit) {
  call_.ExpectPlacesRefused();
  const std::vector<std::function<void(I8Parameters&)>> faults = {
      [](I8Parameters& p) { --p.query.size; },
      [](I8Parameters& p) { --p.key.size; },
      [](I8Parameters& p) { --p.value.size; },
      [](I8Parameters& p) { --p.logits.size; },
      [](I8Parameters& p) { --p.powers.size; },
      [](I8Parameters& p) { --p.output.size; },
      [](I8Parameters& p) { p.query_zero = 128; },
      [](I8Parameters& p) { p.output_zero = -129; },
  };
  WithEachFault(call_.p, faults, [&](const I8Parameters& parameters) {
    call_.ExpectRefused(parameters);
  });
}

TEST_F(AttentionI8ImportTest, RefusesTablesThatBreakTheirPromises) {
  logits_[7] = 0;  // Above the next one.
  call_.ExpectRefused(call_.p);
  logits_[7] = 7 - 128;
  powers_[0] = 0;
  call_.ExpectRefused(call_.p);
  powers_[0] = UINT32_MAX / 3 + 1;
  call_.ExpectRefused(call_.p);
  powers_[0] = UINT32_MAX / 3;
  EXPECT_EQ(call_.Run(call_.p), 0);
}

}  // namespace
}  // namespace takt::cpu
