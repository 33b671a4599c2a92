#include "modules/buffer_state.h"

#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

constexpr int32_t kI32 = 0x10000020;
constexpr int32_t kSi32 = 0x11000020;
constexpr int32_t kUi32 = 0x12000020;
constexpr int32_t kI8 = 0x10000008;
constexpr int32_t kBool = 0x13000008;
constexpr int32_t kOpaque32 = 0x00000020;
constexpr int32_t kOpaqueEncoding = 0;

class BufferStateTest : public HalModuleTest {
 protected:
  void SetUp() override { Link("hal_buffer_view"); }

  // A view of zeros.
  Ref<hal::BufferView> ViewOf(int32_t element_type,
                              const std::vector<int64_t>& shape,
                              int32_t encoding = kDense) {
    const auto type = static_cast<hal::ElementType>(element_type);
    const uint64_t bytes = *hal::DenseByteLength(type, shape);
    return *hal::BufferView::Create(
        calls_.BufferOf(std::string(bytes, '\0')), type,
        static_cast<hal::EncodingType>(encoding), shape);
  }
};

TEST_F(BufferStateTest, CreateViewsAWholeBuffer) {
  const auto buffer = calls_.BufferOf(std::string(24, 'x'));
  auto view = calls_.CallRef<hal::BufferView>(
      "hal.buffer_view.create/2", buffer, uint64_t{0}, uint64_t{24}, kF32,
      kDense, int64_t{2}, int64_t{3});
  TAKT_ASSERT_OK(view);
  EXPECT_EQ((*view)->ShapeAndTypeString(), "2x3xf32");
  EXPECT_EQ((*view)->encoding(), hal::EncodingType::kDenseRowMajor);
  EXPECT_EQ((*view)->buffer(), buffer.get());
}

TEST_F(BufferStateTest, CreateViewsARange) {
  const auto buffer = calls_.BufferOf(std::string(128, 'x'));
  auto view = calls_.CallRef<hal::BufferView>(
      "hal.buffer_view.create/1", buffer, uint64_t{64}, uint64_t{16}, kF32,
      kDense, int64_t{4});
  TAKT_ASSERT_OK(view);
  EXPECT_EQ((*view)->buffer()->data(), buffer->data() + 64);
  EXPECT_EQ((*view)->buffer()->byte_length(), 16u);
}

TEST_F(BufferStateTest, CreateViewsAScalar) {
  auto view = calls_.CallRef<hal::BufferView>(
      "hal.buffer_view.create/0", calls_.BufferOf("0123"), uint64_t{0},
      uint64_t{4}, kF32, kDense);
  TAKT_ASSERT_OK(view);
  EXPECT_TRUE((*view)->shape().empty());
}

TEST_F(BufferStateTest, CreateRejectsWhatDoesNotFit) {
  const auto buffer = calls_.BufferOf(std::string(24, 'x'));
  EXPECT_THAT(calls_.Call("hal.buffer_view.create/1", buffer, uint64_t{8},
                          uint64_t{24}, kF32, kDense, int64_t{4}),
              FailsWith(kOutOfRange, "hal.buffer_view.create"));
  EXPECT_THAT(calls_.Call("hal.buffer_view.create/2", buffer, uint64_t{0},
                          uint64_t{24}, kF32, kDense, int64_t{2}, int64_t{4}),
              FailsWith(kOutOfRange, "2x4xf32"));
  EXPECT_THAT(calls_.Call("hal.buffer_view.create/1", buffer, uint64_t{0},
                          uint64_t{24}, kF32, kDense, int64_t{-1}),
              FailsWith(kInvalid, ""));
  EXPECT_THAT(
      calls_.Call("hal.buffer_view.create/2", buffer, uint64_t{0}, uint64_t{24},
                  kF32, kDense, int64_t{1} << 40, int64_t{1} << 40),
      FailsWith(kOutOfRange, ""));
}

TEST_F(BufferStateTest, CreateTakesAtMost128Dimensions) {
  std::vector<vm::Value> arguments = {
      ToValue(calls_.BufferOf("0123")), ToValue(uint64_t{0}),
      ToValue(uint64_t{4}), ToValue(kF32), ToValue(kDense)};
  for (int i = 0; i < 129; ++i) arguments.push_back(ToValue(int64_t{1}));
  EXPECT_THAT(calls_.CallValues("hal.buffer_view.create/129", arguments),
              FailsWith(kInvalid, "129"));
}

TEST_F(BufferStateTest, AssertPassesTheShapeAndTypeExpected) {
  TAKT_ASSERT_OK(calls_.Call("hal.buffer_view.assert/2", ViewOf(kF32, {2, 3}),
                             "input0", kF32, kDense, int64_t{2}, int64_t{3}));
  TAKT_ASSERT_OK(calls_.Call("hal.buffer_view.assert/0", ViewOf(kF32, {}),
                             "input0", kF32, kDense));
}

TEST_F(BufferStateTest, AssertTakesCompatibleTypes) {
  struct Case {
    int32_t actual;
    int32_t expected;
    bool compatible;
  };
  for (const Case& c : {Case{kI32, kSi32, true}, Case{kUi32, kSi32, true},
                        Case{kSi32, kUi32, true}, Case{kBool, kI8, true},
                        Case{kI8, kBool, true}, Case{kOpaque32, kF32, true},
                        Case{kF32, kOpaque32, false}, Case{kF32, kI32, false},
                        Case{kI32, kF32, false}, Case{kI8, kI32, false}}) {
    const auto result =
        calls_.Call("hal.buffer_view.assert/1", ViewOf(c.actual, {2}), "input0",
                    c.expected, kDense, int64_t{2});
    EXPECT_EQ(result.ok(), c.compatible) << c.actual << " " << c.expected;
    if (!c.compatible) {
      EXPECT_THAT(result, FailsWith(kInvalid, "input0: element type"));
    }
  }
}

