#include "gtest/gtest.h"
#include "takt/npu.hpp"

namespace takt {
namespace {

TEST(NpuHppTest, MakesADeviceAndReportsItsNpu) {
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

TEST(NpuHppTest, ADeviceWithoutAnNpuReportsNothing) {
  auto instance = Instance::Create();
  ASSERT_TRUE(instance.ok());
  auto device = Device::Create(*instance, "local-sync");
  ASSERT_TRUE(device.ok());
  EXPECT_FALSE(Npu::Capabilities(*device).has_value());
  EXPECT_FALSE(Npu::Telemetry(*device).has_value());
  EXPECT_FALSE(Npu::Statistics(*device).has_value());
  EXPECT_TRUE(Npu::Events(*device, 4).empty());
}

TEST(NpuHppTest, QueuesOperations) {
  auto instance = Instance::Create();
  ASSERT_TRUE(instance.ok());
  auto device = Npu::Create(*instance, takt_npu_host_driver());
  ASSERT_TRUE(device.ok());
  auto a = Buffer::Allocate(*device, 64).value();
  auto b = Buffer::Allocate(*device, 64).value();
  const NpuQueue queue(*device);
  auto filled = Fence::Create().value();
  NpuBatchOptions options;
  options->priority = 200;
  takt_npu_operation_t operations[2] = {};
  operations[0].kind = TAKT_NPU_KIND_FILL;
  operations[0].fill.size0 = 1;
  operations[0].fill.size1 = 16;
  operations[0].fill.stride1 = 1;
  operations[0].fill.pattern = 0x01010101;
  operations[1].kind = TAKT_NPU_KIND_FILL;
  operations[1].fill = operations[0].fill;
  operations[1].fill.out.buffer = 1;
  const takt_npu_batch_description_t fills = {2, operations, 0, nullptr};
  const takt_buffer_range_t both[] = {RangeOf(a), RangeOf(b)};
  ASSERT_TRUE(queue.Batch({Fence(), filled}, fills, both, options).ok());
  // 4 x 4 products of ones: each is 4.
  auto sums = Buffer::Allocate(*device, 64).value();
  auto multiplied = Fence::Create().value();
  takt_npu_matmul_t matmul = {};
  matmul.type = TAKT_NPU_TYPE_S8_S8_S32;
  matmul.m = matmul.n = matmul.k = 4;
  matmul.left = RangeOf(a);
  matmul.right = RangeOf(b);
  matmul.out = RangeOf(sums);
  ASSERT_TRUE(queue.Matmul({filled, multiplied}, matmul).ok());
  ASSERT_TRUE(multiplied.Wait(*instance).ok());
  int32_t words[16] = {};
  ASSERT_TRUE(
      Status(takt_buffer_read(sums.get(), 0, words, sizeof(words))).ok());
  for (const int32_t word : words) EXPECT_EQ(word, 4);

  takt_npu_operation_t operation = {};
  operation.kind = TAKT_NPU_KIND_FILL;
  operation.fill.size0 = 1;
  operation.fill.size1 = 4;
  operation.fill.stride1 = 1;
  const takt_npu_batch_description_t batch = {1, &operation, 0, nullptr};
  EXPECT_EQ(queue.CreateBatch(batch, 1).value().function_count(), 1u);
  const takt_buffer_range_t range = RangeOf(a);
  EXPECT_TRUE(queue.Batch({Fence(), Fence()}, batch, {&range, 1}).ok());
  EXPECT_EQ(queue.Batch({Fence(), Fence()}, batch, {}).code(),
            TAKT_STATUS_INVALID_ARGUMENT);
}

TEST(NpuHppTest, ReportsWhyThereIsNoDevice) {
  auto instance = Instance::Create();
  ASSERT_TRUE(instance.ok());
  auto device = Npu::Load(*instance, "/no/such.so");
  EXPECT_EQ(device.status().code(), TAKT_STATUS_NOT_FOUND);
}

}  // namespace
}  // namespace takt
