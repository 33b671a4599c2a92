// takt/list.h - a list of values that modules pass around (!vm.list).
//
// Thread-safety: none; a list belongs to one thread or invocation at a time.
#ifndef TAKT_LIST_H_
#define TAKT_LIST_H_

#include "takt/value.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_list_t takt_list_t;

// Makes an empty list.
//
//   element_kind  the kind of the elements: a scalar kind (values are converted
//                 when they are stored), TAKT_VALUE_REF for objects of any
//                 type, or TAKT_VALUE_NONE for values of any kind.
//   capacity      the number of elements for which memory is allocated now.
//   out_list      receives one reference; NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_list_create(
    takt_value_kind_t element_kind, size_t capacity, takt_list_t** out_list);

// Adds a reference.
TAKT_EXPORT void takt_list_retain(takt_list_t* list);

// Releases a reference; the last one destroys the list.
TAKT_EXPORT void takt_list_release(takt_list_t* list);

// Returns the number of elements.
TAKT_EXPORT size_t takt_list_size(const takt_list_t* list);

// Sets the number of elements. New elements are 0, null or NONE.
//
// Errors: RESOURCE_EXHAUSTED  beyond 2^24 elements.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_list_resize(takt_list_t* list,
                                                          size_t size);

// Reads element `index`. If the element is an object, *out_value owns a
// reference, which takt_values_release() releases.
//
// Errors: OUT_OF_RANGE  no such element.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_list_get(const takt_list_t* list,
                                                       size_t index,
                                                       takt_value_t* out_value);

// Stores `value`, borrowed: the list takes a reference of its own.
//
// Errors: OUT_OF_RANGE  no such element.
//         FAILED_PRECONDITION, INVALID_ARGUMENT the list cannot hold the value.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_list_set(takt_list_t* list, size_t index, const takt_value_t* value);

// Appends `value`, borrowed. Errors: as takt_list_resize(), takt_list_set().
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_list_append(takt_list_t* list, const takt_value_t* value);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_LIST_H_
