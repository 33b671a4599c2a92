// takt/native_module.h - the application's own functions, which modules import.
//
// A compiled module that declares `func.func private @robot.read(...)` imports
// "robot.read". A native module named "robot" that exports "read" supplies the
// function, if it comes before the compiled module in the context's list.
//
// Thread-safety: every function may run on any thread. Programs of one context
// take turns, so the callbacks of one context do not overlap.
#ifndef TAKT_NATIVE_MODULE_H_
#define TAKT_NATIVE_MODULE_H_

#include <string.h>

#include "takt/module.h"

#if defined(__cplusplus)
extern "C" {
#endif

// One call of a native function.
//
//   state           the state that create_state() made for this context, or the
//                   module's user_data if there is no create_state.
//   arguments       borrowed, in the order of the calling convention. A
//                   repeated tuple (C...D) is an i32 with the number of tuples,
//                   then their values one after the other.
//   out_results     the callback stores results of the convention's kinds here.
//                   A value of kind REF passes a reference to the caller. All
//                   are NONE before the call. On error the results are ignored,
//                   and references among them are released.
//
// Returns NULL, or a status with which the calling program fails; the library
// takes the status.
typedef takt_status_t (*takt_native_callback_t)(void* state,
                                                size_t argument_count,
                                                const takt_value_t* arguments,
                                                size_t result_count,
                                                takt_value_t* out_results);

typedef struct takt_native_export_t {
  const char* name;  // Without the module's name.
  // The calling convention: "0", the letters of the arguments, "_", and the
  // letters of the results. i: i32, I: i64, f: f32, F: f64, r: an object, v:
  // nothing, C...D: a tuple that repeats. A function "0rI_f" takes an object
  // and an i64 and returns an f32. The convention must equal the importer's,
  // letter for letter. A module may have several exports of one name with
  // different conventions.
  const char* convention;
  takt_native_callback_t callback;
} takt_native_export_t;

typedef struct takt_native_module_options_t {
  size_t struct_size;  // Set by init.
  const char* name;    // Importers use it; not NULL, not "".
  uint32_t version;    // Importers may ask for a minimum. Default: 0.
  const takt_native_export_t* exports;  // Copied.
  size_t export_count;
  void* user_data;
  // Called once with user_data, on any thread, when the module is destroyed;
  // may be NULL. Not called if the module could not be created.
  void (*release)(void* user_data);
  // Makes the state of one context; may be NULL. If it returns a status, the
  // context is not created.
  takt_status_t (*create_state)(void* user_data, void** out_state);
  // Destroys the state of a context; may be NULL.
  void (*destroy_state)(void* user_data, void* state);
  // Whether calls that an initializer makes have no effect except their
  // results. Later contexts then start from a copy of the state that the first
  // context's initializers left, and do not run them again. Default: false.
  bool initializers_repeatable;
} takt_native_module_options_t;

static inline void takt_native_module_options_init(
    takt_native_module_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// Makes a module of native functions.
//
//   options     borrowed. Not NULL, because the module needs a name.
//   out_module  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  no name; an export without name or callback; a
//                           malformed convention; two exports with the same
//                           name and convention.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_native_module_create(
    takt_instance_t* instance, const takt_native_module_options_t* options,
    takt_module_t** out_module);

// A type of objects that native functions pass to programs, which keep them and
// pass them back: for example the handle of a camera.
typedef struct takt_object_type_t takt_object_type_t;

// Registers a type with the instance. Modules that name the type can be loaded
// after that.
//
//   name      the type's name in programs: "camera.handle" for
//             !vm.ref<!camera.handle>.
//   destroy   called with an object's payload, on any thread, when the object
//             is destroyed; may be NULL.
//   out_type  receives one reference; NULL on error.
//
// Errors: ALREADY_EXISTS    a type of this name is registered already.
//         INVALID_ARGUMENT  no name.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_object_type_register(
    takt_instance_t* instance, const char* name, void (*destroy)(void* payload),
    takt_object_type_t** out_type);

// Adds a reference.
TAKT_EXPORT void takt_object_type_retain(takt_object_type_t* type);

// Releases a reference; the last one destroys the object type.
TAKT_EXPORT void takt_object_type_release(takt_object_type_t* type);

// Makes an object of the type, which owns `payload`. The caller owns one
// reference to the object. Never fails.
TAKT_EXPORT takt_object_t* takt_object_create(takt_object_type_t* type,
                                              void* payload);

// Returns the payload of an object of `type`, borrowed; NULL for an object of
// another type.
TAKT_EXPORT void* takt_object_payload(const takt_object_t* object,
                                      const takt_object_type_t* type);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_NATIVE_MODULE_H_
