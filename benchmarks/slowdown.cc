// A kernel that streams through the memory beside perception, each on a core of
// its own: how long calls of each take alone and beside the other, and how well
// the scheduler predicts the durations of their dispatches with what it has
// learned of that and without (docs/scheduling.md, "Side by side").
//
// The stream runs for half a second and pauses for half a second, in turns; so
// perception runs alone and beside it.
//
// usage: slowdown DIR [--seconds S]
//        DIR holds perception.vmfb, as for `contention`, and stream.vmfb, of
//        benchmarks/stream.mlir
// Prints JSON.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "takt/takt.h"

namespace {

constexpr int64_t kTurnNs = 500'000'000;

void Check(takt_status_t status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", takt_status_message(status));
  std::exit(1);
}

// A function that is called on one core.
class Call {
 public:
  Call(takt_instance_t* instance, takt_device_t* device,
       const std::string& path, const char* function,
       const std::vector<int64_t>& shape, uint64_t cpu_mask)
      : cpu_mask_(cpu_mask) {
    takt_invoke_options_init(&options_);
    options_.cpu_words = &cpu_mask_;
    options_.cpu_word_count = 1;
    options_.priority = 100;
    takt_module_t* module = nullptr;
    Check(takt_module_load_file(instance, path.c_str(), nullptr, &module));
    takt_context_options_t context_options;
    takt_context_options_init(&context_options);
    context_options.modules = &module;
    context_options.module_count = 1;
    context_options.devices = &device;
    context_options.device_count = 1;
    takt_context_t* context = nullptr;
    Check(takt_context_create(instance, &context_options, &context));
    Check(takt_context_find_function(context, function, &function_));
    takt_context_release(context);
    takt_module_release(module);
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    const std::vector<float> values(count, 0.5f);
    takt_buffer_view_t* view = nullptr;
    Check(takt_buffer_view_copy_from_host(
        device, TAKT_ELEMENT_F32, shape.size(), shape.data(), values.data(),
        values.size() * sizeof(float), &view));
    argument_ = takt_value_ref(view);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    takt_values_release(1, &argument_);
    takt_function_release(function_);
  }

  int64_t Run() {
    const int64_t begin_ns = takt_clock_now_ns();
    takt_value_t result;
    Check(
        takt_function_invoke(function_, &options_, 1, &argument_, 1, &result));
    takt_values_release(1, &result);
    return takt_clock_now_ns() - begin_ns;
  }

 private:
  const uint64_t cpu_mask_;
  takt_invoke_options_t options_;
  takt_function_t* function_ = nullptr;
  takt_value_t argument_ = {};
};

double MedianMs(std::vector<int64_t> times_ns) {
  if (times_ns.empty()) return 0;
  std::sort(times_ns.begin(), times_ns.end());
  return static_cast<double>(times_ns[times_ns.size() / 2]) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  std::string directory;
  double seconds = 20;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else {
      directory = argv[i];
    }
  }
  if (directory.empty()) {
    std::fprintf(stderr, "usage: slowdown DIR [--seconds S]\n");
    return 2;
  }
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_cpus = "0-1";
  options.scheduler = &scheduler;
  takt_instance_t* instance = nullptr;
  Check(takt_instance_create(&options, &instance));
  takt_device_t* device = nullptr;
  Check(takt_device_create(instance, "local-task", nullptr, &device));
  {
    Call perception(instance, device, directory + "/perception.vmfb", "detect",
                    {1, 192, 192, 3}, 1);
    Call stream(instance, device, directory + "/stream.vmfb", "scale",
                {8388608}, 2);
    const int64_t end_ns =
        takt_clock_now_ns() + static_cast<int64_t>(seconds * 1e9);
    std::atomic<bool> streams{false};
    std::vector<int64_t> alone_ns, beside_ns, stream_ns;
    std::thread other([&] {
      while (takt_clock_now_ns() < end_ns) {
        streams = true;
        const int64_t turn_ns = takt_clock_now_ns() + kTurnNs;
        while (takt_clock_now_ns() < turn_ns) stream_ns.push_back(stream.Run());
        streams = false;
        std::this_thread::sleep_for(std::chrono::nanoseconds(kTurnNs));
      }
    });
    while (takt_clock_now_ns() < end_ns) {
      const bool was_beside = streams;
      const int64_t ran_ns = perception.Run();
      if (was_beside != streams) continue;
      (was_beside ? beside_ns : alone_ns).push_back(ran_ns);
    }
    other.join();
    takt_duration_statistics_t durations = {};
    durations.struct_size = sizeof(durations);
    Check(takt_scheduler_query_durations(instance, &durations));
    const double ran_ns =
        static_cast<double>(std::max<int64_t>(durations.ran_ns, 1));
    std::printf(
        "{\"perception_alone_ms\": %.3f, \"perception_beside_ms\": %.3f, "
        "\"stream_ms\": %.3f, \"runs\": %llu, \"error\": %.4f, "
        "\"plain_error\": %.4f}\n",
        MedianMs(alone_ns), MedianMs(beside_ns), MedianMs(stream_ns),
        static_cast<unsigned long long>(durations.run_count),
        static_cast<double>(durations.error_ns) / ran_ns,
        static_cast<double>(durations.plain_error_ns) / ran_ns);
  }
  takt_device_release(device);
  takt_instance_release(instance);
  return 0;
}
