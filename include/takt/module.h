// takt/module.h - modules: code that exports and imports functions.
//
// A module is compiled bytecode (a .vmfb file), or native functions
// (native_module.h). It is immutable, and all contexts that link it share it.
// takt/tools/module_contents.h reads its other contents.
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
  // processes. Only for files that do not change while the module lives: if the
  // file is truncated, the system ends the process (SIGBUS), and bytes that
  // change after the verification are not verified again.
  TAKT_MODULE_MODE_MMAP = 0,
  // Reads the file into memory. The default.
  TAKT_MODULE_MODE_PRELOAD = 1,
} takt_module_mode_t;

// Checks the bytes of a file, such as their hash or signature, before they are
// parsed. Returns NULL to accept the file, or a status to refuse it; the
// library takes the status. `path` and `data` are borrowed for the call.
typedef takt_status_t (*takt_module_verify_t)(void* user_data, const char* path,
                                              const void* data,
                                              size_t byte_length);

typedef struct takt_module_file_options_t {
  size_t struct_size;  // Set by init.
  takt_module_mode_t mode;
  // Whether the module may name types that are not registered. Such a module
  // can be inspected (takt/tools/module_contents.h), but contexts refuse it.
  // Default: false.
  bool accept_unknown_types;
  // Called once, on the calling thread, before the file is parsed. The bytes
  // that it checks are the bytes that are used: the file is then read into
  // memory, whatever the mode. Default: NULL, every file is accepted.
  takt_module_verify_t verify;
  void* verify_data;
} takt_module_file_options_t;

static inline void takt_module_file_options_init(
    takt_module_file_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
  options->mode = TAKT_MODULE_MODE_PRELOAD;
}

// Loads a compiled module and verifies it. Bytecode that passed the
// verification cannot harm the process.
//
//   path        the path of a .vmfb file that iree-compile wrote.
//   out_module  receives one reference; NULL on error.
//
// Errors; each message starts with the path:
//   NOT_FOUND, PERMISSION_DENIED  the file cannot be opened; a type that the
//                                 module names is not registered (NOT_FOUND).
//   the status that options->verify returned
//   INVALID_ARGUMENT              the file is not a module, is damaged, or has
//                                 a version that is not supported; the message
//                                 names the version that was found and the
//                                 supported ones.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_module_load_file(
    takt_instance_t* instance, const char* path,
    const takt_module_file_options_t* options, takt_module_t** out_module);

typedef struct takt_module_memory_options_t {
  size_t struct_size;  // Set by init.
  // The name of the bytes in messages. Default: "memory".
  const char* source;
  // Whether the bytes are used without a copy. They must then live until
  // `release` is called, and start at a multiple of 64. Default: false, they
  // are copied.
  bool borrow;
  // Called once with `user_data`, on any thread, when the module no longer
  // needs borrowed bytes. May be NULL. Not called if loading fails.
  void (*release)(void* user_data);
  void* user_data;
  bool accept_unknown_types;  // As for a file.
} takt_module_memory_options_t;

static inline void takt_module_memory_options_init(
    takt_module_memory_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// Loads a module from memory, as takt_module_load_file() does.
//
// Errors: INVALID_ARGUMENT  borrowed bytes that are not aligned; and as
//                           takt_module_load_file().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_module_load_memory(
    takt_instance_t* instance, const void* data, size_t byte_length,
    const takt_module_memory_options_t* options, takt_module_t** out_module);

// Adds a reference.
TAKT_EXPORT void takt_module_retain(takt_module_t* module);

// Releases a reference; the last one destroys the module.
TAKT_EXPORT void takt_module_release(takt_module_t* module);

// Returns the name under which other modules import from this one, borrowed.
TAKT_EXPORT const char* takt_module_name(const takt_module_t* module);

// Returns the number of exported functions.
TAKT_EXPORT size_t takt_module_export_count(const takt_module_t* module);

// Returns the name of export `index`, without the module's name; NULL beyond
// the count. Borrowed.
TAKT_EXPORT const char* takt_module_export_name(const takt_module_t* module,
                                                size_t index);

// Returns the index of the first export named `name`; SIZE_MAX if there is
// none, or for NULL.
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

// Reads the signature of export `index`.
//
//   out_signature  receives one reference; NULL on error.
//
// Errors: OUT_OF_RANGE  no such export.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_module_export_signature(const takt_module_t* module, size_t index,
                             takt_signature_t** out_signature);

// Returns the number of attributes of export `index`; 0 beyond the count. An
// attribute is a pair of texts, such as ("takt.deadline_ns", "5000000");
// attributes have the order of the file.
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
