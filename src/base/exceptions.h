// What throws in Takt is memory that runs out, and code of other libraries. A
// build without exceptions (TAKT_SMALL) ends the process there:
//
//   TAKT_TRY {
//     elements.resize(size);
//   }
//   TAKT_CATCH(const std::bad_alloc&) {
//     return absl::ResourceExhaustedError("...");
//   }
#ifndef TAKT_BASE_EXCEPTIONS_H_
#define TAKT_BASE_EXCEPTIONS_H_

#include <new>
#include <utility>

#include "absl/status/status.h"
#include "base/check.h"

#if defined(__cpp_exceptions)
#define TAKT_TRY try
#define TAKT_CATCH(what) catch (what)
#else
#define TAKT_TRY if (true)
#define TAKT_CATCH(what) else
#endif

namespace takt {

// The error of memory that has run out. It has no message, since that would
// take memory.
inline absl::Status OutOfMemory() {
  return absl::Status(absl::StatusCode::kResourceExhausted, "");
}

// Runs `step`, which returns a status. The status; OutOfMemory() if `step`
// throws std::bad_alloc.
template <typename Step>
absl::Status Attempt(Step&& step) {
  TAKT_TRY { return std::forward<Step>(step)(); }
  TAKT_CATCH(const std::bad_alloc&) { return OutOfMemory(); }
}

// What `new` does when the system has no memory left.
[[noreturn]] inline void ThrowBadAlloc() {
#if defined(__cpp_exceptions)
  throw std::bad_alloc();
#else
  CheckFailed(__FILE__, __LINE__, "out of memory");
#endif
}

}  // namespace takt

#endif  // TAKT_BASE_EXCEPTIONS_H_
