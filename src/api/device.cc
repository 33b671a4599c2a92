#include "api/device.h"

#include <malloc.h>

#include "abi/c_string.h"
#include "abi/guard.h"
#include "api/handle.h"
#include "api/npu_device.h"
#include "base/cpu_set.h"
#include "cpu/device.h"
#include "runtime/device.h"
#include "takt/device.h"

namespace takt::api {
namespace {

absl::StatusOr<std::vector<CpuSet>> ReadQueues(
    const takt_device_options_t& given) {
  std::vector<CpuSet> queues;
  if (given.queue_count != 0) {
    TAKT_RETURN_IF_ERROR(Require(given.queue_cpus, "options: queue_cpus"));
  }
  for (size_t i = 0; i < given.queue_count; ++i) {
    const std::string what = absl::StrCat("options: queue_cpus[", i, "]");
    TAKT_RETURN_IF_ERROR(Require(given.queue_cpus[i], what));
    absl::StatusOr<CpuSet> cpus = CpuSet::Parse(given.queue_cpus[i]);
    if (!cpus.ok()) return Annotate(cpus.status(), what);
    queues.push_back(*std::move(cpus));
  }
  return queues;
}

}  // namespace

cpu::DispatchObserver ObserverOf(const takt_device_options_t& given) {
  if (given.on_dispatch == nullptr) return nullptr;
  return [observe = given.on_dispatch, user_data = given.on_dispatch_user_data](
             const cpu::DispatchEvent& event) {
    const takt_dispatch_event_t reported = {
        event.function.data(),
        {event.workgroup_count[0], event.workgroup_count[1],
         event.workgroup_count[2]},
        event.begin_ns,
        event.end_ns,
        static_cast<uint64_t>(reinterpret_cast<uintptr_t>(event.group))};
    observe(user_data, &reported);
  };
}

absl::StatusOr<cpu::MemoryPool::Options> ReadMemoryOptions(
    const runtime::Instance& instance, const takt_device_options_t& given) {
  if (given.memory_budget_bytes == 0) {
    return absl::InvalidArgumentError(
        "options: memory_budget_bytes: expected 1 or more, got 0");
  }
  if (given.stall_ns <= 0 || given.idle_ns <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: ", given.idle_ns <= 0 ? "idle_ns" : "stall_ns",
                     ": expected 1 or more, got ",
                     given.idle_ns <= 0 ? given.idle_ns : given.stall_ns));
  }
  cpu::MemoryPool::Options memory;
  memory.budget_bytes = given.memory_budget_bytes;
  memory.idle_bytes_max = given.idle_bytes_max;
  memory.idle_ns = given.idle_ns;
  memory.stall_ns = given.stall_ns;
  memory.timers = instance.timers();
  memory.source = instance.memory_source();
  return memory;
}

absl::StatusOr<Ref<hal::Device>> CreateDevice(
    runtime::Instance* instance, absl::string_view name,
    const takt_device_options_t* given) {
  TAKT_ASSIGN_OR_RETURN(const takt_device_options_t read,
                        ReadOptions(given, &takt_device_options_init));
  runtime::DeviceOptions options;
  TAKT_ASSIGN_OR_RETURN(options.memory, ReadMemoryOptions(*instance, read));
  TAKT_ASSIGN_OR_RETURN(options.queues, ReadQueues(read));
  options.executor = Unwrap(read.executor);
  options.learn_costs = read.learn_costs;
  options.allow_system_libraries = read.allow_system_libraries;
  options.observer = ObserverOf(read);
  return runtime::CreateDevice(*instance, name, std::move(options));
}

exec::Executor* ExecutorOf(const hal::Device& device) {
  const auto& host = static_cast<const cpu::Device&>(device);
  return KeepsWorkers(device) ? nullptr : host.executor();
}

}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_device_create(takt_instance_t* instance, const char* name,
                                 const takt_device_options_t* options,
                                 takt_device_t** out_device) {
  TAKT_REQUIRE(instance, name, out_device);
  TAKT_TRY {
    return takt::api::Give(
        __func__, takt::api::CreateDevice(Unwrap(instance), name, options),
        out_device);
  }
  TAKT_CATCH_ALL(instance, name, out_device);
}

void takt_device_retain(takt_device_t* device) {
  takt::api::RetainHandle(device);
}

void takt_device_release(takt_device_t* device) {
  takt::api::ReleaseHandle(device);
}

const char* takt_device_name(const takt_device_t* device) {
  TAKT_REQUIRE_OR("", device);
  return Unwrap(device)->id().c_str();
}

bool takt_device_query_i64(const takt_device_t* device, const char* category,
                           const char* key, int64_t* out_value) {
  TAKT_REQUIRE_OR(false, device, category, key, out_value);
  TAKT_TRY {
    const absl::optional<int64_t> value =
        Unwrap(device)->QueryI64(category, key);
    *out_value = value.value_or(0);
    return value.has_value();
  }
  TAKT_CATCH_ALL_OR(false, device, category, key, out_value);
}

void takt_device_trim(takt_device_t* device) {
  TAKT_IGNORE_NULL(device);
  TAKT_TRY {
    Unwrap(device)->Trim();
    // The heap would keep small blocks that the device has freed.
    malloc_trim(0);
  }
  TAKT_CATCH_ALL_OR(, device);
}

takt_status_t takt_device_explain_memory(const takt_device_t* device,
                                         char** out_text) {
  TAKT_REQUIRE(device, out_text);
  TAKT_TRY {
    return takt::api::GiveText(__func__, Unwrap(device)->ExplainMemory(),
                               out_text);
  }
  TAKT_CATCH_ALL(device, out_text);
}
