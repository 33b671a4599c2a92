// Measures the time from the signal of a fence until the waiting invocation
// runs: the delay of a control loop between its sensor and its first
// instruction.
//
//   latency_bench counter.vmfb [--count=1000000] [--gap_us=200]
//
// The invocation calls a native function, which reads the clock. A sample is
// the time from before takt_fence_signal() to this reading. Three ways to wait:
//   parked     takt_async_invoke() of a synchronous function; before each
//              signal the thread pauses for --gap_us, so that the one worker
//              sleeps.
//   spinning   the same without the pause, and with a worker that never sleeps
//              (worker_spin_ns).
//   polling    a thread of the caller polls takt_fence_query() and then calls
//              the function itself: the lower bound.
// Prints for each: count, p50, p99, p99.9, max, in nanoseconds. Ends with 1 if
// an invocation ran on the signalling thread, because that is no sample.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "takt/takt.h"

namespace {

void Check(takt_status_t status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", takt_status_message(status));
  std::exit(1);
}

struct Options {
  const char* path = nullptr;
  int64_t count = 1'000'000;
  int64_t gap_us = 200;
};

// Written by the native function, read once the invocation is done.
std::atomic<int64_t> resumed_ns{0};
std::atomic<int64_t> signaller_run_count{0};
thread_local bool is_signaller = false;

takt_status_t NoteTime(void*, size_t, const takt_value_t*, size_t,
                       takt_value_t* out_results) {
  resumed_ns.store(takt_clock_now_ns(), std::memory_order_relaxed);
  if (is_signaller) ++signaller_run_count;
  out_results[0] = takt_value_i32(0);
  return nullptr;
}

// One worker, and the function that notes the time.
struct Fixture {
  Fixture(const char* path, int64_t worker_spin_ns) {
    takt_instance_options_t options;
    takt_instance_options_init(&options);
    options.worker_count = 1;
    options.worker_spin_ns = worker_spin_ns;
    Check(takt_instance_create(&options, &instance));
    const takt_native_export_t exports[] = {{"read", "0iIfF_i", NoteTime}};
    takt_native_module_options_t native;
    takt_native_module_options_init(&native);
    native.name = "robot";
    native.exports = exports;
    native.export_count = 1;
    Check(takt_native_module_create(instance, &native, &modules[0]));
    Check(takt_module_load_file(instance, path, nullptr, &modules[1]));
    takt_context_options_t linked;
    takt_context_options_init(&linked);
    linked.modules = modules;
    linked.module_count = 2;
    // Workers run for devices.
    Check(takt_device_create(instance, "local-task", nullptr, &device));
    linked.devices = &device;
    linked.device_count = 1;
    Check(takt_context_create(instance, &linked, &context));
    Check(takt_context_find_function(context, "counter.read", &function));
  }
  ~Fixture() {
    takt_function_release(function);
    takt_context_release(context);
    takt_module_release(modules[0]);
    takt_module_release(modules[1]);
    takt_device_release(device);
    takt_instance_release(instance);
  }

  takt_instance_t* instance = nullptr;
  takt_device_t* device = nullptr;
  takt_module_t* modules[2] = {};
  takt_context_t* context = nullptr;
  takt_function_t* function = nullptr;
  takt_value_t arguments[4] = {takt_value_i32(0), takt_value_i64(0),
                               takt_value_f32(0), takt_value_f64(0)};
};

void Pause(int64_t gap_us) {
  timespec gap = {};
  gap.tv_sec = gap_us / 1'000'000;
  gap.tv_nsec = gap_us % 1'000'000 * 1000;
  nanosleep(&gap, nullptr);
}

std::vector<int64_t> MeasureWorker(Fixture& fixture, int64_t count,
                                   int64_t gap_us) {
  std::vector<int64_t> samples;
  samples.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    takt_fence_t* ready = nullptr;
    takt_fence_t* done = nullptr;
    Check(takt_fence_create(&ready));
    Check(takt_fence_create(&done));
    Check(takt_async_invoke(fixture.function, nullptr, 4, fixture.arguments,
                            ready, done, nullptr));
    if (gap_us > 0) Pause(gap_us);
    const int64_t signaled_ns = takt_clock_now_ns();
    Check(takt_fence_signal(ready));
    // Without the instance, so that this thread does not do the work itself.
    Check(takt_fence_wait(done, nullptr, TAKT_INFINITE_FUTURE));
    samples.push_back(resumed_ns.load(std::memory_order_relaxed) - signaled_ns);
    takt_fence_release(ready);
    takt_fence_release(done);
  }
  return samples;
}

