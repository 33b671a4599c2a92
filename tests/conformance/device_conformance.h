// The suite that every hal::Device must pass. A backend instantiates it with a
// Backend, which makes the device and an executable with these functions:
//
//   0  add_constant   bindings: values (u32, in place); constant 0 is added to
//                     value i by workgroup i
//   1  accumulate     bindings: source, target; workgroup i: target[i] =
//                     target[i] * 3 + source[i]
//   2  fail           no bindings; every workgroup fails with INTERNAL
//   3  mark_order     bindings: counter and slots; sequential: workgroup i
//                     writes the counter to slot i and raises it
//   4  denormal       bindings: two floats; the second is the first times one
//
// Each fixture checks at its end that no operation was lost.
#ifndef TAKT_TESTS_CONFORMANCE_DEVICE_CONFORMANCE_H_
#define TAKT_TESTS_CONFORMANCE_DEVICE_CONFORMANCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hal/device.h"
#include "hal/fence.h"

namespace takt::conformance {

// The backend of one test.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual hal::Device& device() = 0;
  virtual Ref<hal::Executable> LoadTestExecutable() = 0;
  // Waits; this thread helps where no worker exists.
  virtual absl::Status Wait(const hal::Fence& fence) = 0;
  // Releases the device, also while work is in flight.
  virtual void ReleaseDevice() = 0;
};

struct BackendParam {
  std::string name;
  std::function<std::unique_ptr<Backend>()> make;
};

enum TestFunction : uint64_t {
  kAddConstant = 0,
  kAccumulate = 1,
  kFail = 2,
  kMarkOrder = 3,
  kDenormal = 4,
};

class DeviceConformanceTest : public ::testing::TestWithParam<BackendParam> {
 protected:
  DeviceConformanceTest() : backend_(GetParam().make()) {}

  hal::Device& device() { return backend_->device(); }
  absl::Status Wait(const Ref<hal::Fence>& fence) {
    return backend_->Wait(*fence);
  }

  // A buffer of u32s with memory, holding `values`.
  Ref<hal::Buffer> MakeBuffer(const std::vector<uint32_t>& values);
  static std::vector<uint32_t> Read(const hal::Buffer& buffer);
  static hal::BufferRef Slot(uint32_t slot) {
    return {nullptr, slot, 0, hal::kWholeBuffer};
  }
  static hal::BufferRef Direct(const Ref<hal::Buffer>& buffer) {
    return {buffer.get(), 0, 0, hal::kWholeBuffer};
  }
  static hal::Binding Bind(const Ref<hal::Buffer>& buffer) {
    return {buffer.get(), 0, hal::kWholeBuffer};
  }
  Ref<hal::CommandBuffer> MakeCommandBuffer(size_t binding_capacity,
                                            uint32_t mode = 0);
  // One dispatch of add_constant over `count` values in slot 0.
  Ref<hal::CommandBuffer> MakeAddConstant(uint32_t count, uint32_t constant);

  std::unique_ptr<Backend> backend_;
};

}  // namespace takt::conformance

#endif  // TAKT_TESTS_CONFORMANCE_DEVICE_CONFORMANCE_H_
