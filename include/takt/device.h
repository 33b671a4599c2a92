// takt/device.h - where dispatches run and buffers live.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_DEVICE_H_
#define TAKT_DEVICE_H_

#include "takt/instance.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_device_t takt_device_t;

// The names that takt_device_create() accepts: `*out_names` receives a static
// array of that many.
TAKT_EXPORT size_t takt_device_names(const char* const** out_names);

// Creates a device of `instance`.
//
//   name        "local-sync": work runs to its end on the thread that submits
//                 it, or that reaches what it waits for.
//               "local-task": it is spread over the instance's workers and the
//                 threads of callers that wait.
//   out_device  receives one reference; NULL on error.
//
// Each call makes another device; contexts that name the same one share its
// loaded executables.
//
// Errors:
//   NOT_FOUND           no such name; the message lists those there are.
//   RESOURCE_EXHAUSTED  no worker thread could be started.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_device_create(
    takt_instance_t* instance, const char* name, takt_device_t** out_device);

TAKT_EXPORT void takt_device_retain(takt_device_t* device);
TAKT_EXPORT void takt_device_release(takt_device_t* device);

// The name that it was created by.
TAKT_EXPORT const char* takt_device_name(const takt_device_t* device);

// What compiled code asks a device, such as ("hal.executable.format",
// "embedded-elf-x86_64") or ("hal.cpu", "data0"). *out_value is 0 where the
// device does not know the pair, and then false is returned.
TAKT_EXPORT bool takt_device_query_i64(const takt_device_t* device,
                                       const char* category, const char* key,
                                       int64_t* out_value);

// Gives idle memory of the device back to the system.
TAKT_EXPORT void takt_device_trim(takt_device_t* device);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_DEVICE_H_
