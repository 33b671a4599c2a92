// Goal: many threads and models share one NPU. It runs one operation at a time,
// more urgent requests go first, no request waits for ever, and all results are
// right, although operations sometimes fail.
//
// Method: 8 threads with 8 different urgencies call three models in turns. The
// driver is `sim` behind a table that counts the calls inside it. Each batch
// leaves an event with the lease's counts at its request and at its grant; the
// test checks the order of these at the end.
//
// The requests come from the threads themselves or from workers of the device.
// With a policy, a scheduler decides about larger dispatches first.
//
//   stress_npu_stress_test [--seconds=600] [--seed=7] [--workers=8]
//                          [--policy=job-shop]
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "takt/npu.hpp"

namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 40;  // Of each thread, without --seconds.

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}
void Require(const takt::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "failed: %s: %s\n", what, status.ToString().c_str());
  std::exit(1);
}

// The driver under test: only one unit is ever open.
std::atomic<bool> g_is_running{false};
std::atomic<uint64_t> g_overlap_count{0};
takt_npu_batch_t g_batch;  // The one that runs.

void OnComplete(void*, uint64_t id, takt_npu_result_t result) {
  const takt_npu_batch_t batch = g_batch;
  g_is_running.store(false);
  batch.complete(batch.user_data, id, result);
}

takt_npu_result_t Submit(void* unit, const takt_npu_batch_t* batch) {
  if (g_is_running.exchange(true)) ++g_overlap_count;
  g_batch = *batch;
  takt_npu_batch_t inner = *batch;
  inner.complete = &OnComplete;
  const takt_npu_result_t result = takt_npu_sim_driver()->submit(unit, &inner);
  if (result != TAKT_NPU_RESULT_OK) g_is_running.store(false);
  return result;
}

// The results of three models for fixed inputs.
struct Tensor {
  takt_element_type_t type;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};
struct Model {
  const char* path;
  const char* function;
  std::vector<Tensor> inputs;
  std::vector<int32_t> expected;
};

Tensor Numbers(takt_element_type_t type, std::vector<int64_t> shape,
               uint32_t seed) {
  Tensor tensor{type, std::move(shape), {}};
  int64_t count = type == TAKT_ELEMENT_I32 ? 4 : 1;
  for (const int64_t size : tensor.shape) count *= size;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    // Words of small numbers: three bytes of four are 0.
    const bool is_zero = type == TAKT_ELEMENT_I32 && i % 4 != 0;
    tensor.bytes.push_back(is_zero ? 0 : static_cast<uint8_t>(seed >> 25));
  }
  return tensor;
}

std::vector<int32_t> Multiply(const Tensor& left, const Tensor& right,
                              int32_t scale, const Tensor* addend) {
  const int64_t m = left.shape[0], k = left.shape[1], n = right.shape[1];
  std::vector<int32_t> out(static_cast<size_t>(m * n));
  if (addend != nullptr) {
    std::memcpy(out.data(), addend->bytes.data(), addend->bytes.size());
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      const int32_t x = static_cast<int8_t>(
          scale * static_cast<int8_t>(left.bytes[i * k + p]));
      for (int64_t j = 0; j < n; ++j) {
        out[i * n + j] += x * static_cast<int8_t>(right.bytes[p * n + j]);
      }
    }
  }
  return out;
}

takt::Context Link(const takt::Instance& instance, const Model& model,
                   std::vector<takt::Device> devices) {
  auto module = takt::Module::Load(
      instance, std::string(TAKT_TESTDATA_DIR "/npu/") + model.path);
  Require(module.status(), model.path);
  auto context = takt::Context::Create(instance, {*module}, devices);
  Require(context.status(), model.path);
  return *std::move(context);
}

