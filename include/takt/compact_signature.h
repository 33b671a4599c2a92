// takt/compact_signature.h - the compact form of signatures, and what it says
// about buffers.
//
// The compact form is an older, textual ABI: "I6!B3!d4R6!B3!d4" is a function
// from f32[4] to f32[4]. docs/signatures.md has its grammar. A signature read
// from it is one like that of any function (takt/signature.h); a function's
// signature can be written in it.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_COMPACT_SIGNATURE_H_
#define TAKT_COMPACT_SIGNATURE_H_

#include <string.h>

#include "takt/device.h"
#include "takt/signature.h"

#if defined(__cplusplus)
extern "C" {
#endif

// Reads a compact signature. Buffers become tensors, scalars values of the kind
// that the VM would hold them in, reference objects "!vm.ref<?>"; what is
// unrecognized keeps its content as its type.
//
//   text           NUL-terminated.
//   out_signature  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  `text` is none; says at which position, and why.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_signature_parse_compact(
    const char* text, takt_signature_t** out_signature);

// Writes a signature in the compact form. Integers without a sign count as
// signed; references that are no tensors become reference objects; types that
// the form has no word for become unrecognized items with the type as content.
// Names and attributes are not in it.
//
//   out_text  for takt_string_free(); NULL on error.
//
// Errors: INVALID_ARGUMENT  a variadic signature.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_signature_format_compact(
    const takt_signature_t* signature, char** out_text);

// Writes a signature as modules declare theirs (iree.abi.declaration), such as
// "sync func @mul(%input0: tensor<4xf32>) -> (%output0: tensor<4xf32>)".
// Arguments and results without a name are called input0, output0 and so on.
//
//   function_name  NUL-terminated; not "".
//   out_text       for takt_string_free(); NULL on error.
//
// Errors: INVALID_ARGUMENT  a variadic signature; a type or name that cannot be
//                           written so that it is read again.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_signature_format_declaration(const takt_signature_t* signature,
                                  const char* function_name, char** out_text);

// The step that makes a buffer fit an argument.
typedef enum takt_buffer_advice_t {
  TAKT_BUFFER_ADVICE_USE = 0,  // The host's memory can be passed as it is.
  TAKT_BUFFER_ADVICE_CONVERT =
      1,  // Its contents are to be copied into one like this.
  TAKT_BUFFER_ADVICE_MAKE = 2,         // One like this is to be allocated.
  TAKT_BUFFER_ADVICE_UNSUPPORTED = 3,  // None fits; `reason` says why.
} takt_buffer_advice_t;

// Bits of takt_buffer_description_t::conversions.
enum {
  TAKT_BUFFER_CONVERSION_DENSE_COPY = 1,  // Other strides than dense row-major.
  TAKT_BUFFER_CONVERSION_ALIGNMENT_COPY =
      2,                                // The address is not aligned enough.
  TAKT_BUFFER_CONVERSION_WIDENING = 4,  // Elements become wider, without loss.
};

// A buffer in host memory, as the Python buffer protocol describes one.
typedef struct takt_host_buffer_t {
  takt_element_type_t element_type;
  size_t byte_length;  // Of a strided one: of its contiguous copy.
  size_t rank;
  const int64_t* shape;         // `rank` sizes, outermost first.
  const int64_t* byte_strides;  // `rank` of them, of any sign; NULL: dense.
  const void* data;             // Asked for its alignment only; NULL: aligned.
} takt_host_buffer_t;

// Borrowed for the call. takt_buffer_query_init() fills it in.
typedef struct takt_buffer_query_t {
  size_t struct_size;  // Set by init.
  // The buffer that there is. NULL: one is to be made.
  const takt_host_buffer_t* host;
  // Where one is to be made: its whole shape. NULL: the argument's own, which
  // must have no dynamic dimension then.
  size_t rank;
  const int64_t* shape;
  // Whether elements may be converted to a wider type, where no value is lost.
  bool allow_widening;
} takt_buffer_query_t;

static inline void takt_buffer_query_init(takt_buffer_query_t* query) {
  memset(query, 0, sizeof(*query));
  query->struct_size = sizeof(*query);
}

// A dense row-major buffer of a device, complete enough to allocate it. Made by
// the library only; may grow. All but `advice` and `reason` is zero if the
// advice is TAKT_BUFFER_ADVICE_UNSUPPORTED.
typedef struct takt_buffer_description_t {
  takt_buffer_advice_t advice;
  uint32_t
      conversions;  // TAKT_BUFFER_CONVERSION_*, of TAKT_BUFFER_ADVICE_CONVERT.
  takt_element_type_t element_type;
  size_t rank;
  const int64_t* shape;
  const int64_t* byte_strides;
  size_t byte_length;
  size_t alignment;
  uint32_t memory_type;  // The bits of !hal.memory_type.
  uint32_t usage;        // The bits of !hal.buffer_usage.
  const char* reason;    // Of TAKT_BUFFER_ADVICE_UNSUPPORTED; "" otherwise.
} takt_buffer_description_t;

// Says what buffer of `device` fits an argument or a result.
//
//   type             borrowed; a tensor, else the advice is
//                    TAKT_BUFFER_ADVICE_UNSUPPORTED.
//   query            NULL: one is to be made, of the type's own shape.
//   out_description  for takt_buffer_description_free(); NULL on error.
//
// Errors: INVALID_ARGUMENT  struct_size is 0, or a NULL that must be none. What
//                           does not fit is no error: see `advice`.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_device_describe_buffer(
    const takt_device_t* device, const takt_value_type_t* type,
    const takt_buffer_query_t* query,
    takt_buffer_description_t** out_description);

// NULL is a no-op.
TAKT_EXPORT void takt_buffer_description_free(
    takt_buffer_description_t* description);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_COMPACT_SIGNATURE_H_
