// takt/npu.h - devices with an NPU.
//
// Compiled modules use such a device like any other `local*` device. It runs
// executables of the format "npu-fb": bytecode whose matrix products run on the
// NPU, or programs in the NPU's own form. It works in the memory of the
// process, so its buffers may be used on other devices of the instance.
//
// One operation at a time has the NPU; the most urgent one that waits is next.
// If the NPU does not support an operation, or fails, the CPU runs the
// operation with the same result, unless the options forbid it. docs/npu.md is
// the guide.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_NPU_H_
#define TAKT_NPU_H_

#include <string.h>

#include "takt/device.h"
#include "takt/npu_driver.h"

#if defined(__cplusplus)
extern "C" {
#endif

// Returns the driver whose NPU is this machine's CPU with its inner-product
// instructions. It takes no options.
TAKT_EXPORT const takt_npu_driver_t* takt_npu_host_driver(void);

// Returns the driver whose NPU is a model. It computes the same results as the
// host's driver; a profile says how long operations take and how often they
// fail. The driver's options are that profile, as JSON; docs/npu.md has the
// schema.
TAKT_EXPORT const takt_npu_driver_t* takt_npu_sim_driver(void);

// The number of threads that the driver asks for: those of the instance if the
// submitting thread does the NPU's work; else two threads of the device.
#define TAKT_NPU_WORKER_COUNT_DEFAULT (-1)

typedef struct takt_npu_options_t {
  size_t struct_size;          // Set by init.
  const char* driver_options;  // In the driver's own form. Default: NULL.
  // The memory of the device, and on_dispatch. NULL: the defaults.
  const takt_device_options_t* device_options;

  // The members up to fall_back_to_cpu say what happens when an operation
  // fails. docs/npu.md has the states.

  // The longest that an operation may take; then it is cancelled. Default: 1 s.
  // TAKT_INFINITE_FUTURE: no limit.
  int64_t time_limit_ns;
  uint32_t retry_max;  // Attempts after the first one. Default: 1.
  // The number of failures in a row that put the NPU in quarantine: Takt does
  // not use it for some time. Default: 4.
  uint32_t quarantine_after;
  // The length of a quarantine. At its end one operation probes the NPU; if it
  // fails, the next quarantine is twice as long. Default: 100 ms.
  int64_t quarantine_ns;
  // If true, the CPU runs operations that failed on the NPU; else their fences
  // fail. The CPU always runs operations that the NPU does not support.
  // Default: true.
  bool fall_back_to_cpu;

  // The driver has a simulated clock, which moves only while Takt waits for an
  // operation. Not for real hardware. A scheduler then learns nothing of the
  // NPU's temperature and state. Default: false.
  bool virtual_time;
  // The number of threads that run the device's code and wait for the NPU. 0:
  // the thread that submits the work does both. Default:
  // TAKT_NPU_WORKER_COUNT_DEFAULT.
  int32_t worker_count;
  // The device also runs native code of the CPU. The functions that such code
  // imports come from the driver, and it has the NPU while it runs. A module
  // with several variants may then choose another one than the NPU's. Default:
  // false.
  bool native_code;
  // How many operations takt_npu_device_events() remembers. Default: 0.
  uint32_t event_count_max;
  // If a module has code for the NPU and for the CPU, each dispatch runs where
  // it is expected to end first. If false, all of them run on the NPU. Default:
  // true.
  bool may_route_to_cpu;
  // The file by which processes that use the same NPU agree on whose turn it
  // is, such as "/run/takt/accel0.lease", best in a tmpfs. Each of them names
  // it, and needs the right to write it. It is made if it is not there. NULL:
  // no other process may use the NPU. Default: NULL.
  const char* lease_path;
} takt_npu_options_t;

static inline void takt_npu_options_init(takt_npu_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->time_limit_ns = 1000000000;
  options->retry_max = 1;
  options->quarantine_after = 4;
  options->quarantine_ns = 100000000;
  options->fall_back_to_cpu = true;
  options->worker_count = TAKT_NPU_WORKER_COUNT_DEFAULT;
  options->may_route_to_cpu = true;
}

// Opens an NPU and makes a device for it. The device's name is "local-npu-"
// followed by the driver's name.
//
//   driver      borrowed; must live as long as the device.
//   options     borrowed; NULL for the defaults.
//   out_device  receives one reference; NULL on error.
//
// Errors:
//   INVALID_ARGUMENT  the driver's table has another version or lacks a
//                     required function; its capabilities contradict each
//                     other; the driver refuses the options, with its reason.
//   UNAVAILABLE, ...  the driver's open() failed.
//   FAILED_PRECONDITION  another process or device uses the NPU, and not both
//                     have a lease_path; or that names no lease file.
//   RESOURCE_EXHAUSTED  64 processes use the lease file already.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_device_create(
    takt_instance_t* instance, const takt_npu_driver_t* driver,
    const takt_npu_options_t* options, takt_device_t** out_device);

