// Goal: a robot runs for hours, and nothing piles up or goes wrong. An
// estimator and a policy run by the clock. Beside them a detector and products
// on an NPU are called, some with time limits, some cancelled, some with inputs
// that fail. Cores and the NPU are lost and come back, operations of the NPU
// fail, and the plans of windows change with all of this.
//
// Checked: every result is right or its failure is one that was caused here;
// every job is counted once; resident memory does not grow. Printed: the
// misses, and what explains them: a core that was lost, or that the system gave
// the worker's processor to something else (run queues).
//
//   stress_soak_test [--seconds=3600] [--seed=7]
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "takt/npu.hpp"
#include "takt/takt.hpp"

namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kPeriodNs = 10 * kMillisecond;
constexpr double kGrowthMax = 8 << 20;  // Bytes, of resident memory.
constexpr long kJudgedSeconds = 20;     // Shorter runs have only warmed up.

void Require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}
void Require(const takt::Status& status, const std::string& what) {
  Require(status.ok(), what + ": " + status.ToString());
}
template <typename T>
T Take(takt::Result<T> result, const std::string& what) {
  Require(result.status(), what);
  return std::move(result).value();
}

double ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  long total = 0;
  long resident = 0;
  const int count = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return count == 2 ? static_cast<double>(resident) *
                          static_cast<double>(sysconf(_SC_PAGESIZE))
                    : 0;
}

takt::Function Load(const takt::Instance& instance,
                    const std::vector<takt::Device>& devices,
                    const std::string& path, const char* function) {
  auto module = Take(
      takt::Module::Load(instance, std::string(TAKT_TESTDATA_DIR "/") + path),
      path);
  auto context = Take(takt::Context::Create(instance, {module}, devices), path);
  return Take(context.FindFunction(function), function);
}

// Times at which something was the matter, and for how long.
struct Span {
  int64_t begin_ns;
  int64_t end_ns;
};

// The misses, and what can explain them.
class Misses {
 public:
  void Add(const takt_miss_t& miss) {
    const int64_t end_ns = miss.release_ns + miss.response_ns;
    const std::lock_guard<std::mutex> lock(mutex_);
    misses_.push_back({miss.release_ns, end_ns});
  }
  void AddLoss(Span span) {
    const std::lock_guard<std::mutex> lock(mutex_);
    losses_.push_back(span);
  }
  // The worker was ready without a processor in part of the span.
  void AddDelay(Span span) {
    const std::lock_guard<std::mutex> lock(mutex_);
    delays_.push_back(span);
  }
  // Forgets what is explained, and counts it.
  void Explain(int64_t until_ns) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Span> later;
    for (const Span& miss : misses_) {
      if (miss.end_ns > until_ns) {
        later.push_back(miss);
      } else if (Overlaps(miss, losses_)) {
        ++by_loss_;
      } else if (Overlaps(miss, delays_)) {
        ++by_system_;
      } else {
        ++unexplained_;
      }
    }
    misses_ = std::move(later);
    const auto is_old = [until_ns](const Span& span) {
      return span.end_ns < until_ns - 10'000 * kMillisecond;
    };
    std::erase_if(losses_, is_old);
    std::erase_if(delays_, is_old);
  }
  void Print() const {
    std::printf(
        "misses: %llu beside a lost core or NPU, %llu while workers waited "
        "for a processor, %llu without either\n",
        static_cast<unsigned long long>(by_loss_),
        static_cast<unsigned long long>(by_system_),
        static_cast<unsigned long long>(unexplained_));
  }

 private:
  static bool Overlaps(const Span& miss, const std::vector<Span>& spans) {
    return std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
      return span.begin_ns <= miss.end_ns && span.end_ns >= miss.begin_ns;
    });
  }

  std::mutex mutex_;
  std::vector<Span> misses_, losses_, delays_;
  uint64_t by_loss_ = 0, by_system_ = 0, unexplained_ = 0;
};

