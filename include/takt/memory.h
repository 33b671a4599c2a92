// takt/memory.h - the memory that functions need, preparing it before the first
// call, and memory that is shared by file descriptor. docs/memory.md says which
// function to use when.
//
// Thread-safety: every function may run on any thread.
#ifndef TAKT_MEMORY_H_
#define TAKT_MEMORY_H_

#include "takt/buffer.h"
#include "takt/context.h"
#include "takt/function.h"

#if defined(__cplusplus)
extern "C" {
#endif

// The device memory that one call of a function allocates, found by reading its
// code. Set struct_size to sizeof before the call; nothing beyond it is
// written.
typedef struct takt_memory_need_t {
  size_t struct_size;
  // The number of allocations (results and transients) whose size is a constant
  // of the code.
  uint64_t known_count;
  uint64_t bytes_largest;  // The size of the largest of them.
  uint64_t bytes_total;    // The sum of their sizes.
  // The number of allocations whose size depends on the arguments, and of calls
  // into other modules, which are not examined.
  uint64_t unknown_count;
  // True if one call never holds more than bytes_total at once: unknown_count
  // is 0, and no allocation is in a loop.
  bool is_bounded;
} takt_memory_need_t;

// Finds the device memory that a call of `function` needs.
//
// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_query_memory(
    const takt_function_t* function, takt_memory_need_t* out_need);

// Does the work in advance that the first call would have to do. It brings the
// pages of the module (code and constants) into memory. It also makes the
// context's first device keep memory for the allocations whose sizes are known,
// with all pages present. It may be called again, and during calls.
//
// Errors: RESOURCE_EXHAUSTED  there is not enough memory.
// Blocks: while files are read.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_function_prepare(takt_function_t* function);

// Does the same for every module of the context, and for the small objects that
// calls need. It keeps no memory for the allocations of functions: the sum over
// all functions may be more than the application ever needs at once.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_context_prepare(takt_context_t* context);

// Makes a buffer over the memory behind a file descriptor (a memfd, a dmabuf,
// shared memory or a file). Nothing is copied: both sides see what the other
// one writes.
//
//   fd           borrowed; the buffer keeps a duplicate.
//   byte_offset  where the range begins; a multiple of the page size (4096).
//   byte_length  not 0. The range must lie in the file, and the file must not
//                shrink while the buffer lives.
//   options      TAKT_ACCESS_WRITE needs a descriptor that is open for writing.
//
// The caller must order the writes and reads of both sides, by fences or by
// those of the dmabuf. For a dmabuf whose memory is not coherent the caller
// must also use DMA_BUF_IOCTL_SYNC.
//
// Errors; the message says why the memory cannot be used without a copy:
//   INVALID_ARGUMENT     the offset is not aligned; the descriptor does not
//                        exist or cannot be mapped.
//   OUT_OF_RANGE         the range does not lie in the file.
//   PERMISSION_DENIED    the descriptor does not allow the access.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_import_fd(
    takt_device_t* device, int fd, uint64_t byte_offset, size_t byte_length,
    const takt_buffer_options_t* options, takt_buffer_t** out_buffer);

// Allocates a buffer that can be exported. It has a memfd of its own, filled
// with zeros. It is host memory, so it does not count for the device's budget
// or pool.
//
// Errors: RESOURCE_EXHAUSTED  there is not enough memory.
//         INVALID_ARGUMENT    byte_length is 0.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_allocate_shared(
    takt_device_t* device, size_t byte_length,
    const takt_buffer_options_t* options, takt_buffer_t** out_buffer);

// Opens a new descriptor of the memory behind the buffer.
//
//   out_fd           receives the descriptor, which the caller must close; -1
//                    on error.
//   out_byte_offset  receives where the buffer's range begins in that memory.
//
// Errors: FAILED_PRECONDITION  the buffer was not made by
//                              takt_buffer_allocate_shared() or
//                              takt_buffer_import_fd().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_export_fd(
    takt_buffer_t* buffer, int* out_fd, uint64_t* out_byte_offset);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_MEMORY_H_
