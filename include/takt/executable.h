// takt/executable.h - device code, for dispatches that a program records
// itself. Modules load their own.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_EXECUTABLE_H_
#define TAKT_EXECUTABLE_H_

#include "takt/device.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_executable_t takt_executable_t;

// Loads device code, such as what takt_module_contents_rodata() shows.
//
//   format          such as "embedded-elf-x86_64".
//   data            borrowed for the call; of any alignment.
//   constants       what the code is specialized with; may be NULL if there
//                   are none.
//   out_executable  receives one reference; NULL on error. The same content
//                   with the same constants gives the same executable while it
//                   lives.
//
// Errors: NOT_FOUND            the device takes no such format.
//         FAILED_PRECONDITION  another number of constants than it declares.
//         DATA_LOSS, ...       the loader's.
// Native code is trusted: only its file's structure is checked.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_executable_load(
    takt_device_t* device, const char* format, const void* data,
    size_t byte_length, size_t constant_count, const uint32_t* constants,
    takt_executable_t** out_executable);

// Adds a reference.
TAKT_EXPORT void takt_executable_retain(takt_executable_t* executable);

// Releases a reference; the last one destroys the executable.
TAKT_EXPORT void takt_executable_release(takt_executable_t* executable);

// Returns the number of functions.
TAKT_EXPORT size_t
takt_executable_function_count(const takt_executable_t* executable);

// What a dispatch of one function must supply.
typedef struct takt_executable_function_t {
  size_t constant_count;  // Of 32 bits.
  size_t binding_count;
} takt_executable_function_t;

// All 0 for an index beyond the count.
TAKT_EXPORT takt_executable_function_t
takt_executable_function(const takt_executable_t* executable, size_t index);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_EXECUTABLE_H_
