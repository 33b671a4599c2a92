// takt/check.h - the module to which self-checking programs report.
//
// Programs compiled with check.expect_* operations import a module named
// "check". An expectation that fails is reported, and the program continues.
#ifndef TAKT_CHECK_H_
#define TAKT_CHECK_H_

#include "takt/module.h"

#if defined(__cplusplus)
extern "C" {
#endif

// Receives a failed expectation.
//
//   message  borrowed; "expect_eq: ..." with the first elements that differ
//            and their indices, perhaps on several lines.
//
// Runs on the thread that runs the program, inside its invocation; it must not
// call the context.
typedef void (*takt_check_callback_t)(void* user_data, const char* message);

// Makes a check module that calls `callback` for each failed expectation. List
// it before the modules that use it.
//
//   user_data  borrowed for as long as the module lives.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_check_module_create(
    takt_instance_t* instance, takt_check_callback_t callback, void* user_data,
    takt_module_t** out_module);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_CHECK_H_
