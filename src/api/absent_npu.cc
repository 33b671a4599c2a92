// In place of NPUs.
#include <cstddef>

#include "abi/guard.h"
#include "abi/null.h"
#include "api/handle.h"
#include "api/npu_device.h"
#include "api/npu_routes.h"
#include "base/absent.h"
#include "takt/npu.h"
#include "takt/npu_queue.h"

namespace takt::api {
namespace {

absl::Status Absent() { return AbsentError("NPUs", "TAKT_NPU"); }

}  // namespace

bool KeepsWorkers(const hal::Device& device) { return false; }

void AddRoutes(runtime::Instance* instance,
               const runtime::ContextOptions& options, vm::Context& context) {}

void NoteUnusedNpus(runtime::Instance& instance,
                    const runtime::ContextOptions& options) {}

}  // namespace takt::api

using takt::api::Absent;
using takt::api::ToStatus;

const takt_npu_driver_t* takt_npu_host_driver(void) { return nullptr; }

const takt_npu_driver_t* takt_npu_sim_driver(void) { return nullptr; }

// Without drivers of Takt's own, `driver` may be NULL: that is the option's
// error, not the caller's.
takt_status_t takt_npu_device_create(takt_instance_t* instance,
                                     const takt_npu_driver_t* driver,
                                     const takt_npu_options_t* options,
                                     takt_device_t** out_device) {
  TAKT_REQUIRE(instance, out_device);
  TAKT_TRY {
    *out_device = nullptr;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(instance, out_device);
}

takt_status_t takt_npu_device_load(takt_instance_t* instance, const char* path,
                                   const takt_npu_options_t* options,
                                   takt_device_t** out_device) {
  TAKT_REQUIRE(instance, path, out_device);
  TAKT_TRY {
    *out_device = nullptr;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(instance, path, out_device);
}

// No device has an NPU.
bool takt_npu_device_capabilities(const takt_device_t* device,
                                  takt_npu_capabilities_t* out_capabilities) {
  TAKT_REQUIRE_OR(false, device, out_capabilities);
  return false;
}

bool takt_npu_device_telemetry(const takt_device_t* device,
                               takt_npu_telemetry_t* out_telemetry) {
  TAKT_REQUIRE_OR(false, device, out_telemetry);
  TAKT_TRY { return false; }
  TAKT_CATCH_ALL_OR(false, device, out_telemetry);
}

bool takt_npu_device_statistics(const takt_device_t* device,
                                takt_npu_statistics_t* out_statistics) {
  TAKT_REQUIRE_OR(false, device, out_statistics);
  TAKT_TRY { return false; }
  TAKT_CATCH_ALL_OR(false, device, out_statistics);
}

size_t takt_npu_device_events(const takt_device_t* device, size_t capacity,
                              takt_npu_event_t* out_events) {
  TAKT_TRY { return 0; }
  TAKT_CATCH_ALL_OR(0);
}

takt_status_t takt_npu_queue_matmul(takt_device_t* device,
                                    takt_fence_t* wait_fence,
                                    takt_fence_t* signal_fence,
                                    const takt_npu_matmul_t* matmul,
                                    const takt_npu_batch_options_t* options) {
  TAKT_REQUIRE(device, matmul);
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(device, matmul);
}

takt_status_t takt_npu_queue_batch(takt_device_t* device,
                                   takt_fence_t* wait_fence,
                                   takt_fence_t* signal_fence,
                                   const takt_npu_batch_description_t* batch,
                                   size_t binding_count,
                                   const takt_buffer_range_t* bindings,
                                   const takt_npu_batch_options_t* options) {
  TAKT_REQUIRE(device, batch, Items(binding_count, bindings));
  TAKT_TRY { return ToStatus(__func__, Absent()); }
  TAKT_CATCH_ALL(device, batch, Items(binding_count, bindings));
}

takt_status_t takt_npu_batch_create(takt_device_t* device,
                                    const takt_npu_batch_description_t* batch,
                                    size_t binding_count,
                                    const takt_npu_batch_options_t* options,
                                    takt_executable_t** out_executable) {
  TAKT_REQUIRE(device, batch, out_executable);
  TAKT_TRY {
    *out_executable = nullptr;
    return ToStatus(__func__, Absent());
  }
  TAKT_CATCH_ALL(device, batch, out_executable);
}
