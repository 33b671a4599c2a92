#include "takt/npu.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "abi/guard.h"
#include "api/device.h"
#include "api/handle.h"
#include "api/npu_device.h"
#include "cpu/device.h"
#include "npu/device.h"
#include "npu/host_driver.h"
#include "npu/sim_driver.h"
#include "runtime/instance.h"

namespace takt::api {
namespace {

absl::Status CheckOptions(const takt_npu_options_t& options) {
  const auto refuse = [](absl::string_view name, int64_t value,
                         absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: ", name, ": expected ", expected, ", got ", value));
  };
  if (options.time_limit_ns <= 0) {
    return refuse("time_limit_ns", options.time_limit_ns, "1 or more");
  }
  if (options.quarantine_ns <= 0) {
    return refuse("quarantine_ns", options.quarantine_ns, "1 or more");
  }
  if (options.quarantine_after == 0) {
    return refuse("quarantine_after", 0, "1 or more");
  }
  constexpr int32_t kWorkerCountMax = 64;
  if (options.worker_count < TAKT_NPU_WORKER_COUNT_DEFAULT ||
      options.worker_count > kWorkerCountMax) {
    return refuse("worker_count", options.worker_count, "-1 to 64");
  }
  return absl::OkStatus();
}

// The CPUs that the unit is tied to and that this process may use.
CpuSet PlaceOf(const takt_npu_capabilities_t& capabilities) {
  return CpuSet::FromWords(capabilities.cpus) & topology::AllowedCpus();
}

// The workers that run the device's code; null: the submitting thread does.
absl::StatusOr<Ref<exec::Executor>> MakeExecutor(
    runtime::Instance* instance, const takt_npu_options_t& options,
    const takt_npu_capabilities_t& capabilities) {
  int32_t count = options.worker_count;
  if (count == 0) return Ref<exec::Executor>();
  if (count == TAKT_NPU_WORKER_COUNT_DEFAULT) {
    if ((capabilities.flags & TAKT_NPU_ON_CALLER) != 0 ||
        instance->has_host_loop()) {
      return instance->GetExecutor();
    }
    // One worker computes while the other waits for the NPU.
    count = 2;
  }
  exec::Executor::Options executor;
  executor.worker_count = static_cast<uint32_t>(count);
  // These workers mostly wait for the NPU. So more of them than there are CPUs
  // may run; else an urgent operation could not even ask for the NPU.
  executor.concurrency_max = executor.worker_count;
  executor.name = "takt-npu";
  executor.hooks = instance->thread_hooks();
  instance->CompleteThreads(/*fifo_priority=*/0, &executor);
  const CpuSet place = PlaceOf(capabilities);
  if (!place.empty()) executor.placement.assign(executor.worker_count, place);
  return exec::Executor::Create(executor);
}

absl::StatusOr<Ref<hal::Device>> MakeDevice(
    runtime::Instance* instance, const takt_npu_driver_t* driver,
    std::shared_ptr<npu::DriverLibrary> library,
    const takt_npu_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_npu_options_t given,
                        ReadOptions(options, &takt_npu_options_init));
  TAKT_RETURN_IF_ERROR(CheckOptions(given));
  TAKT_ASSIGN_OR_RETURN(
      const takt_device_options_t device_options,
      ReadOptions(given.device_options, &takt_device_options_init));
  TAKT_ASSIGN_OR_RETURN(const cpu::MemoryPool::Options memory,
                        ReadMemoryOptions(*instance, device_options));
  npu::NpuUnit::Options unit_options;
  if (given.driver_options != nullptr) {
    unit_options.driver_options = given.driver_options;
  }
  if (given.lease_path != nullptr) unit_options.lease_path = given.lease_path;
  npu::NpuFaultPolicy& policy = unit_options.policy;
  policy.time_limit_ns = given.time_limit_ns;
  policy.retry_max = given.retry_max;
  policy.quarantine_after = given.quarantine_after;
  policy.quarantine_ns = given.quarantine_ns;
  policy.fall_back_to_cpu = given.fall_back_to_cpu;
  unit_options.event_count_max = given.event_count_max;
  unit_options.may_route_to_cpu = given.may_route_to_cpu;
  unit_options.tracer = instance->tracer();
  if (given.virtual_time) {
    unit_options.time = std::make_shared<npu::VirtualTime>();
  } else {
    unit_options.time = npu::CreateRealTime(instance->timers());
  }
  TAKT_ASSIGN_OR_RETURN(
      Ref<npu::NpuUnit> unit,
      npu::NpuUnit::Open(driver, std::move(unit_options), std::move(library)));
  TAKT_ASSIGN_OR_RETURN(Ref<exec::Executor> executor,
                        MakeExecutor(instance, given, unit->capabilities()));
  const bool owns_executor =
      executor != nullptr && executor.get() != instance->FindExecutor().get();
  Ref<shop::JobShop> shop;
  if (executor != nullptr) {
    TAKT_ASSIGN_OR_RETURN(shop, instance->GetShop());
  }
  TAKT_ASSIGN_OR_RETURN(
      Ref<cpu::Device> device,
      npu::CreateDevice(std::move(unit), std::move(executor), owns_executor,
                        memory, given.native_code, instance->tracer(),
                        std::move(shop), ObserverOf(device_options),
                        given.virtual_time ? nullptr : instance->timers()));
  return Ref<hal::Device>(std::move(device));
}

absl::StatusOr<Ref<hal::Device>> LoadDevice(runtime::Instance* instance,
                                            const char* path,
                                            const takt_npu_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(auto library, npu::DriverLibrary::Load(path));
  const takt_npu_driver_t* const table = library->table();
  return MakeDevice(instance, table, std::move(library), options);
}

takt_npu_statistics_t StatisticsOf(const npu::NpuUnit& unit) {
  const npu::NpuStatistics from = unit.statistics();
  const npu::Lease::Statistics lease = unit.lease_statistics();
  takt_npu_statistics_t to;
  std::memset(&to, 0, sizeof(to));
  to.batch_count = from.batch_count;
  to.operation_count = from.operation_count;
  to.mac_count = from.mac_count;
  to.busy_ns = from.busy_ns;
  to.failed_count = from.failed_count;
  to.corrupted_count = from.corrupted_count;
  to.time_out_count = from.time_out_count;
  to.cancelled_count = from.cancelled_count;
  to.overheated_count = from.overheated_count;
  to.lost_count = from.lost_count;
  to.refused_count = from.refused_count;
  to.retry_count = from.retry_count;
  to.reset_count = from.reset_count;
  to.quarantine_count = from.quarantine_count;
  to.probe_count = from.probe_count;
  to.error_count = from.error_count;
  to.fallback_count = from.fallback_count;
  to.unsupported_count = from.unsupported_count;
  to.stray_completion_count = from.stray_completion_count;
  to.bytes_to_unit = from.bytes_to_unit;
  to.bytes_to_host = from.bytes_to_host;
  to.grant_count = lease.grant_count;
  to.wait_count = lease.wait_count;
  to.aging_count = lease.aging_count;
  to.taken_count = from.taken_count;
  to.left_to_cpu_count = from.left_to_cpu_count;
  const npu::SharedLease::Statistics shared = unit.shared_lease_statistics();
  to.shared_grant_count = shared.grant_count;
  to.shared_wait_count = shared.wait_count;
  to.taken_back_count = shared.taken_back_count;
  to.lost_turn_count = shared.lost_count;
  to.unarbitrated_count = shared.unarbitrated_count;
  return to;
}

}  // namespace

