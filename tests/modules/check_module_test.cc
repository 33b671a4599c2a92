#include "modules/check_module.h"

#include <limits>

#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

using hal::NumericalKind;

class CheckModuleTest : public testing::Test {
 protected:
  void SetUp() override {
    auto module = CreateCheckModule(
        calls_.types,
        [this](const std::string& message) { reports_.push_back(message); });
    TAKT_ASSERT_OK(module);
    TAKT_ASSERT_OK(calls_.Link("check", {*module}));
  }

  Ref<hal::BufferView> View(NumericalKind kind, uint32_t bits,
                            const std::string& bytes,
                            std::vector<int64_t> shape) {
    auto view = hal::BufferView::Create(
        calls_.BufferOf(bytes), hal::MakeElementType(kind, bits),
        hal::EncodingType::kDenseRowMajor, shape);
    EXPECT_TRUE(view.ok()) << view.status();
    return *std::move(view);
  }
  Ref<hal::BufferView> F32(std::vector<float> values) {
    return View(NumericalKind::kFloatIeee, 32, BytesOfValues(values),
                {static_cast<int64_t>(values.size())});
  }
  // Calls an expectation; returns its report, "" if it holds.
  template <typename... Args>
  std::string Report(const std::string& import, const Args&... args) {
    reports_.clear();
    const auto result = calls_.Call(import, args...);
    EXPECT_TRUE(result.ok()) << result.status();
    EXPECT_LE(reports_.size(), 1u);
    return reports_.empty() ? "" : reports_[0];
  }
  std::string AllTrue(const Ref<hal::BufferView>& view) {
    return Report("check.expect_all_true", calls_.device_ref(), view);
  }
  std::string Eq(const Ref<hal::BufferView>& a, const Ref<hal::BufferView>& b) {
    return Report("check.expect_eq", calls_.device_ref(), a, b);
  }
  std::string AlmostEq(const Ref<hal::BufferView>& a,
                       const Ref<hal::BufferView>& b, float absolute,
                       float relative) {
    return Report("check.expect_almost_eq", calls_.device_ref(), a, b, absolute,
                  relative);
  }

  HalCalls calls_;
  std::vector<std::string> reports_;
};

TEST_F(CheckModuleTest, NeedsASink) {
  EXPECT_THAT(CreateCheckModule(calls_.types, nullptr),
              FailsWith(kInvalid, "no sink"));
}

TEST_F(CheckModuleTest, ExpectTrueAndFalseLookAtTheInteger) {
  EXPECT_EQ(Report("check.expect_true", int32_t{1}), "");
  EXPECT_EQ(Report("check.expect_true", int32_t{-8}), "");
  EXPECT_EQ(Report("check.expect_true", int32_t{0}),
            "expect_true: expected not 0, got 0");
  EXPECT_EQ(Report("check.expect_false", int32_t{0}), "");
  EXPECT_EQ(Report("check.expect_false", int32_t{7}),
            "expect_false: expected 0, got 7");
}

TEST_F(CheckModuleTest, ExpectAllTrueNamesTheZeros) {
  EXPECT_EQ(AllTrue(View(NumericalKind::kBoolean, 8, "\x01\x01", {2})), "");
  EXPECT_EQ(AllTrue(View(NumericalKind::kBoolean, 8, "", {0})), "");
  EXPECT_EQ(AllTrue(View(NumericalKind::kInteger, 8,
                         std::string("\x01\x00\xff\x00", 4), {2, 2})),
            "expect_all_true: 2 of 4 elements of 2x2xi8 are wrong\n"
            "  [0, 1]: expected not 0, got 0\n"
            "  [1, 1]: expected not 0, got 0");
}

TEST_F(CheckModuleTest, ExpectAllTrueTakesBothZerosOfFloats) {
  EXPECT_EQ(AllTrue(F32({1, -1, std::numeric_limits<float>::quiet_NaN()})), "");
  EXPECT_THAT(AllTrue(F32({0.0f, -0.0f, 1})),
              testing::HasSubstr("2 of 3 elements"));
  EXPECT_EQ(AllTrue(View(NumericalKind::kComplex, 64,
                         BytesOfValues<float>({0, 1}), {1})),
            "");
  EXPECT_NE(AllTrue(View(NumericalKind::kComplex, 64,
                         BytesOfValues<float>({0, -0.0f}), {1})),
            "");
  EXPECT_NE(
      AllTrue(View(NumericalKind::kOpaque, 8, std::string("\x01\x00", 2), {2})),
      "");
}

TEST_F(CheckModuleTest, ExpectEqComparesBits) {
  EXPECT_EQ(Eq(F32({1, 2}), F32({1, 2})), "");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(Eq(F32({nan}), F32({nan})), "");
  EXPECT_EQ(Eq(F32({0.0f}), F32({-0.0f})),
            "expect_eq: 1 of 1 elements of 1xf32 are wrong\n"
            "  [0]: expected -0, got 0");
}

