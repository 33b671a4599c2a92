// takt/object.h - any reference-counted object that modules can hold.
//
// Buffers, buffer views, fences, lists and the objects of native modules are
// objects: a takt_value_t of kind TAKT_VALUE_REF holds one of them. Their
// handles may be cast to takt_object_t* and back.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_OBJECT_H_
#define TAKT_OBJECT_H_

#include "takt/base.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_object_t takt_object_t;

// Adds a reference.
TAKT_EXPORT void takt_object_retain(takt_object_t* object);

// Releases a reference; the last one destroys the object.
TAKT_EXPORT void takt_object_release(takt_object_t* object);

// Returns the name of the object's type in modules: "hal.buffer_view",
// "vm.list", or the name that a native module gave its type. Borrowed.
TAKT_EXPORT const char* takt_object_type_name(const takt_object_t* object);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_OBJECT_H_
