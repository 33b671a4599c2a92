// No exception leaves a C function. What throws is memory or threads that run
// out, and code of the application that a function calls. After its NULL
// checks, an exported function does all its work between these two:
//
//   TAKT_REQUIRE(list, out_value);
//   TAKT_TRY { return ...; }
//   TAKT_CATCH_ALL(list, out_value);
//
// This costs nothing unless something is thrown. tests/tidy/guards_test.cc
// looks for it in every function that returns a status.
#ifndef TAKT_ABI_GUARD_H_
#define TAKT_ABI_GUARD_H_

#include "abi/null.h"
#include "base/exceptions.h"
#include "takt/status.h"

// Returns the status of the exception. The arguments are those of TAKT_REQUIRE:
// out-parameters receive zeros.
#define TAKT_CATCH_ALL(...)                          \
  TAKT_CATCH(...) {                                  \
    using ::takt::abi::Items;                        \
    using ::takt::abi::Optional;                     \
    ::takt::abi::ClearAll(__VA_ARGS__);              \
    return ::takt::abi::StatusOfException(__func__); \
  }                                                  \
  static_assert(true)

// The same for a function that returns a value, or nothing: returns `result`.
#define TAKT_CATCH_ALL_OR(result, ...)  \
  TAKT_CATCH(...) {                     \
    using ::takt::abi::Items;           \
    using ::takt::abi::Optional;        \
    ::takt::abi::ClearAll(__VA_ARGS__); \
    ::takt::abi::DropException();       \
    return result;                      \
  }                                     \
  static_assert(true)

namespace takt::abi {

// Of the exception that is being handled: RESOURCE_EXHAUSTED if memory or
// threads have run out, else INTERNAL. The cancellation of a thread
// (pthread_cancel) goes on.
takt_status_t StatusOfException(const char* source);

// The same for a function that has no way to say so.
void DropException();

}  // namespace takt::abi

#endif  // TAKT_ABI_GUARD_H_
