// takt/signature.h - the types of a function's arguments and results.
//
// Kinds come from the function's calling convention. Names, shapes and element
// types come from its declaration (iree.abi.declaration), which functions
// compiled from tensor programs have. Without a declaration they are unknown.
//
// Thread-safety: a signature is immutable.
#ifndef TAKT_SIGNATURE_H_
#define TAKT_SIGNATURE_H_

#include "takt/element_type.h"
#include "takt/value.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_signature_t takt_signature_t;

// A dimension that any size fits.
#define TAKT_DIMENSION_DYNAMIC (-1)

// One argument or result. Only the library makes these structs, and later
// versions may add members.
typedef struct takt_value_type_t {
  takt_value_kind_t kind;  // I32, I64, F32, F64 or REF.
  const char* name;        // "input0"; "" if not known.
  const char* type;        // As declared: "tensor<?x4xf32>", "f32"; "" if not
                           // known.
  const char* attributes;  // The declaration's text in braces; "" if none.
  bool is_tensor;          // A buffer view. Only then the rest is valid:
  takt_element_type_t element_type;
  size_t rank;
  const int64_t* shape;  // TAKT_DIMENSION_DYNAMIC where any size fits.
} takt_value_type_t;

// Adds a reference.
TAKT_EXPORT void takt_signature_retain(takt_signature_t* signature);

// Releases a reference; the last one destroys the signature.
TAKT_EXPORT void takt_signature_release(takt_signature_t* signature);

// Returns the text of the calling convention, such as "0rr_r". Borrowed.
TAKT_EXPORT const char* takt_signature_convention(
    const takt_signature_t* signature);

// Returns the text of the declaration; "" if there is none. Borrowed.
TAKT_EXPORT const char* takt_signature_declaration(
    const takt_signature_t* signature);

// Returns whether the function is asynchronous (compiled with the coarse-fences
// model). Its calling convention then ends with a wait fence and a signal
// fence, which the counts below do not include.
TAKT_EXPORT bool takt_signature_is_async(const takt_signature_t* signature);

// Returns the number of arguments, without those that repeat (of native
// functions only, which takt_function_invoke() cannot call).
TAKT_EXPORT size_t
takt_signature_argument_count(const takt_signature_t* signature);

// Returns the number of results.
TAKT_EXPORT size_t
takt_signature_result_count(const takt_signature_t* signature);

// Returns the type of argument `index`, borrowed; NULL beyond the count.
TAKT_EXPORT const takt_value_type_t* takt_signature_argument(
    const takt_signature_t* signature, size_t index);

// Returns the type of result `index`, borrowed; NULL beyond the count.
TAKT_EXPORT const takt_value_type_t* takt_signature_result(
    const takt_signature_t* signature, size_t index);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_SIGNATURE_H_
