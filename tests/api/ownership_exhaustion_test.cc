// What a function takes, and what it leaves to its caller, if there is no
// memory.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "gtest/gtest.h"
#include "takt/buffer.h"
#include "takt/device.h"
#include "takt/fence.h"
#include "takt/file.h"
#include "takt/instance.h"
#include "takt/module.h"
#include "takt/native_module.h"
#include "takt/queue.h"
#include "takt/timeline.h"
#include "tests/support/allocation_faults.h"

namespace takt {
namespace {

class OwnershipExhaustionTest : public ::testing::Test {
 protected:
  OwnershipExhaustionTest() {
    takt_instance_options_t options;
    takt_instance_options_init(&options);
    EXPECT_EQ(takt_instance_create(&options, &instance_), nullptr);
    EXPECT_EQ(takt_device_create(instance_, "local-sync", nullptr, &device_),
              nullptr);
  }
  ~OwnershipExhaustionTest() override {
    takt_device_release(device_);
    takt_instance_release(instance_);
  }

  // Calls `create` once for each of its allocations, which fails then, and once
  // more. What it creates ends with a call of its release function, Count();
  // where it fails, it leaves the memory to its caller.
  void ReleasesOnlyWhatItTook(std::function<takt_status_t()> create) {
    bool is_hit = true;
    for (int64_t first = 0; is_hit; ++first) {
      released_count = 0;
      takt_status_t status = nullptr;
      {
        const AllocationFault fault(first);
        status = create();
        is_hit = AllocationFault::is_hit();
      }
      EXPECT_EQ(released_count, status == nullptr ? 1 : 0)
          << "allocation " << first << ": " << takt_status_message(status);
      takt_status_free(status);
    }
  }
  static void Count(void*) { ++released_count; }

  takt_instance_t* instance_ = nullptr;
  takt_device_t* device_ = nullptr;

 private:
  static inline int released_count = 0;
};

TEST_F(OwnershipExhaustionTest, AFileOfMemory) {
  alignas(64) static uint8_t bytes[64];
  ReleasesOnlyWhatItTook([&] {
    takt_file_t* file = nullptr;
    const takt_status_t status = takt_file_wrap(
        bytes, sizeof(bytes), TAKT_ACCESS_READ, &Count, nullptr, &file);
    takt_file_release(file);
    return status;
  });
}

TEST_F(OwnershipExhaustionTest, ABufferOfMemory) {
  alignas(64) static uint8_t bytes[64];
  ReleasesOnlyWhatItTook([&] {
    takt_buffer_t* buffer = nullptr;
    const takt_status_t status = takt_buffer_wrap(
        device_, bytes, sizeof(bytes), nullptr, &Count, nullptr, &buffer);
    takt_buffer_release(buffer);
    return status;
  });
}

TEST_F(OwnershipExhaustionTest, AModuleOfMemory) {
  std::ifstream file(TAKT_TESTDATA_DIR "/api/simple_mul.vmfb",
                     std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  ASSERT_FALSE(content.empty());
  void* const bytes = std::aligned_alloc(64, (content.size() + 63) / 64 * 64);
  content.copy(static_cast<char*>(bytes), content.size());
  takt_module_memory_options_t options;
  takt_module_memory_options_init(&options);
  options.borrow = true;
  options.release = &Count;
  ReleasesOnlyWhatItTook([&] {
    takt_module_t* module = nullptr;
    const takt_status_t status = takt_module_load_memory(
        instance_, bytes, content.size(), &options, &module);
    takt_module_release(module);
    return status;
  });
  std::free(bytes);
}

TEST_F(OwnershipExhaustionTest, ANativeModule) {
  const takt_native_export_t exported = {
      "noop", "0v_v",
      [](void*, size_t, const takt_value_t*, size_t,
         takt_value_t*) -> takt_status_t { return nullptr; }};
  takt_native_module_options_t options;
  takt_native_module_options_init(&options);
  options.name = "native";
  options.export_count = 1;
  options.exports = &exported;
  options.release = &Count;
  ReleasesOnlyWhatItTook([&] {
    takt_module_t* module = nullptr;
    const takt_status_t status =
        takt_native_module_create(instance_, &options, &module);
    takt_module_release(module);
    return status;
  });
}

TEST_F(OwnershipExhaustionTest, AHostCall) {
  takt_fence_t* wait = nullptr;
  takt_fence_t* done = nullptr;
  ReleasesOnlyWhatItTook([&]() -> takt_status_t {
    takt_status_t status = takt_fence_create(&wait);
    if (status == nullptr) status = takt_fence_create(&done);
    if (status == nullptr) {
      status = takt_queue_host_call(
          device_, wait, done, [](void*) -> takt_status_t { return nullptr; },
          &Count, nullptr);
    }
    takt_fence_fail(wait, nullptr);
    takt_fence_release(wait);
    takt_fence_release(done);
    wait = done = nullptr;
    return status;
  });
}

TEST_F(OwnershipExhaustionTest, AFenceAndATimelineFail) {
  takt_fence_t* fence = nullptr;
  takt_timeline_t* timeline = nullptr;
  ASSERT_EQ(takt_fence_create(&fence), nullptr);
  ASSERT_EQ(takt_timeline_create(0, &timeline), nullptr);
  {
    const AllocationFault fault(0, /*goes_on=*/true);
    takt_fence_fail(fence, nullptr);
    takt_timeline_fail(timeline, nullptr);
  }
  bool is_reached = false;
  takt_status_t status = takt_fence_query(fence, &is_reached);
  EXPECT_EQ(takt_status_code(status), TAKT_STATUS_UNKNOWN);
  takt_status_free(status);
  uint64_t value = 0;
  status = takt_timeline_query(timeline, &value);
  EXPECT_EQ(takt_status_code(status), TAKT_STATUS_UNKNOWN);
  takt_status_free(status);
  takt_fence_release(fence);
  takt_timeline_release(timeline);
}

}  // namespace
}  // namespace takt
