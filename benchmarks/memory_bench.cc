// Measures the memory of a pipeline: three figures of queue-ordered memory.
//
//   memory_bench [model.async.vmfb] [calls]
//
//   budget      two requests of 400 MB on a device of 512 MB, queued at once,
//               each filled: both finish, and the peak stays in the budget
//   sequential  `calls` asynchronous calls, each after the one before, all
//               queued at once: the peak of the pool, compared with one call
//   rest        resident memory before the first call, after the calls, and
//               after trim
//
// Prints a line for each, and ends with 1 if a bound does not hold. The model
// is like the mlp fixture: one function, whose inputs are tensors of ones.
#include <malloc.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "takt/takt.hpp"

namespace {

constexpr size_t kMegabyte = 1 << 20;

size_t ResidentBytes() {
  FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  size_t total = 0, resident = 0;
  const int count = std::fscanf(file, "%zu %zu", &total, &resident);
  std::fclose(file);
  return count == 2 ? resident * static_cast<size_t>(getpagesize()) : 0;
}

void Check(const takt::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

void WaitFor(const takt::Instance& instance, const takt::Fence& fence) {
  Check(takt::Status(
      takt_fence_wait(fence.get(), instance.get(), TAKT_INFINITE_FUTURE)));
}

bool RunBudget(const takt::Instance& instance) {
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.memory_budget_bytes = 512 * kMegabyte;
  auto device = takt::Device::Create(instance, "local-task", options).value();
  const takt::Queue queue(device);
  const takt::Fence none;
  std::vector<takt::Fence> freed;
  const int64_t start_ns = takt_clock_now_ns();
  for (int i = 0; i < 2; ++i) {
    auto allocated = takt::Fence::Create().value();
    auto filled = takt::Fence::Create().value();
    freed.push_back(takt::Fence::Create().value());
    auto buffer = queue.Alloca({none, allocated}, 400 * kMegabyte).value();
    Check(queue.Fill({allocated, filled}, buffer, uint32_t{1}));
    Check(queue.Dealloca({filled, freed.back()}, buffer));
  }
  for (const takt::Fence& fence : freed) WaitFor(instance, fence);
  const takt_device_statistics_t statistics = device.statistics();
  std::printf("budget: 2 x 400 MB on 512 MB: %.1f ms, peak %.1f MB, %" PRIu64
              " waited\n",
              static_cast<double>(takt_clock_now_ns() - start_ns) / 1e6,
              static_cast<double>(statistics.bytes_peak) / kMegabyte,
              statistics.wait_count);
  return statistics.bytes_peak <= 512 * kMegabyte;
}

// The model on a device of its own.
struct Model {
  Model(const takt::Instance& instance, const std::string& path)
      : device(takt::Device::Create(instance, "local-task").value()) {
    auto module = takt::Module::Load(instance, path).value();
    context = takt::Context::Create(instance, {module}, {device}).value();
    function =
        context.FindFunction(takt_module_export_name(module.get(), 0)).value();
    for (const auto& shape :
         {std::vector<int64_t>{8, 64}, {64, 128}, {128, 32}}) {
      const std::vector<float> ones(static_cast<size_t>(shape[0] * shape[1]),
                                    1.0f);
      inputs.push_back(
          takt::BufferView::Copy<float>(device, shape, ones).value());
    }
  }

  // Queues `count` calls, each after the one before, runs them all, and
  // returns the pool's peak.
  uint64_t RunChain(const takt::Instance& instance, int count) {
    const auto start = takt::Fence::Create().value();
    takt::Fence before = start;
    for (int i = 0; i < count; ++i) {
      auto done = takt::Fence::Create().value();
      const takt_value_t arguments[] = {
          takt_value_ref(inputs[0].get()), takt_value_ref(inputs[1].get()),
          takt_value_ref(inputs[2].get()), takt_value_ref(before.get()),
          takt_value_ref(done.get())};
      takt_value_t result;
      Check(takt::Status(takt_function_invoke(function.get(), nullptr, 5,
                                              arguments, 1, &result)));
      takt_values_release(1, &result);
      before = done;
    }
    Check(takt::Status(takt_fence_signal(start.get())));
    WaitFor(instance, before);
    return device.statistics().bytes_peak;
  }

  takt::Device device;
  takt::Context context;
  takt::Function function;
  std::vector<takt::BufferView> inputs;
};

bool RunSequential(const takt::Instance& instance, const std::string& path,
                   int count) {
  const uint64_t one = Model(instance, path).RunChain(instance, 1);
  Model model(instance, path);
  const int64_t start_ns = takt_clock_now_ns();
  const uint64_t many = model.RunChain(instance, count);
  std::printf("sequential: %d calls: %.3f ms, peak %" PRIu64
              " bytes, of one call %" PRIu64 "\n",
              count, static_cast<double>(takt_clock_now_ns() - start_ns) / 1e6,
              many, one);
  return one == many;
}

bool RunRest(const takt::Instance& instance, const std::string& path,
             int count) {
  Model model(instance, path);
  model.device.Trim();
  const size_t before = ResidentBytes();
  model.RunChain(instance, count);
  const size_t after = ResidentBytes();
  takt_instance_trim(instance.get());
  model.device.Trim();
  const size_t rest = ResidentBytes();
  std::printf(
      "rest: resident %.2f MB before, %.2f MB after %d calls, %.2f MB "
      "after trim (%+.1f %%)\n",
      static_cast<double>(before) / kMegabyte,
      static_cast<double>(after) / kMegabyte, count,
      static_cast<double>(rest) / kMegabyte,
      100.0 * (static_cast<double>(rest) / static_cast<double>(before) - 1.0));
  return static_cast<double>(rest) <= 1.1 * static_cast<double>(before);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : TAKT_MEMORY_BENCH_MODEL;
  const int count = argc > 2 ? std::atoi(argv[2]) : 1000;
  const auto instance = takt::Instance::Create().value();
  bool ok = RunRest(instance, path, count);
  ok = RunSequential(instance, path, count) && ok;
  ok = RunBudget(instance) && ok;
  return ok ? 0 : 1;
}
