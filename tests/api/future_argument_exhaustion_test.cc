// Results that are passed to calls which do not fit them, without memory.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "takt/takt.hpp"
#include "tests/support/allocation_faults.h"

namespace takt {
namespace {

TEST(FutureArgumentExhaustion, AResultThatDoesNotFitIsFetchedOnce) {
  const Instance instance = Instance::Create().value();
  // Without threads: the program runs where its fence is signaled.
  const Device device = Device::Create(instance, "local-sync").value();
  const auto find = [&](const std::string& path, const char* name) {
    const Module module =
        Module::Load(instance, TAKT_TESTDATA_DIR "/" + path).value();
    return Context::Create(instance, {module}, {device})
        .value()
        .FindFunction(name)
        .value();
  };
  const Function producer = find("async/dag.cpu.vmfb", "fn0");
  const Function consumer = find("onnx/policy.cpu.vmfb", "policy")
                                .Declare(
                                    "(%joints: tensor<1x4xf32>) -> "
                                    "(%torque: tensor<1x3xf32>, "
                                    "%mean: tensor<1x1xf32>)")
                                .value();
  const std::vector<float> values = {1, 2, 3, 4};
  const BufferView view =
      BufferView::Copy<float>(device, {4}, std::span<const float>(values))
          .value();

  bool is_hit = true;
  for (int64_t first = 0; is_hit; ++first) {
    const Fence begin = Fence::Create().value();
    const Invocation produced =
        AsyncInvoke(producer, {view, view}, {.wait = begin}).value();
    const Invocation consumed =
        AsyncInvoke(consumer, {Value()}, {.future_arguments = {{0, produced}}})
            .value();
    Status signaled;
    {
      const AllocationFault armed(first);
      signaled = begin.Signal();
      is_hit = AllocationFault::is_hit();
    }
    if (!signaled.ok()) signaled = begin.Signal();
    ASSERT_TRUE(signaled.ok()) << signaled.message();
    const Status status = consumed.Wait();
    if (is_hit && status.code() == TAKT_STATUS_RESOURCE_EXHAUSTED) continue;
    EXPECT_EQ(status.code(), TAKT_STATUS_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace takt