// One call; returns the words of its result.
std::vector<int32_t> Call(const takt::Context& context,
                          const takt::Device& device, const Model& model,
                          int32_t priority) {
  auto function = context.FindFunction(model.function);
  Require(function.status(), model.function);
  std::vector<takt::Value> arguments;
  for (const Tensor& input : model.inputs) {
    takt_buffer_view_t* view = nullptr;
    Require(
        takt::Status(takt_buffer_view_copy_from_host(
            device.get(), input.type, input.shape.size(), input.shape.data(),
            input.bytes.data(), input.bytes.size(), &view)),
        "input");
    arguments.emplace_back(takt::BufferView::Take(view));
  }
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.priority = priority;
  takt::Value result;
  Require(function->Invoke(arguments, {&result, 1}, &options), model.path);
  const takt::BufferView view = result.view();
  std::vector<int32_t> words(model.expected.empty() ? 32 * 64
                                                    : model.expected.size());
  Require(takt::Status(takt_buffer_view_copy_to_host(
              view.get(), words.data(), words.size() * sizeof(int32_t))),
          "output");
  return words;
}

std::vector<Model> MakeModels() {
  std::vector<Model> models(3);
  const auto kI8 = TAKT_ELEMENT_I8;
  models[0] = {"route_a.vmfb",
               "run",
               {Numbers(kI8, {32, 64}, 1), Numbers(kI8, {64, 48}, 2),
                Numbers(TAKT_ELEMENT_I32, {32, 48}, 3)},
               {}};
  models[0].expected = Multiply(models[0].inputs[0], models[0].inputs[1], 2,
                                &models[0].inputs[2]);
  models[1] = {"gemm.vmfb",
               "i8",
               {Numbers(kI8, {64, 512}, 4), Numbers(kI8, {512, 512}, 5)},
               {}};
  models[1].expected =
      Multiply(models[1].inputs[0], models[1].inputs[1], 1, nullptr);
  models[2] = {"quantized.vmfb", "run", {Numbers(kI8, {32, 64}, 6)}, {}};
  return models;
}

// The events, and the check of their order.
class Trace {
 public:
  void Collect(const takt::Device& npu) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const takt_npu_event_t& event : takt::Npu::Events(npu, kKept)) {
      if (event.id <= last_id_) continue;
      last_id_ = event.id;
      events_.push_back(event);
    }
  }

  // No id is missing, times do not overlap, and no grant passed over a more
  // urgent request, unless it went to one that was passed over too often.
  void Check(bool is_contended) {
    uint64_t aged_count = 0;
    uint64_t waited_count = 0;
    uint64_t passed_over_max = 0;
    for (size_t i = 0; i < events_.size(); ++i) {
      const takt_npu_event_t& event = events_[i];
      Require(event.id == i + 1, "an event is missing");
      Require(i == 0 || event.start_ns >= events_[i - 1].end_ns,
              "two operations at once");
      Require(i == 0 || event.granted >= events_[i - 1].granted,
              "events in the order of grants");
      const bool is_first = i == 0 || event.granted != events_[i - 1].granted;
      aged_count += is_first && event.is_aged;
      uint64_t passed_over = 0;
      for (size_t j = i; j > 0 && events_[j - 1].granted > event.asked; --j) {
        const takt_npu_event_t& other = events_[j - 1];
        if (other.granted == event.granted) continue;
        if (j < i && other.granted == events_[j].granted) continue;
        ++passed_over;
        Require(other.is_aged || !IsMoreUrgent(event, other),
                "one that was less urgent went first");
      }
      waited_count += passed_over > 0;
      passed_over_max = std::max(passed_over_max, passed_over);
    }
    Require(waited_count > 0 || !is_contended, "nobody was ever passed over");
    // Each of the others may be first once before it is passed over.
    Require(passed_over_max <= 64 + 2 * kThreads, "one was starved");
    std::printf(
        "%zu batches, %llu waited, at most %llu grants; %llu for their age\n",
        events_.size(), static_cast<unsigned long long>(waited_count),
        static_cast<unsigned long long>(passed_over_max),
        static_cast<unsigned long long>(aged_count));
  }

  static constexpr uint32_t kKept = 1 << 14;

 private:
  static bool IsMoreUrgent(const takt_npu_event_t& a,
                           const takt_npu_event_t& b) {
    return a.priority != b.priority ? a.priority > b.priority
                                    : a.deadline_ns < b.deadline_ns;
  }

  std::mutex mutex_;
  uint64_t last_id_ = 0;
  std::vector<takt_npu_event_t> events_;
};

