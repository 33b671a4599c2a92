// Reads a string of bytes as C API calls of several threads: a setting, then
// steps of two bytes each. Threads share invocations and fences by slots; each
// has references of its own to the instance and to what was made from it.
// Steps call, wait, signal, fail, cancel, release in any order, and have the
// application's allocator fail.
//
// A result must be right, an error must have a cause in the steps, a callback
// must come once, and in the end the allocator must have all memory back.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "takt/takt.h"

namespace takt::fuzz {
namespace {

constexpr size_t kThreadCount = 3;
constexpr size_t kStepsMax = 128;  // Of all threads.
constexpr size_t kSlotCount = 4;
constexpr int kDepthMax = 20;
constexpr int64_t kWaitNs = 1'000'000;
constexpr auto kEndMax = std::chrono::seconds(60);

[[noreturn]] void Fail(const char* what, takt_status_t status) {
  std::fprintf(stderr, "%s: %s: %s\n", what,
               takt_status_code_name(takt_status_code(status)),
               takt_status_message(status));
  __builtin_trap();
}
void Require(takt_status_t status, const char* what) {
  if (status != nullptr) Fail(what, status);
}

// What the threads of an input share.
struct World {
  // A call whose result is {1, 2, 3, 4} to the power of depth + 1.
  struct Call {
    takt_invocation_t* invocation = nullptr;
    int depth = 0;
  };

  std::mutex mutex;  // Of the slots.
  std::array<Call, kSlotCount> calls;
  std::array<takt_fence_t*, kSlotCount> fences{};    // The steps signal them.
  std::array<takt_fence_t*, kSlotCount> promises{};  // Calls signal them.

  std::atomic<bool> has_faults = false;
  std::atomic<int> allocations_until_fault = 0;  // 0: none is to fail.
  std::atomic<int64_t> live_blocks = 0;
  std::atomic<int64_t> wanted_callbacks = 0;
  std::atomic<int64_t> callbacks = 0;
};

void* Allocate(void* user_data, size_t byte_length, size_t alignment) {
  auto* world = static_cast<World*>(user_data);
  if (world->allocations_until_fault > 0 &&
      --world->allocations_until_fault == 0) {
    return nullptr;
  }
  void* const data = std::aligned_alloc(
      alignment, (byte_length + alignment - 1) / alignment * alignment);
  if (data != nullptr) ++world->live_blocks;
  return data;
}
void Free(void* user_data, void* data, size_t, size_t) {
  std::free(data);
  --static_cast<World*>(user_data)->live_blocks;
}

// Takes the status. Any other error than one that a step can cause is a
// finding.
bool Settle(const World& world, takt_status_t status, const char* what) {
  switch (takt_status_code(status)) {
    case TAKT_STATUS_OK:
      return true;
    case TAKT_STATUS_RESOURCE_EXHAUSTED:
      if (!world.has_faults) Fail(what, status);
      break;
    case TAKT_STATUS_CANCELLED:
    case TAKT_STATUS_ABORTED:    // A fence that nobody will signal.
    case TAKT_STATUS_DATA_LOSS:  // A fence that a step has failed.
    case TAKT_STATUS_DEADLINE_EXCEEDED:
      break;
    default:
      Fail(what, status);
  }
  takt_status_free(status);
  return false;
}

void OnDone(void* user_data, takt_invocation_t*, takt_status_t status) {
  auto* world = static_cast<World*>(user_data);
  Settle(*world, status, "on_done");
  ++world->callbacks;
}

// Takes the value.
void CheckPower(const World& world, takt_value_t value, int depth) {
  float values[4] = {};
  takt_status_t status = takt_buffer_view_copy_to_host(
      takt_value_as_buffer_view(&value), values, sizeof(values));
  if (Settle(world, status, "copy_to_host")) {
    float power = 4;
    for (int i = 0; i < depth; ++i) power *= 4;
    if (values[0] != 1 || values[3] != power) Fail("a wrong product", nullptr);
  }
  takt_values_release(1, &value);
}

// References of one thread. Those that were released are NULL.
struct Robot {
  takt_instance_t* instance = nullptr;
  takt_device_t* device = nullptr;
  takt_module_t* module = nullptr;
  takt_context_t* context = nullptr;
  takt_function_t* function = nullptr;
  takt_buffer_view_t* view = nullptr;

