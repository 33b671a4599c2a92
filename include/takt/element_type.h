// takt/element_type.h - the element types of tensors.
#ifndef TAKT_ELEMENT_TYPE_H_
#define TAKT_ELEMENT_TYPE_H_

#include "takt/status.h"

#if defined(__cplusplus)
extern "C" {
#endif

// kind << 24 | bits, as in compiled modules. Any combination may occur; the
// constants below are the usual ones.
typedef uint32_t takt_element_type_t;

enum {
  TAKT_ELEMENT_OPAQUE_8 = 0x00000008,  // "*8": bits without a meaning.
  TAKT_ELEMENT_OPAQUE_16 = 0x00000010,
  TAKT_ELEMENT_OPAQUE_32 = 0x00000020,
  TAKT_ELEMENT_OPAQUE_64 = 0x00000040,
  TAKT_ELEMENT_I4 = 0x10000004,  // Integers without a sign of their own.
  TAKT_ELEMENT_I8 = 0x10000008,
  TAKT_ELEMENT_I16 = 0x10000010,
  TAKT_ELEMENT_I32 = 0x10000020,
  TAKT_ELEMENT_I64 = 0x10000040,
  TAKT_ELEMENT_SI4 = 0x11000004,
  TAKT_ELEMENT_SI8 = 0x11000008,
  TAKT_ELEMENT_SI16 = 0x11000010,
  TAKT_ELEMENT_SI32 = 0x11000020,
  TAKT_ELEMENT_SI64 = 0x11000040,
  TAKT_ELEMENT_UI4 = 0x12000004,
  TAKT_ELEMENT_UI8 = 0x12000008,
  TAKT_ELEMENT_UI16 = 0x12000010,
  TAKT_ELEMENT_UI32 = 0x12000020,
  TAKT_ELEMENT_UI64 = 0x12000040,
  TAKT_ELEMENT_BOOL = 0x13000008,  // "i1": a byte each.
  TAKT_ELEMENT_F16 = 0x21000010,
  TAKT_ELEMENT_F32 = 0x21000020,
  TAKT_ELEMENT_F64 = 0x21000040,
  TAKT_ELEMENT_BF16 = 0x22000010,
  TAKT_ELEMENT_CF64 = 0x23000040,   // Two f32.
  TAKT_ELEMENT_CF128 = 0x23000080,  // Two f64.
  TAKT_ELEMENT_F8E5M2 = 0x24000008,
  TAKT_ELEMENT_F8E4M3FN = 0x25000008,
  TAKT_ELEMENT_F8E5M2FNUZ = 0x26000008,
  TAKT_ELEMENT_F8E4M3FNUZ = 0x27000008,
  TAKT_ELEMENT_F8E8M0FNU = 0x28000008,
};

// The kind of number: the top byte of an element type.
typedef enum takt_numerical_kind_t {
  TAKT_NUMERICAL_OPAQUE = 0x00,
  TAKT_NUMERICAL_INTEGER = 0x10,
  TAKT_NUMERICAL_SIGNED_INTEGER = 0x11,
  TAKT_NUMERICAL_UNSIGNED_INTEGER = 0x12,
  TAKT_NUMERICAL_BOOLEAN = 0x13,
  TAKT_NUMERICAL_FLOAT = 0x20,
  TAKT_NUMERICAL_FLOAT_IEEE = 0x21,
  TAKT_NUMERICAL_BFLOAT = 0x22,
  TAKT_NUMERICAL_COMPLEX = 0x23,
  TAKT_NUMERICAL_F8E5M2 = 0x24,
  TAKT_NUMERICAL_F8E4M3FN = 0x25,
  TAKT_NUMERICAL_F8E5M2FNUZ = 0x26,
  TAKT_NUMERICAL_F8E4M3FNUZ = 0x27,
  TAKT_NUMERICAL_F8E8M0FNU = 0x28,
} takt_numerical_kind_t;

static inline takt_numerical_kind_t takt_element_type_kind(
    takt_element_type_t type) {
  return (takt_numerical_kind_t)(type >> 24);
}
// Returns the number of bits of one element; both parts of a complex number
// count.
static inline size_t takt_element_type_bit_count(takt_element_type_t type) {
  return type & 0xff;
}

// Returns whether a tensor of `actual` elements may be passed where `expected`
// is declared. This is so if the types are equal, if both are integers of one
// width with any sign (si32, ui32 and i32), where i1 counts as 8 bits wide, and
// if `actual` is opaque: the program itself then checks the byte length.
TAKT_EXPORT bool takt_element_type_fits(takt_element_type_t actual,
                                        takt_element_type_t expected);

// The length of the longest text of takt_element_type_format(), with its NUL.
#define TAKT_ELEMENT_TYPE_TEXT_MAX 24

// Writes "f32", "si8", "i1", "*16" or "cf64" into `out_text` (of at least
// TAKT_ELEMENT_TYPE_TEXT_MAX bytes) and returns `out_text`.
TAKT_EXPORT const char* takt_element_type_format(takt_element_type_t type,
                                                 char* out_text);

// Reads the name of an element type, as takt_element_type_format() writes it.
//
// Errors: INVALID_ARGUMENT  no such type; the message quotes the text.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_element_type_parse(const char* text, takt_element_type_t* out_type);

// Computes the length of a dense tensor in bytes: elements times bits, rounded
// up to whole bytes.
//
// Errors: INVALID_ARGUMENT  a negative dimension.
//         OUT_OF_RANGE      the length does not fit into size_t.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_element_type_dense_byte_length(
    takt_element_type_t type, size_t rank, const int64_t* shape,
    size_t* out_byte_length);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_ELEMENT_TYPE_H_
