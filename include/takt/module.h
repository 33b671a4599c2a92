// takt/module.h - code that exports and imports functions.
//
// A module is compiled bytecode (a .vmfb file), or native functions
// (native_module.h). It is immutable and shared by every context that links
// it. takt/tools/module_contents.h shows the rest.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_MODULE_H_
#define TAKT_MODULE_H_

#include <string.h>

#include "takt/instance.h"
#include "takt/signature.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_module_t takt_module_t;

typedef enum takt_module_mode_t {
  // Maps the file: pages are read when touched and shared with other
  // processes. For large files that nobody can change while the module lives:
  // if one is truncated, the system ends the process (SIGBUS), and bytes that
  // change after they were verified are not verified again.
  TAKT_MODULE_MODE_MMAP = 0,
  // Reads the file into memory. The default.
  TAKT_MODULE_MODE_PRELOAD = 1,
} takt_module_mode_t;

// Looks at the bytes of a file before anything of them is parsed, such as at
// their hash or signature. NULL: they are accepted. A status, which the library
// takes: the file is refused with it. `path` and `data` are borrowed for the
// call.
typedef takt_status_t (*takt_module_verify_t)(void* user_data, const char* path,
                                              const void* data,
                                              size_t byte_length);

typedef struct takt_module_file_options_t {
  size_t struct_size;  // Set by init.
  takt_module_mode_t mode;
  // True: the module may name types that are not registered. Such a module can
  // be inspected (takt/tools/module_contents.h), but no context takes it.
  // Default: false.
  bool accept_unknown_types;
  // Called once, on the thread of the call, before the file is parsed and
  // before any code of it can be executed. The bytes that it sees are the ones
  // that are used: with it, the file is read into memory whatever the mode.
  // Default: NULL, every file is accepted.
  takt_module_verify_t verify;
  void* verify_data;
} takt_module_file_options_t;

static inline void takt_module_file_options_init(
    takt_module_file_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->mode = TAKT_MODULE_MODE_PRELOAD;
}

// Loads a compiled module and verifies it: what loads can be run without
// fear of its bytecode.
//
//   path        of a .vmfb as iree-compile writes it.
//   out_module  receives one reference; NULL on error.
//
// Errors; each message starts with the path:
//   NOT_FOUND, PERMISSION_DENIED  the file; or a type that the module names is
//                                 registered by no one (NOT_FOUND).
//   what options->verify returned
//   INVALID_ARGUMENT              no module, damaged, or of a version that is
//                                 not supported: found and supported are named.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_module_load_file(
    takt_instance_t* instance, const char* path,
    const takt_module_file_options_t* options, takt_module_t** out_module);

typedef struct takt_module_memory_options_t {
  size_t struct_size;  // Set by init.
  // What messages call the bytes. Default: "memory".
  const char* source;
  // True: the bytes are not copied, must live until `release` is called, and
  // must start at a multiple of 64. Default: false, they are copied.
  bool borrow;
  // Called once with `user_data`, on any thread, when the module no longer
  // needs borrowed bytes. May be NULL. Not called if loading fails.
  void (*release)(void* user_data);
  void* user_data;
  bool accept_unknown_types;  // As of a file.
} takt_module_memory_options_t;

static inline void takt_module_memory_options_init(
    takt_module_memory_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// As takt_module_load_file(), from memory.
//
// Errors: INVALID_ARGUMENT also for borrowed bytes that are not aligned.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_module_load_memory(
    takt_instance_t* instance, const void* data, size_t byte_length,
    const takt_module_memory_options_t* options, takt_module_t** out_module);

// Adds a reference.
TAKT_EXPORT void takt_module_retain(takt_module_t* module);

// Releases a reference; the last one destroys the module.
TAKT_EXPORT void takt_module_release(takt_module_t* module);

// The name that other modules import from.
TAKT_EXPORT const char* takt_module_name(const takt_module_t* module);

// Returns the version that the module declares; 0 if it declares none.
TAKT_EXPORT uint32_t takt_module_version(const takt_module_t* module);

// Returns the number of exported functions.
TAKT_EXPORT size_t takt_module_export_count(const takt_module_t* module);

// The name of export `index` (below the count, else NULL), without that of
// the module.
TAKT_EXPORT const char* takt_module_export_name(const takt_module_t* module,
                                                size_t index);

// The index of the first export of that name; SIZE_MAX if there is none, or for
// NULL.
TAKT_EXPORT size_t takt_module_find_export(const takt_module_t* module,
                                           const char* name);

// Returns the bytes of the module's file, borrowed from the module; NULL for a
// native module. *out_byte_length receives their number.
TAKT_EXPORT const void* takt_module_bytes(const takt_module_t* module,
                                          size_t* out_byte_length);

// Returns the hash of the module's file by which profiles and plans identify
// the module: the same on every machine, never 0; 0 for a native module. Reads
// the whole file, which takes about a millisecond for each megabyte.
TAKT_EXPORT uint64_t takt_module_content_hash(const takt_module_t* module);

// The signature of export `index`.
//
// Errors: OUT_OF_RANGE  no such export.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_module_export_signature(const takt_module_t* module, size_t index,
                             takt_signature_t** out_signature);

// Attributes of export `index`, in the order of the file: pairs of text such
// as ("takt.deadline_ns", "5000000"). 0 and NULL beyond the ends.
TAKT_EXPORT size_t
takt_module_export_attribute_count(const takt_module_t* module, size_t index);

// Returns the key of an attribute of export `index`; NULL beyond the ends.
TAKT_EXPORT const char* takt_module_export_attribute_key(
    const takt_module_t* module, size_t index, size_t attribute_index);

// Returns the value of an attribute of export `index`; NULL beyond the ends.
TAKT_EXPORT const char* takt_module_export_attribute_value(
    const takt_module_t* module, size_t index, size_t attribute_index);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_MODULE_H_
