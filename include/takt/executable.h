// takt/executable.h - device code for dispatches that the application records
// itself. Modules load their own executables.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_EXECUTABLE_H_
#define TAKT_EXECUTABLE_H_

#include "takt/device.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_executable_t takt_executable_t;

// Loads device code, such as the bytes that takt_module_contents_rodata()
// returns.
//
//   format          such as "embedded-elf-x86_64".
//   data            borrowed for the call; of any alignment.
//   constants       the values with which the code is specialized; NULL if
//                   there are none.
//   out_executable  receives one reference; NULL on error. As long as an
//                   executable lives, another load of the same content and
//                   constants returns it again.
//
// Errors: NOT_FOUND            the device does not support the format.
//         FAILED_PRECONDITION  the code declares another number of constants.
//         DATA_LOSS, ...       the code cannot be loaded.
// Native code is trusted: Takt checks only the structure of its file.
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

// The operands that a dispatch of one function must supply.
typedef struct takt_executable_function_t {
  size_t constant_count;  // Constants of 32 bits.
  size_t binding_count;
} takt_executable_function_t;

// Returns the operands of function `index`; zeros beyond the count.
TAKT_EXPORT takt_executable_function_t
takt_executable_function(const takt_executable_t* executable, size_t index);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_EXECUTABLE_H_
