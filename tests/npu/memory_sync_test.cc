// Command buffers of an NPU's device, whose driver is the host driver with
// functions that note what they are called with.
#include "npu/memory_sync.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu/cpu_command_buffer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "npu/device.h"
#include "npu/host_driver.h"

namespace takt::npu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Call {
  std::string name;
  uint64_t byte_length;
  int first_byte;  // As it was then.
  bool operator==(const Call& other) const = default;
};

// Of the driver below, whose functions have nowhere else to look.
struct Notes {
  std::vector<Call> calls;
  takt_npu_result_t result = TAKT_NPU_RESULT_OK;
};
Notes* notes = nullptr;

takt_npu_result_t NoteSync(const char* name, void* data, uint64_t byte_length) {
  notes->calls.push_back({name, byte_length, *static_cast<uint8_t*>(data)});
  return notes->result;
}

class MemorySyncTest : public testing::Test {
 protected:
  MemorySyncTest() {
    notes = &notes_;
    driver_ = *HostDriver();
    driver_.flush_memory = [](void*, void* data, uint64_t byte_length) {
      return NoteSync("flush", data, byte_length);
    };
    driver_.invalidate_memory = [](void*, void* data, uint64_t byte_length) {
      return NoteSync("invalidate", data, byte_length);
    };
  }
  ~MemorySyncTest() override { notes = nullptr; }

  // Device, buffer and a command buffer of a driver with that table.
  void Open() {
    NpuUnit::Options options;
    options.time = std::make_shared<VirtualTime>();
    auto unit = NpuUnit::Open(&driver_, options);
    ASSERT_TRUE(unit.ok()) << unit.status();
    unit_ = *std::move(unit);
    auto device =
        CreateDevice(unit_, /*executor=*/nullptr, /*owns_executor=*/false, {},
                     /*takes_native_code=*/false);
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
    buffer_ = hal::Buffer::Create(*hal::CreateHeapStorage(64),
                                  hal::kMemoryTypeAll, 0xc03, hal::kAccessAll);
    auto commands = device_->CreateCommandBuffer(0, 3, 0);
    ASSERT_TRUE(commands.ok()) << commands.status();
    commands_ = *std::move(commands);
  }
  hal::BufferRef Range(uint64_t offset, uint64_t length) const {
    return {buffer_.get(), 0, offset, length};
  }
  absl::Status Run() {
    absl::Status status = commands_->Finalize();
    if (!status.ok()) return status;
    const auto done = hal::Fence::Create();
    status = device_->QueueExecute({.signal = done.get()}, commands_.get(), {});
    if (!status.ok()) return status;
    return done->Wait(INT64_MAX);
  }

  Notes notes_;
  takt_npu_driver_t driver_;
  Ref<NpuUnit> unit_;
  Ref<cpu::Device> device_;
  Ref<hal::Buffer> buffer_;
  Ref<hal::CommandBuffer> commands_;
};

TEST_F(MemorySyncTest, TheDriverIsCalledInTheOrderOfTheCommands) {
  Open();
  ASSERT_TRUE(commands_->FillBuffer(Range(0, 16), 5, 1).ok());
  ASSERT_TRUE(commands_->FlushBuffer(Range(0, 16)).ok());
  ASSERT_TRUE(commands_->FillBuffer(Range(0, 16), 6, 1).ok());
  ASSERT_TRUE(commands_->InvalidateBuffer(Range(3, 60)).ok());
  ASSERT_TRUE(commands_->FlushBuffer(Range(9, 0)).ok());  // Of nothing.
  ASSERT_TRUE(commands_->FillBuffer(Range(0, 16), 7, 1).ok());
  const absl::Status status = Run();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(notes_.calls,
              ElementsAre(Call{"flush", 16, 5}, Call{"invalidate", 60, 6}));
  EXPECT_EQ(buffer_->data()[0], 7);
}

TEST_F(MemorySyncTest, AnErrorOfTheDriverFailsTheJob) {
  Open();
  notes_.result = TAKT_NPU_RESULT_NO_MEMORY;
  ASSERT_TRUE(commands_->InvalidateBuffer(Range(0, 64)).ok());
  ASSERT_TRUE(commands_->FillBuffer(Range(0, 16), 7, 1).ok());
  const absl::Status status = Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("invalidate_memory of 64 bytes: NO_MEMORY"));
  EXPECT_EQ(notes_.calls.size(), 1u);
  EXPECT_EQ(buffer_->data()[0], 0);
  EXPECT_EQ(unit_->statistics().error_count, 1u);
}

TEST_F(MemorySyncTest, ADriverMayHaveOneOfTheTwo) {
  driver_.flush_memory = nullptr;
  Open();
  EXPECT_TRUE(unit_->syncs_memory());
  ASSERT_TRUE(commands_->FlushBuffer(Range(0, 16)).ok());
  ASSERT_TRUE(commands_->InvalidateBuffer(Range(0, 16)).ok());
  EXPECT_TRUE(Run().ok());
  EXPECT_THAT(notes_.calls, ElementsAre(Call{"invalidate", 16, 0}));
}

// The table of a driver that was built before there were these functions.
TEST_F(MemorySyncTest, AnOlderDriverHasNeither) {
  driver_.struct_size = offsetof(takt_npu_driver_t, flush_memory);
  Open();
  EXPECT_FALSE(unit_->syncs_memory());
  ASSERT_TRUE(commands_->FlushBuffer(Range(0, 16)).ok());
  EXPECT_EQ(commands_->FlushBuffer(Range(60, 5)).code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(Run().ok());
  EXPECT_TRUE(notes_.calls.empty());
}

}  // namespace
}  // namespace takt::npu
