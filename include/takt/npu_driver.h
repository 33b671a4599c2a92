// takt/npu_driver.h - what the driver of an NPU gives Takt: a table of
// functions. A vendor writes one outside of this tree, and an application hands
// it to takt_npu_device_create(), or the path of a shared object that exports
// takt_npu_driver_query(). This header needs nothing else of the library, and a
// driver does not link it.
//
// A driver may have several units open. A unit is one NPU: it runs one batch of
// operations at a time, and Takt never submits a second one before the first
// has ended.
//
// Versions: every struct starts with its size, set by who fills it. Fields are
// only ever added at the end. A field beyond the size that the other side knows
// does not exist: functions are then NULL, numbers 0.
//
// Thread-safety: query, submit, cancel, reset, programs and buffers of one unit
// are called by one thread at a time, not always the same; telemetry by any
// thread at any time. A completion may be called on any thread, also by submit
// before it returns.
#ifndef TAKT_NPU_DRIVER_H_
#define TAKT_NPU_DRIVER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

// Of this header. A driver of another version is refused.
#define TAKT_NPU_DRIVER_VERSION 1

// How something ended.
typedef enum takt_npu_result_t {
  TAKT_NPU_RESULT_OK = 0,
  TAKT_NPU_RESULT_UNSUPPORTED = 1,  // Not by this unit. Nothing was written.
  TAKT_NPU_RESULT_INVALID = 2,  // No unit could do it: a damaged program, say.
  TAKT_NPU_RESULT_NO_MEMORY = 3,
  TAKT_NPU_RESULT_FAILED = 4,  // May work another time. Outputs are undefined.
  TAKT_NPU_RESULT_CORRUPTED = 5,  // A transfer's checksum was wrong. Likewise.
  TAKT_NPU_RESULT_CANCELLED = 6,
  TAKT_NPU_RESULT_OVERHEATED = 7,  // May work once the unit is cooler.
  TAKT_NPU_RESULT_LOST = 8,  // The unit is gone, until a reset brings it back.
} takt_npu_result_t;

// What an operation does.
typedef enum takt_npu_kind_t {
  TAKT_NPU_KIND_MMT4D = 0,
  TAKT_NPU_KIND_PACK = 1,
  TAKT_NPU_KIND_UNPACK = 2,
  TAKT_NPU_KIND_FILL = 3,
  TAKT_NPU_KIND_COPY = 4,
  TAKT_NPU_KIND_TRANSFER = 5,
  TAKT_NPU_KIND_PROGRAM = 6,
} takt_npu_kind_t;

// Operands and sum of a product: left, right, sum. The sum of integers wraps.
typedef enum takt_npu_type_t {
  TAKT_NPU_TYPE_F32 = 1,
  TAKT_NPU_TYPE_S8_S8_S32 = 2,
  TAKT_NPU_TYPE_F16_F16_F32 = 3,
  TAKT_NPU_TYPE_BF16_BF16_F32 = 5,
  TAKT_NPU_TYPE_S16_S16_S32 = 7,
  TAKT_NPU_TYPE_S16_S8_S32 = 9,
} takt_npu_type_t;

// Bytes that an operation works on.
//
// A unit that works in host memory (TAKT_NPU_HOST_MEMORY) finds them at `data`;
// `buffer` is 0 or an imported buffer that holds them. For another unit `data`
// is NULL, and they are in `buffer` from `offset` on; only the host side of a
// transfer has `data`.
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

// Cuts a matrix into tiles, or puts it together again (unpack). The matrix is
// size0 x size1 elements at stride0 and stride1; tiles are
// [sizes[0]][sizes[1]][sizes[2]][sizes[3]], the outer two at tile_stride0 and
// tile_stride1 elements, the inner two contiguous. Transposed: the first outer
// (inner) size counts along the matrix's second dimension. Tiles are filled
// up with `padding`, the element in its low bytes.
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

// Moves bytes between host memory and the unit's. The driver fills in the
// checksum of the unit's side, as it is (see takt_npu_checksum()); Takt
// compares it with the host's.
typedef struct takt_npu_transfer_t {
  takt_npu_range_t source;
  takt_npu_range_t target;
  uint64_t* checksum;  // NULL: not asked for.
} takt_npu_transfer_t;

