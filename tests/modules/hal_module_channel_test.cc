// Collectives resolve, and say that they are not supported.
#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

class HalChannelTest : public HalModuleTest {
 protected:
  void SetUp() override { Link("hal_channel"); }
};

TEST_F(HalChannelTest, EveryCollectiveIsRefusedByName) {
  EXPECT_THAT(
      calls_.Call("hal.channel.create", calls_.device_ref(), int64_t{-1},
                  int64_t{0}, nullptr, nullptr, int32_t{0}, int32_t{1}),
      FailsWith(kUnimplemented, "hal.channel.create"));
  EXPECT_THAT(calls_.Call("hal.channel.split", nullptr, int32_t{0}, int32_t{0},
                          int64_t{0}),
              FailsWith(kUnimplemented, "hal.channel.split"));
  EXPECT_THAT(calls_.Call("hal.channel.rank_and_count", nullptr),
              FailsWith(kUnimplemented, "hal.channel.rank_and_count"));
  auto command_buffer = calls_.device().CreateCommandBuffer(0, 3, 0);
  TAKT_ASSERT_OK(command_buffer);
  EXPECT_THAT(calls_.Call("hal.command_buffer.collective", *command_buffer,
                          nullptr, int32_t{0}, int32_t{0}, int32_t{0},
                          int32_t{0}, nullptr, nullptr, int64_t{0}, int64_t{0},
                          int64_t{0}, int64_t{0}, int64_t{0}),
              FailsWith(kUnimplemented, "hal.command_buffer.collective"));
}

}  // namespace
}  // namespace takt::modules
