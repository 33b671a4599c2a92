// Measures control deadlines while long models keep the machine busy. There is
// one process, one device, and a context and a thread for each stream. Periodic
// streams release a job every period and record its response time, from the
// release to the result. A job misses its deadline if its response time exceeds
// the period. `perception` runs back to back, at a lower priority.
//
//   scenario 1   perception; policy every 5 ms
//   scenario 2   perception twice; policy every 5 ms, estimator every 2 ms,
//                gemm_i8 every 50 ms
//
// Prints one JSON object; all times are in microseconds. The top-level figures
// are those of `policy`, or of the only stream. `wake_us` is how late the
// thread of a stream woke, `service_us` the rest of the response. With --bare
// the models are replaced, to measure the floor of the machine: one thread on
// each CPU spins in place of perception, and one thread for each stream sleeps
// and spins for 0.15 ms.
//
// usage: contention DIR [--seconds S] [--scenario 1|2] [--workers N]
//                   [--device local-task|local-sync] [--alone] [--fifo] [--pin]
//                   [--flat] [--policy NAME] [--trace FILE]
//                   [--trace_events N] [--bare] [--plain]
//                   [--fifo_workers PRIORITY] [--cores FILE] [--only WHICH]
//        DIR holds perception.vmfb, policy.vmfb (and estimator.vmfb,
//        gemm_i8.vmfb)
//        --alone: no perception; --fifo: periodic threads run SCHED_FIFO
//        (needs the right to); --pin: perception threads keep off the first
//        CPU, periodic threads stay on it; --flat: all of one priority;
//        --plain: periodic threads do not call
//        takt_thread_request_low_latency(); --fifo_workers:
//        worker_fifo_priority; --only: the part of a process where the streams
//        are in several: "perception" or "periodic", or one stream,
//        "camera" (perception once), "policy", "estimator" or "gemm_i8";
//        --cores: the cores_path of all; --policy: the scheduler's
//        (takt/scheduler.h);
//        --trace: records the last N events of each thread (default 1048576),
//        for takt-trace and `takt-sim replay`
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "takt/takt.h"

namespace {

constexpr int kFifoPriority = 50;
constexpr int32_t kLowPriority = 64;
constexpr int32_t kHighPriority = 200;

struct Model {
  const char* name;
  const char* function;
  std::vector<int64_t> shape;
  takt_element_type_t element_type;
};
const Model kModels[] = {
    {"perception", "detect", {1, 192, 192, 3}, TAKT_ELEMENT_F32},
    {"policy", "act", {1, 64}, TAKT_ELEMENT_F32},
    {"estimator", "update", {1, 24}, TAKT_ELEMENT_F32},
    {"gemm_i8", "project", {64, 512}, TAKT_ELEMENT_I8},
};

struct Options {
  std::string directory;
  std::string device = "local-task";
  double seconds = 5;
  int scenario = 1;
  int32_t workers = TAKT_WORKER_COUNT_DEFAULT;
  bool alone = false;
  bool fifo = false;
  bool pin = false;
  bool flat = false;
  bool bare = false;
  bool plain = false;
  int32_t fifo_workers = 0;
  std::string trace;
  uint32_t trace_events = 1 << 20;
  std::string policy = "off";
  std::string cores;
  std::string only;
};

void Check(takt_status_t status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", takt_status_message(status));
  std::exit(1);
}

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> const char* {
      if (i + 1 < argc) return argv[++i];
      std::fprintf(stderr, "%s needs a value\n", flag.c_str());
      std::exit(2);
    };
    if (flag == "--seconds") {
      options.seconds = std::atof(value());
    } else if (flag == "--scenario") {
      options.scenario = std::atoi(value());
    } else if (flag == "--workers") {
      options.workers = std::atoi(value());
    } else if (flag == "--fifo_workers") {
      options.fifo_workers = std::atoi(value());
    } else if (flag == "--device") {
      options.device = value();
    } else if (flag == "--trace") {
      options.trace = value();
    } else if (flag == "--trace_events") {
      options.trace_events = static_cast<uint32_t>(std::atoi(value()));
    } else if (flag == "--policy") {
      options.policy = value();
    } else if (flag == "--cores") {
      options.cores = value();
    } else if (flag == "--only") {
      options.only = value();
    } else if (flag == "--alone") {
      options.alone = true;
    } else if (flag == "--fifo") {
      options.fifo = true;
    } else if (flag == "--pin") {
      options.pin = true;
    } else if (flag == "--flat") {
      options.flat = true;
    } else if (flag == "--bare") {
      options.bare = true;
    } else if (flag == "--plain") {
      options.plain = true;
    } else if (options.directory.empty() && flag[0] != '-') {
      options.directory = flag;
    } else {
      std::fprintf(stderr, "unknown: %s\n", flag.c_str());
      std::exit(2);
    }
  }
  if (options.directory.empty() || options.scenario < 1 ||
      options.scenario > 2 || !(options.seconds > 0)) {
    std::fprintf(stderr,
                 "usage: contention DIR [--seconds S] [--scenario 1|2] "
                 "[--workers N] [--device NAME] [--alone] [--fifo] [--pin] "
                 "[--flat] [--policy NAME] [--trace FILE] "
                 "[--trace_events N] [--bare] [--plain] "
                 "[--fifo_workers PRIORITY] [--cores FILE] "
                 "[--only perception|periodic|camera|policy|estimator|"
                 "gemm_i8]\n");
    std::exit(2);
  }
  return options;
}