bool KeepsWorkers(const hal::Device& device) {
  const npu::NpuUnit* const unit = UnitOf(device);
  return unit != nullptr &&
         (unit->capabilities().flags & TAKT_NPU_ON_CALLER) == 0;
}

}  // namespace takt::api

using takt::api::Unwrap;

const takt_npu_driver_t* takt_npu_host_driver(void) {
  return takt::npu::HostDriver();
}

const takt_npu_driver_t* takt_npu_sim_driver(void) {
  return takt::npu::SimDriver();
}

takt_status_t takt_npu_device_create(takt_instance_t* instance,
                                     const takt_npu_driver_t* driver,
                                     const takt_npu_options_t* options,
                                     takt_device_t** out_device) {
  TAKT_REQUIRE(instance, driver, out_device);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        takt::api::MakeDevice(Unwrap(instance), driver, nullptr, options),
        out_device);
  }
  TAKT_CATCH_ALL(instance, driver, out_device);
}

takt_status_t takt_npu_device_load(takt_instance_t* instance, const char* path,
                                   const takt_npu_options_t* options,
                                   takt_device_t** out_device) {
  TAKT_REQUIRE(instance, path, out_device);
  TAKT_TRY {
    return takt::api::Give(
        __func__, takt::api::LoadDevice(Unwrap(instance), path, options),
        out_device);
  }
  TAKT_CATCH_ALL(instance, path, out_device);
}

bool takt_npu_device_capabilities(const takt_device_t* device,
                                  takt_npu_capabilities_t* out_capabilities) {
  TAKT_REQUIRE_OR(false, device, out_capabilities);
  const takt::npu::NpuUnit* const unit = takt::api::UnitOf(*Unwrap(device));
  if (unit == nullptr) return false;
  takt::api::WriteSized(unit->capabilities(), out_capabilities);
  return true;
}

bool takt_npu_device_telemetry(const takt_device_t* device,
                               takt_npu_telemetry_t* out_telemetry) {
  TAKT_REQUIRE_OR(false, device, out_telemetry);
  TAKT_TRY {
    const takt::npu::NpuUnit* const unit = takt::api::UnitOf(*Unwrap(device));
    if (unit == nullptr) return false;
    takt::api::WriteSized(unit->telemetry(), out_telemetry);
    return true;
  }
  TAKT_CATCH_ALL_OR(false, device, out_telemetry);
}

bool takt_npu_device_statistics(const takt_device_t* device,
                                takt_npu_statistics_t* out_statistics) {
  TAKT_REQUIRE_OR(false, device, out_statistics);
  TAKT_TRY {
    const takt::npu::NpuUnit* const unit = takt::api::UnitOf(*Unwrap(device));
    if (unit == nullptr) return false;
    takt::api::WriteSized(takt::api::StatisticsOf(*unit), out_statistics);
    return true;
  }
  TAKT_CATCH_ALL_OR(false, device, out_statistics);
}

size_t takt_npu_device_events(const takt_device_t* device, size_t capacity,
                              takt_npu_event_t* out_events) {
  TAKT_REQUIRE_OR(0, device, Items(capacity, out_events));
  TAKT_TRY {
    const takt::npu::NpuUnit* const unit = takt::api::UnitOf(*Unwrap(device));
    if (unit == nullptr) return 0;
    const std::vector<takt::npu::NpuBatchRecord> events = unit->events();
    const size_t count = std::min(capacity, events.size());
    for (size_t i = 0; i < count; ++i) {
      const takt::npu::NpuBatchRecord& event =
          events[events.size() - count + i];
      out_events[i] = {event.id,
                       event.start_ns,
                       event.end_ns,
                       event.result,
                       event.is_time_out,
                       event.urgency.priority,
                       event.urgency.deadline_ns,
                       event.turn.asked,
                       event.turn.granted,
                       event.turn.is_aged};
    }
    return count;
  }
  TAKT_CATCH_ALL_OR(0, device, Items(capacity, out_events));
}
