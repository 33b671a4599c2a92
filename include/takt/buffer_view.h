// takt/buffer_view.h - a buffer seen as a tensor.
//
// Buffer views are what exported functions take and return. They are
// immutable and dense, outermost dimension first.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_BUFFER_VIEW_H_
#define TAKT_BUFFER_VIEW_H_

#include "takt/buffer.h"
#include "takt/element_type.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_buffer_view_t takt_buffer_view_t;

// Makes a view of `buffer`, which it keeps alive.
//
//   rank, shape   `rank` dimensions, none negative; NULL for rank 0.
//   out_view      receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  a negative dimension; more than 128 dimensions.
//         OUT_OF_RANGE      the tensor is larger than the buffer.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_view_create(
    takt_buffer_t* buffer, takt_element_type_t element_type, size_t rank,
    const int64_t* shape, takt_buffer_view_t** out_view);

// Allocates a buffer of `device`, copies a dense tensor into it, and makes a
// view of it.
//
//   data         the elements, row-major. `byte_length` must equal the length
//                that the type and shape give. NULL: the tensor is filled with
//                zeros.
//
// Errors: INVALID_ARGUMENT    a negative dimension; another byte length.
//         RESOURCE_EXHAUSTED  the memory cannot be allocated.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_view_copy_from_host(
    takt_device_t* device, takt_element_type_t element_type, size_t rank,
    const int64_t* shape, const void* data, size_t byte_length,
    takt_buffer_view_t** out_view);

// Adds a reference.
TAKT_EXPORT void takt_buffer_view_retain(takt_buffer_view_t* view);

// Releases a reference; the last one destroys the buffer view.
TAKT_EXPORT void takt_buffer_view_release(takt_buffer_view_t* view);

// Returns the buffer that holds the elements, borrowed from the view.
TAKT_EXPORT takt_buffer_t* takt_buffer_view_buffer(
    const takt_buffer_view_t* view);

// Returns the type of the elements.
TAKT_EXPORT takt_element_type_t
takt_buffer_view_element_type(const takt_buffer_view_t* view);

// Returns the number of dimensions.
TAKT_EXPORT size_t takt_buffer_view_rank(const takt_buffer_view_t* view);

// Returns the takt_buffer_view_rank() dimensions, borrowed from the view.
TAKT_EXPORT const int64_t* takt_buffer_view_shape(
    const takt_buffer_view_t* view);

// Returns the length of the dense tensor in bytes. Its buffer may be longer.
TAKT_EXPORT size_t takt_buffer_view_byte_length(const takt_buffer_view_t* view);

// Copies the tensor to host memory of `byte_length` bytes, which must be
// takt_buffer_view_byte_length().
//
// Errors: INVALID_ARGUMENT  another length; and as takt_buffer_map().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_view_copy_to_host(
    const takt_buffer_view_t* view, void* target, size_t byte_length);

// Writes the view in the form that the iree-* tools print:
// "2x3xf32=[1 2 3][4 5 6]".
//
//   element_count_max  the largest number of elements; "..." stands for the
//                      rest.
//   out_text           for takt_string_free(); NULL on error.
//
// Errors: as takt_buffer_map().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_view_format(
    const takt_buffer_view_t* view, size_t element_count_max, char** out_text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_BUFFER_VIEW_H_
