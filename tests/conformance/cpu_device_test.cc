// The conformance suite on the CPU devices: local-sync, and local-task with
// several numbers of workers.
#include <utility>

#include "cpu/device.h"
#include "exec/executor.h"
#include "tests/conformance/device_conformance.h"
#include "tests/conformance/test_code.h"

namespace takt::conformance {
namespace {

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(Ref<exec::Executor> executor)
      : executor_(std::move(executor)) {
    auto device = cpu::Device::Create(
        executor_ != nullptr ? "local-task" : "local-sync", executor_, {});
    EXPECT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }
  ~CpuBackend() override { ReleaseDevice(); }

  hal::Device& device() override { return *device_; }
  Ref<hal::Executable> LoadTestExecutable() override {
    return MakeRef<cpu::LoadedExecutable>(std::make_shared<TestCode>());
  }
  absl::Status Wait(const hal::Fence& fence) override {
    if (executor_ == nullptr) return fence.Wait(INT64_MAX);
    exec::Executor::HelpingCaller helper(*executor_);
    absl::Status outcome;
    fence.OnReached([&](const absl::Status& status) {
      outcome = status;
      helper.Notify();
    });
    EXPECT_TRUE(helper.WaitUntilNotified(INT64_MAX));
    return outcome;
  }
  void ReleaseDevice() override {
    device_.reset();
    if (executor_ != nullptr) executor_->Shutdown();
  }

 private:
  Ref<exec::Executor> executor_;
  Ref<cpu::Device> device_;
};

BackendParam LocalTask(uint32_t worker_count) {
  return {"local_task_" + std::to_string(worker_count),
          [worker_count]() -> std::unique_ptr<Backend> {
            exec::Executor::Options options;
            options.worker_count = worker_count;
            // As if each worker had a processor, so that all of them take part.
            options.concurrency_max = worker_count + 1;
            auto executor = exec::Executor::Create(options);
            EXPECT_TRUE(executor.ok()) << executor.status();
            return std::make_unique<CpuBackend>(*std::move(executor));
          }};
}

BackendParam LocalSync() {
  return {"local_sync", []() -> std::unique_ptr<Backend> {
            return std::make_unique<CpuBackend>(nullptr);
          }};
}

INSTANTIATE_TEST_SUITE_P(Cpu, DeviceConformanceTest,
                         ::testing::Values(LocalSync(), LocalTask(0),
                                           LocalTask(1), LocalTask(2),
                                           LocalTask(4), LocalTask(64)),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace takt::conformance
