// takt/memory.h - what functions need, making it ready, and memory that is
// shared with others by file descriptor. docs/memory.md says what to use when.
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

// What one call of a function asks devices for, as its code tells. Set
// struct_size to sizeof before the call; what lies beyond it is not written.
typedef struct takt_memory_need_t {
  size_t struct_size;
  // The allocations (results, transients) whose size the code says: how many,
  // the largest, and all of them.
  uint64_t known_count;
  uint64_t bytes_largest;
  uint64_t bytes_total;
  // Allocations whose size depends on the arguments, and calls into other
  // modules, which nobody looked into.
  uint64_t unknown_count;
  // True if bytes_total is the most that one call holds at once: nothing is
  // unknown, and no allocation is in a loop.
  bool is_bounded;
} takt_memory_need_t;

// Errors: INVALID_ARGUMENT  struct_size is not set.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_function_query_memory(
    const takt_function_t* function, takt_memory_need_t* out_need);

// Does now what a first call would have to do: brings the pages of the module
// (code and constants) into memory, and has the context's first device hold
// memory, with its pages present, for the allocations that are known. Calling
// it again, or beside calls, is fine.
//
// Errors: RESOURCE_EXHAUSTED  the memory is not to be had.
// Blocks: while files are read.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_function_prepare(takt_function_t* function);

// The same for every module of the context, and for the small objects that
// calls need; not for memory of functions, which may be more than all of them
// ever need together.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_context_prepare(takt_context_t* context);

// Makes a buffer of the memory behind a file descriptor (memfd, dmabuf, shared
// memory, a file), without a copy: what the other side writes is there.
//
//   fd           borrowed: the buffer has a duplicate.
//   byte_offset  of the range, a multiple of the page size (4096).
//   byte_length  not 0; the range lies in the file as it is now. It must not
//                shrink while the buffer lives.
//   options      TAKT_ACCESS_WRITE needs a descriptor that may be written.
//
// Who writes when is the caller's affair (fences, or dmabuf's own), and so is
// DMA_BUF_IOCTL_SYNC for a dmabuf whose memory is not coherent.
//
// Errors; the message says why it cannot be without a copy:
//   INVALID_ARGUMENT     the offset is not aligned; no such descriptor; it
//                        cannot be mapped.
//   OUT_OF_RANGE         the range is not in the file.
//   PERMISSION_DENIED    the descriptor does not allow that access.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_import_fd(
    takt_device_t* device, int fd, uint64_t byte_offset, size_t byte_length,
    const takt_buffer_options_t* options, takt_buffer_t** out_buffer);

// Allocates a buffer that can be exported: a memfd of its own, zeroed. It is
// host memory: it does not count for the device's budget or pool.
//
// Errors: RESOURCE_EXHAUSTED, INVALID_ARGUMENT (a byte_length of 0).
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_buffer_allocate_shared(
    takt_device_t* device, size_t byte_length,
    const takt_buffer_options_t* options, takt_buffer_t** out_buffer);

// A new descriptor of the memory behind the buffer, for the caller to close,
// and where in it the buffer's range starts.
//
//   out_fd           -1 on error.
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
