// Arrays in numpy's .npy format, versions 1.0 to 3.0. A file may hold several
// arrays, one behind the other, as numpy.save() to an open file makes them.
//
// Layout of one array:
//   0   "\x93NUMPY", major version, minor version
//   8   header length: u16 (version 1) or u32 (2 and 3), little endian
//   10  header (at 12 in versions 2 and 3): a Python dict literal with keys
//       descr, fortran_order and shape; padded with spaces, '\n' at its end
//   ..  the elements
#ifndef TAKT_TOOLS_COMMON_NPY_H_
#define TAKT_TOOLS_COMMON_NPY_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/file.h"

namespace takt::tools {

struct NpyArray {
  takt_element_type_t element_type;
  std::vector<int64_t> shape;
  std::string_view data;  // Row-major; within the bytes read.
};

// Whether an array begins there, by its first bytes.
bool IsNpy(std::string_view bytes);

// Reads the array at the front of `bytes`; `*out_byte_length` receives how
// many of them it took.
//
// Integers get a sign of their own (si32 for <i4), V1 to V8 are opaque.
//
// Errors: OUT_OF_RANGE      the bytes end early, or are none.
//         INVALID_ARGUMENT  no .npy, or a damaged header.
//         UNIMPLEMENTED     big-endian or column-major elements; a dtype that
//                           has no element type.
Result<NpyArray> ParseNpy(std::string_view bytes, size_t* out_byte_length);

// The next array of the file; moves its cursor. Errors: as ParseNpy().
Result<NpyArray> ReadNpy(InputFiles::Cursor* cursor);

// An array of version 1.0, its elements 64-byte aligned in a file of its own.
//
// Errors: UNIMPLEMENTED  numpy has no dtype for the element type.
Result<std::string> FormatNpy(takt_element_type_t element_type,
                              std::span<const int64_t> shape,
                              std::string_view data);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_NPY_H_
