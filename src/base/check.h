// Checks of conditions that only a bug of Takt can break. An error that a file
// or a caller can cause is a status, never a check.
#ifndef TAKT_BASE_CHECK_H_
#define TAKT_BASE_CHECK_H_

namespace takt {

// Prints the condition and its place to stderr, then aborts.
[[noreturn]] void CheckFailed(const char* file, int line,
                              const char* condition);

}  // namespace takt

#define TAKT_CHECK(condition)         \
  (__builtin_expect(!!(condition), 1) \
       ? static_cast<void>(0)         \
       : ::takt::CheckFailed(__FILE__, __LINE__, #condition))

#ifdef NDEBUG
#define TAKT_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#else
#define TAKT_DCHECK(condition) TAKT_CHECK(condition)
#endif

#endif  // TAKT_BASE_CHECK_H_
