// takt/tools/small_float.h - elements of 16 and 8 bits as numbers: f16, bf16
// and the f8 types.
//
// Part of libtakt-tools. This interface may change with every release.
//
// Thread-safety: pure functions; every function may run on any thread.
#ifndef TAKT_TOOLS_SMALL_FLOAT_H_
#define TAKT_TOOLS_SMALL_FLOAT_H_

#include "takt/element_type.h"

#if defined(__cplusplus)
extern "C" {
#endif

// Returns whether `type` is f16, bf16 or one of the f8 types.
TAKT_EXPORT bool takt_element_is_small_float(takt_element_type_t type);

// Returns the exact value of an element, given its bits; NaN for another type.
TAKT_EXPORT float takt_small_float_decode(takt_element_type_t type,
                                          uint32_t bits);

// Returns the bits of the element that is nearest to `value`; of two, the one
// with an even last bit. A value that is too large becomes infinite, or NaN in
// a type without infinities. Returns 0 for another type.
TAKT_EXPORT uint32_t takt_small_float_encode(takt_element_type_t type,
                                             float value);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TOOLS_SMALL_FLOAT_H_
