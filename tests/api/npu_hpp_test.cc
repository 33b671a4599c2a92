#include "gtest/gtest.h"
#include "takt/npu.hpp"

namespace takt {
namespace {

TEST(NpuHppTest, MakesADeviceAndTellsOfItsNpu) {
  auto instance = Instance::Create();
  ASSERT_TRUE(instance.ok());
  NpuOptions options;
  options->driver_options = R"({"name": "small"})";
  options->virtual_time = true;
  options->event_count_max = 4;
  auto device = Npu::Create(*instance, takt_npu_sim_driver(), options);
  ASSERT_TRUE(device.ok()) << device.status().ToString();
  EXPECT_EQ(device->name(), "local-npu-sim");
  const auto capabilities = Npu::Capabilities(*device);
  ASSERT_TRUE(capabilities.has_value());
  EXPECT_STREQ(capabilities->name, "small");
  ASSERT_TRUE(Npu::Statistics(*device).has_value());
  EXPECT_EQ(Npu::Statistics(*device)->batch_count, 0u);
  EXPECT_EQ(Npu::Telemetry(*device)->temperature_millicelsius, 25000);
  EXPECT_TRUE(Npu::Events(*device, 4).empty());
}

TEST(NpuHppTest, ADeviceWithoutAnNpuTellsNothing) {
  auto instance = Instance::Create();
  ASSERT_TRUE(instance.ok());
  auto device = Device::Create(*instance, "local-sync");
  ASSERT_TRUE(device.ok());
  EXPECT_FALSE(Npu::Capabilities(*device).has_value());
  EXPECT_FALSE(Npu::Telemetry(*device).has_value());
  EXPECT_FALSE(Npu::Statistics(*device).has_value());
  EXPECT_TRUE(Npu::Events(*device, 4).empty());
}

TEST(NpuHppTest, SaysWhyThereIsNoDevice) {
  auto instance = Instance::Create();
  ASSERT_TRUE(instance.ok());
  auto device = Npu::Load(*instance, "/no/such.so");
  EXPECT_EQ(device.status().code(), TAKT_STATUS_NOT_FOUND);
}

}  // namespace
}  // namespace takt