// Does the same with the driver of a shared object, which stays loaded as long
// as the device lives.
//
//   path  a path, or the bare name of a file. A bare name is looked up in the
//         current directory first, and then by the system's loader.
//
// Errors: as for takt_npu_device_create(), and
//   NOT_FOUND  there is no such file, or no driver in it.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_device_load(
    takt_instance_t* instance, const char* path,
    const takt_npu_options_t* options, takt_device_t** out_device);

// Reads the capabilities that the driver of a device's NPU reports. Returns
// false if the device has no NPU. Set struct_size to sizeof before the call,
// here and for the functions below.
TAKT_EXPORT bool takt_npu_device_capabilities(
    const takt_device_t* device, takt_npu_capabilities_t* out_capabilities);

// Reads the temperature and load of the NPU; a number that is not known is
// INT64_MIN. Returns false if the device has no NPU.
TAKT_EXPORT bool takt_npu_device_telemetry(const takt_device_t* device,
                                           takt_npu_telemetry_t* out_telemetry);

// Counts since the device was created.
typedef struct takt_npu_statistics_t {
  size_t struct_size;
  uint64_t batch_count;      // Submitted batches, with repeated ones.
  uint64_t operation_count;  // Operations that are done.
  uint64_t mac_count;        // Multiply-adds of matrix products.
  uint64_t busy_ns;
  // Failed batches, by cause.
  uint64_t failed_count;
  uint64_t corrupted_count;  // With a wrong checksum.
  uint64_t time_out_count;
  uint64_t cancelled_count;
  uint64_t overheated_count;
  uint64_t lost_count;
  uint64_t refused_count;
  // Reactions to these failures.
  uint64_t retry_count;
  uint64_t reset_count;
  uint64_t quarantine_count;
  uint64_t probe_count;
  uint64_t error_count;        // Operations that failed in the end.
  uint64_t fallback_count;     // Those of them that the CPU ran.
  uint64_t unsupported_count;  // Operations that only the CPU supports.
  // Completions that came too late, or twice.
  uint64_t stray_completion_count;
  uint64_t bytes_to_unit;  // Copied to and from the NPU's own memory.
  uint64_t bytes_to_host;
  // The lease.
  uint64_t grant_count;
  uint64_t wait_count;   // Grants that had to wait.
  uint64_t aging_count;  // Grants that were due because of their long wait.
  // Dispatches that both could run: those that the NPU ran, and the CPU.
  uint64_t taken_count;
  uint64_t left_to_cpu_count;
  // The lease among processes (lease_path).
  uint64_t shared_grant_count;
  uint64_t shared_wait_count;  // Grants that waited for another process.
  // Leases that this process took back from one that died or hung, and turns
  // that were taken from this process.
  uint64_t taken_back_count;
  uint64_t lost_turn_count;
  // Turns without the lease, since another process kept the file locked.
  uint64_t unarbitrated_count;
} takt_npu_statistics_t;

// Reads the statistics. Returns false if the device has no NPU.
TAKT_EXPORT bool takt_npu_device_statistics(
    const takt_device_t* device, takt_npu_statistics_t* out_statistics);

// The record of one batch.
typedef struct takt_npu_event_t {
  uint64_t id;
  int64_t start_ns;  // On the driver's clock.
  int64_t end_ns;
  takt_npu_result_t result;
  bool is_time_out;
  uint8_t priority;     // The lowest priority of its class of 32.
  int64_t deadline_ns;  // The deadline of its job.
  // The positions of its request and of its grant in one sequence of all
  // requests and grants. A batch whose request comes before another one's
  // grant, and whose own grant comes after it, has waited for that batch.
  uint64_t asked;
  uint64_t granted;
  bool is_aged;  // It was granted because of its long wait.
} takt_npu_event_t;

// Stores the records of the last batches, the oldest first: at most `capacity`.
// Returns how many were stored.
TAKT_EXPORT size_t takt_npu_device_events(const takt_device_t* device,
                                          size_t capacity,
                                          takt_npu_event_t* out_events);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_NPU_H_
