// What DrawOverlay() makes of results of each shape.
#include "../overlay.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace {

constexpr int kWidth = 40, kHeight = 20;
constexpr size_t kStride = size_t{3} * kWidth + 8;

class OverlayTest : public testing::Test {
 protected:
  OverlayTest() : pixels_(kStride * kHeight, 100) {
    takt_instance_options_t options;
    takt_instance_options_init(&options);
    options.worker_count = 0;
    instance_ = *takt::Instance::Create(&options);
    device_ = *takt::Device::Create(instance_, "local-task");
  }

  template <typename T>
  takt::Status Draw(const std::vector<int64_t>& shape,
                    const std::vector<T>& values) {
    const auto view = takt::BufferView::Copy<T>(device_, shape, values);
    EXPECT_TRUE(view.ok()) << view.status().ToString();
    return DrawOverlay(*view, {pixels_.data(), kStride, kWidth, kHeight});
  }

  // Red, green, blue.
  std::vector<int> At(int x, int y) const {
    const uint8_t* pixel = &pixels_[size_t(y) * kStride + 3 * size_t(x)];
    return {pixel[0], pixel[1], pixel[2]};
  }
  bool IsTouched() const {
    return pixels_ != std::vector<uint8_t>(pixels_.size(), 100);
  }
  // The bytes between two rows are not the picture's.
  void ExpectPaddingUntouched() const {
    for (size_t y = 0; y < kHeight; ++y) {
      for (size_t i = size_t{3} * kWidth; i < kStride; ++i) {
        EXPECT_EQ(pixels_[y * kStride + i], 100) << y;
      }
    }
  }

  takt::Instance instance_;
  takt::Device device_;
  std::vector<uint8_t> pixels_;
};

const std::vector<int> kPlain = {100, 100, 100};

TEST_F(OverlayTest, DrawsAMapInRed) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{1, 1, 2}, {1, 1, 1, 2}, {1, 1, 2, 1}}) {
    std::ranges::fill(pixels_, 100);
    ASSERT_TRUE(Draw<float>(shape, {0, 1}).ok());
    EXPECT_EQ(At(0, 0), kPlain);
    EXPECT_EQ(At(19, 19), kPlain);
    EXPECT_EQ(At(20, 0), (std::vector<int>{178, 58, 58}));
    EXPECT_EQ(At(39, 19), (std::vector<int>{178, 58, 58}));
    ExpectPaddingUntouched();
  }
}

TEST_F(OverlayTest, DrawsBoxesAboveTheScore) {
  ASSERT_TRUE(Draw<float>({1, 2, 6}, {0.25, 0.5, 0.75, 1, 0.9f, 1,  //
                                      0, 0, 1, 1, 0.4f, 0})
                  .ok());
  EXPECT_EQ(At(0, 0), kPlain);                             // Too low a score.
  EXPECT_EQ(At(10, 10), (std::vector<int>{0, 190, 120}));  // A corner.
  EXPECT_EQ(At(30, 19), (std::vector<int>{0, 190, 120}));  // The other one.
  EXPECT_EQ(At(20, 11), (std::vector<int>{0, 190, 120}));  // Its upper edge.
  EXPECT_EQ(At(20, 15), kPlain);                           // Its middle.
  EXPECT_EQ(At(9, 10), kPlain);
  ExpectPaddingUntouched();
}

TEST_F(OverlayTest, KeepsBoxesInThePicture) {
  const float big = std::numeric_limits<float>::max();
  const float none = std::numeric_limits<float>::quiet_NaN();
  ASSERT_TRUE(Draw<float>({3, 6}, {-5, -big, 7, big, 1, big,  //
                                   none, none, none, none, none, none, 1, 1, 0,
                                   0, 1, -3})
                  .ok());
  EXPECT_NE(At(0, 0), kPlain);
  EXPECT_NE(At(39, 19), kPlain);
  EXPECT_EQ(At(20, 10), kPlain);
  ExpectPaddingUntouched();
}

TEST_F(OverlayTest, DrawsAPictureOfEitherLayout) {
  ASSERT_TRUE(Draw<uint8_t>({1, 1, 2, 3}, {0, 100, 200, 255, 255, 255}).ok());
  EXPECT_EQ(At(0, 0), (std::vector<int>{50, 100, 150}));
  EXPECT_EQ(At(39, 0), (std::vector<int>{178, 178, 178}));
  std::ranges::fill(pixels_, 100);
  ASSERT_TRUE(Draw<uint8_t>({1, 3, 1, 2}, {0, 255, 100, 255, 200, 255}).ok());
  EXPECT_EQ(At(0, 0), (std::vector<int>{50, 100, 150}));
  EXPECT_EQ(At(39, 0), (std::vector<int>{178, 178, 178}));
}

TEST_F(OverlayTest, DrawsNumbersAsBars) {
  ASSERT_TRUE(Draw<float>({1, 4}, {2, -1, 0, 0}).ok());
  EXPECT_EQ(At(0, 15), (std::vector<int>{224, 140, 20}));  // Five pixels long.
  EXPECT_EQ(At(0, 14), kPlain);
  EXPECT_EQ(At(10, 18), (std::vector<int>{52, 92, 196}));  // Two.
  EXPECT_EQ(At(10, 17), kPlain);
  EXPECT_EQ(At(20, 19), kPlain);
  ExpectPaddingUntouched();
}

TEST_F(OverlayTest, DrawsNothingOfNumbersThatAreNotFinite) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  ASSERT_TRUE(Draw<float>({3}, {none, infinite, -infinite}).ok());
  ASSERT_TRUE(Draw<float>({1, 1, 1, 3}, {none, infinite, none}).ok());
  EXPECT_EQ(At(0, 19), (std::vector<int>{50, 50, 50}));  // A black picture.
}

TEST_F(OverlayTest, RefusesWhatItCannotDraw) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{}, {2, 3, 5}, {2, 1, 1, 3}, {1, 2, 3, 4, 5}}) {
    size_t count = 1;
    for (const int64_t size : shape) count *= size_t(size);
    const takt::Status status = Draw(shape, std::vector<float>(count, 1));
    EXPECT_EQ(status.code(), TAKT_STATUS_UNIMPLEMENTED);
    EXPECT_NE(status.ToString().find("f32"), std::string::npos);
  }
  EXPECT_EQ(Draw<int64_t>({4}, {1, 2, 3, 4}).code(), TAKT_STATUS_UNIMPLEMENTED);
  EXPECT_FALSE(IsTouched());
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
