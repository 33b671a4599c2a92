// takt/cxx20.hpp - one error message, instead of hundreds, for a compiler whose
// language is older than the C++20 of takt/*.hpp.
#ifndef TAKT_CXX20_HPP_
#define TAKT_CXX20_HPP_

#if __cplusplus >= 202002L
#define TAKT_HAS_CXX20 1
#else
#define TAKT_HAS_CXX20 0
#error "takt/*.hpp need C++20: -std=c++20, or link takt::cpp in CMake"
#endif

#endif  // TAKT_CXX20_HPP_