TEST_F(BufferStateTest, AssertNamesTheDifference) {
  const auto view = ViewOf(kF32, {2, 3});
  EXPECT_THAT(calls_.Call("hal.buffer_view.assert/2", view, "input1", kF32,
                          kDense, int64_t{2}, int64_t{4}),
              FailsWith(kInvalid,
                        "input1: dimension 1: expected 2x4xf32, got 2x3xf32"));
  EXPECT_THAT(calls_.Call("hal.buffer_view.assert/1", view, "input1", kF32,
                          kDense, int64_t{6}),
              FailsWith(kInvalid, "input1: rank: expected 6xf32, got 2x3xf32"));
  EXPECT_THAT(
      calls_.Call("hal.buffer_view.assert/0", view, "input1", kF32, kDense),
      FailsWith(kInvalid, "expected f32, got 2x3xf32"));
  EXPECT_THAT(calls_.Call("hal.buffer_view.assert/2", view, "input1", kF32,
                          int32_t{2}, int64_t{2}, int64_t{3}),
              FailsWith(kInvalid, "input1: expected encoding 2, got 1"));
  EXPECT_THAT(
      calls_.Call("hal.buffer_view.assert/0", nullptr, "input1", kF32, kDense),
      FailsWith(kInvalid, "hal.buffer_view"));
}

TEST_F(BufferStateTest, AssertTakesAnyEncodingOfAnOpaqueView) {
  TAKT_ASSERT_OK(calls_.Call("hal.buffer_view.assert/1",
                             ViewOf(kF32, {2}, kOpaqueEncoding), "input0", kF32,
                             kDense, int64_t{2}));
}

TEST_F(BufferStateTest, AccessorsReturnTypeEncodingAndShape) {
  const auto view = ViewOf(kF32, {2, 3});
  auto buffer = calls_.CallRef<hal::Buffer>("hal.buffer_view.buffer", view);
  TAKT_ASSERT_OK(buffer);
  EXPECT_EQ(buffer->get(), view->buffer());
  EXPECT_EQ(*calls_.CallI64("hal.buffer_view.dim", view, int32_t{1}), 3);
  EXPECT_EQ(*calls_.CallI32("hal.buffer_view.rank", view), 2);
  EXPECT_EQ(*calls_.CallI32("hal.buffer_view.element_type", view), kF32);
  EXPECT_EQ(*calls_.CallI32("hal.buffer_view.encoding_type", view), kDense);
}

TEST_F(BufferStateTest, DimRejectsABadIndex) {
  const auto view = ViewOf(kF32, {2, 3});
  for (int32_t index : {2, -1}) {
    EXPECT_THAT(calls_.Call("hal.buffer_view.dim", view, index),
                FailsWith(kOutOfRange, "hal.buffer_view.dim"));
  }
}

TEST_F(BufferStateTest, AccessorsNeedAView) {
  for (const char* import :
       {"hal.buffer_view.buffer", "hal.buffer_view.rank",
        "hal.buffer_view.element_type", "hal.buffer_view.encoding_type"}) {
    EXPECT_THAT(calls_.Call(import, nullptr), FailsWith(kInvalid, import));
  }
}

TEST_F(BufferStateTest, TracePrintsKeyViewsAndAnEmptyLine) {
  auto view_of = [&](std::vector<float> values, std::vector<int64_t> shape) {
    return *hal::BufferView::Create(calls_.BufferOfValues(values),
                                    static_cast<hal::ElementType>(kF32),
                                    hal::EncodingType::kDenseRowMajor, shape);
  };
  TAKT_ASSERT_OK(calls_.Call("hal.buffer_view.trace/2", "after_add",
                             view_of({2, 4, 6, 8}, {4}),
                             view_of({1, 2.5, -3, 4e10f}, {2, 2})));
  EXPECT_EQ(calls_.trace,
            "=== after_add ===\n"
            "4xf32=2 4 6 8\n"
            "2x2xf32=[1 2.5][-3 4E+10]\n"
            "\n");
  calls_.trace.clear();
  TAKT_ASSERT_OK(calls_.Call("hal.buffer_view.trace/0", "none"));
  EXPECT_EQ(calls_.trace, "=== none ===\n\n");
}

// iree-run-module prints all 3000 elements of a traced tensor.
TEST_F(BufferStateTest, TracePrintsEveryElement) {
  TAKT_ASSERT_OK(
      calls_.Call("hal.buffer_view.trace/1", "k", ViewOf(kI8, {3000})));
  std::string zeros;
  for (int i = 0; i < 3000; ++i) zeros += i == 0 ? "0" : " 0";
  EXPECT_EQ(calls_.trace, "=== k ===\n3000xi8=" + zeros + "\n\n");
}

TEST_F(BufferStateTest, TraceRejectsNullAndTooMany) {
  EXPECT_THAT(calls_.Call("hal.buffer_view.trace/1", "k", nullptr),
              FailsWith(kInvalid, "hal.buffer_view at 0, got null"));
  std::vector<vm::Value> arguments = {ToValue("k")};
  for (int i = 0; i < 129; ++i) arguments.push_back(ToValue(ViewOf(kI8, {1})));
  EXPECT_THAT(calls_.CallValues("hal.buffer_view.trace/129", arguments),
              FailsWith(kOutOfRange, "at most 128, got 129"));
  EXPECT_EQ(calls_.trace, "");
}

}  // namespace
}  // namespace takt::modules
