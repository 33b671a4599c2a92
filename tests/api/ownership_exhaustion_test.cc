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
#include "takt/buffer_view.h"
#include "takt/context.h"
#include "takt/device.h"
#include "takt/fence.h"
#include "takt/file.h"
#include "takt/function.h"
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

// Results of native functions that are refused, where there is no memory to say
// so: "wrong" breaks its convention, and the result of "bare" is no tensor,
// which the caller's buffer is for.
TEST_F(OwnershipExhaustionTest, ResultsThatAreRefused) {
  static takt_buffer_t* buffer;
  constexpr auto kGive = [](void*, size_t, const takt_value_t*, size_t count,
                            takt_value_t* results) -> takt_status_t {
    takt_buffer_retain(buffer);
    results[0] = takt_value_ref(buffer);
    if (count > 1) results[1] = takt_value_f32(1);
    return nullptr;
  };
  const takt_native_export_t exports[2] = {{"wrong", "0v_ri", kGive},
                                           {"bare", "0v_r", kGive}};
  takt_native_module_options_t options;
  takt_native_module_options_init(&options);
  options.name = "native";
  options.export_count = 2;
  options.exports = exports;
  takt_module_t* module = nullptr;
  ASSERT_EQ(takt_native_module_create(instance_, &options, &module), nullptr);
  takt_context_options_t context_options;
  takt_context_options_init(&context_options);
  context_options.modules = &module;
  context_options.module_count = 1;
  takt_context_t* context = nullptr;
  ASSERT_EQ(takt_context_create(instance_, &context_options, &context),
            nullptr);
  const float element = 0;
  const int64_t shape = 1;
  takt_buffer_view_t* view = nullptr;
  ASSERT_EQ(
      takt_buffer_view_copy_from_host(device_, TAKT_ELEMENT_F32, 1, &shape,
                                      &element, sizeof(element), &view),
      nullptr);
  const takt_result_buffer_t bound = {0, view};
  takt_invoke_options_t with_buffer;
  takt_invoke_options_init(&with_buffer);
  with_buffer.result_buffer_count = 1;
  with_buffer.result_buffers = &bound;
  for (const bool is_bare : {false, true}) {
    takt_function_t* function = nullptr;
    ASSERT_EQ(takt_context_find_function(
                  context, is_bare ? "native.bare" : "native.wrong", &function),
              nullptr);
    alignas(64) static uint8_t bytes[64];
    bool is_hit = true;
    for (int64_t first = 0; is_hit; ++first) {
      released_count = 0;
      ASSERT_EQ(takt_buffer_wrap(device_, bytes, sizeof(bytes), nullptr, &Count,
                                 nullptr, &buffer),
                nullptr);
      takt_value_t results[2] = {};
      takt_status_t status = nullptr;
      {
        const AllocationFault fault(first);
        status =
            takt_function_invoke(function, is_bare ? &with_buffer : nullptr, 0,
                                 nullptr, is_bare ? 1 : 2, results);
        is_hit = AllocationFault::is_hit();
      }
      EXPECT_NE(status, nullptr);
      takt_status_free(status);
      EXPECT_EQ(results[0].kind, TAKT_VALUE_NONE);
      takt_buffer_release(buffer);
      EXPECT_EQ(released_count, 1)
          << (is_bare ? "bare" : "wrong") << ", allocation " << first;
    }
    takt_function_release(function);
  }
  takt_buffer_view_release(view);
  takt_context_release(context);
  takt_module_release(module);
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