class Soak {
 public:
  Soak(long seconds, unsigned long seed) : seconds_(seconds), seed_(seed) {
    takt_scheduler_options_t scheduler;
    takt_scheduler_options_init(&scheduler);
    scheduler.policy = "job-shop";
    scheduler.window_ns = 50 * kMillisecond;
    takt_instance_options_t options;
    takt_instance_options_init(&options);
    options.scheduler = &scheduler;
    options.worker_count = 2;
    instance_ = Take(takt::Instance::Create(&options), "instance");
    cpu_ = Take(takt::Device::Create(instance_, "local-task"), "cpu");
    const std::string profile =
        "{\"launch_ns\": 50000, \"faults\": {\"seed\": " +
        std::to_string(seed) +
        ", \"error\": 0.02, \"time_out\": 0.005, \"late\": 0.005}}";
    takt::NpuOptions npu_options;
    npu_options->driver_options = profile.c_str();
    npu_options->time_limit_ns = 200 * kMillisecond;
    npu_ =
        Take(takt::Npu::Create(instance_, takt_npu_sim_driver(), npu_options),
             "npu");
    Require(takt::Status(takt_scheduler_set_callbacks(
                instance_.get(),
                [](void* user_data, const takt_miss_t* miss) {
                  static_cast<Misses*>(user_data)->Add(*miss);
                },
                nullptr, &misses_)),
            "callbacks");
  }

  void Run() {
    auto estimator = Take(
        takt::Stream::Create(
            Load(instance_, {cpu_}, "workload/estimator.cpu.vmfb", "update"),
            {.period_ns = kPeriodNs,
             .deadline_ns = kPeriodNs,
             .criticality = TAKT_CRITICALITY_HARD}),
        "estimator");
    auto policy =
        Take(takt::Stream::Create(
                 Load(instance_, {cpu_}, "workload/policy.cpu.vmfb", "act"),
                 {.arrival = TAKT_STREAM_ARRIVAL_AFTER,
                  .deadline_ns = kPeriodNs,
                  .criticality = TAKT_CRITICALITY_HARD,
                  .after = &estimator,
                  .takes_results = true}),
             "policy");
    for (int i = 0; i < 3; ++i) {
      const auto sensors = Take(estimator.MapInput<float>(0), "input");
      std::fill(sensors.begin(), sensors.end(), 0.25f);
      Require(estimator.PublishInput(), "publish");
    }
    const int64_t start_ns = takt_clock_now_ns() + 100 * kMillisecond;
    end_ns_ = start_ns + seconds_ * 1000 * kMillisecond;
    Require(policy.Start(start_ns), "start");
    Require(estimator.Start(start_ns), "start");
    std::vector<std::thread> threads;
    threads.emplace_back([this] { CallDetector(); });
    threads.emplace_back([this] { CallNpu(); });
    threads.emplace_back([this] { LoseResources(); });
    threads.emplace_back([this] { WatchRunQueues(); });
    WatchMemory();
    for (std::thread& thread : threads) thread.join();
    for (const takt::Stream* stream : {&estimator, &policy}) {
      stream->Stop();
      Require(stream->WaitIdle(), "idle");
      const takt_stream_statistics_t s = stream->statistics();
      std::printf(
          "%s: %llu released, %llu met, %llu missed, %llu dropped, "
          "%llu failed\n",
          stream == &estimator ? "estimator" : "policy",
          static_cast<unsigned long long>(s.released_count),
          static_cast<unsigned long long>(s.met_count),
          static_cast<unsigned long long>(s.missed_count),
          static_cast<unsigned long long>(s.dropped_count),
          static_cast<unsigned long long>(s.failed_count));
      Require(s.released_count == s.met_count + s.missed_count +
                                      s.dropped_count + s.failed_count,
              "a job of a stream was not counted once");
      Require(s.failed_count == 0, "a job of a stream failed");
      // Late ones count: a machine may be too slow for every deadline.
      Require(s.met_count + s.missed_count > 0, "no job of a stream ended");
    }
    misses_.Explain(INT64_MAX);
    misses_.Print();
    std::printf(
        "calls: %llu done, %llu cancelled, %llu out of time, %llu with "
        "a failed input; %llu products of the NPU; %llu losses\n",
        static_cast<unsigned long long>(done_),
        static_cast<unsigned long long>(cancelled_),
        static_cast<unsigned long long>(late_),
        static_cast<unsigned long long>(failed_),
        static_cast<unsigned long long>(products_),
        static_cast<unsigned long long>(losses_));
    Require(done_ > 0 && products_ > 0, "nothing was called");
  }

 private:
  bool GoesOn() const { return takt_clock_now_ns() < end_ns_; }