void Run(long seconds, unsigned long seed, int32_t worker_count,
         const char* policy) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = policy;
  takt_instance_options_t instance_options;
  takt_instance_options_init(&instance_options);
  instance_options.scheduler = &scheduler;
  auto instance = takt::Instance::Create(&instance_options);
  Require(instance.status(), "instance");
  auto cpu = takt::Device::Create(*instance, "local-task");
  Require(cpu.status(), "cpu");
  takt_npu_driver_t driver = *takt_npu_sim_driver();
  driver.submit = &Submit;
  const std::string profile =
      "{\"launch_ns\": 2000, \"macs_per_cycle\": {\"s8\": 4096, \"f32\": 256},"
      " \"faults\": {\"seed\": " +
      std::to_string(seed) + ", \"error\": 0.01}}";
  takt::NpuOptions options;
  options->driver_options = profile.c_str();
  options->worker_count = worker_count;
  options->may_route_to_cpu = false;  // It has all that it can do.
  options->event_count_max = Trace::kKept;
  options->time_limit_ns = 60'000'000'000;  // The machine may be slow.
  auto npu = takt::Npu::Create(*instance, &driver, options);
  Require(npu.status(), "npu");

  std::vector<Model> models = MakeModels();
  models[2].expected = Call(Link(*instance, models[2], {*cpu}), *cpu, models[2],
                            TAKT_PRIORITY_DEFAULT);
  Trace trace;
  std::vector<std::thread> threads;
  std::vector<long> counts(kThreads);
  std::barrier all_are_linked(kThreads);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<takt::Context> contexts;
      for (const Model& model : models) {
        contexts.push_back(Link(*instance, model, {*cpu, *npu}));
      }
      all_are_linked.arrive_and_wait();
      long& count = counts[t];
      const auto goes_on = [&] {
        return seconds > 0 ? std::chrono::steady_clock::now() < end
                           : count < kRounds;
      };
      for (; goes_on(); ++count) {
        const size_t which = static_cast<size_t>(count + t) % models.size();
        const auto words =
            Call(contexts[which], *npu, models[which], t * 32 + 16);
        Require(words == models[which].expected, "a result is wrong");
        if (count % 16 == 0) trace.Collect(*npu);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  trace.Collect(*npu);
  Require(g_overlap_count == 0, "two operations in the driver at once");
  // A request that waits for the scheduler does not wait for the lease.
  trace.Check(/*is_contended=*/std::strcmp(policy, "off") == 0);
  for (int t = 0; t < kThreads; ++t) {
    std::printf("priority %3d: %ld calls\n", t * 32 + 16, counts[t]);
    Require(counts[t] > 0, "a thread did not get on");
  }
  const auto statistics = takt::Npu::Statistics(*npu);
  std::printf("%llu operations, %llu failed, %llu by the CPU\n",
              static_cast<unsigned long long>(statistics->operation_count),
              static_cast<unsigned long long>(statistics->failed_count),
              static_cast<unsigned long long>(statistics->fallback_count));
  std::printf("%llu grants, %llu after a wait\n",
              static_cast<unsigned long long>(statistics->grant_count),
              static_cast<unsigned long long>(statistics->wait_count));
  Require(statistics->fallback_count == statistics->error_count,
          "what failed was not done by the CPU");
}

}  // namespace

int main(int argc, char** argv) {
  long seconds = 0;
  unsigned long seed = 7;
  int32_t worker_count = 0;  // The threads themselves.
  const char* policy = "off";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--seconds=", 10) == 0) {
      seconds = std::atol(argv[i] + 10);
    } else if (std::strncmp(argv[i], "--seed=", 7) == 0) {
      seed = std::strtoul(argv[i] + 7, nullptr, 10);
    } else if (std::strncmp(argv[i], "--workers=", 10) == 0) {
      worker_count = static_cast<int32_t>(std::atol(argv[i] + 10));
    } else if (std::strncmp(argv[i], "--policy=", 9) == 0) {
      policy = argv[i] + 9;
    } else {
      std::fprintf(stderr, "unknown flag %s\n", argv[i]);
      return 2;
    }
  }
  Run(seconds, seed, worker_count, policy);
  std::printf("passed\n");
  return 0;
}
