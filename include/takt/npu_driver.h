// takt/npu_driver.h - the interface of drivers for NPUs: a table of functions.
// A vendor writes the driver outside of this tree. An application passes its
// table to takt_npu_device_create(), or the path of a shared object that
// exports takt_npu_driver_query() to takt_npu_device_load(). This header needs
// no other part of the library, and a driver does not link the library.
//
// A driver may have several units open. A unit is one NPU: it runs one batch of
// operations at a time, and Takt never submits a second one before the first
// has ended.
//
// Versions: every struct starts with its size, set by the side that fills it.
// New fields are only added at the end. A field beyond that size does not
// exist: functions count as NULL, numbers as 0.
//
// Thread-safety: Takt calls the functions of one unit on one thread at a time,
// but not always on the same one. It may call telemetry on any thread at any
// time. The driver may call a completion on any thread, also within submit.
#ifndef TAKT_NPU_DRIVER_H_
#define TAKT_NPU_DRIVER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

// The version of this header. Takt refuses a driver of another version.
#define TAKT_NPU_DRIVER_VERSION 1

// The outcome of a function or of a batch.
typedef enum takt_npu_result_t {
  TAKT_NPU_RESULT_OK = 0,
  // This unit does not support it. Nothing was written.
  TAKT_NPU_RESULT_UNSUPPORTED = 1,
  // No unit can do it; for example, a program is damaged.
  TAKT_NPU_RESULT_INVALID = 2,
  TAKT_NPU_RESULT_NO_MEMORY = 3,
  TAKT_NPU_RESULT_FAILED = 4,  // It may work later. Outputs are undefined.
  // A transfer's checksum was wrong. It may work later; outputs are undefined.
  TAKT_NPU_RESULT_CORRUPTED = 5,
  TAKT_NPU_RESULT_CANCELLED = 6,
  TAKT_NPU_RESULT_OVERHEATED = 7,  // It may work once the unit is cooler.
  TAKT_NPU_RESULT_LOST = 8,        // The unit is gone, perhaps until a reset.
} takt_npu_result_t;

// The kind of an operation.
typedef enum takt_npu_kind_t {
  TAKT_NPU_KIND_MMT4D = 0,
  TAKT_NPU_KIND_PACK = 1,
  TAKT_NPU_KIND_UNPACK = 2,
  TAKT_NPU_KIND_FILL = 3,
  TAKT_NPU_KIND_COPY = 4,
  TAKT_NPU_KIND_TRANSFER = 5,
  TAKT_NPU_KIND_PROGRAM = 6,
} takt_npu_kind_t;

// The element types of a product: left, right, sum. Sums of integers wrap.
typedef enum takt_npu_type_t {
  TAKT_NPU_TYPE_F32 = 1,
  TAKT_NPU_TYPE_S8_S8_S32 = 2,
  TAKT_NPU_TYPE_F16_F16_F32 = 3,
  TAKT_NPU_TYPE_BF16_BF16_F32 = 5,
  TAKT_NPU_TYPE_S16_S16_S32 = 7,
  TAKT_NPU_TYPE_S16_S8_S32 = 9,
} takt_npu_type_t;

// A range of bytes that an operation reads or writes.
//
// For a unit that works in host memory (TAKT_NPU_HOST_MEMORY), the range starts
// at `data`; `buffer` is 0, or an imported buffer that contains the range. For
// another unit the range starts at `offset` in `buffer`, and `data` is NULL;
// only the host side of a transfer has `data`.
typedef struct takt_npu_range_t {
  uint8_t* data;
  uint64_t buffer;
  uint64_t offset;
  uint64_t byte_length;
} takt_npu_range_t;

// The product of a packed matrix with a packed and transposed one.
//
//   left   m panels of k tiles [m0][k0], panels `left_stride` elements apart
//   right  n panels of k tiles [n0][k0]
//   out    m rows of n tiles [m0][n0]
//   out(i, j, i0, j0) = [old value if accumulate] + sum of left * right
typedef struct takt_npu_mmt4d_t {
  takt_npu_range_t left;
  takt_npu_range_t right;
  takt_npu_range_t out;
  int64_t left_stride;
  int64_t right_stride;
  int64_t out_stride;
  int64_t m, n, k;
  int64_t m0, n0, k0;
  uint32_t type;  // takt_npu_type_t
  uint32_t accumulate;
} takt_npu_mmt4d_t;