// A function of a context of its own, and its argument.
class Call {
 public:
  Call(takt_instance_t* instance, takt_device_t* device,
       const std::string& directory, const Model& model, int32_t priority) {
    takt_invoke_options_init(&options_);
    options_.priority = priority;
    takt_module_t* module = nullptr;
    const std::string path = directory + "/" + model.name + ".vmfb";
    Check(takt_module_load_file(instance, path.c_str(), nullptr, &module));
    takt_context_options_t context_options;
    takt_context_options_init(&context_options);
    context_options.modules = &module;
    context_options.module_count = 1;
    context_options.devices = &device;
    context_options.device_count = 1;
    takt_context_t* context = nullptr;
    Check(takt_context_create(instance, &context_options, &context));
    Check(takt_context_find_function(context, model.function, &function_));
    takt_context_release(context);
    takt_module_release(module);

    size_t count = 1;
    for (const int64_t size : model.shape) count *= static_cast<size_t>(size);
    std::vector<uint8_t> bytes(count, 3);
    if (model.element_type == TAKT_ELEMENT_F32) {
      const std::vector<float> values(count, 0.5f);
      bytes.resize(count * sizeof(float));
      std::memcpy(bytes.data(), values.data(), bytes.size());
    }
    takt_buffer_view_t* view = nullptr;
    Check(takt_buffer_view_copy_from_host(
        device, model.element_type, model.shape.size(), model.shape.data(),
        bytes.data(), bytes.size(), &view));
    argument_ = takt_value_ref(view);
    Run();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    takt_values_release(1, &argument_);
    takt_function_release(function_);
  }

  void Run() {
    takt_value_t result;
    Check(
        takt_function_invoke(function_, &options_, 1, &argument_, 1, &result));
    takt_values_release(1, &result);
  }

 private:
  takt_invoke_options_t options_;
  takt_function_t* function_ = nullptr;
  takt_value_t argument_ = {};
};

struct Stream {
  const Model* model;
  int64_t period_ns;
  std::vector<int64_t> responses_ns = {};
  std::vector<int64_t> delays_ns = {};    // From release to the thread's wake.
  std::vector<int64_t> services_ns = {};  // From there to the result.
};

void KeepTo(bool first_cpu) {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2) {
    return;
  }
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t kept;
  CPU_ZERO(&kept);
  if (first_cpu) {
    CPU_SET(first, &kept);
  } else {
    kept = all;
    CPU_CLR(first, &kept);
  }
  pthread_setaffinity_np(pthread_self(), sizeof(kept), &kept);
}

void SleepUntil(int64_t time_ns) {
  const timespec at = {time_ns / 1'000'000'000, time_ns % 1'000'000'000};
  while (takt_clock_now_ns() < time_ns) {
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
  }
}

constexpr int64_t kBareNs = 150'000;

void SpinUntil(int64_t time_ns) {
  while (takt_clock_now_ns() < time_ns) {
  }
}

// `call` null: it spins.
void Control(const Options& options, Call* call, int64_t start_ns,
             Stream& stream) {
  if (options.pin) KeepTo(true);
  if (!options.plain) (void)takt_thread_request_low_latency();
  if (options.fifo) {
    const sched_param parameters = {kFifoPriority};
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) != 0) {
      std::fprintf(stderr, "no right to SCHED_FIFO\n");
      std::exit(1);
    }
  }
  const auto job_count = static_cast<int64_t>(
      options.seconds * 1e9 / static_cast<double>(stream.period_ns));
  for (auto* times :
       {&stream.responses_ns, &stream.delays_ns, &stream.services_ns}) {
    times->reserve(static_cast<size_t>(job_count));
  }
  for (int64_t i = 0; i < job_count; ++i) {
    const int64_t release_ns = start_ns + i * stream.period_ns;
    SleepUntil(release_ns);
    const int64_t begin_ns = takt_clock_now_ns();
    if (call != nullptr) {
      call->Run();
    } else {
      SpinUntil(begin_ns + kBareNs);
    }
    const int64_t end_ns = takt_clock_now_ns();
    stream.responses_ns.push_back(end_ns - release_ns);
    stream.delays_ns.push_back(begin_ns - release_ns);
    stream.services_ns.push_back(end_ns - begin_ns);
  }
}

