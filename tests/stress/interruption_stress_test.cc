// Goal: a program that is interrupted again and again has the same results as
// one that runs alone, and ends as soon as it is cancelled.
//
// Method: threads call functions that loop a million times, in contexts that
// they share, with random priorities. They wait with short deadlines, so that
// waiting threads take parts of the programs, and cancel some of the calls. A
// call must have the result of a synchronous one, unless it was cancelled.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "takt/takt.hpp"

namespace {

constexpr int kContexts = 2;
constexpr int kThreads = 3;
constexpr int kCalls = 40;  // Of each thread.

struct Looping {
  takt::Function function;
  int32_t expected = 0;
};

struct Counts {
  std::atomic<uint64_t> good{0};
  std::atomic<uint64_t> cancelled{0};
  std::atomic<uint64_t> late{0};  // Waits that ended at their deadline.
  std::atomic<uint64_t> wrong{0};
};

std::vector<Looping> Load(const takt::Instance& instance) {
  const auto module =
      takt::Module::Load(instance,
                         std::string(TAKT_TESTDATA_DIR) + "/vm/vm_loops.vmfb")
          .value();
  std::vector<Looping> all;
  for (int i = 0; i < kContexts; ++i) {
    const auto context = takt::Context::Create(instance, {module}).value();
    for (const char* name : {"scalar", "calls"}) {
      Looping looping{context.FindFunction(name).value()};
      looping.expected = looping.function.Invoke().value()[0].i32();
      all.push_back(std::move(looping));
    }
  }
  return all;
}

void CallOften(const std::vector<Looping>& all, uint32_t seed, Counts* counts) {
  std::mt19937 random(seed);
  for (int i = 0; i < kCalls; ++i) {
    const Looping& looping = all[random() % all.size()];
    const int32_t priority = random() % 4 == 0 ? 200 : 100;
    takt::Invocation call =
        takt::AsyncInvoke(looping.function, {}, {.priority = priority}).value();
    const bool cancels = random() % 8 == 0;
    if (cancels) call.Cancel();
    takt::Status status;
    while (true) {
      const int64_t limit_ns = random() % 300'000;
      status = call.Wait(takt_clock_now_ns() + limit_ns);
      if (status.code() != TAKT_STATUS_DEADLINE_EXCEEDED) break;
      ++counts->late;
    }
    if (status.code() == TAKT_STATUS_CANCELLED && cancels) {
      ++counts->cancelled;
    } else if (status.ok() &&
               call.TakeResults().value()[0].i32() == looping.expected) {
      ++counts->good;
    } else {
      ++counts->wrong;
      std::printf("wrong: seed %u, call %d: %s\n", seed, i,
                  std::string(status.message()).c_str());
    }
  }
}

}  // namespace

int main() {
  Counts counts;
  for (int workers = 0; workers < 3; ++workers) {
    takt_instance_options_t options;
    takt_instance_options_init(&options);
    options.worker_count = workers;
    const takt::Instance instance = takt::Instance::Create(&options).value();
    const std::vector<Looping> all = Load(instance);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      const auto seed = static_cast<uint32_t>(workers * kThreads + i);
      threads.emplace_back(
          [&all, seed, &counts] { CallOften(all, seed, &counts); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::printf("%llu good, %llu cancelled, %llu late waits, %llu wrong\n",
              static_cast<unsigned long long>(counts.good),
              static_cast<unsigned long long>(counts.cancelled),
              static_cast<unsigned long long>(counts.late),
              static_cast<unsigned long long>(counts.wrong));
  // A run without any outcome of one kind has not tested that kind.
  const bool is_full =
      counts.good > 0 && counts.cancelled > 0 && counts.late > 0;
  return counts.wrong == 0 && is_full ? 0 : 1;
}
