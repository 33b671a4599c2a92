// takt/context.h - modules linked together, with their own mutable state.
//
// A second context of the same modules and devices costs a few microseconds, so
// a program may make one for each of its clients.
//
// Thread-safety: every function may run on any thread; programs of one context
// take turns. Two contexts share no state, even when they link the same
// modules.
#ifndef TAKT_CONTEXT_H_
#define TAKT_CONTEXT_H_

#include <string.h>

#include "takt/device.h"
#include "takt/function.h"
#include "takt/module.h"
#include "takt/parameters.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_context_t takt_context_t;

typedef struct takt_context_options_t {
  size_t struct_size;  // Set by init.
  // The modules, in link order: a module imports from the modules before it.
  // The library adds its own modules ("hal", "hal_inline", "hal_loader",
  // "vmvx", "io_parameters") before them if they are needed.
  takt_module_t* const* modules;
  size_t module_count;
  // The devices; compiled code names a device by its index. May be empty if no
  // module needs a device.
  takt_device_t* const* devices;
  size_t device_count;
  // The sources of parameters. If two sources of one scope have a key, the
  // first one is used.
  takt_parameters_t* const* parameters;
  size_t parameters_count;
  // As in takt_invoke_options_t, for each initializer and for the other
  // functions that the context itself calls. Default: 0, no limit.
  uint64_t step_limit;
  // As in takt_invoke_options_t, for each function that the context itself
  // calls, and for each call without a limit of its own. Default: 0, half of
  // the memory that the process may use (the machine's, or that of the control
  // group). TAKT_NO_MEMORY_LIMIT: no limit.
  uint64_t memory_limit;
} takt_context_options_t;

static inline void takt_context_options_init(takt_context_options_t* options) {
  memset(options, 0, sizeof(*options));
  options->struct_size = sizeof(*options);
}

// Links modules and runs their initializers.
//
//   options      borrowed, with all that it lists; the context retains what it
//                needs. Not NULL, because there must be a module.
//   out_context  receives one reference; NULL on error.
//
// Errors:
//   INVALID_ARGUMENT  no module; a NULL in a list; an import whose signature
//                     differs from its export's.
//   NOT_FOUND         imports that no earlier module exports (the message lists
//                     all of them); an imported module that is too old.
//   INCOMPATIBLE, UNAVAILABLE  no device can run the code of a module.
//   the error of an initializer.
// Blocks: while initializers run.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_context_create(
    takt_instance_t* instance, const takt_context_options_t* options,
    takt_context_t** out_context);

// Adds a reference.
TAKT_EXPORT void takt_context_retain(takt_context_t* context);

// Releases a reference; the last one destroys the context.
TAKT_EXPORT void takt_context_release(takt_context_t* context);

// Finds an exported function.
//
//   name          "module.function", or "function" for a function of the last
//                 module.
//   out_function  receives one reference, which keeps the context alive; NULL
//                 on error.
//
// Errors: NOT_FOUND  no such module or function; the message lists those that
//                    exist.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_context_find_function(
    takt_context_t* context, const char* name, takt_function_t** out_function);

// The signals that a module with a __notify function receives.
typedef enum takt_context_signal_t {
  TAKT_CONTEXT_SIGNAL_RESUME = 0,
  TAKT_CONTEXT_SIGNAL_SUSPEND = 1,
  TAKT_CONTEXT_SIGNAL_LOW_MEMORY = 2,
  TAKT_CONTEXT_SIGNAL_FORK = 3,
} takt_context_signal_t;

// Calls __notify of every module that has it: in link order, or in reverse for
// SUSPEND and LOW_MEMORY.
//
// Errors: the error of a __notify function; the functions after it were not
// called.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_context_notify(takt_context_t* context, takt_context_signal_t signal);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_CONTEXT_H_