std::vector<int64_t> MeasurePolling(Fixture& fixture, int64_t count) {
  std::vector<int64_t> samples;
  samples.reserve(static_cast<size_t>(count));
  std::atomic<takt_fence_t*> next{nullptr};
  std::atomic<bool> stopping{false};
  std::thread spinner([&] {
    while (!stopping.load(std::memory_order_acquire)) {
      takt_fence_t* ready = next.load(std::memory_order_acquire);
      if (ready == nullptr) continue;
      bool reached = false;
      while (!reached) Check(takt_fence_query(ready, &reached));
      takt_value_t result;
      Check(takt_function_invoke(fixture.function, nullptr, 4,
                                 fixture.arguments, 1, &result));
      next.store(nullptr, std::memory_order_release);
    }
  });
  for (int64_t i = 0; i < count; ++i) {
    takt_fence_t* ready = nullptr;
    Check(takt_fence_create(&ready));
    next.store(ready, std::memory_order_release);
    // Long enough for the other thread to be at it.
    const int64_t begin_ns = takt_clock_now_ns() + 1000;
    while (takt_clock_now_ns() < begin_ns) {
    }
    const int64_t signaled_ns = takt_clock_now_ns();
    Check(takt_fence_signal(ready));
    while (next.load(std::memory_order_acquire) != nullptr) {
    }
    samples.push_back(resumed_ns.load(std::memory_order_relaxed) - signaled_ns);
    takt_fence_release(ready);
  }
  stopping.store(true, std::memory_order_release);
  spinner.join();
  return samples;
}

void Print(const char* name, std::vector<int64_t> samples) {
  if (samples.empty()) return;
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double part) {
    return static_cast<long long>(
        samples[static_cast<size_t>(part * (samples.size() - 1))]);
  };
  std::printf(
      "%-9s count %9zu  p50 %8lld  p99 %8lld  p99.9 %8lld  max %10lld\n", name,
      samples.size(), at(0.5), at(0.99), at(0.999), at(1));
  std::fflush(stdout);
}

bool ReadFlag(const char* argument, const char* name, int64_t* value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0) return false;
  *value = std::atoll(argument + length);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (ReadFlag(argv[i], "--count=", &options.count)) continue;
    if (ReadFlag(argv[i], "--gap_us=", &options.gap_us)) continue;
    options.path = argv[i];
  }
  if (options.path == nullptr || options.count < 1 || options.gap_us < 0) {
    std::fprintf(stderr,
                 "latency_bench counter.vmfb [--count=N] [--gap_us=N]\n");
    return 1;
  }
  is_signaller = true;
  const int64_t warm_up = std::min<int64_t>(options.count, 1000);
  {
    Fixture fixture(options.path, /*worker_spin_ns=*/0);
    MeasureWorker(fixture, warm_up, 0);
    Print("parked", MeasureWorker(fixture, options.count, options.gap_us));
    Print("polling", MeasurePolling(fixture, options.count));
  }
  Fixture fixture(options.path, /*worker_spin_ns=*/1'000'000'000);
  MeasureWorker(fixture, warm_up, 0);
  Print("spinning", MeasureWorker(fixture, options.count, 0));
  if (signaller_run_count == 0) return 0;
  std::fprintf(stderr, "%lld invocations ran on the signalling thread\n",
               static_cast<long long>(signaller_run_count));
  return 1;
}