// As numpy interpolates.
double QuantileUs(const std::vector<int64_t>& sorted_ns, double fraction) {
  if (sorted_ns.empty()) return 0;
  const double place = fraction * static_cast<double>(sorted_ns.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted_ns.size() - 1);
  const double part = place - std::floor(place);
  return (static_cast<double>(sorted_ns[below]) * (1 - part) +
          static_cast<double>(sorted_ns[above]) * part) /
         1000;
}

std::string Quantiles(std::vector<int64_t> times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  char text[128];
  std::snprintf(text, sizeof(text),
                "{\"p50\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, \"max\": "
                "%.1f}",
                QuantileUs(times_ns, 0.5), QuantileUs(times_ns, 0.99),
                QuantileUs(times_ns, 0.999), QuantileUs(times_ns, 1));
  return text;
}

std::string Figures(const Stream& stream) {
  std::vector<int64_t> sorted = stream.responses_ns;
  std::sort(sorted.begin(), sorted.end());
  const auto missed =
      std::count_if(sorted.begin(), sorted.end(),
                    [&](int64_t ns) { return ns > stream.period_ns; });
  return "\"jobs\": " + std::to_string(sorted.size()) +
         ", \"missed\": " + std::to_string(missed) +
         ", \"response_us\": " + Quantiles(sorted);
}

takt_instance_t* MakeInstance(const Options& options) {
  takt_instance_options_t instance_options;
  takt_instance_options_init(&instance_options);
  instance_options.worker_count = options.workers;
  instance_options.worker_fifo_priority = options.fifo_workers;
  if (!options.cores.empty()) {
    instance_options.cores_path = options.cores.c_str();
  }
  takt_scheduler_options_t scheduler_options;
  takt_scheduler_options_init(&scheduler_options);
  scheduler_options.policy = options.policy.c_str();
  instance_options.scheduler = &scheduler_options;
  takt_instance_t* instance = nullptr;
  Check(takt_instance_create(&instance_options, &instance));
  return instance;
}

// The threads of this process; --only leaves the others to other processes.
struct Workload {
  std::vector<Stream> streams;
  int perception_count;
  bool has_periodic;  // If not, perception runs for --seconds.
};

Workload MakeWorkload(const Options& options) {
  std::vector<Stream> streams = {{&kModels[1], 5'000'000}};
  int perception_count = 1;
  if (options.scenario == 2) {
    streams.push_back({&kModels[2], 2'000'000});
    streams.push_back({&kModels[3], 50'000'000});
    perception_count = 2;
  }
  const std::string& only = options.only;
  if (only == "camera") perception_count = 1;
  const bool has_periodic = only != "perception" && only != "camera";
  if (options.alone || (!only.empty() && has_periodic)) perception_count = 0;
  if (has_periodic && !only.empty() && only != "periodic") {
    std::erase_if(streams, [&only](const Stream& stream) {
      return only != stream.model->name;
    });
    if (streams.empty()) {
      std::fprintf(stderr, "--only: scenario %d has no stream %s\n",
                   options.scenario, only.c_str());
      std::exit(2);
    }
  }
  return {std::move(streams), perception_count, has_periodic};
}

void StartTrace(const Options& options, takt_instance_t* instance) {
  if (options.trace.empty()) return;
  takt_tracing_options_t tracing;
  takt_tracing_options_init(&tracing);
  tracing.event_count_max = options.trace_events;
  Check(takt_tracing_start(instance, &tracing));
}

void WriteTrace(const Options& options, takt_instance_t* instance) {
  if (options.trace.empty()) return;
  takt_tracing_stop(instance);
  takt_trace_t* trace = nullptr;
  Check(takt_tracing_collect(instance, &trace));
  Check(takt_trace_write_file(trace, TAKT_TRACE_FORMAT_PERFETTO,
                              options.trace.c_str()));
  takt_trace_release(trace);
}

struct Frames {
  std::vector<int64_t> sorted_ns;
  int64_t elapsed_ns;
};

