// takt/plan.h - plans: when and on which resources each operation of some jobs
// runs.
//
// `takt-plan` makes plans and writes them to files; takt/tools/workload.h does
// so in a program. A plan is carried out by a run (takt/plan_run.h).
//
// Thread-safety: a plan is immutable; every function may run on any thread.
#ifndef TAKT_PLAN_H_
#define TAKT_PLAN_H_

#include "takt/base.h"
#include "takt/status.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_plan_t takt_plan_t;

// Reads a plan from a file. The file may be hostile.
//
//   path      NUL-terminated.
//   out_plan  receives one reference, released by takt_plan_release(); NULL on
//             error.
//
// Errors: NOT_FOUND         no such file.
//         INVALID_ARGUMENT  not a plan, cut off, damaged, of another version
//                           (the message names the version found and the one
//                           expected), or with an index, name or time that
//                           cannot be. The message starts with the path.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_plan_load_file(const char* path, takt_plan_t** out_plan);

// Reads a plan from memory, as takt_plan_load_file() does. The bytes are
// copied.
//
//   name      what messages call the plan; NULL: "plan".
//   out_plan  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  as takt_plan_load_file().
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_load(const char* name,
                                                        const void* data,
                                                        size_t byte_length,
                                                        takt_plan_t** out_plan);

// Returns the plan as the bytes that takt_plan_load() reads.
//
//   out_data         receives the bytes, for takt_string_free(); NULL on
//                    error.
//   out_byte_length  receives their number; 0 on error.
//
// Errors: RESOURCE_EXHAUSTED  no memory.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_plan_encode(
    const takt_plan_t* plan, char** out_data, size_t* out_byte_length);

// Adds a reference.
TAKT_EXPORT void takt_plan_retain(takt_plan_t* plan);

// Releases a reference; the last one frees the plan. Runs of the plan hold
// references of their own.
TAKT_EXPORT void takt_plan_release(takt_plan_t* plan);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_PLAN_H_
