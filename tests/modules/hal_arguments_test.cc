#include "modules/hal_arguments.h"

#include "hal/buffer.h"
#include "tests/modules/test_support.h"

namespace takt::modules {
namespace {

TEST(BytesOfTest, GivesTheRange) {
  uint8_t bytes[4] = {1, 2, 3, 4};
  const Ref<vm::ByteBuffer> buffer =
      vm::ByteBuffer::Wrap(nullptr, bytes, 4, false);
  EXPECT_THAT(*BytesOf(*buffer, 1, 2), testing::ElementsAre(2, 3));
  EXPECT_THAT(*BytesOf(*buffer, 2, hal::kWholeBuffer),
              testing::ElementsAre(3, 4));
  EXPECT_TRUE(BytesOf(*buffer, 4, 0)->empty());
}

TEST(BytesOfTest, RejectsRangesBeyondTheEnd) {
  uint8_t bytes[4] = {};
  const Ref<vm::ByteBuffer> buffer =
      vm::ByteBuffer::Wrap(nullptr, bytes, 4, false);
  constexpr auto kCode = absl::StatusCode::kOutOfRange;
  EXPECT_THAT(BytesOf(*buffer, 0, 5), FailsWith(kCode, "its 4 bytes, got 5"));
  EXPECT_THAT(BytesOf(*buffer, 5, 0), FailsWith(kCode, "at offset 5"));
  EXPECT_THAT(BytesOf(*buffer, 5, hal::kWholeBuffer), FailsWith(kCode, ""));
  EXPECT_THAT(BytesOf(*buffer, ~uint64_t{0}, 2), FailsWith(kCode, ""));
}

}  // namespace
}  // namespace takt::modules