  bool can_call() const { return function != nullptr && view != nullptr; }
  bool can_link() const {
    return instance != nullptr && device != nullptr && module != nullptr;
  }
  void Retain() const {
    takt_instance_retain(instance);
    takt_device_retain(device);
    takt_module_retain(module);
    takt_context_retain(context);
    takt_function_retain(function);
    takt_buffer_view_retain(view);
  }
  void ReleasePart(size_t part) {
    switch (part % 6) {
      case 0:
        takt_instance_release(std::exchange(instance, nullptr));
        break;
      case 1:
        takt_device_release(std::exchange(device, nullptr));
        break;
      case 2:
        takt_module_release(std::exchange(module, nullptr));
        break;
      case 3:
        takt_context_release(std::exchange(context, nullptr));
        break;
      case 4:
        takt_function_release(std::exchange(function, nullptr));
        break;
      default:
        takt_buffer_view_release(std::exchange(view, nullptr));
    }
  }
  void ReleaseAll(size_t first) {
    for (size_t i = 0; i < 6; ++i) ReleasePart(first + i);
  }
};

takt_status_t Link(Robot* robot) {
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &robot->module;
  options.module_count = 1;
  options.devices = &robot->device;
  options.device_count = 1;
  takt_status_t status =
      takt_context_create(robot->instance, &options, &robot->context);
  if (status != nullptr) return status;
  return takt_context_find_function(robot->context, "module.simple_mul",
                                    &robot->function);
}

constexpr const char* kModules[] = {
    TAKT_TESTDATA_DIR "/models/simple_mul.cpu.vmfb",
    TAKT_TESTDATA_DIR "/models/simple_mul.cpu.async.vmfb",
    TAKT_TESTDATA_DIR "/models/simple_mul.vmvx.vmfb",
    TAKT_TESTDATA_DIR "/models/simple_mul.vmvx.async.vmfb"};

// The bits of `setting`: workers 2, module 2, scheduler 1, device 1.
Robot MakeRobot(uint8_t setting, World* world) {
  Robot robot;
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 1 + setting % 4;
  options.allocator = {world, &Allocate, &Free};
  if ((setting >> 4 & 1) != 0) options.scheduler = &scheduler;
  Require(takt_instance_create(&options, &robot.instance), "instance");
  const char* const device =
      (setting >> 5 & 1) != 0 ? "local-sync" : "local-task";
  Require(takt_device_create(robot.instance, device, nullptr, &robot.device),
          device);
  Require(takt_module_load_file(robot.instance, kModules[setting >> 2 & 3],
                                nullptr, &robot.module),
          "module");
  Require(Link(&robot), "context");
  const float values[4] = {1, 2, 3, 4};
  const int64_t shape = 4;
  Require(
      takt_buffer_view_copy_from_host(robot.device, TAKT_ELEMENT_F32, 1, &shape,
                                      values, sizeof(values), &robot.view),
      "view");
  return robot;
}

// A thread that runs steps.
class Caller {
 public:
  Caller(World* world, const Robot& robot) : world_(*world), robot_(robot) {
    robot_.Retain();
  }

  void Add(uint8_t kind, uint8_t detail) { steps_.push_back({kind, detail}); }
  void Run() {
    for (const auto& [kind, detail] : steps_) Step(kind, detail);
    robot_.ReleaseAll(steps_.size());
  }

 private:
  void Step(uint8_t kind, uint8_t detail);
  void Invoke(uint8_t detail);
  void InvokeAsync(uint8_t detail, bool has_promise);
  void InvokeLater(uint8_t detail);
  void Begin(takt_async_options_t* options, const takt_value_t* arguments,
             takt_fence_t* wait, takt_fence_t* signal, size_t slot, int depth);
  void WaitForCall(size_t slot);
  void WaitForPromise(size_t slot);
  void Cancel(size_t slot);
  void EndFence(size_t slot, uint8_t kind);
  void Relink();
  void RunReady();

  // Empties the slot of a call, or fills it.
  void PutCall(size_t slot, World::Call call) {
    {
      const std::lock_guard<std::mutex> lock(world_.mutex);
      std::swap(world_.calls[slot], call);
    }
    takt_invocation_release(call.invocation);
  }
  World::Call GetCall(size_t slot) {
    const std::lock_guard<std::mutex> lock(world_.mutex);
    takt_invocation_retain(world_.calls[slot].invocation);
    return world_.calls[slot];
  }
  takt_fence_t* SwapFence(std::array<takt_fence_t*, kSlotCount>* fences,
                          size_t slot, takt_fence_t* fence) {
    const std::lock_guard<std::mutex> lock(world_.mutex);
    return std::exchange((*fences)[slot], fence);
  }
  // With a reference, if there is a fence.
  takt_fence_t* GetFence(const std::array<takt_fence_t*, kSlotCount>& fences,
                         size_t slot) {
    const std::lock_guard<std::mutex> lock(world_.mutex);
    takt_fence_retain(fences[slot]);
    return fences[slot];
  }