// Cuts a matrix into tiles (pack), or makes a matrix of tiles (unpack). The
// matrix is size0 x size1 elements at stride0 and stride1; tiles are
// [sizes[0]][sizes[1]][sizes[2]][sizes[3]], the outer two at tile_stride0 and
// tile_stride1 elements, the inner two contiguous. With transpose_outer
// (transpose_inner), the first outer (inner) size counts along the matrix's
// second dimension. Pack fills the rest of a tile at the edge with `padding`,
// whose low bytes hold an element.
typedef struct takt_npu_pack_t {
  takt_npu_range_t matrix;
  takt_npu_range_t tiles;
  int64_t size0, size1;
  int64_t stride0, stride1;
  int64_t sizes[4];
  int64_t tile_stride0, tile_stride1;
  uint64_t padding;
  uint32_t element_bytes;  // 1 or 4.
  uint32_t transpose_inner;
  uint32_t transpose_outer;
  uint32_t reserved;
} takt_npu_pack_t;

// Sets size0 x size1 elements of 4 bytes, `stride0` and `stride1` elements
// apart.
typedef struct takt_npu_fill_t {
  takt_npu_range_t out;
  int64_t size0, size1;
  int64_t stride0, stride1;
  uint32_t pattern;
  uint32_t reserved;
} takt_npu_fill_t;

// Copies size0 x size1 elements of 1, 2, 4 or 8 bytes. Strides are in elements.
typedef struct takt_npu_copy_t {
  takt_npu_range_t in;
  takt_npu_range_t out;
  int64_t size0, size1;
  int64_t in_stride0, in_stride1;
  int64_t out_stride0, out_stride1;
  uint32_t element_bytes;
  uint32_t reserved;
} takt_npu_copy_t;

// Moves bytes between host memory and the unit's memory. The driver computes
// the checksum over the unit's side (see takt_npu_checksum()), and Takt
// compares it with that of the host's side.
typedef struct takt_npu_transfer_t {
  takt_npu_range_t source;
  takt_npu_range_t target;
  uint64_t* checksum;  // NULL: none is needed.
} takt_npu_transfer_t;

// Runs a function of a program that load_program() has loaded.
typedef struct takt_npu_program_t {
  uint64_t program;
  uint64_t function;
  uint32_t workgroups[3];
  uint32_t constant_count;
  const uint32_t* constants;
  const takt_npu_range_t* bindings;
  size_t binding_count;
} takt_npu_program_t;

// One function of a program.
typedef struct takt_npu_function_t {
  size_t struct_size;
  char name[120];  // The name that dispatches use; NUL-terminated.
  uint32_t constant_count;
  uint32_t binding_count;
} takt_npu_function_t;

typedef struct takt_npu_operation_t {
  uint32_t kind;  // takt_npu_kind_t
  uint32_t reserved;
  union {
    takt_npu_mmt4d_t mmt4d;
    takt_npu_pack_t pack;  // Also for TAKT_NPU_KIND_UNPACK.
    takt_npu_fill_t fill;
    takt_npu_copy_t copy;
    takt_npu_transfer_t transfer;
    takt_npu_program_t program;
  };
} takt_npu_operation_t;

// Operations that run in order. Each one sees what the ones before it wrote.
typedef struct takt_npu_batch_t {
  size_t struct_size;
  uint64_t id;  // Not 0; each batch of a unit has another one.
  const takt_npu_operation_t* operations;
  size_t operation_count;
  // The driver calls it once, when the batch no longer accesses memory and all
  // that it wrote is visible. It must not be called for a batch that submit
  // refused.
  void (*complete)(void* user_data, uint64_t id, takt_npu_result_t result);
  void* user_data;
} takt_npu_batch_t;