// Runs perception until the streams end, which get their times.
Frames Run(const Options& options, takt_instance_t* instance,
           takt_device_t* device, Workload& workload) {
  const int32_t low = options.flat ? TAKT_PRIORITY_DEFAULT : kLowPriority;
  const int32_t high = options.flat ? TAKT_PRIORITY_DEFAULT : kHighPriority;
  std::vector<std::unique_ptr<Call>> perceptions, calls;
  for (int i = 0; i < workload.perception_count && !options.bare; ++i) {
    perceptions.push_back(std::make_unique<Call>(
        instance, device, options.directory, kModels[0], low));
  }
  for (const Stream& stream : workload.streams) {
    calls.push_back(options.bare ? nullptr
                                 : std::make_unique<Call>(instance, device,
                                                          options.directory,
                                                          *stream.model, high));
  }
  StartTrace(options, instance);
  std::atomic<bool> stop{false};
  std::vector<std::vector<int64_t>> frames_ns(perceptions.size());
  const int64_t start_ns = takt_clock_now_ns() + 200'000'000;
  std::vector<std::thread> perception_threads, control_threads;
  const unsigned spinners =
      options.bare ? std::thread::hardware_concurrency() : 0;
  for (unsigned i = 0; i < spinners; ++i) {
    perception_threads.emplace_back([&] {
      while (!stop.load()) SpinUntil(takt_clock_now_ns() + 1000);
    });
  }
  for (size_t i = 0; i < perceptions.size(); ++i) {
    perception_threads.emplace_back([&, i] {
      if (options.pin) KeepTo(false);
      while (!stop.load()) {
        const int64_t begin_ns = takt_clock_now_ns();
        perceptions[i]->Run();
        frames_ns[i].push_back(takt_clock_now_ns() - begin_ns);
      }
    });
  }
  if (workload.has_periodic) {
    for (size_t i = 0; i < workload.streams.size(); ++i) {
      control_threads.emplace_back([&, i] {
        Control(options, calls[i].get(), start_ns, workload.streams[i]);
      });
    }
  } else {
    SleepUntil(start_ns + static_cast<int64_t>(options.seconds * 1e9));
  }
  for (std::thread& thread : control_threads) thread.join();
  Frames frames = {{}, takt_clock_now_ns() - start_ns};
  stop = true;
  for (std::thread& thread : perception_threads) thread.join();
  for (const auto& each : frames_ns) {
    frames.sorted_ns.insert(frames.sorted_ns.end(), each.begin(), each.end());
  }
  std::sort(frames.sorted_ns.begin(), frames.sorted_ns.end());
  return frames;
}

void Print(const Options& options, const std::vector<Stream>& streams,
           const Frames& frames, const takt_executor_statistics_t& cores) {
  std::printf(
      "{\"runtime\": \"takt\", \"device\": \"%s\", \"policy\": \"%s\", "
      "\"scenario\": %d, ",
      options.device.c_str(), options.policy.c_str(), options.scenario);
  std::printf("%s, \"perception_fps\": %.2f, ", Figures(streams[0]).c_str(),
              static_cast<double>(frames.sorted_ns.size()) * 1e9 /
                  static_cast<double>(frames.elapsed_ns));
  if (frames.sorted_ns.empty()) {
    std::printf("\"perception_us_p50\": null, \"streams\": {");
  } else {
    std::printf("\"perception_us_p50\": %.1f, \"streams\": {",
                QuantileUs(frames.sorted_ns, 0.5));
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    std::printf("%s\"%s\": {%s, \"wake_us\": %s, \"service_us\": %s}",
                i > 0 ? ", " : "", streams[i].model->name,
                Figures(streams[i]).c_str(),
                Quantiles(streams[i].delays_ns).c_str(),
                Quantiles(streams[i].services_ns).c_str());
  }
  std::printf("}, \"yields\": %llu, \"yield_ms\": %.1f}\n",
              static_cast<unsigned long long>(cores.yield_count),
              static_cast<double>(cores.yield_ns) * 1e-6);
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  takt_instance_t* instance = MakeInstance(options);
  takt_device_t* device = nullptr;
  Check(takt_device_create(instance, options.device.c_str(), nullptr, &device));
  Workload workload = MakeWorkload(options);
  const Frames frames = Run(options, instance, device, workload);
  WriteTrace(options, instance);
  takt_executor_statistics_t cores = {};
  cores.struct_size = sizeof(cores);
  takt_executor_query_statistics(takt_instance_executor(instance), &cores);
  takt_device_release(device);
  takt_instance_release(instance);
  Print(options, workload.streams, frames, cores);
  return 0;
}
