// takt/cxx20.hpp - one error, instead of hundreds, where the compiler is asked
// for an older C++ than takt/*.hpp are written in.
#ifndef TAKT_CXX20_HPP_
#define TAKT_CXX20_HPP_

#if __cplusplus >= 202002L
#define TAKT_HAS_CXX20 1
#else
#define TAKT_HAS_CXX20 0
#error "takt/*.hpp need C++20: -std=c++20, or link takt::cpp in CMake"
#endif

#endif  // TAKT_CXX20_HPP_