// takt_npu_capabilities_t.flags
#define TAKT_NPU_HOST_MEMORY 0x1u  // Works in any memory of the process.
#define TAKT_NPU_ON_CALLER 0x2u    // submit() does the work before it returns.
#define TAKT_NPU_COHERENT 0x4u     // No sync() is needed.

// The capabilities of a unit. Takt runs other operations on the CPU.
typedef struct takt_npu_capabilities_t {
  size_t struct_size;
  char name[64];  // A name for people to read; NUL-terminated.
  uint32_t flags;
  uint32_t kinds;  // 1 << takt_npu_kind_t, or'ed.
  uint32_t types;  // 1 << takt_npu_type_t, or'ed: the types of MMT4D.
  // The tiles m0 x n0 x k0 that MMT4D supports: their largest sizes (0: any),
  // and the numbers that they must be multiples of (0 or 1: any size).
  uint32_t tile_max[3];
  uint32_t tile_multiple[3];
  // The alignment that ranges must start at: a power of two; 0: any.
  uint32_t alignment;
  uint32_t batch_max;  // The most operations of a batch; 0: any number.
  // The form of programs. 1: Takt's command programs; 0: the unit's own form.
  uint32_t program_format;
  // The size of the unit's memory that allocate() gives out.
  uint64_t memory_bytes;
  // The size of the memory that is nearest to the unit's arithmetic.
  uint64_t scratchpad_bytes;
  // The CPUs that the unit is tied to, one bit each; all 0: none. Takt calls
  // its imports only on these.
  uint64_t cpus[4];
  // The file that stands for the unit on this machine, such as
  // "/dev/accel/accel0"; NUL-terminated. Takt locks it (flock), so that two
  // processes do not use the unit without knowing of each other. "": no other
  // process can use the unit.
  char path[128];
} takt_npu_capabilities_t;

typedef struct takt_npu_telemetry_t {
  size_t struct_size;
  int64_t temperature_millicelsius;  // INT64_MIN: unknown; so below.
  int64_t frequency_hz;
  int64_t utilization_ppm;  // The busy part of the recent time, in millionths.
  int64_t throttled_ns;     // How long the unit was slowed down by heat.
} takt_npu_telemetry_t;

// The functions of Takt that a driver may call. They outlive the unit.
typedef struct takt_npu_host_t {
  size_t struct_size;
  void* user_data;
  // The clock that operations are timed with; it may be a simulated one.
  int64_t (*now_ns)(void* user_data);
  // Calls `call(argument)` when now_ns() has reached `at_ns`, on a thread of
  // Takt, where it must not block. Before Takt calls close(), it makes all
  // calls that are not due yet.
  void (*schedule)(void* user_data, int64_t at_ns, void (*call)(void* argument),
                   void* argument);
} takt_npu_host_t;

// Values of the direction of sync().
#define TAKT_NPU_TO_UNIT 0  // The host has written; the unit will read.
#define TAKT_NPU_TO_HOST 1  // The unit has written; the host will read.

// A function that compiled kernels import, such as `npu_matmul_i8`.
// `parameters` is a struct that the kernel fills: results, then arguments. 0
// means success.
typedef int (*takt_npu_import_t)(void* parameters, void* context,
                                 void* reserved);

