// takt/signature.h - what a function takes and returns.
//
// Kinds come from the function's calling convention. Names, shapes and element
// types come from its declaration (iree.abi.declaration), which modules carry
// for functions compiled from tensor programs; without one they are unknown.
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

// One argument or result. Made by the library only; may grow.
typedef struct takt_value_type_t {
  takt_value_kind_t kind;  // I32, I64, F32, F64 or REF.
  const char* name;        // "input0"; "" if not known.
  const char* type;        // As declared: "tensor<?x4xf32>", "f32"; "" if not
                           // known.
  const char* attributes;  // As declared, inside the braces; "" if none.
  bool is_tensor;          // A buffer view; then, from the declaration:
  takt_element_type_t element_type;
  size_t rank;
  const int64_t* shape;  // TAKT_DIMENSION_DYNAMIC where any size fits.
} takt_value_type_t;

// Adds a reference.
TAKT_EXPORT void takt_signature_retain(takt_signature_t* signature);

// Releases a reference; the last one destroys the signature.
TAKT_EXPORT void takt_signature_release(takt_signature_t* signature);

// The text of the calling convention, such as "0rr_r".
TAKT_EXPORT const char* takt_signature_convention(
    const takt_signature_t* signature);

// The text of the declaration; "" if there is none.
TAKT_EXPORT const char* takt_signature_declaration(
    const takt_signature_t* signature);

// True for a function of the coarse-fences model: its calling convention ends
// with a wait fence and a signal fence, which are not counted below.
TAKT_EXPORT bool takt_signature_is_async(const takt_signature_t* signature);

// True if arguments repeat as often as the caller says (native functions
// only). Then argument_count does not count them and a caller cannot invoke
// the function from outside.
TAKT_EXPORT bool takt_signature_is_variadic(const takt_signature_t* signature);

// Returns the number of arguments.
TAKT_EXPORT size_t
takt_signature_argument_count(const takt_signature_t* signature);

// Returns the number of results.
TAKT_EXPORT size_t
takt_signature_result_count(const takt_signature_t* signature);

// `index` below the count, else NULL is returned. Borrowed.
TAKT_EXPORT const takt_value_type_t* takt_signature_argument(
    const takt_signature_t* signature, size_t index);

// Returns the type of result `index`, borrowed; NULL beyond the count.
TAKT_EXPORT const takt_value_type_t* takt_signature_result(
    const takt_signature_t* signature, size_t index);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_SIGNATURE_H_
