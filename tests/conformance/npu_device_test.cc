// The conformance suite on devices with an NPU: each built-in driver, with
// own threads of the device and without.
#include <memory>
#include <string>
#include <utility>

#include "exec/executor.h"
#include "npu/device.h"
#include "npu/host_driver.h"
#include "npu/sim_driver.h"
#include "tests/conformance/device_conformance.h"
#include "tests/conformance/test_code.h"

namespace takt::conformance {
namespace {

class NpuBackend final : public Backend {
 public:
  NpuBackend(const takt_npu_driver_t* driver, uint32_t worker_count) {
    npu::NpuUnit::Options options;
    options.time = std::make_shared<npu::VirtualTime>();
    auto unit = npu::NpuUnit::Open(driver, options);
    EXPECT_TRUE(unit.ok()) << unit.status();
    Ref<exec::Executor> executor;
    if (worker_count > 0) {
      exec::Executor::Options threads;
      threads.worker_count = worker_count;
      threads.concurrency_max = worker_count + 1;
      auto made = exec::Executor::Create(threads);
      EXPECT_TRUE(made.ok()) << made.status();
      executor = *std::move(made);
    }
    auto device = npu::CreateDevice(*std::move(unit), std::move(executor),
                                    /*owns_executor=*/true, {},
                                    /*takes_native_code=*/false);
    EXPECT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }

  hal::Device& device() override { return *device_; }
  Ref<hal::Executable> LoadTestExecutable() override {
    return MakeRef<cpu::LoadedExecutable>(std::make_shared<TestCode>());
  }
  absl::Status Wait(const hal::Fence& fence) override {
    return fence.Wait(INT64_MAX);
  }
  void ReleaseDevice() override { device_.reset(); }

 private:
  Ref<cpu::Device> device_;
};

BackendParam Npu(const std::string& name, const takt_npu_driver_t* driver,
                 uint32_t worker_count) {
  return {name + "_" + std::to_string(worker_count),
          [driver, worker_count]() -> std::unique_ptr<Backend> {
            return std::make_unique<NpuBackend>(driver, worker_count);
          }};
}

INSTANTIATE_TEST_SUITE_P(Npu, DeviceConformanceTest,
                         ::testing::Values(Npu("host", npu::HostDriver(), 0),
                                           Npu("host", npu::HostDriver(), 2),
                                           Npu("sim", npu::SimDriver(), 0),
                                           Npu("sim", npu::SimDriver(), 2)),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace takt::conformance
