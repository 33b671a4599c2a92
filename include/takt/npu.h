// takt/npu.h - devices that have an NPU behind them.
//
// Such a device is reached by compiled modules as any other `local*` device,
// and takes executables of the format "npu-fb": bytecode whose matrix products
// run on the NPU, or programs in the NPU's own form. It works in the process's
// memory, so its buffers may be used on other devices of the instance.
//
// One operation has the NPU at a time, the most urgent that waits next. What
// the NPU cannot do, or fails to do, the CPU does with the same result, unless
// the options say otherwise. docs/npu.md tells how to use it.
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

// The driver whose NPU is this machine's own inner-product instructions. It
// takes no options.
TAKT_EXPORT const takt_npu_driver_t* takt_npu_host_driver(void);

// The driver whose NPU is a model: it computes what the host's does, takes as
// long as a profile says, and fails as often as it says. Its options are the
// profile, as JSON; docs/npu.md has the schema.
TAKT_EXPORT const takt_npu_driver_t* takt_npu_sim_driver(void);

// The threads that the driver asks for: the instance's where the submitting
// thread does the work, else two of the device's own.
#define TAKT_NPU_WORKER_COUNT_DEFAULT (-1)

typedef struct takt_npu_options_t {
  size_t struct_size;          // Set by init.
  const char* driver_options;  // Of the driver's own form. Default: NULL.
  const takt_device_options_t*
      device_options;  // Its memory, and on_dispatch; NULL: defaults.

  // What happens when an operation fails. docs/npu.md has the states.

  // An operation that takes longer is cancelled. TAKT_INFINITE_FUTURE: none is.
  // Default: 1 s.
  int64_t time_limit_ns;
  uint32_t retry_max;  // Tries after the first. Default: 1.
  // Failures in a row before the NPU is left alone. Default: 4.
  uint32_t quarantine_after;
  // For how long; then it is probed, and left alone for twice as long if it
  // still fails. Default: 100 ms.
  int64_t quarantine_ns;
  // The CPU does what the NPU fails to do; else its fence fails. What the NPU
  // cannot do at all, the CPU always does. Default: true.
  bool fall_back_to_cpu;

  // The driver's clock is a simulated one, which moves only while an operation
  // is waited for. Not for drivers of real hardware. A scheduler does
  // not learn then how hot and how well the NPU is. Default: false.
  bool virtual_time;
  // Threads that run the device's code and wait for the NPU. 0: the thread
  // that submits the work. Default: TAKT_NPU_WORKER_COUNT_DEFAULT.
  int32_t worker_count;
  // The device takes the CPU's native code as well. What that imports comes
  // from the driver, and has the NPU while it runs. A module that has a choice
  // may then not choose the NPU. Default: false.
  bool native_code;
  // Operations remembered for takt_npu_device_events(). Default: 0.
  uint32_t event_count_max;
  // Where a module has code for the NPU and for the CPU, each of its dispatches
  // runs where it is expected to end first. If false, all of them run on the
  // NPU. Default: true.
  bool may_route_to_cpu;
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

// Opens an NPU and makes a device of it, named "local-npu-" and the driver's
// name.
//
//   driver      static, or alive for as long as the device.
//   options     borrowed; NULL for the defaults.
//   out_device  receives one reference; NULL on error.
//
// Errors:
//   INVALID_ARGUMENT  a table of another version or without a function that
//                     there must be; capabilities that make no sense; options
//                     that the driver refuses, with what it says.
//   UNAVAILABLE, ...  what the driver's open() fails with.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_device_create(
    takt_instance_t* instance, const takt_npu_driver_t* driver,
    const takt_npu_options_t* options, takt_device_t** out_device);

// The same with the driver of a shared object, which stays loaded for as long
// as the device.
//
//   path  a path, or the bare name of a file: of one in the current directory,
//         else of one that the system's loader finds.
//
// Errors: as takt_npu_device_create(), and
//   NOT_FOUND  no such file, or no driver in it.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_npu_device_load(
    takt_instance_t* instance, const char* path,
    const takt_npu_options_t* options, takt_device_t** out_device);

// What the NPU behind a device can do, as its driver says. False: there is none
// behind it. Set struct_size to sizeof before the call, as for those below.
TAKT_EXPORT bool takt_npu_device_capabilities(
    const takt_device_t* device, takt_npu_capabilities_t* out_capabilities);

// How the NPU is; INT64_MIN for what is not known. False: there is none.
TAKT_EXPORT bool takt_npu_device_telemetry(const takt_device_t* device,
                                           takt_npu_telemetry_t* out_telemetry);

// Counts since the device was made.
typedef struct takt_npu_statistics_t {
  size_t struct_size;
  uint64_t batch_count;      // Batches submitted, also again.
  uint64_t operation_count;  // Operations done.
  uint64_t mac_count;        // Multiplications and additions of products.
  uint64_t busy_ns;
  // How batches failed.
  uint64_t failed_count;
  uint64_t corrupted_count;  // A checksum was wrong.
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
  uint64_t error_count;             // Failures that remained.
  uint64_t fallback_count;          // Of these, what the CPU did.
  uint64_t unsupported_count;       // What the CPU did because the NPU cannot.
  uint64_t stray_completion_count;  // Late or double.
  uint64_t bytes_to_unit;           // Copied to and from the NPU's own memory.
  uint64_t bytes_to_host;
  // The lease.
  uint64_t grant_count;
  uint64_t wait_count;   // Grants that had to wait.
  uint64_t aging_count;  // Grants to who was passed over too often.
  // Dispatches that could have gone either way: to the NPU, and to the CPU.
  uint64_t taken_count;
  uint64_t left_to_cpu_count;
} takt_npu_statistics_t;

// False: there is no NPU behind the device.
TAKT_EXPORT bool takt_npu_device_statistics(
    const takt_device_t* device, takt_npu_statistics_t* out_statistics);

// One batch, as it went.
typedef struct takt_npu_event_t {
  uint64_t id;
  int64_t start_ns;  // On the driver's clock.
  int64_t end_ns;
  takt_npu_result_t result;
  bool is_time_out;
  uint8_t priority;     // The first of its class of 32.
  int64_t deadline_ns;  // Of the job that it is part of.
  // When it asked for the NPU, and when it got it, on a count of both. One that
  // asked before another got it, and got it after that, has waited for it.
  uint64_t asked;
  uint64_t granted;
  bool is_aged;  // Got it for having been passed over.
} takt_npu_event_t;

// The last batches, oldest first: at most `capacity` of those that are
// remembered. Returns how many were stored.
TAKT_EXPORT size_t takt_npu_device_events(const takt_device_t* device,
                                          size_t capacity,
                                          takt_npu_event_t* out_events);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_NPU_H_