typedef struct takt_npu_driver_t {
  size_t struct_size;
  uint32_t version;  // TAKT_NPU_DRIVER_VERSION
  uint32_t reserved;
  const char* name;  // "host". Static.

  // Opens a unit.
  //
  //   host      borrowed; outlives the unit.
  //   options   in the driver's own form, NUL-terminated; "" for none.
  //   out_unit  receives the unit, which is passed to the other functions.
  //   error     room for `error_bytes`; may receive the reason of a failure.
  takt_npu_result_t (*open)(const takt_npu_host_t* host, const char* options,
                            void** out_unit, char* error, size_t error_bytes);
  // Closes the unit and frees all that was made in it. No batch is running.
  void (*close)(void* unit);
  // Fills in the capabilities, within struct_size. They never change.
  takt_npu_result_t (*query)(void* unit, takt_npu_capabilities_t* out);

  // Starts a batch. The batch stays at its address until it has completed or
  // has been cancelled. On any error nothing was started.
  takt_npu_result_t (*submit)(void* unit, const takt_npu_batch_t* batch);
  // Ends a batch early. OK: the batch no longer accesses memory; it has
  // completed, or never will. FAILED: only a reset can end it.
  takt_npu_result_t (*cancel)(void* unit, uint64_t id);
  // Ends all batches, as cancel() does, and brings the unit back to its first
  // state. Its buffers and programs stay. LOST: the unit is gone.
  takt_npu_result_t (*reset)(void* unit);

  // The functions below may be NULL if the unit does not have the feature.

  takt_npu_result_t (*telemetry)(void* unit, takt_npu_telemetry_t* out);

  // Allocates memory of the unit. Handles are not 0.
  takt_npu_result_t (*allocate)(void* unit, uint64_t byte_length,
                                uint64_t* out_buffer);
  // Registers host memory with the unit, which may then work in it faster.
  takt_npu_result_t (*import_memory)(void* unit, void* data,
                                     uint64_t byte_length,
                                     uint64_t* out_buffer);
  void (*free_buffer)(void* unit, uint64_t buffer);
  // Maintains the caches for an imported buffer.
  takt_npu_result_t (*sync)(void* unit, uint64_t buffer, uint64_t offset,
                            uint64_t byte_length, int direction);

  // Loads a program from the bytes that a module has of it. `data` is borrowed
  // for the call and must be treated as hostile. INVALID: it is no program of
  // the unit.
  takt_npu_result_t (*load_program)(void* unit, const uint8_t* data,
                                    size_t byte_length, uint64_t* out_program);
  void (*unload_program)(void* unit, uint64_t program);
  // Describes a function of the program, by its index from 0. INVALID: there is
  // no such function.
  takt_npu_result_t (*describe_function)(void* unit, uint64_t program,
                                         uint64_t function,
                                         takt_npu_function_t* out);

  // Finds a function that kernels import; it lives as long as the unit. Takt
  // calls it only while no batch runs. UNSUPPORTED: there is no such function.
  takt_npu_result_t (*find_import)(void* unit, const char* name,
                                   takt_npu_import_t* out_function,
                                   void** out_context);

  // Asks the running import to return soon, with a result other than 0. Takt
  // calls this on another thread when the time limit of the import has passed;
  // the import may be about to return. NULL: imports cannot be interrupted.
  void (*cancel_import)(void* unit);

  // The next two functions maintain the caches between host memory and other
  // devices, such as a camera. Compiled code asks for it with
  // hal.command_buffer.flush_buffer and .invalidate_buffer. Takt calls them
  // while no batch runs, on a thread that may block. NULL: memory is coherent.
  // A result other than OK fails the job.

  // Makes all that the process and the unit have written in the range visible
  // to other devices.
  takt_npu_result_t (*flush_memory)(void* unit, void* data,
                                    uint64_t byte_length);
  // Makes all that other devices have written in the range visible to the
  // process and the unit.
  takt_npu_result_t (*invalidate_memory)(void* unit, void* data,
                                         uint64_t byte_length);
} takt_npu_driver_t;

// The function that a shared object exports. `version` is the version of Takt's
// header. Returns a static table, or NULL if the driver does not support the
// version.
typedef const takt_npu_driver_t* (*takt_npu_driver_query_t)(uint32_t version);
#define TAKT_NPU_DRIVER_QUERY_SYMBOL "takt_npu_driver_query"

// Computes the checksum of a transfer: FNV-1a over little-endian words of 64
// bits (the last one padded with zeros), and then over the length.
static inline uint64_t takt_npu_checksum(const uint8_t* data,
                                         uint64_t byte_length) {
  const uint64_t prime = 0x100000001b3u;
  uint64_t sum = 0xcbf29ce484222325u;
  uint64_t word = 0;
  uint64_t i = 0;
  for (i = 0; i < byte_length; ++i) {
    word |= (uint64_t)data[i] << (8 * (i % 8));
    if (i % 8 == 7 || i + 1 == byte_length) {
      sum = (sum ^ word) * prime;
      word = 0;
    }
  }
  return (sum ^ byte_length) * prime;
}

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_NPU_DRIVER_H_