  void CallDetector() {
    const takt::Function detect =
        Load(instance_, {cpu_}, "workload/perception.cpu.vmfb", "detect");
    const std::vector<int64_t> shape = DetectorShape();
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    std::vector<float> image(static_cast<size_t>(count));
    for (size_t i = 0; i < image.size(); ++i) {
      image[i] = static_cast<float>(i % 255) / 255;
    }
    takt_buffer_view_t* view = nullptr;
    Require(takt::Status(takt_buffer_view_copy_from_host(
                cpu_.get(), TAKT_ELEMENT_F32, shape.size(), shape.data(),
                image.data(), image.size() * sizeof(float), &view)),
            "image");
    const takt::Value input(takt::BufferView::Take(view));
    std::minstd_rand random(static_cast<uint32_t>(seed_));
    std::vector<uint8_t> first;
    while (GoesOn()) {
      const uint32_t kind = random() % 8;
      takt_fence_t* wait = nullptr;
      takt_async_options_t options;
      takt_async_options_init(&options);
      options.priority = static_cast<int32_t>(random() % 2 * 100);
      if (kind == 1) options.timeout_ns = random() % 4 * kMillisecond + 1;
      if (kind == 2) Require(takt::Status(takt_fence_create(&wait)), "fence");
      takt_invocation_t* call = nullptr;
      const takt_value_t argument = input.get();
      Require(takt::Status(takt_async_invoke(detect.get(), &options, 1,
                                             &argument, wait, nullptr, &call)),
              "detect");
      if (kind == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
        takt_invocation_cancel(call);
      }
      if (kind == 2) {
        takt_fence_fail(
            wait, takt_status_create(TAKT_STATUS_UNAVAILABLE, "no camera"));
        takt_fence_release(wait);
      }
      const takt::Status status(
          takt_invocation_wait(call, TAKT_INFINITE_FUTURE));
      Count(kind, status);
      if (status.ok()) CheckResult(call, &first);
      takt_invocation_release(call);
    }
  }

  std::vector<int64_t> DetectorShape() const { return {1, 192, 192, 3}; }

  void Count(uint32_t kind, const takt::Status& status) {
    if (status.ok()) {
      ++done_;
    } else if (kind == 0 && status.code() == TAKT_STATUS_CANCELLED) {
      ++cancelled_;
    } else if (kind == 1 && status.code() == TAKT_STATUS_DEADLINE_EXCEEDED) {
      ++late_;
    } else if (kind == 2 && status.code() == TAKT_STATUS_UNAVAILABLE) {
      ++failed_;
    } else {
      Require(false, "a call ended with " + status.ToString());
    }
  }

  // The same image gives the same bytes.
  static void CheckResult(takt_invocation_t* call,
                          std::vector<uint8_t>* first) {
    takt_value_t result;
    Require(takt::Status(takt_invocation_take_results(call, 1, &result)),
            "results");
    const takt::Value value = takt::Value::Take(result);
    const takt::BufferView view = value.view();
    std::vector<uint8_t> bytes(view.byte_length());
    Require(takt::Status(takt_buffer_view_copy_to_host(view.get(), bytes.data(),
                                                       bytes.size())),
            "result");
    if (first->empty()) *first = bytes;
    Require(*first == bytes, "a result of the detector is wrong");
  }

  void CallNpu();
  void LoseResources();
  void WatchRunQueues();
  void WatchMemory();

  const long seconds_;
  const unsigned long seed_;
  int64_t end_ns_ = 0;
  Misses misses_;
  takt::Instance instance_;
  takt::Device cpu_, npu_;
  std::atomic<uint64_t> done_{0}, cancelled_{0}, late_{0}, failed_{0},
      products_{0}, losses_{0};
};

