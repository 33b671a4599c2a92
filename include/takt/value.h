// takt/value.h - one argument, result or list element.
//
// Thread-safety: a value is plain data.
#ifndef TAKT_VALUE_H_
#define TAKT_VALUE_H_

#include <string.h>

#include "takt/object.h"
#include "takt/status.h"

#if defined(__cplusplus)
extern "C" {
#endif

struct takt_buffer_t;
struct takt_buffer_view_t;
struct takt_byte_buffer_t;
struct takt_fence_t;
struct takt_list_t;

typedef enum takt_value_kind_t {
  TAKT_VALUE_NONE = 0,  // Such as a list element that was never set.
  TAKT_VALUE_I8 = 1,    // Lists only. i8 and i16 are sign-extended in i32.
  TAKT_VALUE_I16 = 2,
  TAKT_VALUE_I32 = 3,
  TAKT_VALUE_I64 = 4,
  TAKT_VALUE_F32 = 5,
  TAKT_VALUE_F64 = 6,
  TAKT_VALUE_REF = 7,  // An object, or null.
} takt_value_kind_t;

// A scalar with its kind, or an object. A result of kind REF owns one
// reference, which the caller releases; an argument of kind REF owns none.
typedef struct takt_value_t {
  takt_value_kind_t kind;
  union {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    takt_object_t* ref;  // May be NULL.
  };
} takt_value_t;

static inline takt_value_t takt_value_i32(int32_t value) {
  takt_value_t result;
  memset(&result, 0, sizeof(result));
  result.kind = TAKT_VALUE_I32;
  result.i32 = value;
  return result;
}
static inline takt_value_t takt_value_i64(int64_t value) {
  takt_value_t result;
  memset(&result, 0, sizeof(result));
  result.kind = TAKT_VALUE_I64;
  result.i64 = value;
  return result;
}
static inline takt_value_t takt_value_f32(float value) {
  takt_value_t result;
  memset(&result, 0, sizeof(result));
  result.kind = TAKT_VALUE_F32;
  result.f32 = value;
  return result;
}
static inline takt_value_t takt_value_f64(double value) {
  takt_value_t result;
  memset(&result, 0, sizeof(result));
  result.kind = TAKT_VALUE_F64;
  result.f64 = value;
  return result;
}
// Makes a value of `object`, borrowed: any handle of this API, or NULL. In C a
// handle converts to void* by itself; in C++ use takt.hpp.
static inline takt_value_t takt_value_ref(void* object) {
  takt_value_t result;
  memset(&result, 0, sizeof(result));
  result.kind = TAKT_VALUE_REF;
  result.ref = (takt_object_t*)object;
  return result;
}

// Releases the references that `values[0 .. value_count)` own, and sets the
// values to NONE.
TAKT_EXPORT void takt_values_release(size_t value_count, takt_value_t* values);

// Returns the value's buffer, borrowed; NULL if it holds another type.
TAKT_EXPORT struct takt_buffer_t* takt_value_as_buffer(
    const takt_value_t* value);

// Returns the value's buffer view, borrowed; NULL if it holds another type.
TAKT_EXPORT struct takt_buffer_view_t* takt_value_as_buffer_view(
    const takt_value_t* value);

// Returns the value's byte buffer, borrowed; NULL if it holds another type.
TAKT_EXPORT struct takt_byte_buffer_t* takt_value_as_byte_buffer(
    const takt_value_t* value);

// Returns the value's fence, borrowed; NULL if it holds another type.
TAKT_EXPORT struct takt_fence_t* takt_value_as_fence(const takt_value_t* value);

// Returns the value's list, borrowed; NULL if it holds another type.
TAKT_EXPORT struct takt_list_t* takt_value_as_list(const takt_value_t* value);

// Returns the name of a kind: "i32", "ref", "none". Static.
TAKT_EXPORT const char* takt_value_kind_name(takt_value_kind_t kind);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_VALUE_H_
