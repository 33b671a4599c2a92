// In place of what throws and catches in the C++ library, for a program that
// ends at an exception anyway (scripts/small.sh).
#include <stdlib.h>

#define TAKT_ENDS_THE_PROCESS(name) \
  void name(void);                  \
  void name(void) { abort(); }

TAKT_ENDS_THE_PROCESS(__cxa_allocate_exception)
TAKT_ENDS_THE_PROCESS(__cxa_begin_catch)
TAKT_ENDS_THE_PROCESS(__cxa_end_catch)
TAKT_ENDS_THE_PROCESS(__cxa_free_exception)
TAKT_ENDS_THE_PROCESS(__cxa_rethrow)
TAKT_ENDS_THE_PROCESS(__cxa_throw)
TAKT_ENDS_THE_PROCESS(__cxa_throw_bad_array_new_length)
TAKT_ENDS_THE_PROCESS(__gxx_personality_v0)
TAKT_ENDS_THE_PROCESS(_Unwind_Resume)
TAKT_ENDS_THE_PROCESS(_ZSt9terminatev)
