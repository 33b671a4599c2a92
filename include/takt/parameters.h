// takt/parameters.h - weights in a file of their own, beside the module.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_PARAMETERS_H_
#define TAKT_PARAMETERS_H_

#include <string.h>

#include "takt/instance.h"

#if defined(__cplusplus)
extern "C" {
#endif

// The parameters of one scope, by key.
typedef struct takt_parameters_t takt_parameters_t;

typedef struct takt_parameters_options_t {
  size_t struct_size;  // Set by init.
  // The name of the scope in modules. Default: NULL; NULL and "" stand for the
  // scope without a name.
  const char* scope;
  // Whether the file is read into memory instead of mapped. Default: false.
  bool preload;
  // Whether programs may write the parameters (io_parameters.scatter), as
  // encoders of parameters do. The writes change the file at once, so nothing
  // else should read the file at that time. Default: false, a program that
  // writes fails with PERMISSION_DENIED.
  bool writable;
} takt_parameters_options_t;

static inline void takt_parameters_options_init(
    takt_parameters_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// Opens an .irpa or .safetensors file. The end of the name selects the format.
//
//   out_parameters  receives one reference; NULL on error.
//
// Errors; each message starts with the path:
//   NOT_FOUND, PERMISSION_DENIED  the file cannot be opened.
//   INVALID_ARGUMENT              the name has another end; both preload and
//                                 writable are set.
//   DATA_LOSS                     the file is damaged.
//   UNIMPLEMENTED                 the file uses a feature of the format that
//                                 Takt lacks; the message names it.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_parameters_open(takt_instance_t* instance, const char* path,
                     const takt_parameters_options_t* options,
                     takt_parameters_t** out_parameters);

// Adds a reference.
TAKT_EXPORT void takt_parameters_retain(takt_parameters_t* parameters);

// Releases a reference; the last one destroys the parameters.
TAKT_EXPORT void takt_parameters_release(takt_parameters_t* parameters);

// Returns the number of entries.
TAKT_EXPORT size_t
takt_parameters_entry_count(const takt_parameters_t* parameters);

// Returns the key of entry `index`, borrowed; NULL beyond the count.
TAKT_EXPORT const char* takt_parameters_entry_key(
    const takt_parameters_t* parameters, size_t index);

// Returns the length of entry `index` in bytes; 0 beyond the count.
TAKT_EXPORT uint64_t takt_parameters_entry_byte_length(
    const takt_parameters_t* parameters, size_t index);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_PARAMETERS_H_
