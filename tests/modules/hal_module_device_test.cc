#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

constexpr uint32_t kRead = 1;
constexpr uint32_t kReadWrite = 3;

class HalDeviceTest : public HalModuleTest {
 protected:
  void SetUp() override {
    auto second = cpu::Device::Create("local-task", nullptr, {});
    TAKT_ASSERT_OK(second);
    calls_.options.devices.push_back(*std::move(second));
    Link("hal_device");
  }

  absl::StatusOr<std::vector<vm::Value>> Query(const char* category,
                                               const char* key) {
    return calls_.Call("hal.device.query.i64", calls_.device_ref(), category,
                       key);
  }
};

TEST_F(HalDeviceTest, DevicesComeInTheOrderGiven) {
  EXPECT_EQ(*calls_.CallI32("hal.devices.count"), 2);
  for (int32_t i : {0, 1}) {
    EXPECT_EQ(*calls_.CallRef<hal::Device>("hal.devices.get", i),
              calls_.options.devices[static_cast<size_t>(i)]);
  }
}

TEST_F(HalDeviceTest, NoDeviceIsNull) {
  for (int32_t index : {2, 7, -1}) {
    auto device = calls_.CallRef<hal::Device>("hal.devices.get", index);
    TAKT_ASSERT_OK(device);
    EXPECT_EQ(*device, nullptr);
  }
}

TEST_F(HalDeviceTest, AllocatorIsTheDevices) {
  auto allocator = calls_.CallRef<hal::Allocator>("hal.device.allocator",
                                                  calls_.device_ref());
  TAKT_ASSERT_OK(allocator);
  EXPECT_EQ((*allocator)->device(), &calls_.device());
  EXPECT_THAT(calls_.Call("hal.device.allocator", nullptr),
              FailsWith(kInvalid, "hal.device.allocator"));
}

TEST_F(HalDeviceTest, QueryMatchesTheId) {
  struct Case {
    const char* pattern;
    int64_t expected;
  };
  for (const Case& c : {Case{"local*", 1}, Case{"local-sync", 1},
                        Case{"local-????", 1}, Case{"*", 1}, Case{"local", 0},
                        Case{"local-task", 0}, Case{"npu*", 0}}) {
    auto results = Query("hal.device.id", c.pattern);
    TAKT_ASSERT_OK(results);
    EXPECT_EQ((*results)[0].i32(), 1) << c.pattern;
    EXPECT_EQ((*results)[1].i64(), c.expected) << c.pattern;
  }
}

TEST_F(HalDeviceTest, QueryKnowsFormatsAndConcurrency) {
  struct Case {
    const char* category;
    const char* key;
    int64_t expected;
  };
  for (const Case& c : {Case{"hal.executable.format", "vmvx-bytecode-fb", 1},
                        Case{"hal.executable.format", "npu-fb", 0},
                        Case{"hal.device", "concurrency", 1},
                        Case{"hal.dispatch", "concurrency", 1}}) {
    auto results = Query(c.category, c.key);
    TAKT_ASSERT_OK(results);
    EXPECT_EQ((*results)[0].i32(), 1) << c.key;
    EXPECT_EQ((*results)[1].i64(), c.expected) << c.key;
  }
}

TEST_F(HalDeviceTest, QueryDoesNotFailForUnknownKeys) {
  for (const char* category : {"", "hal.device", "hal.nothing"}) {
    auto results = Query(category, "no such key");
    TAKT_ASSERT_OK(results);
    EXPECT_EQ((*results)[0].i32(), 0);
    EXPECT_EQ((*results)[1].i64(), 0);
  }
  EXPECT_THAT(calls_.Call("hal.device.query.i64", nullptr, "a", "b"),
              FailsWith(kInvalid, "hal.device"));
}

TEST_F(HalDeviceTest, FileFromMemorySharesAndKeepsTheBytes) {
  Ref<vm::ByteBuffer> source = ConstantBytes("0123456789");
  auto file = calls_.CallRef<hal::File>(
      "hal.ex.file.from_memory", calls_.device_ref(), kAnyQueue, kRead, source,
      uint64_t{2}, uint64_t{5}, int32_t{0});
  TAKT_ASSERT_OK(file);
  EXPECT_EQ((*file)->byte_length(), 5u);
  EXPECT_EQ((*file)->access(), hal::kAccessRead);
  source.reset();
  EXPECT_EQ((*file)->data()[0], '2');
}

TEST_F(HalDeviceTest, FileOfMutableBytesMayBeWritten) {
  auto file = calls_.CallRef<hal::File>(
      "hal.ex.file.from_memory", calls_.device_ref(), kAnyQueue, kReadWrite,
      MutableBytes("0123"), uint64_t{0}, ~uint64_t{0}, int32_t{0});
  TAKT_ASSERT_OK(file);
  EXPECT_EQ((*file)->access(), hal::kAccessAll);
  EXPECT_EQ((*file)->byte_length(), 4u);
}

TEST_F(HalDeviceTest, FileRejectsAccessAndRanges) {
  auto create = [&](uint32_t access, uint64_t offset, uint64_t length) {
    return calls_.Call("hal.ex.file.from_memory", calls_.device_ref(),
                       kAnyQueue, access, ConstantBytes("0123"), offset, length,
                       int32_t{0});
  };
  EXPECT_THAT(create(kReadWrite, 0, 4),
              FailsWith(kDenied, "only read access (1) can be had; got 0x3"));
  EXPECT_THAT(create(kRead, 0, 5), FailsWith(kOutOfRange, ""));
  EXPECT_THAT(create(kRead, ~uint64_t{0}, 5), FailsWith(kOutOfRange, ""));
}

}  // namespace
}  // namespace takt::modules