// i8 [32,64] x [64,48] + i32 [32,48], twice the left side.
void Soak::CallNpu() {
  const takt::Function run =
      Load(instance_, {cpu_, npu_}, "npu/route_a.vmfb", "run");
  std::vector<int8_t> left(32 * 64), right(64 * 48);
  std::vector<int32_t> addend(32 * 48), expected(32 * 48);
  for (size_t i = 0; i < left.size(); ++i) left[i] = int8_t(i * 7 % 31 - 15);
  for (size_t i = 0; i < right.size(); ++i) right[i] = int8_t(i * 5 % 29 - 14);
  for (size_t i = 0; i < addend.size(); ++i) addend[i] = int32_t(i % 100);
  for (size_t i = 0; i < 32; ++i) {
    for (size_t j = 0; j < 48; ++j) {
      int32_t sum = addend[i * 48 + j];
      for (size_t p = 0; p < 64; ++p) {
        sum += int8_t(2 * left[i * 64 + p]) * right[p * 48 + j];
      }
      expected[i * 48 + j] = sum;
    }
  }
  const auto make = [&](takt_element_type_t type, int64_t m, int64_t n,
                        const void* data, size_t bytes) {
    const int64_t shape[2] = {m, n};
    takt_buffer_view_t* view = nullptr;
    Require(takt::Status(takt_buffer_view_copy_from_host(
                npu_.get(), type, 2, shape, data, bytes, &view)),
            "operand");
    return takt::Value(takt::BufferView::Take(view));
  };
  const std::vector<takt::Value> arguments = {
      make(TAKT_ELEMENT_I8, 32, 64, left.data(), left.size()),
      make(TAKT_ELEMENT_I8, 64, 48, right.data(), right.size()),
      make(TAKT_ELEMENT_I32, 32, 48, addend.data(), addend.size() * 4)};
  std::vector<int32_t> words(32 * 48);
  while (GoesOn()) {
    takt::Value result;
    Require(run.Invoke(arguments, {&result, 1}), "product");
    Require(takt::Status(takt_buffer_view_copy_to_host(
                result.view().get(), words.data(), words.size() * 4)),
            "product");
    Require(words == expected, "a product is wrong");
    ++products_;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

// One core or the NPU at a time; one core is always there.
void Soak::LoseResources() {
  std::minstd_rand random(static_cast<uint32_t>(seed_ + 1));
  while (GoesOn()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50 + random() % 200));
    takt_resource_t resources[16];
    size_t count = 0;
    Require(takt::Status(takt_scheduler_query_resources(instance_.get(), 16,
                                                        resources, &count)),
            "resources");
    // The first core stays.
    if (count < 2) continue;
    const uint32_t lost =
        1 + static_cast<uint32_t>(random() % (std::min<size_t>(count, 16) - 1));
    const int64_t begin_ns = takt_clock_now_ns();
    Require(takt::Status(
                takt_scheduler_set_available(instance_.get(), lost, false)),
            "lose");
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + random() % 50));
    Require(
        takt::Status(takt_scheduler_set_available(instance_.get(), lost, true)),
        "find");
    // The loss still delays jobs for two periods.
    misses_.AddLoss({begin_ns, takt_clock_now_ns() + 2 * kPeriodNs});
    ++losses_;
  }
}

void Soak::WatchRunQueues() {
  std::vector<uint64_t> before(16, 0);
  int64_t last_ns = takt_clock_now_ns();
  while (GoesOn()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const int64_t now_ns = takt_clock_now_ns();
    // This thread itself was late, too.
    bool is_delayed = now_ns - last_ns > 8 * kMillisecond;
    for (uint32_t i = 0; i < before.size(); ++i) {
      takt_worker_statistics_t worker = {};
      worker.struct_size = sizeof(worker);
      if (!takt_executor_query_worker_statistics(
              takt_instance_executor(instance_.get()), i, &worker)) {
        break;
      }
      takt_thread_usage_t usage = {};
      usage.struct_size = sizeof(usage);
      if (!takt_thread_query_usage(worker.thread_id, &usage)) continue;
      is_delayed |= usage.run_queue_ns > before[i] + kMillisecond;
      before[i] = usage.run_queue_ns;
    }
    if (is_delayed) misses_.AddDelay({last_ns, now_ns + kPeriodNs});
    last_ns = now_ns;
    misses_.Explain(now_ns - 1000 * kMillisecond);
  }
}

void Soak::WatchMemory() {
  std::vector<double> samples;
  while (GoesOn()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    samples.push_back(ResidentBytes());
  }
  const auto at = [&](size_t percent) {
    return samples.begin() +
           static_cast<ptrdiff_t>(samples.size() * percent / 100);
  };
  if (samples.size() < 4) return;
  const double early = *std::max_element(at(20), at(50));
  const double late = *std::max_element(at(50), samples.end());
  std::printf(
      "resident: at most %.1f MiB in the second fifth to half of the "
      "run, %.1f MiB in the second half\n",
      early / (1 << 20), late / (1 << 20));
  if (seconds_ >= kJudgedSeconds) {
    Require(late <= early + kGrowthMax, "resident memory grows");
  }
}

}  // namespace

int main(int argc, char** argv) {
  long seconds = 5;
  unsigned long seed = 7;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--seconds=", 10) == 0) {
      seconds = std::atol(argv[i] + 10);
    } else if (std::strncmp(argv[i], "--seed=", 7) == 0) {
      seed = std::strtoul(argv[i] + 7, nullptr, 10);
    } else {
      std::fprintf(stderr, "usage: %s [--seconds=3600] [--seed=7]\n", argv[0]);
      return 2;
    }
  }
  Soak(seconds, seed).Run();
  std::printf("ok\n");
  return 0;
}
