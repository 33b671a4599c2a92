// takt/command_buffer.h - a recorded list of transfers and dispatches, run by
// takt_queue_execute().
//
// Commands between two barriers may run in any order and at the same time. A
// command after a barrier starts when all commands before the barrier have
// ended, and sees what they wrote. A finalized command buffer may be submitted
// any number of times, also while it runs, each time with a binding table of
// its own; one that is `one_shot` may be submitted once.
//
// Thread-safety: one thread at a time may record. A finalized command buffer is
// immutable, and every function may run on any thread.
#ifndef TAKT_COMMAND_BUFFER_H_
#define TAKT_COMMAND_BUFFER_H_

#include <string.h>

#include "takt/buffer.h"
#include "takt/executable.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_command_buffer_t takt_command_buffer_t;

typedef struct takt_command_buffer_options_t {
  size_t struct_size;  // Set by init.
  // The number of slots of the binding table that each submission supplies.
  // Default: 0.
  size_t binding_capacity;
  // Whether the command buffer is submitted at most once. Default: false.
  bool one_shot;
} takt_command_buffer_options_t;

static inline void takt_command_buffer_options_init(
    takt_command_buffer_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// A range of a buffer. A direct range names its `buffer`. In an indirect range
// `buffer` is NULL, and `slot` is an index of the binding table that the
// submission supplies.
typedef struct takt_buffer_range_t {
  takt_buffer_t* buffer;  // Borrowed; a recorded command holds a reference.
  uint32_t slot;
  size_t byte_offset;
  size_t byte_length;  // TAKT_WHOLE_BUFFER: the rest (direct only).
} takt_buffer_range_t;

// Creates a command buffer that is ready for recording.
//
//   out_command_buffer  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  a binding_capacity beyond 65536.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_command_buffer_create(
    takt_device_t* device, const takt_command_buffer_options_t* options,
    takt_command_buffer_t** out_command_buffer);

// Adds a reference.
TAKT_EXPORT void takt_command_buffer_retain(
    takt_command_buffer_t* command_buffer);

// Releases a reference; the last one destroys the command buffer.
TAKT_EXPORT void takt_command_buffer_release(
    takt_command_buffer_t* command_buffer);

// Recording. Errors of the following functions, which then record nothing:
//   FAILED_PRECONDITION  the command buffer is finalized.
//   OUT_OF_RANGE         a range is not inside its buffer, or a slot is beyond
//                        the binding capacity. Indirect ranges are checked at
//                        submission.
//   PERMISSION_DENIED    a buffer does not allow the read or write.
//   INVALID_ARGUMENT     lengths differ, or are no multiple of the pattern's
//                        length; ranges overlap; the number of constants or
//                        bindings is not the declared one.

// Records a barrier: commands after it start when all commands before it have
// ended.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_command_buffer_barrier(takt_command_buffer_t* command_buffer);

// Records a fill of the target range with a pattern of 1, 2 or 4 bytes, which
// is copied now.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_command_buffer_fill(
    takt_command_buffer_t* command_buffer, const takt_buffer_range_t* target,
    const void* pattern, size_t pattern_length);

// Records a write of `byte_length` bytes, which must be the length of the
// target range. The bytes at `source` are copied now.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_command_buffer_update(
    takt_command_buffer_t* command_buffer, const void* source,
    size_t byte_length, const takt_buffer_range_t* target);

// Records a copy of `source` to `target`, two ranges of equal length that do
// not overlap.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_command_buffer_copy(
    takt_command_buffer_t* command_buffer, const takt_buffer_range_t* source,
    const takt_buffer_range_t* target);

// A dispatch: a function of an executable, its grid of workgroups, and its
// operands.
typedef struct takt_dispatch_t {
  takt_executable_t* executable;
  size_t function;         // Below takt_executable_function_count().
  uint32_t workgroups[3];  // x, y, z.
  // If not NULL, `workgroups` is ignored: the three counts are read from this
  // range, as uint32_t, when the dispatch runs. Default: NULL.
  const takt_buffer_range_t* workgroup_range;
  size_t constant_count;
  const uint32_t* constants;  // Copied now.
  size_t binding_count;
  const takt_buffer_range_t* bindings;
} takt_dispatch_t;

// Records a dispatch. `dispatch` and its arrays are copied; the executable and
// the buffers are retained.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_command_buffer_dispatch(
    takt_command_buffer_t* command_buffer, const takt_dispatch_t* dispatch);

// Ends the recording. Only a finalized command buffer can be submitted.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_command_buffer_finalize(takt_command_buffer_t* command_buffer);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_COMMAND_BUFFER_H_