// Runs a function of a program that load_program() has taken.
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
  char name[120];  // NUL-terminated; what a dispatch names it by.
  uint32_t constant_count;
  uint32_t binding_count;
} takt_npu_function_t;

typedef struct takt_npu_operation_t {
  uint32_t kind;  // takt_npu_kind_t
  uint32_t reserved;
  union {
    takt_npu_mmt4d_t mmt4d;
    takt_npu_pack_t pack;  // Also of TAKT_NPU_KIND_UNPACK.
    takt_npu_fill_t fill;
    takt_npu_copy_t copy;
    takt_npu_transfer_t transfer;
    takt_npu_program_t program;
  };
} takt_npu_operation_t;

// Operations that run in order, each seeing what the ones before it wrote.
typedef struct takt_npu_batch_t {
  size_t struct_size;
  uint64_t id;  // Never 0, and never used twice on a unit.
  const takt_npu_operation_t* operations;
  size_t operation_count;
  // The unit calls it once, when the batch no longer touches memory and all
  // that it wrote can be seen. Must not be called for a batch
  // that submit refused.
  void (*complete)(void* user_data, uint64_t id, takt_npu_result_t result);
  void* user_data;
} takt_npu_batch_t;

// takt_npu_capabilities_t.flags
#define TAKT_NPU_HOST_MEMORY 0x1u  // Works on any memory of the process.
#define TAKT_NPU_ON_CALLER 0x2u    // submit() does the work before it returns.
#define TAKT_NPU_COHERENT 0x4u     // Caches need no sync().

// What a unit can do. What it cannot, Takt runs on the CPU.
typedef struct takt_npu_capabilities_t {
  size_t struct_size;
  char name[64];  // For people; NUL-terminated.
  uint32_t flags;
  uint32_t kinds;  // 1 << takt_npu_kind_t, or'ed.
  uint32_t types;  // 1 << takt_npu_type_t, or'ed: of MMT4D.
  // Tiles m0 x n0 x k0 that MMT4D takes: at most so large, 0 for any size, and
  // multiples of these, 0 and 1 for all.
  uint32_t tile_max[3];
  uint32_t tile_multiple[3];
  // Of where ranges start: a power of two, 0 for any.
  uint32_t alignment;
  uint32_t batch_max;       // Operations a batch; 0: any number.
  uint32_t program_format;  // 1: takes Takt's own command programs. 0: its own.
  // Memory of its own that allocate() gives out.
  uint64_t memory_bytes;
  // Of the memory that is nearest to its arithmetic.
  uint64_t scratchpad_bytes;
  // CPUs that the unit is tied to, bit by bit; all 0: to none. Whoever calls
  // its imports runs on one of these.
  uint64_t cpus[4];
} takt_npu_capabilities_t;

typedef struct takt_npu_telemetry_t {
  size_t struct_size;
  int64_t temperature_millicelsius;  // INT64_MIN: not known, as the others.
  int64_t frequency_hz;
  int64_t utilization_ppm;  // Share of the time that it has worked, lately.
  int64_t throttled_ns;     // How long heat has slowed it down.
} takt_npu_telemetry_t;

// What Takt gives a driver. Outlives the unit.
typedef struct takt_npu_host_t {
  size_t struct_size;
  void* user_data;
  // The clock that operations are timed on. Perhaps a simulated one.
  int64_t (*now_ns)(void* user_data);
  // Calls `call(argument)` once now_ns() has reached `at_ns`, on a thread of
  // Takt's, where it must not block. All calls are made before close()
  // is called, those of the future early.
  void (*schedule)(void* user_data, int64_t at_ns, void (*call)(void* argument),
                   void* argument);
} takt_npu_host_t;

// sync() direction.
#define TAKT_NPU_TO_UNIT 0  // The host has written; the unit will read.
#define TAKT_NPU_TO_HOST 1  // The unit has written; the host will read.

// A function that compiled kernels import (`npu_matmul_i8`, say). `parameters`
// is the struct that the kernel made: results, then arguments. 0 is success.
typedef int (*takt_npu_import_t)(void* parameters, void* context,
                                 void* reserved);

