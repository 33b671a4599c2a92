#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "takt/takt.hpp"

namespace {

using takt::Buffer;
using takt::Fence;
using takt::Order;

class QueueHppTest : public ::testing::TestWithParam<const char*> {
 protected:
  Fence MakeFence() { return Fence::Create().value(); }
  std::string Text(const Buffer& buffer) {
    std::string text(buffer.byte_length(), '\0');
    EXPECT_TRUE(
        buffer.Read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()})
            .ok());
    return text;
  }
  static std::span<const uint8_t> Bytes(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }
  takt::Status WaitFor(const Fence& fence) {
    return takt::Status(
        takt_fence_wait(fence.get(), instance_.get(), TAKT_INFINITE_FUTURE));
  }

  const Fence none_;
  takt::Instance instance_ = takt::Instance::Create().value();
  takt::Device device_ = takt::Device::Create(instance_, GetParam()).value();
  takt::Queue queue_{device_};
};

TEST_P(QueueHppTest, EveryOperationInAChain) {
  std::vector<Fence> fences;
  const auto next = [&]() -> Order {
    fences.push_back(MakeFence());
    return {fences[fences.size() - 2], fences.back()};
  };
  fences.reserve(16);
  fences.push_back(MakeFence());
  const Fence start = fences.back();
  std::string bytes = "01234567";
  auto file =
      takt::File::Wrap({reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()})
          .value();
  auto target = Buffer::Allocate(device_, 8).value();
  auto commands = takt::CommandBuffer::Create(device_, 1).value();
  EXPECT_TRUE(commands.Fill(takt::RangeOfSlot(0, 6, 2), 'c').ok());
  EXPECT_TRUE(commands.Barrier().ok());
  EXPECT_TRUE(commands.Update(Bytes("u"), takt::RangeOfSlot(0, 7, 1)).ok());
  EXPECT_TRUE(commands.Finalize().ok());
  const takt_buffer_range_t table[] = {takt::RangeOf(target)};
  int call_count = 0;

  auto buffer = queue_.Alloca(next(), 8).value();
  EXPECT_TRUE(queue_.Fill(next(), buffer, 'f').ok());
  EXPECT_TRUE(queue_.Update(next(), Bytes("ab"), buffer, 1).ok());
  EXPECT_TRUE(queue_.Read(next(), file, 4, buffer, 4, 2).ok());
  EXPECT_TRUE(queue_.Copy(next(), buffer, 0, target, 0, 8).ok());
  EXPECT_TRUE(queue_.Execute(next(), commands, table).ok());
  EXPECT_TRUE(queue_.Write(next(), target, 0, file, 0).ok());
  EXPECT_TRUE(queue_
                  .HostCall(next(),
                            [&] {
                              ++call_count;
                              return takt::Status();
                            })
                  .ok());
  EXPECT_TRUE(queue_.Dealloca(next(), buffer).ok());
  EXPECT_TRUE(queue_.Barrier(next()).ok());
  queue_.Flush();
  EXPECT_EQ(call_count, 0);
  EXPECT_TRUE(takt::Status(takt_fence_signal(start.get())).ok());
  EXPECT_TRUE(WaitFor(fences.back()).ok());
  EXPECT_EQ(Text(target), "fabf45cu");
  EXPECT_EQ(bytes, "fabf45cu");
  EXPECT_EQ(call_count, 1);
}

TEST_P(QueueHppTest, AHostCallThatIsRefusedIsDropped) {
  const auto kept = std::make_shared<int>(0);
  const takt::Queue no_queue{takt::Device()};
  EXPECT_FALSE(
      no_queue.HostCall({none_, none_}, [kept] { return takt::Status(); })
          .ok());
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_P(QueueHppTest, MemoryHasACppFace) {
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.memory_budget_bytes = 1 << 20;
  auto device = takt::Device::Create(instance_, GetParam(), options).value();
  EXPECT_FALSE(Buffer::Allocate(device, 2 << 20).ok());
  auto shared = takt::AllocateShared(device, 100).value();
  EXPECT_EQ(shared.byte_length(), 100u);
  EXPECT_FALSE(takt::ImportFd(device, -1, 0, 100).ok());
  auto module = takt::Module::Load(instance_, std::string(TAKT_TESTDATA_DIR) +
                                                  "/models/mlp.cpu.vmfb")
                    .value();
  auto context = takt::Context::Create(instance_, {module}, {device}).value();
  auto function = context.FindFunction("module.mlp").value();
  EXPECT_TRUE(takt::Prepare(context).ok());
  EXPECT_TRUE(takt::Prepare(function).ok());
  EXPECT_EQ(takt::QueryMemory(function).value().bytes_largest, 5120u);
}

INSTANTIATE_TEST_SUITE_P(Devices, QueueHppTest,
                         ::testing::Values("local-sync", "local-task"));

}  // namespace
