// Marks functions for instruction sets that the rest of the library may not
// use. Between TAKT_TARGET_BEGIN("avx2,fma") and TAKT_TARGET_END the compiler
// may emit these instructions; the caller checks that the machine has them.
// Headers that define inline functions are included before.
#ifndef TAKT_KERNELS_TARGET_H_
#define TAKT_KERNELS_TARGET_H_

#define TAKT_TARGET_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TAKT_TARGET_BEGIN(instruction_sets) \
  TAKT_TARGET_PRAGMA(clang attribute push(  \
      __attribute__((target(instruction_sets))), apply_to = function))
#define TAKT_TARGET_END _Pragma("clang attribute pop")
#else
#define TAKT_TARGET_BEGIN(instruction_sets) \
  _Pragma("GCC push_options") TAKT_TARGET_PRAGMA(GCC target(instruction_sets))
#define TAKT_TARGET_END _Pragma("GCC pop_options")
#endif

#endif  // TAKT_KERNELS_TARGET_H_