  World& world_;
  Robot robot_;
  std::vector<std::pair<uint8_t, uint8_t>> steps_;
};

void Caller::Invoke(uint8_t detail) {
  const takt_value_t arguments[2] = {takt_value_ref(robot_.view),
                                     takt_value_ref(robot_.view)};
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  if (detail % 4 == 0) options.timeout_ns = 1 + detail * 500;
  takt_value_t result;
  takt_status_t status =
      takt_function_invoke(robot_.function, &options, 2, arguments, 1, &result);
  if (Settle(world_, status, "invoke")) CheckPower(world_, result, 1);
}

void Caller::Begin(takt_async_options_t* options, const takt_value_t* arguments,
                   takt_fence_t* wait, takt_fence_t* signal, size_t slot,
                   int depth) {
  options->on_done = &OnDone;
  options->user_data = &world_;
  ++world_.wanted_callbacks;
  World::Call call;
  call.depth = depth;
  takt_status_t status = takt_async_invoke(
      robot_.function, options, 2, arguments, wait, signal, &call.invocation);
  const bool is_late =  // The results of the other call were taken.
      options->future_argument_count > 0 &&
      takt_status_code(status) == TAKT_STATUS_FAILED_PRECONDITION;
  if (is_late) takt_status_free(status);
  if (is_late || !Settle(world_, status, "async_invoke")) {
    --world_.wanted_callbacks;
  }
  PutCall(slot, call);
}

// It waits for a fence of the steps, for a promise, or for nothing.
void Caller::InvokeAsync(uint8_t detail, bool has_promise) {
  const size_t slot = detail % kSlotCount;
  takt_fence_t* wait = nullptr;
  if ((detail >> 2 & 3) == 1) wait = GetFence(world_.fences, detail >> 4 & 3);
  if ((detail >> 2 & 3) == 2) wait = GetFence(world_.promises, detail >> 4 & 3);
  takt_fence_t* promise = nullptr;
  if (has_promise) Require(takt_fence_create(&promise), "fence_create");
  const takt_value_t arguments[2] = {takt_value_ref(robot_.view),
                                     takt_value_ref(robot_.view)};
  takt_async_options_t options;
  takt_async_options_init(&options);
  if (detail >> 6 == 1) options.timeout_ns = 300'000;
  options.batch = detail >> 6 == 2;
  options.cancellable = detail >> 6 != 3;
  Begin(&options, arguments, wait, promise, slot, 1);
  takt_fence_release(wait);
  if (has_promise) {
    takt_fence_release(SwapFence(&world_.promises, slot, promise));
  }
}

// Its second argument is the result of another call.
void Caller::InvokeLater(uint8_t detail) {
  const World::Call source = GetCall(detail >> 2 & 3);
  if (source.invocation == nullptr) return;
  if (source.depth < kDepthMax) {
    takt_value_t arguments[2] = {takt_value_ref(robot_.view)};
    takt_future_argument_t future = {};
    future.index = 1;
    future.invocation = source.invocation;
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.future_argument_count = 1;
    options.future_arguments = &future;
    takt_fence_t* const wait = (detail >> 4 & 1) != 0
                                   ? GetFence(world_.fences, detail >> 5 & 3)
                                   : nullptr;
    Begin(&options, arguments, wait, nullptr, detail % kSlotCount,
          source.depth + 1);
    takt_fence_release(wait);
  }
  takt_invocation_release(source.invocation);
}

// The results may have been taken by another thread.
void Caller::WaitForCall(size_t slot) {
  const World::Call call = GetCall(slot);
  if (call.invocation == nullptr) return;
  takt_status_t status =
      takt_invocation_wait(call.invocation, takt_clock_now_ns() + kWaitNs);
  if (Settle(world_, status, "wait")) {
    takt_value_t result;
    status = takt_invocation_take_results(call.invocation, 1, &result);
    if (takt_status_code(status) == TAKT_STATUS_FAILED_PRECONDITION) {
      takt_status_free(status);
    } else if (Settle(world_, status, "take_results")) {
      CheckPower(world_, result, call.depth);
    }
  }
  takt_invocation_release(call.invocation);
}

void Caller::WaitForPromise(size_t slot) {
  takt_fence_t* const promise = GetFence(world_.promises, slot);
  if (promise != nullptr && robot_.instance != nullptr) {
    takt_status_t status = takt_fence_wait(promise, robot_.instance,
                                           takt_clock_now_ns() + kWaitNs);
    Settle(world_, status, "fence_wait");
  }
  takt_fence_release(promise);
}

void Caller::Cancel(size_t slot) {
  const World::Call call = GetCall(slot);
  if (call.invocation != nullptr) takt_invocation_cancel(call.invocation);
  takt_invocation_release(call.invocation);
}

// Signals a fence, fails it or forgets it; a new one takes its place.
void Caller::EndFence(size_t slot, uint8_t kind) {
  takt_fence_t* next = nullptr;
  Require(takt_fence_create(&next), "fence_create");
  takt_fence_t* const fence = SwapFence(&world_.fences, slot, next);
  if (fence == nullptr) return;
  if (kind == 0) Require(takt_fence_signal(fence), "fence_signal");
  if (kind == 1) {
    takt_fence_fail(fence, takt_status_create(TAKT_STATUS_DATA_LOSS, "a step"));
  }
  takt_fence_release(fence);
}

void Caller::Relink() {
  robot_.ReleasePart(4);
  robot_.ReleasePart(3);
  Settle(world_, Link(&robot_), "a further context");
}

void Caller::RunReady() {
  Require(takt_instance_run_ready(robot_.instance, 100'000, nullptr, nullptr),
          "run_ready");
}

void Caller::Step(uint8_t kind, uint8_t detail) {
  const size_t slot = detail % kSlotCount;
  switch (kind % 16) {
    case 0:
    case 1:
      if (robot_.can_call()) Invoke(detail);
      break;
    case 2:
    case 3:
      if (robot_.can_call()) InvokeAsync(detail, false);
      break;
    case 4:
    case 5:
      if (robot_.can_call()) InvokeAsync(detail, true);
      break;
    case 6:
      if (robot_.can_call()) InvokeLater(detail);
      break;
    case 7:
      WaitForCall(slot);
      break;
    case 8:
      WaitForPromise(slot);
      break;
    case 9:
      Cancel(slot);
      break;
    case 10:
    case 11:
      EndFence(slot, detail >> 2 & 3);
      break;
    case 12:
      if (robot_.can_link()) Relink();
      break;
    case 13:
      PutCall(slot, {});
      takt_fence_release(SwapFence(&world_.promises, slot, nullptr));
      break;
    case 14:
      if ((detail & 8) != 0) {  // All that a call does not need.
        for (size_t part = 0; part < 4; ++part) robot_.ReleasePart(part);
      } else if ((detail & 16) != 0) {
        robot_.ReleasePart(detail % 8);
      } else if (robot_.instance != nullptr) {
        RunReady();
      }
      break;
    default:
      world_.has_faults = true;
      world_.allocations_until_fault = 1 + detail % 16;
  }
}

void ReleaseSlots(World* world) {
  for (size_t i = 0; i < kSlotCount; ++i) {
    takt_fence_release(std::exchange(world->fences[i], nullptr));
    takt_fence_release(std::exchange(world->promises[i], nullptr));
    takt_invocation_release(std::exchange(world->calls[i].invocation, nullptr));
  }
}

size_t CountThreads() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

// A call that is ending may hold the last references for a moment, and a worker
// that released its own instance ends after the call. The search for leaks must
// not look while it holds memory.
void AwaitEnd(const World& world, size_t thread_count) {
  const auto end = std::chrono::steady_clock::now() + kEndMax;
  while (world.callbacks != world.wanted_callbacks || world.live_blocks != 0 ||
         CountThreads() > thread_count) {
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr,
                   "%lld of %lld callbacks, %lld blocks, and %zu of %zu threads"
                   " are left\n",
                   static_cast<long long>(world.callbacks),
                   static_cast<long long>(world.wanted_callbacks),
                   static_cast<long long>(world.live_blocks), CountThreads(),
                   thread_count);
      __builtin_trap();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void Run(const uint8_t* data, size_t size) {
  std::thread([] {}).join();  // ThreadSanitizer starts one of its own with it.
  const size_t thread_count = CountThreads();
  // An instance may use its allocator after it was released by the steps.
  World world;
  Robot robot = MakeRobot(data[0], &world);
  std::vector<Caller> callers;
  for (size_t i = 0; i < kThreadCount; ++i) callers.emplace_back(&world, robot);
  robot.ReleaseAll(data[0]);
  const size_t step_count = std::min((size - 1) / 2, kStepsMax);
  for (size_t i = 0; i < step_count; ++i) {
    const uint8_t kind = data[1 + 2 * i];
    callers[(kind >> 4) % kThreadCount].Add(kind, data[2 + 2 * i]);
  }
  std::vector<std::thread> threads;
  for (Caller& caller : callers) {
    threads.emplace_back([&caller] { caller.Run(); });
  }
  for (std::thread& thread : threads) thread.join();
  ReleaseSlots(&world);
  AwaitEnd(world, thread_count);
}

}  // namespace
}  // namespace takt::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) takt::fuzz::Run(data, size);
  return 0;
}