typedef struct takt_npu_driver_t {
  size_t struct_size;
  uint32_t version;  // TAKT_NPU_DRIVER_VERSION
  uint32_t reserved;
  const char* name;  // "host". Static.

  // Opens a unit.
  //
  //   host      outlives it.
  //   options   of the driver's own format, NUL-terminated; "" for none.
  //   out_unit  receives what the other functions are given.
  //   error     of `error_bytes`; may be given a text of what was wrong.
  takt_npu_result_t (*open)(const takt_npu_host_t* host, const char* options,
                            void** out_unit, char* error, size_t error_bytes);
  // Ends the unit and all that is made in it. No batch is running.
  void (*close)(void* unit);
  // Fills in what it can, within struct_size. The answer is always the same.
  takt_npu_result_t (*query)(void* unit, takt_npu_capabilities_t* out);

  // Starts a batch, which stays where it is until it has completed or has been
  // cancelled. UNSUPPORTED and other errors: nothing was started.
  takt_npu_result_t (*submit)(void* unit, const takt_npu_batch_t* batch);
  // Ends a batch early. OK: it no longer touches memory; it has completed, or
  // never will. FAILED: only a reset could do that.
  takt_npu_result_t (*cancel)(void* unit, uint64_t id);
  // Ends whatever runs, as cancel() does, and makes the unit as good as new,
  // but for its buffers and programs, which stay. LOST: it is gone.
  takt_npu_result_t (*reset)(void* unit);

  // What follows may be NULL, of units that have no such thing.

  takt_npu_result_t (*telemetry)(void* unit, takt_npu_telemetry_t* out);

  // Memory of the unit. Handles are not 0.
  takt_npu_result_t (*allocate)(void* unit, uint64_t byte_length,
                                uint64_t* out_buffer);
  // Makes host memory known to the unit, which may then work in it faster.
  takt_npu_result_t (*import_memory)(void* unit, void* data,
                                     uint64_t byte_length,
                                     uint64_t* out_buffer);
  void (*free_buffer)(void* unit, uint64_t buffer);
  // Cache maintenance of an imported buffer.
  takt_npu_result_t (*sync)(void* unit, uint64_t buffer, uint64_t offset,
                            uint64_t byte_length, int direction);

  // A program as it stands in a module, byte for byte; `data` is borrowed for
  // the call and hostile. INVALID: not one of the unit's.
  takt_npu_result_t (*load_program)(void* unit, const uint8_t* data,
                                    size_t byte_length, uint64_t* out_program);
  void (*unload_program)(void* unit, uint64_t program);
  // Describes a function of the program, counted from 0; INVALID past the last.
  takt_npu_result_t (*describe_function)(void* unit, uint64_t program,
                                         uint64_t function,
                                         takt_npu_function_t* out);

  // What kernels may import; lives as long as the unit. The import is only
  // called with no batch running. UNSUPPORTED if there is no such function.
  takt_npu_result_t (*find_import)(void* unit, const char* name,
                                   takt_npu_import_t* out_function,
                                   void** out_context);

  // Asks the import that runs to return soon, with something other than 0.
  // Called on another thread while it runs, when its time limit has passed; it
  // may be about to return by itself. NULL: imports are not interrupted.
  void (*cancel_import)(void* unit);

  // Maintenance of the caches between host memory and other devices (a camera,
  // another accelerator): compiled code asks for it with
  // hal.command_buffer.flush_buffer and .invalidate_buffer. Both are called
  // with no batch running, on a thread that may block. NULL: memory is
  // coherent. A result other than OK fails the job.

  // What the process and the unit have written in the range can be seen by
  // other devices from now on.
  takt_npu_result_t (*flush_memory)(void* unit, void* data,
                                    uint64_t byte_length);
  // What other devices have written in the range can be seen by the process
  // and the unit from now on.
  takt_npu_result_t (*invalidate_memory)(void* unit, void* data,
                                         uint64_t byte_length);
} takt_npu_driver_t;

// What a shared object exports. `version` is Takt's; the table is static. NULL
// if the driver cannot work with that version.
typedef const takt_npu_driver_t* (*takt_npu_driver_query_t)(uint32_t version);
#define TAKT_NPU_DRIVER_QUERY_SYMBOL "takt_npu_driver_query"

// The checksum of a transfer: FNV-1a over 64-bit little-endian words, the last
// one filled up with zeros, then over the length.
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
