// takt/command_buffer.h - a recorded list of transfers and dispatches, run by
// takt_queue_execute().
//
// Commands between two barriers may run in any order and at once; a barrier
// makes all before it complete and visible to all after it. A finalized one
// that is reusable may be submitted any number of times, also while it runs,
// each time with its own binding table.
//
// Thread-safety: recording belongs to one thread; once finalized the object is
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
  // Slots of the binding table that submissions come with. Default: 0.
  size_t binding_capacity;
  // True: only one submission. Default: false.
  bool one_shot;
} takt_command_buffer_options_t;

static inline void takt_command_buffer_options_init(
    takt_command_buffer_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// A range of a buffer: of `buffer` itself, or, where that is NULL (indirect),
// of entry `slot` of the binding table that comes with a submission.
typedef struct takt_buffer_range_t {
  takt_buffer_t* buffer;  // Borrowed; recording keeps what it needs.
  uint32_t slot;
  size_t byte_offset;
  size_t byte_length;  // TAKT_WHOLE_BUFFER: the rest, for a direct one.
} takt_buffer_range_t;

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

// Recording. Each of these fails, and records nothing, with
//   FAILED_PRECONDITION  the command buffer is finalized.
//   OUT_OF_RANGE         a range that its buffer lacks, or a slot beyond the
//                        binding capacity. Ranges of slots are checked when
//                        submitted.
//   PERMISSION_DENIED    a buffer that does not allow that access.
//   INVALID_ARGUMENT     the rest: lengths that differ or are no multiple of
//                        the pattern's, ranges that overlap, a number of
//                        constants or bindings other than declared.

// Records a barrier: commands after it start when all commands before it have
// ended.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_command_buffer_barrier(takt_command_buffer_t* command_buffer);

// `pattern` of 1, 2 or 4 bytes, captured now.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_command_buffer_fill(
    takt_command_buffer_t* command_buffer, const takt_buffer_range_t* target,
    const void* pattern, size_t pattern_length);

// The bytes at `source`, as many as the target range has, are captured now.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_command_buffer_update(
    takt_command_buffer_t* command_buffer, const void* source,
    size_t byte_length, const takt_buffer_range_t* target);

// Records a copy of `source` to `target`, two ranges of equal length that do
// not overlap.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_command_buffer_copy(
    takt_command_buffer_t* command_buffer, const takt_buffer_range_t* source,
    const takt_buffer_range_t* target);

// What a dispatch runs, over which grid, on what.
typedef struct takt_dispatch_t {
  takt_executable_t* executable;
  size_t function;         // Below takt_executable_function_count().
  uint32_t workgroups[3];  // x, y, z.
  // Indirect: where three uint32_t of counts are read when it runs, instead of
  // `workgroups`. NULL: direct.
  const takt_buffer_range_t* workgroup_range;
  size_t constant_count;
  const uint32_t* constants;  // Captured now.
  size_t binding_count;
  const takt_buffer_range_t* bindings;
} takt_dispatch_t;

// Records a dispatch. `dispatch` and its arrays are copied; the executable and
// the buffers are retained.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_command_buffer_dispatch(
    takt_command_buffer_t* command_buffer, const takt_dispatch_t* dispatch);

// Ends the recording; before it, nothing can be submitted.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_command_buffer_finalize(takt_command_buffer_t* command_buffer);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_COMMAND_BUFFER_H_