TEST_F(CheckModuleTest, ExpectEqShowsTheFirstFewElements) {
  std::vector<float> values(100, 0.0f);
  std::vector<float> others = values;
  for (size_t i = 10; i < 30; ++i) others[i] = 1;
  EXPECT_EQ(Eq(F32(values), F32(others)),
            "expect_eq: 20 of 100 elements of 100xf32 are wrong\n"
            "  [10]: expected 1, got 0\n"
            "  [11]: expected 1, got 0\n"
            "  [12]: expected 1, got 0\n"
            "  [13]: expected 1, got 0\n"
            "  [14]: expected 1, got 0\n"
            "  [15]: expected 1, got 0\n"
            "  [16]: expected 1, got 0\n"
            "  [17]: expected 1, got 0\n"
            "  ...");
}

TEST_F(CheckModuleTest, ExpectEqWantsOneTypeAndShape) {
  EXPECT_EQ(Eq(F32({1, 2}), F32({1, 2, 3})),
            "expect_eq: expected 3xf32, got 2xf32");
  EXPECT_EQ(Eq(View(NumericalKind::kInteger, 32, "0123", {1}), F32({1})),
            "expect_eq: expected 1xf32, got 1xi32");
  EXPECT_EQ(Eq(View(NumericalKind::kInteger, 8, "0123", {2, 2}),
               View(NumericalKind::kInteger, 8, "0123", {4})),
            "expect_eq: expected 4xi8, got 2x2xi8");
}

TEST_F(CheckModuleTest, ExpectAlmostEqUsesBothTolerances) {
  // |a - b| <= 0.5 + 0.25 * |b|, where b is the second.
  EXPECT_EQ(AlmostEq(F32({5.5f, 2.5f}), F32({4, 4}), 0.5f, 0.25f), "");
  EXPECT_EQ(AlmostEq(F32({5.75f}), F32({4}), 0.5f, 0.25f),
            "expect_almost_eq: 1 of 1 elements of 1xf32 are wrong\n"
            "  [0]: expected 4 (within 0.5 + 0.25 * |it|), got 5.75");
  // Relative to the second, not to the first.
  EXPECT_EQ(AlmostEq(F32({3}), F32({4}), 0, 0.25f), "");
  EXPECT_NE(AlmostEq(F32({4}), F32({3}), 0, 0.25f), "");
}

TEST_F(CheckModuleTest, ExpectAlmostEqKnowsNanAndInfinity) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(AlmostEq(F32({nan, inf, -inf}), F32({-nan, inf, -inf}), 0, 0), "");
  EXPECT_THAT(AlmostEq(F32({nan, 1, inf, inf, 1, -inf}),
                       F32({1, nan, -inf, 1, inf, inf}), 1e30f, 1e30f),
              testing::HasSubstr("6 of 6 elements"));
}

TEST_F(CheckModuleTest, ExpectAlmostEqReadsSmallFloats) {
  struct Case {
    NumericalKind kind;
    uint32_t bits;
    std::string one;
    std::string two;
  };
  for (const Case& c : {
           Case{NumericalKind::kFloatIeee, 16, std::string("\x00\x3c", 2),
                std::string("\x00\x40", 2)},
           Case{NumericalKind::kBFloat, 16, std::string("\x80\x3f", 2),
                std::string("\x00\x40", 2)},
           Case{NumericalKind::kFloatIeee, 64, BytesOfValues<double>({1}),
                BytesOfValues<double>({2})},
           Case{NumericalKind::kF8E5M2, 8, "\x3c", "\x40"},
           Case{NumericalKind::kF8E4M3FN, 8, "\x38", "\x40"},
           Case{NumericalKind::kF8E5M2FNUZ, 8, "\x40", "\x44"},
           Case{NumericalKind::kF8E4M3FNUZ, 8, "\x40", "\x48"},
           Case{NumericalKind::kF8E8M0FNU, 8, "\x7f", "\x80"},
       }) {
    const auto one = View(c.kind, c.bits, c.one, {1});
    const auto two = View(c.kind, c.bits, c.two, {1});
    EXPECT_EQ(AlmostEq(one, one, 0, 0), "");
    EXPECT_EQ(AlmostEq(one, two, 1, 0), "");
    EXPECT_THAT(AlmostEq(one, two, 0.99f, 0),
                testing::HasSubstr("[0]: expected 2 (within"));
  }
}

TEST_F(CheckModuleTest, ExpectAlmostEqComparesPartsOfComplexNumbers) {
  auto complex = [&](float real, float imaginary) {
    return View(NumericalKind::kComplex, 64,
                BytesOfValues<float>({real, imaginary}), {1});
  };
  EXPECT_EQ(AlmostEq(complex(1, 2), complex(1.5f, 2.5f), 0.5f, 0), "");
  EXPECT_NE(AlmostEq(complex(1, 2), complex(1.5f, 3), 0.5f, 0), "");
}

TEST_F(CheckModuleTest, ExpectAlmostEqWantsOneTypeAndShape) {
  EXPECT_EQ(AlmostEq(F32({1, 2}), F32({1}), 9, 9),
            "expect_almost_eq: expected 1xf32, got 2xf32");
}

TEST_F(CheckModuleTest, NullViewsFailTheCall) {
  EXPECT_THAT(
      calls_.Call("check.expect_eq", calls_.device_ref(), nullptr, F32({1})),
      FailsWith(kInvalid, "check.expect_eq"));
  EXPECT_THAT(calls_.Call("check.expect_all_true", nullptr, F32({1})),
              FailsWith(kInvalid, "hal.device"));
}

}  // namespace
}  // namespace takt::modules
