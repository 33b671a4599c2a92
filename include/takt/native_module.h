// takt/native_module.h - functions of the caller's own that modules import.
//
// A compiled module that declares `func.func private @robot.read(...)` imports
// "robot.read": a native module named "robot" that exports "read" and is
// listed before it gives it that.
//
// Thread-safety: every function may run on any thread. Callbacks of one
// context never overlap, unless its owner invokes it so.
#ifndef TAKT_NATIVE_MODULE_H_
#define TAKT_NATIVE_MODULE_H_

#include <string.h>

#include "takt/module.h"

#if defined(__cplusplus)
extern "C" {
#endif

// One call of a native function.
//
//   state           what create_state() made for this context; the module's
//                   user_data if there is no create_state.
//   arguments       borrowed, in the order of the calling convention. A
//                   repeated tuple (C...D) is an i32 with its count, then its
//                   values one after the other.
//   out_results     to be filled in, of the convention's kinds; a REF hands
//                   its reference over. NONE before the call. Ignored on error,
//                   except that references stored so far are released.
//
// Returns NULL, or a status (handed over) that the calling program fails with.
typedef takt_status_t (*takt_native_callback_t)(void* state,
                                                size_t argument_count,
                                                const takt_value_t* arguments,
                                                size_t result_count,
                                                takt_value_t* out_results);

typedef struct takt_native_export_t {
  const char* name;  // Without the module's.
  // The calling convention: "0", the letters of the arguments, "_", those of
  // the results. i: i32, I: i64, f: f32, F: f64, r: an object, v: nothing,
  // C...D: a tuple that repeats. "0rI_f" takes an object and an i64 and
  // returns an f32. Must equal the importer's, letter for letter; exports of
  // one name and different conventions serve importers of either kind.
  const char* convention;
  takt_native_callback_t callback;
} takt_native_export_t;

typedef struct takt_native_module_options_t {
  size_t struct_size;  // Set by init.
  const char* name;    // What importers call it; not NULL, not "".
  uint32_t version;    // Importers may ask for a minimum. Default: 0.
  const takt_native_export_t* exports;  // Copied.
  size_t export_count;
  void* user_data;
  // Called once with user_data when the module goes, on any thread; may be
  // NULL. Not called if creating the module fails.
  void (*release)(void* user_data);
  // Makes the state of one context; NULL: there is none. A status fails the
  // context's creation.
  takt_status_t (*create_state)(void* user_data, void** out_state);
  // Takes it back; may be NULL.
  void (*destroy_state)(void* user_data, void* state);
  // True: calls that an initializer makes have no effect beyond what they
  // return, so that a second context may start from a copy of what the first
  // one's initializer left. Default: false.
  bool initializers_repeatable;
} takt_native_module_options_t;

static inline void takt_native_module_options_init(
    takt_native_module_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// Makes a module of native functions.
//
//   options  borrowed. Not NULL: the module needs a name.
//
// Errors: INVALID_ARGUMENT  no name; an export without name or callback; a
//                           malformed convention; a name given twice with
//                           one convention.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_native_module_create(
    takt_instance_t* instance, const takt_native_module_options_t* options,
    takt_module_t** out_module);

// A type of objects that native functions give to programs to keep and hand
// back, such as a handle of a camera.
typedef struct takt_object_type_t takt_object_type_t;

// Registers a type with the instance. Modules that name it in their signatures
// load after that.
//
//   name      what programs call it: "camera.handle" for
//             !vm.ref<!camera.handle>.
//   destroy   called with an object's payload when the object goes, on any
//             thread; may be NULL.
//
// Errors: ALREADY_EXISTS    a type of that name is registered.
//         INVALID_ARGUMENT  no name.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_object_type_register(
    takt_instance_t* instance, const char* name, void (*destroy)(void* payload),
    takt_object_type_t** out_type);

// Adds a reference.
TAKT_EXPORT void takt_object_type_retain(takt_object_type_t* type);

// Releases a reference; the last one destroys the object type.
TAKT_EXPORT void takt_object_type_release(takt_object_type_t* type);

// An object of that type around `payload`, which it owns. Never fails.
TAKT_EXPORT takt_object_t* takt_object_create(takt_object_type_t* type,
                                              void* payload);

// The payload if `object` is of `type`; else NULL.
TAKT_EXPORT void* takt_object_payload(const takt_object_t* object,
                                      const takt_object_type_t* type);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_NATIVE_MODULE_H_
