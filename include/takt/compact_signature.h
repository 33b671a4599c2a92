// takt/compact_signature.h - signatures in the compact form, and buffers that
// fit a signature.
//
// The compact form is an older textual ABI: "I6!B3!d4R6!B3!d4" is a function
// from f32[4] to f32[4]. docs/signatures.md has its grammar. A signature that
// was read from this form has the same type as that of any function
// (takt/signature.h), and any signature can be written in this form.
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

// Reads a compact signature. Buffers become tensors. Scalars become values of
// the kind that holds them in the VM. Reference objects become "!vm.ref<?>". An
// unrecognized item has its text as its type.
//
//   text           NUL-terminated.
//   out_signature  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  `text` is not a compact signature; the message has
//                           the position and the reason.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_signature_parse_compact(
    const char* text, takt_signature_t** out_signature);

// Writes a signature in the compact form. Integers without a sign count as
// signed. References other than tensors become reference objects. A type that
// the form cannot express becomes an unrecognized item with the type as its
// text. Names and attributes are left out.
//
//   out_text  for takt_string_free(); NULL on error.
//
// Errors: INVALID_ARGUMENT  a variadic signature.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_signature_format_compact(
    const takt_signature_t* signature, char** out_text);

// Writes a signature in the form of a declaration (iree.abi.declaration), such
// as "sync func @mul(%input0: tensor<4xf32>) -> (%output0: tensor<4xf32>)".
// Arguments and results without a name are called input0, output0 and so on.
//
//   function_name  NUL-terminated; not "".
//   out_text       for takt_string_free(); NULL on error.
//
// Errors: INVALID_ARGUMENT  a variadic signature; a type or name that a reader
//                           of declarations would not accept.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_signature_format_declaration(const takt_signature_t* signature,
                                  const char* function_name, char** out_text);

// How the caller gets a buffer that fits an argument.
typedef enum takt_buffer_advice_t {
  TAKT_BUFFER_ADVICE_USE = 0,      // Pass the host's memory as it is.
  TAKT_BUFFER_ADVICE_CONVERT = 1,  // Copy the contents to a buffer like this.
  TAKT_BUFFER_ADVICE_MAKE = 2,     // Allocate a buffer like this.
  TAKT_BUFFER_ADVICE_UNSUPPORTED = 3,  // No buffer fits; see `reason`.
} takt_buffer_advice_t;

// Bits of takt_buffer_description_t::conversions.
enum {
  TAKT_BUFFER_CONVERSION_DENSE_COPY = 1,  // The strides are not dense
                                          // row-major.
  TAKT_BUFFER_CONVERSION_ALIGNMENT_COPY =
      2,                                // The address is not aligned enough.
  TAKT_BUFFER_CONVERSION_WIDENING = 4,  // To a wider type, without loss.
};

// A buffer in host memory, described as in the Python buffer protocol.
typedef struct takt_host_buffer_t {
  takt_element_type_t element_type;
  size_t byte_length;  // If strided: of its contiguous copy.
  size_t rank;
  const int64_t* shape;         // `rank` sizes, outermost first.
  const int64_t* byte_strides;  // `rank` of them, of any sign; NULL: dense.
  const void* data;             // Only its alignment counts; NULL: aligned.
} takt_host_buffer_t;

// Borrowed for the call. takt_buffer_query_init() fills it in.
typedef struct takt_buffer_query_t {
  size_t struct_size;  // Set by init.
  // The buffer that the caller has. NULL: the caller has none.
  const takt_host_buffer_t* host;
  // If `host` is NULL: the shape of the buffer that is to be allocated. NULL:
  // the argument's own shape, which then must have no dynamic dimension.
  size_t rank;
  const int64_t* shape;
  // Whether elements may be converted to a wider type that holds all of their
  // values.
  bool allow_widening;
} takt_buffer_query_t;

static inline void takt_buffer_query_init(takt_buffer_query_t* query) {
  memset(query, 0, sizeof(*query));
  query->struct_size = sizeof(*query);
}

// A dense row-major buffer of a device, with all that an allocation needs. Only
// the library makes descriptions, and later versions may add members. If the
// advice is TAKT_BUFFER_ADVICE_UNSUPPORTED, all members but `advice` and
// `reason` are 0.
typedef struct takt_buffer_description_t {
  takt_buffer_advice_t advice;
  uint32_t conversions;  // With _CONVERT: TAKT_BUFFER_CONVERSION_* bits.
  takt_element_type_t element_type;
  size_t rank;
  const int64_t* shape;
  const int64_t* byte_strides;
  size_t byte_length;
  size_t alignment;
  uint32_t memory_type;  // The bits of !hal.memory_type.
  uint32_t usage;        // The bits of !hal.buffer_usage.
  const char* reason;    // With _UNSUPPORTED; "" otherwise.
} takt_buffer_description_t;

// Describes the buffer of `device` that fits an argument or a result.
//
//   type             borrowed. If it is not a tensor, the advice is
//                    TAKT_BUFFER_ADVICE_UNSUPPORTED.
//   query            NULL: the caller has no buffer and needs one of the type's
//                    own shape.
//   out_description  for takt_buffer_description_free(); NULL on error.
//
// Errors: INVALID_ARGUMENT  struct_size is 0, or a pointer is NULL. A buffer
//                           that does not fit is no error: see `advice`.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_device_describe_buffer(
    const takt_device_t* device, const takt_value_type_t* type,
    const takt_buffer_query_t* query,
    takt_buffer_description_t** out_description);

// Frees a description. Does nothing for NULL.
TAKT_EXPORT void takt_buffer_description_free(
    takt_buffer_description_t* description);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_COMPACT_SIGNATURE_H_
